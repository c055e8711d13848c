//! Reading the games of a run as they come in.
//!
//! Every worker has a folder of chunks, of which only the last still grows; it is rewritten as a
//! whole whenever games have finished. [`GameStream`] lists the folders, reads the chunks that are
//! new or have changed, and hands out the games that it has not handed out before. A chunk that
//! does not parse is warned about, and reading goes on; only the stream of the process that holds
//! the run ([`GameStream::of_holder`]) moves it to `aside/`.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rayon::prelude::*;
use twox_hash::XxHash64;

use crate::layout::RunPaths;
use crate::record::{GameRecord, RecordError, from_bytes};
use crate::storage::{Fetched, ObjectInfo, ObjectVersion, Storage, StorageError};

/// Chunks read at a time: keeps memory bounded when a long run is read from its beginning.
const CHUNKS_PER_SCAN: usize = 64;
/// Time before a chunk that could not be read is tried again.
const RETRY: Duration = Duration::from_secs(30);
/// Shortest time between two looks at the store.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
/// Listing must not take more than this share of the time.
const LISTING_SHARE: f64 = 0.05;

/// What a look at the store has brought.
#[derive(Debug, Default)]
pub struct Scan {
    /// Games that were not there before: chunk by chunk in the order of their last change.
    pub games: Vec<GameRecord>,
    /// Chunks that could not be used; a warning has been given of each.
    pub unusable: Vec<Unusable>,
    /// There are more chunks to read; scan again.
    pub more: bool,
}

/// A chunk that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// Full URL of the chunk.
    pub chunk: String,
    /// Full URL of the place where it is kept now, beside a `.txt` with the reason; `None` if it is
    /// where it was.
    pub kept_at: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// Hands out every game of a run once.
#[derive(Debug)]
pub struct GameStream {
    storage: Storage,
    sets_aside: bool,
    /// The version of each chunk that has been dealt with.
    done: HashMap<String, ObjectVersion>,
    /// Hashes of the game ids that have been handed out.
    seen: HashSet<u64>,
    retry_at: HashMap<String, Instant>,
    next_look: Instant,
}

impl GameStream {
    /// A stream from the run's first game on, which changes nothing in the run.
    pub fn new(storage: &Storage) -> Self {
        Self {
            storage: storage.clone(),
            sets_aside: false,
            done: HashMap::new(),
            seen: HashSet::new(),
            retry_at: HashMap::new(),
            next_look: Instant::now(),
        }
    }

    /// The stream of the process that holds the run's lease: it moves damaged chunks to `aside/`.
    /// Chunks of another version of the format are left where they are, for they are not damaged.
    pub fn of_holder(storage: &Storage) -> Self {
        Self {
            sets_aside: true,
            ..Self::new(storage)
        }
    }

    /// [`GameStream::scan`], but looks at the store only now and then (twice a second while the
    /// run is small, less often when listing it takes long) and otherwise returns at once. To be
    /// called as often as one likes.
    ///
    /// # Errors
    /// As [`GameStream::scan`].
    pub fn poll(&mut self) -> Result<Scan, StorageError> {
        let begun = Instant::now();
        if begun < self.next_look {
            return Ok(Scan::default());
        }
        let scan = self.scan()?;
        let pause = begun.elapsed().mul_f64(1.0 / LISTING_SHARE - 1.0);
        self.next_look = match scan.more {
            true => begun,
            false => Instant::now() + pause.clamp(SHORTEST_PAUSE, RETRY),
        };
        Ok(scan)
    }

    /// Reads what is new, at most a few thousand games at a time. Chunks that have not changed
    /// cost their line in the listing and no more.
    ///
    /// # Errors
    /// Whatever kept the store from listing the chunks. One chunk that cannot be read is warned
    /// about and tried again later.
    pub fn scan(&mut self) -> Result<Scan, StorageError> {
        let mut changed = self.changed_chunks()?;
        let more = changed.len() > CHUNKS_PER_SCAN;
        changed.truncate(CHUNKS_PER_SCAN);
        let storage = &self.storage;
        let read: Vec<_> = changed
            .par_iter()
            .map(|info| read_chunk(storage, &info.name))
            .collect();
        let mut scan = Scan {
            more,
            ..Scan::default()
        };
        for (info, read) in changed.into_iter().zip(read) {
            self.take(info, read, &mut scan);
        }
        Ok(scan)
    }

    /// Chunks that are new or have changed, oldest change first.
    fn changed_chunks(&self) -> Result<Vec<ObjectInfo>, StorageError> {
        let now = Instant::now();
        let mut changed = chunks(&self.storage)?;
        changed.retain(|info| {
            self.done.get(&info.name) != Some(&info.version)
                && self.retry_at.get(&info.name).is_none_or(|at| now >= *at)
        });
        Ok(changed)
    }

    fn take(&mut self, info: ObjectInfo, read: Result<Chunk, StorageError>, scan: &mut Scan) {
        match read {
            Ok(Chunk::Gone) => {}
            Ok(Chunk::Games(games, version)) => {
                self.done.insert(info.name, version);
                let seen = &mut self.seen;
                scan.games.extend(
                    games
                        .into_iter()
                        .filter(|game| seen.insert(XxHash64::oneshot(0, game.game_id.as_bytes()))),
                );
            }
            Ok(Chunk::Unusable(bytes, version, error)) => {
                match self.give_up(&info.name, bytes, &version, &error) {
                    Ok(unusable) => {
                        self.done.insert(info.name, version);
                        scan.unusable.push(unusable);
                    }
                    Err(error) => self.try_later(info.name, &error),
                }
            }
            Err(error) => self.try_later(info.name, &error),
        }
    }

    fn try_later(&mut self, name: String, error: &StorageError) {
        tracing::warn!(
            "a chunk of games is left for later: {error}; it is tried again in {} s",
            RETRY.as_secs()
        );
        self.retry_at.insert(name, Instant::now() + RETRY);
    }

    /// Warns of a chunk that cannot be used, after it has been set aside if it is damaged and that is this stream's
    /// business.
    fn give_up(
        &self,
        name: &str,
        bytes: Bytes,
        version: &ObjectVersion,
        error: &RecordError,
    ) -> Result<Unusable, StorageError> {
        let is_damaged = !matches!(error, RecordError::Version { .. });
        let kept_at = match self.sets_aside && is_damaged {
            true => Some(self.set_aside(name, bytes, version, error)?),
            false => None,
        };
        let (chunk, reason) = (self.storage.object_url(name), error.to_string());
        match &kept_at {
            Some(place) => {
                tracing::warn!("{chunk} is left out and kept as {place}: {reason}");
            }
            None => tracing::warn!("{chunk} is left out: {reason}"),
        }
        Ok(Unusable {
            chunk,
            kept_at,
            reason,
        })
    }

    /// Keeps the bytes under `aside/` and takes the chunk away, unless its worker has rewritten it
    /// meanwhile. Returns the full URL of where they are now.
    fn set_aside(
        &self,
        name: &str,
        bytes: Bytes,
        version: &ObjectVersion,
        error: &RecordError,
    ) -> Result<String, StorageError> {
        let mark = format!("{:08x}", XxHash64::oneshot(0, &bytes) as u32);
        let kept = RunPaths::aside(name, &mark);
        self.storage.put(&kept, bytes)?;
        let note = format!("{}: {error}\n", self.storage.object_url(name));
        self.storage.put(&format!("{kept}.txt"), note)?;
        if self
            .storage
            .head(name)?
            .is_some_and(|now| now.version == *version)
        {
            self.storage.delete(name)?;
        }
        Ok(self.storage.object_url(&kept))
    }
}

/// The chunks of a run, oldest change first.
///
/// # Errors
/// Whatever kept the store from listing them.
pub fn chunks(storage: &Storage) -> Result<Vec<ObjectInfo>, StorageError> {
    let mut chunks = storage.list(RunPaths::GAMES)?;
    chunks.retain(|info| RunPaths::parse_chunk(&info.name).is_some());
    chunks.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    Ok(chunks)
}

enum Chunk {
    Games(Vec<GameRecord>, ObjectVersion),
    Unusable(Bytes, ObjectVersion, RecordError),
    /// Deleted between listing and reading.
    Gone,
}

fn read_chunk(storage: &Storage, name: &str) -> Result<Chunk, StorageError> {
    Ok(match storage.get_if_changed(name, None)? {
        Fetched::Missing | Fetched::Unchanged => Chunk::Gone,
        Fetched::Changed(bytes, version) => match from_bytes(bytes.clone()) {
            Ok(games) => Chunk::Games(games, version),
            Err(error) => Chunk::Unusable(bytes, version, error),
        },
    })
}
