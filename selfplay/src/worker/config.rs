//! What a worker needs to know.

use std::sync::Arc;
use std::time::Duration;

use model::{DeviceChoice, Inference};
use rules::Variant;

use crate::game::GameConfig;
use crate::layout::safe_segment;
use crate::lease::host_name;
use crate::pace::PaceConfig;
use crate::starts::StartConfig;

/// What a worker needs to know besides where the run is.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Names the worker in records and object names; see [`WorkerConfig::unique_id`]. A worker
    /// that is started again may use its old id.
    pub worker_id: String,
    /// The run's seed. A game's seed comes from it, from the worker's id, from the start of the
    /// worker and from the game's number.
    pub run_seed: u64,
    /// The rules.
    pub variant: Arc<Variant>,
    /// How games are played.
    pub game: GameConfig,
    /// How games begin.
    pub starts: StartConfig,
    /// Where nets are evaluated.
    pub device: DeviceChoice,
    /// How nets are evaluated. Games depend on it.
    pub inference: Inference,
    /// When to wait for the trainer; `None` for never.
    pub pace: Option<PaceConfig>,
    /// Games in the lockstep batch, at least 1.
    pub games_in_parallel: usize,
    /// Games after which a chunk is closed, at least 1.
    pub games_per_chunk: usize,
    /// Late positions of earlier games kept to start from.
    pub archive_positions: usize,
    /// How long to wait for a run's first net.
    pub net_patience: Duration,
}

impl WorkerConfig {
    /// Usual settings for `variant`, with a new id.
    pub fn new(variant: Arc<Variant>) -> Self {
        Self {
            worker_id: Self::unique_id(),
            run_seed: 0,
            variant,
            game: GameConfig::default(),
            starts: StartConfig::default(),
            device: DeviceChoice::default(),
            inference: Inference::default(),
            pace: None,
            games_in_parallel: 64,
            games_per_chunk: 32,
            archive_positions: 4096,
            net_patience: Duration::from_secs(600),
        }
    }

    /// An id that no other start of a worker has: host, process and a random part.
    pub fn unique_id() -> String {
        let host = safe_segment(&host_name());
        format!(
            "{host}-{}-{:08x}",
            std::process::id(),
            rand::random::<u32>()
        )
    }
}
