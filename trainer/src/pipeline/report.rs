//! What the run shows and writes about itself.

use super::state::Pipeline;
use crate::game_stats::GameStats;
use crate::learn::StepReport;
use crate::metrics::{Metrics, Speeds};
use crate::progress::{Display, Status, Waiting};
use crate::run::Run;
use crate::time_use::{TrainerTime, WorkerTime};
use selfplay::layout::RunPaths;
use std::time::{Duration, Instant};

/// Time between points of the curves.
const CURVES_EVERY: Duration = Duration::from_secs(10);
/// Time between updates of the live line.
const SHOW_EVERY: Duration = Duration::from_secs(1);

/// Collects what there is to report, and reports it now and then.
pub struct Reporter {
    pub(super) metrics: Metrics,
    pub(super) display: Display,
    /// Games since the last point of the curves.
    pub(super) games: GameStats,
    /// Sums over training steps since the last point.
    steps: Vec<StepReport>,
    /// The trainer's time since the last point.
    pub(super) time: TrainerTime,
    since: Instant,
    shown: Option<Instant>,
    /// Counters at the last point; none before the first.
    before: Option<Totals>,
    speeds: Speeds,
    losses: Option<(f32, f32)>,
}

/// Counters that speeds are the differences of.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    evaluations: u64,
    positions: u64,
    steps: u64,
    worker_time: WorkerTime,
}

impl Reporter {
    /// Opens the curves.
    pub(super) fn new(run: &Run) -> anyhow::Result<Reporter> {
        let folder = run.local_folder().join(RunPaths::TENSORBOARD);
        let metrics = Metrics::open(&folder)?;
        Ok(Reporter {
            metrics,
            display: Display::new(),
            games: GameStats::default(),
            steps: Vec::new(),
            time: TrainerTime::default(),
            since: Instant::now(),
            shown: None,
            before: None,
            speeds: Speeds::default(),
            losses: None,
        })
    }

    /// Takes in a training step.
    pub(super) fn add_step(&mut self, report: &StepReport) {
        self.steps.push(*report);
    }

    /// Takes the live line away.
    pub(super) fn finish(&self) {
        self.display.finish();
    }
}

impl Pipeline<'_> {
    /// Shows the status and writes the curves, each when it is time.
    pub(super) fn report(&mut self) {
        let is_first = self.reporter.before.is_none();
        if is_first || self.reporter.since.elapsed() >= CURVES_EVERY {
            self.write_curves();
        }
        if self
            .reporter
            .shown
            .is_none_or(|at| at.elapsed() >= SHOW_EVERY)
        {
            self.reporter.shown = Some(Instant::now());
            let waiting = self.waiting();
            self.show(waiting);
        }
    }

    /// Shows the status.
    pub(super) fn show(&mut self, waiting: Waiting) {
        let counters = &self.learner.counters;
        let total = 60.0 * self.run.config.run.minutes;
        let status = Status {
            progress: self.progress(),
            left: Duration::from_secs_f64((total - self.seconds()).max(0.0)),
            games: self.replay.games(),
            positions: self.replay.positions(),
            evaluations_per_second: self.reporter.speeds.evaluations_per_second,
            workers: self.fleet.running(),
            steps: counters.steps,
            steps_per_second: self.reporter.speeds.steps_per_second,
            samples_used: counters.samples_used,
            losses: self.reporter.losses,
            elo: self.elo,
            waiting,
        };
        self.reporter.display.show(&status);
    }

    fn waiting(&self) -> Waiting {
        if self.pace.workers_wait(&self.counters()) {
            Waiting::Workers
        } else if !self.may_learn() {
            Waiting::Trainer
        } else {
            Waiting::Nobody
        }
    }

    fn write_curves(&mut self) {
        let step = self.learner.counters.steps;
        let seconds = self.reporter.since.elapsed().as_secs_f64();
        let positions = self.replay.positions();
        let now = Totals {
            evaluations: self.intake.evaluations(),
            positions,
            steps: step,
            worker_time: self.intake.worker_time(),
        };
        let reporter = &mut self.reporter;
        let before = reporter.before.replace(now).unwrap_or(now);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        reporter.speeds = Speeds {
            evaluations_per_second: rate(now.evaluations, before.evaluations),
            positions_per_second: rate(now.positions, before.positions),
            steps_per_second: rate(now.steps, before.steps),
            window: self.replay.len(),
            positions,
            samples_per_position: self.learner.counters.samples_used as f64
                / positions.max(1) as f64,
        };
        reporter.since = Instant::now();
        reporter.metrics.speeds(step, &reporter.speeds);
        let worker_time = now.worker_time.since(before.worker_time);
        let trainer_time = std::mem::take(&mut reporter.time);
        reporter
            .metrics
            .time(step, worker_time, trainer_time, seconds);
        if let Some(mean) = mean(&reporter.steps) {
            reporter.losses = Some((mean.policy_loss, mean.value_loss));
            reporter.metrics.training(step, &mean);
        }
        reporter.steps.clear();
        if reporter.games.games() > 0 {
            reporter.metrics.games(step, &reporter.games);
            reporter
                .metrics
                .scalar(step, "games/steps_behind", reporter.games.staleness(step));
        }
        reporter.games = GameStats::default();
    }
}

/// Means of all fields but the learning rate, which is the last one.
fn mean(steps: &[StepReport]) -> Option<StepReport> {
    let last = steps.last()?;
    let mean =
        |field: fn(&StepReport) -> f32| steps.iter().map(field).sum::<f32>() / steps.len() as f32;
    Some(StepReport {
        policy_loss: mean(|step| step.policy_loss),
        policy_kl: mean(|step| step.policy_kl),
        value_loss: mean(|step| step.value_loss),
        moves_left_loss: mean(|step| step.moves_left_loss),
        gradient_norm: mean(|step| step.gradient_norm),
        learning_rate: last.learning_rate,
    })
}
