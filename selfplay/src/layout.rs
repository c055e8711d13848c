//! The names of a run's objects, all in one place.
//!
//! ```text
//! run.json                         format version of the run, written first
//! config.toml                      the recipe, as it was when the run began
//! variant.toml                     the rules, as they were when the run began
//! nets/<id>.safetensors            published nets, immutable
//! nets/current.json                which of them to play with: the only pointer
//! checkpoints/<id>.*               what a trainer needs to resume
//! checkpoints/current.json         which of them to resume from
//! games/<worker>/<chunk>.parquet   finished games; only a worker's last chunk still grows
//! aside/…                          files that could not be read, and why
//! trainer.json                     the trainer's heartbeat and counters
//! progress/<worker>-<start>.json   one worker's counters, a file for each of its starts
//! arena/<name>.json                match results
//! values/games/<net>-<…>/*.parquet games played to estimate values, and for nothing else
//! tensorboard/                     logs (local runs only)
//! ```

use serde::{Deserialize, Serialize};

use crate::storage::{Storage, StorageError};

/// Version of this layout, kept in `run.json`.
pub const LAYOUT_VERSION: u32 = 1;

/// Names of a run's objects. A unit struct, so that names read `RunPaths::CONFIG`,
/// `RunPaths::net("000120")`.
#[derive(Clone, Copy, Debug)]
pub struct RunPaths;

impl RunPaths {
    /// [`RunInfo`]; its presence makes a folder a run.
    pub const RUN: &str = "run.json";
    /// The recipe.
    pub const CONFIG: &str = "config.toml";
    /// The rules.
    pub const VARIANT: &str = "variant.toml";
    /// Folder of published nets.
    pub const NETS: &str = "nets";
    /// [`CurrentNet`].
    pub const CURRENT_NET: &str = "nets/current.json";
    /// Folder of checkpoints.
    pub const CHECKPOINTS: &str = "checkpoints";
    /// Which checkpoint to resume from.
    pub const CURRENT_CHECKPOINT: &str = "checkpoints/current.json";
    /// Folder of game chunks.
    pub const GAMES: &str = "games";
    /// Folder of unreadable files.
    pub const ASIDE: &str = "aside";
    /// The trainer's heartbeat: [`crate::lease`].
    pub const TRAINER: &str = "trainer.json";
    /// Folder of worker counters: [`crate::pace::WorkerProgress`].
    pub const PROGRESS: &str = "progress";
    /// Folder of match results.
    pub const ARENA: &str = "arena";
    /// Folder of games that are played to estimate values; nobody learns from them.
    pub const FRESH_GAMES: &str = "values/games";
    /// Folder of TensorBoard logs.
    pub const TENSORBOARD: &str = "tensorboard";

    /// A published net.
    pub fn net(id: &str) -> String {
        format!("{}/{id}.safetensors", Self::NETS)
    }

    /// A file of a checkpoint, by the file's whole name.
    pub fn checkpoint(file: &str) -> String {
        format!("{}/{file}", Self::CHECKPOINTS)
    }

    /// A worker's folder of chunks.
    pub fn worker_games(worker: &str) -> String {
        format!("{}/{worker}", Self::GAMES)
    }

    /// A chunk of finished games. Names sort in the order of writing.
    pub fn chunk(worker: &str, chunk: u32) -> String {
        format!("{}/{worker}/{chunk:06}.parquet", Self::GAMES)
    }

    /// Worker and number of a chunk's name, or `None` for a name that is no chunk's.
    pub fn parse_chunk(name: &str) -> Option<(&str, u32)> {
        let rest = name.strip_prefix(Self::GAMES)?.strip_prefix('/')?;
        let (worker, file) = rest.split_once('/')?;
        let number = file.strip_suffix(".parquet")?;
        let digits = number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
        (digits && !worker.is_empty()).then_some(())?;
        Some((worker, number.parse().ok()?))
    }

    /// Where a file that could not be read is kept: `games/w1/000002.parquet` becomes
    /// `aside/games-w1-000002.parquet.<mark>`.
    pub fn aside(name: &str, mark: &str) -> String {
        format!("{}/{}.{mark}", Self::ASIDE, name.replace('/', "-"))
    }

    /// Counters of one start of a worker, the start named by the first chunk it reserved.
    pub fn progress(worker: &str, first_chunk: u32) -> String {
        format!("{}/{worker}-{first_chunk:06}.json", Self::PROGRESS)
    }

    /// A match result.
    pub fn arena(name: &str) -> String {
        format!("{}/{name}.json", Self::ARENA)
    }
}

/// `run.json`: what kind of run this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// [`LAYOUT_VERSION`] of the program that began the run.
    pub layout_version: u32,
    /// Name of the variant.
    pub variant: String,
    /// Seed from which all of the run's other seeds come.
    pub seed: u64,
}

impl RunInfo {
    /// Info for a new run.
    pub fn new(variant: &str, seed: u64) -> Self {
        Self {
            layout_version: LAYOUT_VERSION,
            variant: variant.to_owned(),
            seed,
        }
    }

    /// Begins a run at `storage` unless one is there already; says whether it did.
    ///
    /// # Errors
    /// As [`Storage::put_if_absent`].
    pub fn create(&self, storage: &Storage) -> Result<bool, StorageError> {
        storage.put_if_absent(RunPaths::RUN, crate::storage::json_bytes(self))
    }

    /// The run at `storage`, or `None` when none has begun there.
    ///
    /// # Errors
    /// [`StorageError::Malformed`] for a run of another layout version.
    pub fn read(storage: &Storage) -> Result<Option<Self>, StorageError> {
        let info: Option<Self> = storage.find_json(RunPaths::RUN)?;
        match info {
            Some(info) if info.layout_version != LAYOUT_VERSION => Err(StorageError::Malformed {
                object: storage.object_url(RunPaths::RUN),
                reason: format!(
                    "the run has layout version {}, this program knows {LAYOUT_VERSION}; \
                     use the program that began the run, or begin a new run",
                    info.layout_version
                ),
            }),
            info => Ok(info),
        }
    }
}

/// `nets/current.json`: the net that workers play with. Replaced atomically after the net's
/// own file has been written, so that it never names a missing file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurrentNet {
    /// Names `nets/<id>.safetensors`.
    pub id: String,
    /// Training steps the net has seen.
    pub step: u64,
}

impl CurrentNet {
    /// The current net, or `None` when none has been published yet.
    ///
    /// # Errors
    /// [`StorageError::Malformed`] when the pointer is not what it should be.
    pub fn read(storage: &Storage) -> Result<Option<Self>, StorageError> {
        storage.find_json(RunPaths::CURRENT_NET)
    }

    /// Publishes a net: its file first, then the pointer to it.
    ///
    /// # Errors
    /// As [`Storage::put`]; the pointer then still names the previous net.
    pub fn publish(
        &self,
        storage: &Storage,
        net: impl Into<bytes::Bytes>,
    ) -> Result<(), StorageError> {
        storage.put(&RunPaths::net(&self.id), net)?;
        storage.put_json(RunPaths::CURRENT_NET, self)
    }
}

/// Turns any text into a name that is safe as one segment of an object's name: ASCII letters,
/// digits, `.`, `_` and `-`, everything else becomes `-`; at most 64 characters.
pub fn safe_segment(text: &str) -> String {
    let mapped: String = text
        .chars()
        .take(64)
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let trimmed = mapped.trim_matches('.');
    if trimmed.is_empty() { "x" } else { trimmed }.to_owned()
}
