//! Publishing: the averaged net becomes the one that the workers play with.

use super::state::Pipeline;
use crate::learn::batch::Batcher;
use crate::learn::holdout;
use crate::learn::sample::Sample;
use anyhow::ensure;
use model::{NetMeta, save_net};
use selfplay::layout::{CurrentNet, RunPaths};

/// Held-out samples that each published net is measured on: ±0.015 on a share, in half a second.
const HOLDOUT_SAMPLES: usize = 1024;

/// The id of the net of a training step; 0 is the untrained one.
pub fn net_id(step: u64) -> String {
    format!("{step:08}")
}

/// The training step of a net's id; none if it is not one of ours.
pub(super) fn step_of_net(id: &str) -> Option<u64> {
    id.parse().ok()
}

impl Pipeline<'_> {
    /// Whether the workers' net is old enough to be replaced.
    pub(super) fn publish_is_due(&self) -> bool {
        let is_old = self.learner.counters.steps
            >= self.published_step + self.run.config.learn.publish_every;
        is_old && self.learner.skipped_in_a_row() == 0
    }

    /// Publishes the averaged net, after a checkpoint: the trainer can then never fall behind a net that is out, and
    /// make another one of the same name.
    pub(super) fn publish(&mut self) -> anyhow::Result<CurrentNet> {
        self.learner.counters.nets_published += 1;
        self.checkpoint()?;
        let step = self.learner.counters.steps;
        let net = self.learner.averaged_net();
        let id = net_id(step);
        let meta = NetMeta::new(&self.run.variant, *net.config(), &id, step);
        let current = CurrentNet { id, step };
        self.lease.check()?;
        let samples: Vec<&Sample> = self.replay.holdout().collect();
        if !samples.is_empty() {
            let stride = samples.len().div_ceil(HOLDOUT_SAMPLES);
            let samples: Vec<&Sample> = samples.into_iter().step_by(stride).collect();
            // Outcomes alone: what the search thought came from such a net itself.
            let batcher = Batcher::new(self.run.variant.clone(), 0.0);
            let report = holdout::evaluate(&net, &batcher, &samples);
            ensure!(
                report.value_loss.is_finite() && report.policy_loss.is_finite(),
                "learning has gone astray: what the net of step {step} says is not finite; lower learn.learning_rate in {} and resume",
                self.run.storage.object_url(RunPaths::CONFIG)
            );
            self.reporter.metrics.holdout(step, &report);
        }
        current.publish(&self.run.storage, save_net(&net, &meta)?)?;
        self.published_step = step;
        Ok(current)
    }
}
