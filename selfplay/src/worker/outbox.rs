//! Patience with a storage that fails for a while.

use std::time::{Duration, Instant};

use super::ChunkWriter;
use crate::record::GameRecord;
use crate::storage::{Storage, StorageError};

/// Least time from one write to the next. Every write encodes the whole open chunk, which at many games a second would take a
/// tenth of a worker's time; a game that ends by itself is written at once.
const SPACING: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often the last games are tried to be written before a worker gives up at its end.
const LAST_TRIES: u32 = 5;
/// Games kept in memory at most; beyond, the worker stops playing until they are written.
const MOST_UNWRITTEN: usize = 256;

/// A [`ChunkWriter`] that tries again, with pauses that double.
pub(super) struct Outbox {
    writer: ChunkWriter,
    pause: Duration,
    /// After a failure, not before this.
    next_try: Instant,
    /// A chunk that is not full, not before this.
    next_write: Instant,
}

/// What has become of finished games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub games: u64,
    pub samples: u64,
    pub plies: u64,
    pub simulations: u64,
}

impl Outbox {
    pub fn start(
        storage: &Storage,
        worker_id: &str,
        games_per_chunk: usize,
    ) -> Result<Self, StorageError> {
        Ok(Self {
            writer: ChunkWriter::start(storage, worker_id, games_per_chunk)?,
            pause: SHORTEST_PAUSE,
            next_try: Instant::now(),
            next_write: Instant::now(),
        })
    }

    pub fn first_chunk(&self) -> u32 {
        self.writer.first_chunk()
    }

    /// Takes a finished game; [`Outbox::send`] writes it.
    ///
    /// # Panics
    /// When the game contradicts itself: then self-play is broken, and playing on is useless.
    pub fn add(&mut self, game: GameRecord) {
        if let Err(error) = self.writer.add(game) {
            panic!("self-play made a game that no reader would accept: {error}");
        }
    }

    /// Writes what there is to write, unless the last write or failure was a moment ago. Returns
    /// what is in storage now that was not before.
    pub fn send(&mut self) -> Written {
        let now = Instant::now();
        let too_soon = now < self.next_write && !self.writer.is_full();
        if self.writer.unwritten() == 0 || now < self.next_try || too_soon {
            return Written::default();
        }
        match self.try_now() {
            Ok(written) => written,
            Err(error) => {
                tracing::warn!(
                    "{} finished games are kept in memory and tried again in {} s: {error}",
                    self.writer.unwritten(),
                    self.pause.as_secs()
                );
                self.next_try = Instant::now() + self.pause;
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                Written::default()
            }
        }
    }

    /// Whether so many games wait that no more may be played.
    pub fn is_full(&self) -> bool {
        self.writer.unwritten() >= MOST_UNWRITTEN
    }

    /// Writes the last games, or says why that was impossible.
    ///
    /// # Errors
    /// The number of games that are lost, and why, after several tries.
    pub fn close(&mut self) -> Result<Written, (usize, StorageError)> {
        let mut tries = 0;
        loop {
            let error = match self.try_now() {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            tries += 1;
            if tries == LAST_TRIES {
                return Err((self.writer.unwritten(), error));
            }
            tracing::warn!(
                "the last {} finished games cannot be written yet: {error}",
                self.writer.unwritten()
            );
            std::thread::sleep(SHORTEST_PAUSE);
        }
    }

    fn try_now(&mut self) -> Result<Written, StorageError> {
        let waiting = self.writer.unwritten_games();
        let written = Written {
            games: waiting.len() as u64,
            samples: waiting.iter().map(|game| game.samples() as u64).sum(),
            plies: waiting.iter().map(|game| game.plies.len() as u64).sum(),
            simulations: waiting
                .iter()
                .flat_map(|game| &game.plies)
                .map(|ply| u64::from(ply.visits))
                .sum(),
        };
        self.writer.flush()?;
        self.next_write = Instant::now() + SPACING;
        self.pause = SHORTEST_PAUSE;
        Ok(written)
    }
}
