//! What the pipeline holds, how it starts, saves itself and ends.

use super::Ended;
use super::intake::Intake;
use super::measure::{Rating, newest_elo};
use super::report::Reporter;
use crate::fleet::{Fleet, FleetConfig};
use crate::learn::Learner;
use crate::learn::batch::Batcher;
use crate::replay::Replay;
use crate::run::Run;
use model::NetShape;
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::lease::{Lease, TrainerCounters};
use selfplay::pace::PaceConfig;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A checkpoint may cost this share of the time; it is written as often as that allows.
const CHECKPOINT_SHARE: f64 = 0.02;

/// A run at work.
pub struct Pipeline<'a> {
    pub(super) run: &'a Run,
    pub(super) lease: Lease,
    pub(super) pace: PaceConfig,
    pub(super) fleet: Fleet,
    pub(super) intake: Intake,
    pub(super) replay: Replay,
    pub(super) batcher: Batcher,
    pub(super) learner: Learner,
    /// Elo of the net rated last above the untrained one, with its error.
    pub(super) elo: Option<(f64, f64)>,
    /// The net that is being rated, if one is.
    pub(super) rating: Option<Rating>,
    pub(super) reporter: Reporter,
    /// Training steps of the net that the workers play with.
    pub(super) published_step: u64,
    started: Instant,
    /// Seconds that the run ran before this start.
    seconds_before: f64,
    checkpoints: Checkpoints,
}

/// When the last checkpoint was written, and what it cost.
struct Checkpoints {
    written: Instant,
    cost: Duration,
    step: u64,
    /// Names of the checkpoint before the current one, which goes when the next is written.
    previous: Option<String>,
    current: Option<String>,
}

/// `checkpoints/current.json`: the checkpoint to resume from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CurrentCheckpoint {
    /// Object name of the checkpoint.
    name: String,
    /// Training steps in it.
    step: u64,
}

impl<'a> Pipeline<'a> {
    /// Takes hold of the run, loads its last checkpoint or begins with a fresh net, reads the games that there are and
    /// starts the workers.
    pub(super) fn start(run: &'a Run) -> anyhow::Result<Pipeline<'a>> {
        let config = &run.config;
        let lease = Lease::acquire(&run.storage)?;
        let device = config.device.device()?;
        let shape = NetShape::new(&run.variant);
        let mut learner = Learner::new(&config.learn, config.net, shape, config.run.seed, &device)?;
        let current: Option<CurrentCheckpoint> =
            run.storage.find_json(RunPaths::CURRENT_CHECKPOINT)?;
        if let Some(current) = &current {
            learner.resume(
                &run.storage.get(&current.name)?,
                &run.storage.object_url(&current.name),
            )?;
        }
        let published = CurrentNet::read(&run.storage)?;
        let mut pipeline = Pipeline {
            run,
            lease,
            pace: config.learn.pace(),
            fleet: Fleet::idle(FleetConfig {
                count: config.run.worker_count(),
                run: run.storage.url().to_owned(),
                logs: run.local_folder().join("logs"),
            }),
            intake: Intake::new(run),
            replay: Replay::new(run.variant.clone(), &config.learn),
            batcher: Batcher::new(run.variant.clone(), config.learn.value_from_search),
            elo: newest_elo(run)?,
            rating: None,
            reporter: Reporter::new(run)?,
            published_step: published.as_ref().map_or(0, |net| net.step),
            started: Instant::now(),
            seconds_before: learner.counters.seconds,
            checkpoints: Checkpoints {
                written: Instant::now(),
                cost: Duration::ZERO,
                step: learner.counters.steps,
                previous: None,
                current: current.map(|current| current.name),
            },
            learner,
        };
        if published.is_none() {
            pipeline.publish()?;
        }
        pipeline.take_in_games()?;
        pipeline.fleet.start()?;
        Ok(pipeline)
    }

    /// Seconds that the run has run, those before a resumption included.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Share of the run's time that is used up, 0 to 1.
    pub(super) fn progress(&self) -> f64 {
        (self.seconds() / (60.0 * self.run.config.run.minutes)).min(1.0)
    }

    /// Whether the run's minutes are full.
    pub(super) fn time_is_up(&self) -> bool {
        self.progress() >= 1.0
    }

    /// Looks after lease, workers and ratings.
    pub(super) fn tend(&mut self) -> anyhow::Result<()> {
        self.lease.check()?;
        self.fleet.tend()?;
        self.take_rating()
    }

    /// Whether the workers have made enough positions for another step.
    pub(super) fn may_learn(&self) -> bool {
        !self.replay.is_empty() && !self.pace.trainer_waits(&self.counters())
    }

    /// How far the trainer is, for the workers to know.
    pub(super) fn counters(&self) -> TrainerCounters {
        TrainerCounters {
            steps: self.learner.counters.steps,
            samples_used: self.learner.counters.samples_used,
            positions: self.replay.positions(),
            games: self.replay.games(),
        }
    }

    /// One training step.
    pub(super) fn learn(&mut self) -> anyhow::Result<()> {
        let count = self.run.config.learn.batch_size;
        let samples = self.replay.draw(count, &mut self.learner.counters.rng);
        let batch = self.batcher.batch(&samples, &self.learner.device());
        let report = self.learner.step(&batch, self.progress());
        if !report.gradient_norm.is_finite() {
            tracing::warn!(
                "step {} had a gradient that is not finite and was skipped",
                self.learner.counters.steps
            );
        }
        self.reporter.add_step(&report);
        self.lease.set_counters(self.counters());
        Ok(())
    }

    /// Writes a checkpoint as often as it stays cheap, and no later than the recipe says.
    pub(super) fn checkpoint_if_due(&mut self) -> anyhow::Result<()> {
        let since = self.checkpoints.written.elapsed().as_secs_f64();
        let is_cheap = since * CHECKPOINT_SHARE >= self.checkpoints.cost.as_secs_f64();
        let is_new = self.learner.counters.steps > self.checkpoints.step;
        if is_new && is_cheap || since >= self.run.config.learn.checkpoint_seconds {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Writes a checkpoint.
    pub(super) fn checkpoint(&mut self) -> anyhow::Result<()> {
        self.learner.counters.seconds = self.seconds();
        let step = self.learner.counters.steps;
        let begun = Instant::now();
        let storage = &self.run.storage;
        let name = RunPaths::checkpoint(&format!("{step:08}.safetensors"));
        storage.put(&name, self.learner.checkpoint())?;
        storage.put_json(
            RunPaths::CURRENT_CHECKPOINT,
            &CurrentCheckpoint {
                name: name.clone(),
                step,
            },
        )?;
        if self.checkpoints.current.as_ref() != Some(&name) {
            let previous = self.checkpoints.current.replace(name);
            if let Some(old) = std::mem::replace(&mut self.checkpoints.previous, previous) {
                storage.delete(&old)?;
            }
        }
        self.checkpoints.written = Instant::now();
        self.checkpoints.cost = begun.elapsed();
        self.checkpoints.step = step;
        Ok(())
    }

    /// Ends the run in good order: workers first, so that their last games are in storage, then the checkpoint.
    pub(super) fn end(mut self, ended: Ended) -> anyhow::Result<()> {
        self.reporter.finish();
        self.break_off_rating()?;
        let behind = self.learner.counters.steps > self.published_step;
        if ended == Ended::TimeUp && behind {
            self.publish()?;
        }
        self.checkpoint()?;
        self.fleet.stop();
        self.lease.release()?;
        Ok(())
    }
}
