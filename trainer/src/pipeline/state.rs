//! What the pipeline holds, how it starts, saves itself and ends.

use super::Ended;
use super::checkpoints::Checkpoints;
use super::intake::Intake;
use super::measure::{Rating, newest_elo};
use super::report::Reporter;
use crate::fleet::{Fleet, FleetConfig};
use crate::learn::Learner;
use crate::learn::batch::Batcher;
use crate::replay::Replay;
use crate::run::Run;
use model::{ModelError, NetShape, load_weights};
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::lease::{Lease, TrainerCounters};
use selfplay::pace::PaceConfig;
use selfplay::storage::StorageError;
use std::time::{Duration, Instant};

/// No write takes so long: unfinished files that are older are left from killed ones.
const LEFTOVER_AGE: Duration = Duration::from_secs(600);

/// Steps in a row that may be skipped.
const MOST_SKIPPED: u32 = 100;

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
    pub(super) checkpoints: Checkpoints,
}

impl<'a> Pipeline<'a> {
    /// Takes hold of the run, loads its last checkpoint or begins with a fresh net, reads the games that there are and
    /// starts the workers.
    pub(super) fn start(run: &'a Run) -> anyhow::Result<Pipeline<'a>> {
        let config = &run.config;
        let lease = Lease::acquire(&run.storage.impatient())?;
        run.storage.delete_leftovers(LEFTOVER_AGE);
        let device = config.device.device()?;
        let shape = NetShape::new(&run.variant);
        let mut learner = Learner::new(&config.learn, config.net, shape, config.run.seed, &device)?;
        let checkpoints = Checkpoints::resume(run, &mut learner)?;
        let published = usable_net(run)?;
        let mut pipeline = Pipeline {
            run,
            lease,
            pace: config.learn.pace(),
            fleet: Fleet::idle(FleetConfig {
                count: config.run.worker_count(),
                run: run.storage.url().to_owned(),
                logs: run.local_folder().join("logs"),
                device: config.device,
                inference: config.inference,
            }),
            intake: Intake::new(run),
            replay: Replay::new(run.variant.clone(), &config.learn, run.tablebases()?),
            batcher: Batcher::new(run.variant.clone(), config.learn.value_from_search),
            elo: newest_elo(run)?,
            rating: None,
            reporter: Reporter::new(run)?,
            published_step: published.as_ref().map_or(0, |net| net.step),
            started: Instant::now(),
            seconds_before: learner.counters.seconds,
            checkpoints,
            learner,
        };
        if published.is_none() {
            pipeline.publish()?;
        }
        pipeline.take_initial_net()?;
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
        self.take_rating();
        Ok(())
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
        let begun = Instant::now();
        let count = self.run.config.learn.batch_size;
        let samples = self.replay.draw(count, &mut self.learner.counters.rng);
        let batch = self.batcher.batch(&samples, &self.learner.device());
        let report = self.learner.step(&batch, self.progress());
        if !report.gradient_norm.is_finite() {
            tracing::warn!(
                "step {} had a gradient that is not finite and was skipped",
                self.learner.counters.steps
            );
            anyhow::ensure!(
                self.learner.skipped_in_a_row() < MOST_SKIPPED,
                "learning has gone astray: the last {MOST_SKIPPED} steps had gradients that are not finite; lower \
                 learn.learning_rate in {} and resume, or delete the newest file of {} to go on from the one before",
                self.run.storage.object_url(RunPaths::CONFIG),
                self.run.storage.object_url(RunPaths::CHECKPOINTS)
            );
        }
        self.reporter.add_step(&report);
        self.reporter.time.learning += begun.elapsed();
        self.lease.set_counters(self.counters());
        Ok(())
    }

    /// Ends the run in good order: what has been learnt is safe before the rating and the workers are stopped, which may
    /// take a while.
    pub(super) fn end(mut self, ended: Ended) -> anyhow::Result<()> {
        self.reporter.finish();
        let behind = self.learner.counters.steps > self.published_step;
        let is_sound = self.learner.skipped_in_a_row() == 0;
        if ended == Ended::TimeUp && behind && is_sound {
            self.publish()?;
        }
        self.checkpoint()?;
        self.break_off_rating();
        self.fleet.stop();
        self.lease.release()?;
        Ok(())
    }
}

/// The net that the workers are to play with. One that is damaged or missing, or a damaged pointer to it, counts as none,
/// so that the learner publishes its own.
fn usable_net(run: &Run) -> anyhow::Result<Option<CurrentNet>> {
    let damaged = |error: &dyn std::fmt::Display| {
        tracing::warn!("{error}. The trainer publishes its net again");
        Ok(None)
    };
    let net = match CurrentNet::read(&run.storage) {
        Err(error @ StorageError::Malformed { .. }) => return damaged(&error),
        Ok(None) => return Ok(None),
        Ok(Some(net)) => net,
        Err(error) => return Err(error.into()),
    };
    let (bytes, origin) = match run.net_bytes(&net.id) {
        Err(error) if error.is::<StorageError>() => return damaged(&error),
        read => read?,
    };
    match load_weights(&bytes, &origin, &run.variant) {
        Err(error @ ModelError::Corrupt { .. }) => damaged(&error),
        // Whatever else is wrong is not mended by another net of the same making.
        read => Ok(read.map(|_| Some(net))?),
    }
}
