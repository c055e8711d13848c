//! The worker: plays games with the newest net and writes them into the run's storage.
//!
//! A worker is one thread with a lockstep batch of games: every round it gathers one leaf of each
//! game, evaluates them together and responds. A finished game is written within a second. Any number of
//! workers may play for a run; they know nothing of each other and need nothing but its storage.
//!
//! **Which net.** A worker changes to a newer net between two rounds, for running games too: to
//! keep old nets for old games would split the batch. Every ply's record names the net that was
//! at work when its search ended. A game is therefore a function of its start, its seed, the
//! configuration, and of which nets it met when; with one net for the whole game, of that net
//! alone.

mod batch;
mod chunks;
mod config;
mod nets;
mod outbox;
mod tally;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{ModelError, load_evaluator};

pub use chunks::ChunkWriter;
pub use config::WorkerConfig;
pub use nets::LoadNet;

use crate::pace::{TrainerWatch, Wait, WorkerProgress};
use crate::storage::{Storage, StorageError};
use batch::Batch;
use nets::Nets;
use outbox::Outbox;
use tally::Tally;

/// Pause while there is nothing to play.
const IDLE: Duration = Duration::from_millis(100);
/// Evaluations that a worker remembers for each game that it plays: those of the last few searches.
const REMEMBERED: usize = 256;

/// Why a worker stopped before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The storage failed when the worker started.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The run's net cannot be used, and there is no older one to go on with.
    #[error(transparent)]
    Net(#[from] ModelError),
    /// No net has been published.
    #[error(
        "{object} has not appeared within {seconds} s: start the trainer, or check the run's URL"
    )]
    NoNet {
        /// The pointer's URL.
        object: String,
        /// How long the worker waited.
        seconds: u64,
    },
    /// The last games could not be written.
    #[error("{games} finished games are lost, because they could not be written: {source}")]
    Unwritten {
        /// How many.
        games: usize,
        /// What kept them from being written.
        source: StorageError,
    },
}

/// Plays until `stop` is raised; returns the worker's counters. Calls `on_progress` about once a
/// second, and also while it waits.
///
/// Once it plays, storage that fails for a while stops nothing: finished games are kept in memory
/// and written later. When it is told to stop, all finished games are written and the unfinished
/// ones dropped.
///
/// # Errors
/// [`WorkerError`]: no usable storage or net at the start, or games that cannot be written at the
/// end.
pub fn run(
    storage: &Storage,
    config: &WorkerConfig,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&WorkerProgress),
) -> Result<WorkerProgress, WorkerError> {
    let (variant, device, inference) = (&config.variant, config.device, config.inference);
    tracing::info!("inference: {}", inference.choose(device)?);
    let mut load =
        |bytes: &[u8], source: &str| load_evaluator(bytes, source, variant, device, inference);
    run_with(storage, config, &mut load, stop, on_progress)
}

/// [`run`] with evaluators of another making.
///
/// # Errors
/// As [`run`].
pub fn run_with<'a>(
    storage: &'a Storage,
    config: &WorkerConfig,
    load: &'a mut LoadNet<'a>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&WorkerProgress),
) -> Result<WorkerProgress, WorkerError> {
    let mut outbox = Outbox::start(storage, &config.worker_id, config.games_per_chunk)?;
    let mut tally = Tally::start(storage, &config.worker_id, outbox.first_chunk());
    let memory = config.games_in_parallel * REMEMBERED;
    let Some(mut nets) = Nets::first(storage, load, memory, config.net_patience, stop)? else {
        return Ok(tally.end(""));
    };
    let mut batch = Batch::new(config, outbox.first_chunk());
    batch.recall(storage);
    let mut patience = Patience::new(storage, config);

    while !stop.load(Ordering::Relaxed) {
        nets.refresh();
        tally.add_written(outbox.send());
        let begun = Instant::now();
        if outbox.is_full() || patience.must_wait() {
            std::thread::sleep(IDLE);
            tally.add_waiting(begun.elapsed());
        } else {
            let round = batch.play_round(&mut nets);
            tally.add_round(round.evaluated, round.net_time);
            for game in round.finished {
                outbox.add(game);
            }
        }
        tally.report(nets.id(), on_progress);
    }

    let last = outbox.close();
    tally.add_written(*last.as_ref().unwrap_or(&Default::default()));
    let progress = tally.end(nets.id());
    match last {
        Ok(_) => Ok(progress),
        Err((games, source)) => Err(WorkerError::Unwritten { games, source }),
    }
}

/// Whether to wait for the trainer, said once when it changes.
struct Patience {
    watch: TrainerWatch,
    last: Option<Wait>,
}

impl Patience {
    fn new(storage: &Storage, config: &WorkerConfig) -> Self {
        Self {
            watch: TrainerWatch::new(storage, config.pace),
            last: None,
        }
    }

    fn must_wait(&mut self) -> bool {
        let wait = match self.watch.wait() {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!("cannot see how far the trainer is, playing on: {error}");
                None
            }
        };
        if wait != self.last {
            self.last = wait;
            match wait {
                Some(Wait::Ahead) => tracing::info!("far enough ahead, waiting for the trainer"),
                Some(Wait::NoTrainer) => {
                    tracing::info!("the trainer has stopped; waiting until one goes on");
                }
                None => tracing::info!("playing on"),
            }
        }
        wait.is_some()
    }
}
