//! Finished games on their way into storage.

use crate::layout::RunPaths;
use crate::record::{GameRecord, RecordError, to_bytes};
use crate::storage::{Storage, StorageError};

/// Writes a worker's games, chunk after chunk.
///
/// The open chunk is rewritten as a whole whenever games have finished, so that a worker that is
/// killed loses none of them. A failed write loses nothing either: the games stay in memory and go
/// out with the next one.
#[derive(Debug)]
pub struct ChunkWriter {
    storage: Storage,
    worker_id: String,
    games_per_chunk: usize,
    first_chunk: u32,
    /// Number of the open chunk, or of the next one to try while `is_created` is false.
    chunk: u32,
    is_created: bool,
    /// Games of the open chunk, those in storage first.
    games: Vec<GameRecord>,
    /// How many of `games` are in storage.
    stored: usize,
}

impl ChunkWriter {
    /// A writer for one start of a worker. It reserves its first chunk at once by creating it
    /// without games, so that no two starts ever share a chunk, even under the same worker id.
    ///
    /// # Errors
    /// Whatever kept the store from listing the worker's chunks or creating one.
    pub fn start(
        storage: &Storage,
        worker_id: &str,
        games_per_chunk: usize,
    ) -> Result<Self, StorageError> {
        let listed = storage.list(&RunPaths::worker_games(worker_id))?;
        let last = listed
            .iter()
            .filter_map(|info| RunPaths::parse_chunk(&info.name))
            .map(|(_, number)| number)
            .max();
        let mut writer = Self {
            storage: storage.clone(),
            worker_id: worker_id.to_owned(),
            games_per_chunk: games_per_chunk.max(1),
            first_chunk: 0,
            chunk: last.map_or(0, |last| last + 1),
            is_created: false,
            games: Vec::new(),
            stored: 0,
        };
        writer.write()?;
        writer.first_chunk = writer.chunk;
        Ok(writer)
    }

    /// The chunk that this start reserved: together with the worker's id it names the start.
    pub fn first_chunk(&self) -> u32 {
        self.first_chunk
    }

    /// Takes a finished game. It is in storage once [`ChunkWriter::flush`] succeeds.
    ///
    /// # Errors
    /// [`RecordError`] for a game that no reader would accept; it is not taken then.
    pub fn add(&mut self, game: GameRecord) -> Result<(), RecordError> {
        crate::record::check(&game)?;
        self.games.push(game);
        Ok(())
    }

    /// Number of games that are not in storage yet.
    pub fn unwritten(&self) -> usize {
        self.unwritten_games().len()
    }

    /// Whether the open chunk has all the games that it is to have.
    pub fn is_full(&self) -> bool {
        self.games.len() >= self.games_per_chunk
    }

    /// The games that are not in storage yet.
    pub fn unwritten_games(&self) -> &[GameRecord] {
        &self.games[self.stored..]
    }

    /// Brings all games into storage and, if the open chunk is full, closes it.
    ///
    /// # Errors
    /// Whatever kept the chunk from being written; all games are kept for the next call.
    pub fn flush(&mut self) -> Result<(), StorageError> {
        if self.unwritten() == 0 {
            return Ok(());
        }
        self.write()?;
        self.stored = self.games.len();
        if self.is_full() {
            self.games.clear();
            self.stored = 0;
            self.chunk += 1;
            self.is_created = false;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), StorageError> {
        let bytes = match to_bytes(&self.games) {
            Ok(bytes) => bytes::Bytes::from(bytes),
            Err(error) => panic!("games are checked when they come in, but: {error}"),
        };
        while !self.is_created {
            let name = RunPaths::chunk(&self.worker_id, self.chunk);
            if self.storage.put_if_absent(&name, bytes.clone())? {
                self.is_created = true;
                return Ok(());
            }
            self.chunk += 1;
        }
        let name = RunPaths::chunk(&self.worker_id, self.chunk);
        self.storage.put(&name, bytes)
    }
}
