//! Reading the games of a run as they come in.
//!
//! Every worker has a folder of chunks, of which only the last still grows; it is rewritten as a
//! whole whenever games have finished. [`GameStream`] lists the folders, reads the chunks that are
//! new or have changed, and hands out the games that it has not handed out before. A chunk that
//! does not parse is moved to `aside/` and reported, and reading goes on.

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
    /// Chunks that could not be used.
    pub set_aside: Vec<SetAside>,
    /// There are more chunks to read; scan again.
    pub more: bool,
}

/// A chunk that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Full URL of the chunk, as it was.
    pub chunk: String,
    /// Full URL of the place where it is kept now, beside a `.txt` with the reason.
    pub kept_at: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Hands out every game of a run once.
#[derive(Debug)]
pub struct GameStream {
    storage: Storage,
    /// The version of each chunk that has been dealt with.
    done: HashMap<String, ObjectVersion>,
    /// Hashes of the game ids that have been handed out.
    seen: HashSet<u64>,
    retry_at: HashMap<String, Instant>,
    next_look: Instant,
}

impl GameStream {
    /// A stream from the run's first game on.
    pub fn new(storage: &Storage) -> Self {
        Self {
            storage: storage.clone(),
            done: HashMap::new(),
            seen: HashSet::new(),
            retry_at: HashMap::new(),
            next_look: Instant::now(),
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
        let mut changed = self.storage.list(RunPaths::GAMES)?;
        changed.retain(|info| {
            RunPaths::parse_chunk(&info.name).is_some()
                && self.done.get(&info.name) != Some(&info.version)
                && self.retry_at.get(&info.name).is_none_or(|at| now >= *at)
        });
        changed.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
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
            Ok(Chunk::Broken(bytes, version, error)) => {
                match self.set_aside(&info.name, bytes, &version, &error) {
                    Ok(aside) => {
                        self.done.insert(info.name, version);
                        scan.set_aside.push(aside);
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

    /// Keeps the bytes under `aside/` and takes the chunk away, unless its worker has rewritten it
    /// meanwhile.
    fn set_aside(
        &self,
        name: &str,
        bytes: Bytes,
        version: &ObjectVersion,
        error: &RecordError,
    ) -> Result<SetAside, StorageError> {
        let mark = format!("{:08x}", XxHash64::oneshot(0, &bytes) as u32);
        let kept = RunPaths::aside(name, &mark);
        let reason = error.to_string();
        self.storage.put(&kept, bytes)?;
        let note = format!("{}: {reason}\n", self.storage.object_url(name));
        self.storage.put(&format!("{kept}.txt"), note)?;
        if self
            .storage
            .head(name)?
            .is_some_and(|now| now.version == *version)
        {
            self.storage.delete(name)?;
        }
        Ok(SetAside {
            chunk: self.storage.object_url(name),
            kept_at: self.storage.object_url(&kept),
            reason,
        })
    }
}

enum Chunk {
    Games(Vec<GameRecord>, ObjectVersion),
    Broken(Bytes, ObjectVersion, RecordError),
    /// Deleted between listing and reading.
    Gone,
}

fn read_chunk(storage: &Storage, name: &str) -> Result<Chunk, StorageError> {
    Ok(match storage.get_if_changed(name, None)? {
        Fetched::Missing | Fetched::Unchanged => Chunk::Gone,
        Fetched::Changed(bytes, version) => match from_bytes(bytes.clone()) {
            Ok(games) => Chunk::Games(games, version),
            Err(error) => Chunk::Broken(bytes, version, error),
        },
    })
}
