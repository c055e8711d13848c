//! The loop of a run: self-play → replay → learn → publish → measure, until the time is up.
//!
//! Self-play happens in worker processes, the rest here. Both meet only through the run's storage.

mod checkpoints;
mod initial;
mod intake;
mod measure;
mod publish;
mod report;
mod state;

use crate::run::Run;
use state::Pipeline;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use initial::InitialNet;
pub(crate) use intake::net_step;
pub use measure::match_config;
pub use publish::net_id;

/// Pause when there is nothing to do.
const IDLE: Duration = Duration::from_millis(100);

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its minutes are full.
    TimeUp,
    /// It was told to stop.
    Interrupted,
}

/// Runs until the time is up or `stop` is raised, and leaves a checkpoint either way.
///
/// # Errors
/// If another trainer is at work in the run, the storage fails, or all workers keep crashing. What was learnt until the
/// last checkpoint and all finished games are safe.
pub fn run(run: &Run, stop: &AtomicBool) -> anyhow::Result<Ended> {
    let mut pipeline = Pipeline::start(run)?;
    pipeline.measure_untrained()?;
    let ended = loop {
        if stop.load(Ordering::SeqCst) {
            break Ended::Interrupted;
        }
        if pipeline.time_is_up() {
            break Ended::TimeUp;
        }
        let begun = Instant::now();
        pipeline.tend()?;
        pipeline.take_in_games()?;
        if pipeline.may_learn() {
            pipeline.learn()?;
            if pipeline.publish_is_due() {
                let net = pipeline.publish()?;
                pipeline.measure(net);
            }
            pipeline.checkpoint_if_due()?;
        } else {
            sleep(IDLE);
            pipeline.reporter.time.waiting += IDLE;
        }
        if pipeline.rating.is_some() {
            pipeline.reporter.time.rating += begun.elapsed();
        }
        pipeline.report();
    };
    pipeline.end(ended)?;
    Ok(ended)
}
