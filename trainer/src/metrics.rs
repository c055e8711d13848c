//! Curves for TensorBoard.

use crate::game_stats::GameStats;
use crate::learn::StepReport;
use crate::learn::holdout::HoldoutReport;
use crate::time_use::{TrainerTime, WorkerTime};
use anyhow::Context;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tensorboard_rs::summary_writer::SummaryWriter;

/// Writes a run's curves; the step of all of them is the training step.
///
/// A run goes on without its curves: while they cannot be written, say because the disk is full, they have a gap, and a
/// warning says so.
pub struct Metrics {
    /// The library panics when writing fails, so it is cut off at the first panic.
    writer: Option<SummaryWriter>,
    folder: PathBuf,
    /// Whether the last points could not be written.
    has_gap: bool,
}

/// How fast things went since the last report, and how far they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speeds {
    /// Positions that all workers evaluated, a second.
    pub evaluations_per_second: f64,
    /// Positions that became records, a second.
    pub positions_per_second: f64,
    /// Training steps a second of wall time.
    pub steps_per_second: f64,
    /// Samples in the replay window.
    pub window: usize,
    /// Positions made so far.
    pub positions: u64,
    /// Uses of a position so far, on average.
    pub samples_per_position: f64,
}

impl Metrics {
    /// Opens a folder for curves, a new file in it for each start.
    ///
    /// # Errors
    /// If the folder cannot be created or written to.
    pub fn open(folder: &Path) -> anyhow::Result<Metrics> {
        let remedy = || {
            format!(
                "cannot write TensorBoard logs to '{}'; check permissions and free space",
                folder.display()
            )
        };
        std::fs::create_dir_all(folder).with_context(remedy)?;
        probe(folder).with_context(remedy)?;
        Ok(Metrics {
            writer: Some(SummaryWriter::new(folder)),
            folder: folder.to_owned(),
            has_gap: false,
        })
    }

    /// Where the curves are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Losses and optimizer, means over the steps since the last report.
    pub fn training(&mut self, step: u64, report: &StepReport) {
        self.scalars(
            step,
            &[
                ("train/policy_loss", report.policy_loss),
                ("train/policy_kl", report.policy_kl),
                ("train/value_loss", report.value_loss),
                ("train/moves_left_loss", report.moves_left_loss),
                ("train/gradient_norm", report.gradient_norm),
                ("train/learning_rate", report.learning_rate),
            ],
        );
    }

    /// The published net on held-out games.
    pub fn holdout(&mut self, step: u64, report: &HoldoutReport) {
        self.scalars(
            step,
            &[
                ("holdout/policy_loss", report.policy_loss),
                ("holdout/policy_kl", report.policy_kl),
                ("holdout/policy_entropy", report.policy_entropy),
                ("holdout/value_loss", report.value_loss),
                ("holdout/value_loss_of_constant", report.constant_value_loss),
                (
                    "holdout/value_gain_over_constant",
                    report.constant_value_loss - report.value_loss,
                ),
                ("holdout/calibration_error", report.calibration_error),
                ("holdout/moves_left_loss", report.moves_left_loss),
            ],
        );
    }

    /// What the games since the last report were like.
    pub fn games(&mut self, step: u64, stats: &GameStats) {
        for (tag, value) in stats.scalars() {
            self.scalars(step, &[(&tag, value)]);
        }
    }

    /// Speeds and sizes.
    pub fn speeds(&mut self, step: u64, speeds: &Speeds) {
        self.scalars(
            step,
            &[
                (
                    "speed/evaluations_per_second",
                    speeds.evaluations_per_second as f32,
                ),
                (
                    "speed/positions_per_second",
                    speeds.positions_per_second as f32,
                ),
                (
                    "speed/training_steps_per_second",
                    speeds.steps_per_second as f32,
                ),
                ("replay/window", speeds.window as f32),
                ("replay/positions", speeds.positions as f32),
                (
                    "replay/samples_per_position",
                    speeds.samples_per_position as f32,
                ),
            ],
        );
    }

    /// What went into the last `seconds`, as shares: of the workers' time, and of the trainer's.
    pub fn time(&mut self, step: u64, workers: WorkerTime, trainer: TrainerTime, seconds: f64) {
        let [net, search, waiting] = workers.shares().map(|share| share as f32);
        let share = |part: Duration| (part.as_secs_f64() / seconds.max(1e-9)) as f32;
        self.scalars(
            step,
            &[
                ("time/workers_net", net),
                ("time/workers_search", search),
                ("time/workers_waiting", waiting),
                ("time/trainer_learning", share(trainer.learning)),
                ("time/trainer_waiting", share(trainer.waiting)),
                ("time/rating", share(trainer.rating)),
            ],
        );
    }

    /// One point of one curve.
    pub fn scalar(&mut self, step: u64, tag: &str, value: f32) {
        self.scalars(step, &[(tag, value)]);
    }

    fn scalars(&mut self, step: u64, scalars: &[(&str, f32)]) {
        if let Err(error) = probe(&self.folder) {
            if !std::mem::replace(&mut self.has_gap, true) {
                tracing::warn!(
                    "the TensorBoard curves have a gap from here: '{}' cannot be written: {error}",
                    self.folder.display()
                );
            }
            return;
        }
        self.has_gap = false;
        let Some(mut writer) = self.writer.take() else {
            return;
        };
        let written = catch_unwind(AssertUnwindSafe(|| {
            for (tag, value) in scalars.iter().filter(|(_, value)| value.is_finite()) {
                writer.add_scalar(tag, *value, step as usize);
            }
            writer.flush();
        }));
        match written {
            Ok(()) => self.writer = Some(writer),
            Err(_) => {
                // Dropping it would panic again.
                std::mem::forget(writer);
                tracing::warn!(
                    "no more TensorBoard curves: '{}' cannot be written; free space there",
                    self.folder.display()
                );
            }
        }
    }
}

/// Writes and deletes a file as large as any batch of points, for the library does not survive a full disk.
fn probe(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(".probe");
    let written = std::fs::write(&path, [0; 8192]);
    let deleted = std::fs::remove_file(&path);
    written.and(deleted)
}

impl Drop for Metrics {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _closed = catch_unwind(AssertUnwindSafe(|| drop(writer)));
        }
    }
}
