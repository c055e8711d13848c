//! What the net is trained to make small.

use crate::config::LearnConfig;
use crate::learn::batch::Batch;
use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use model::{MOVES_LEFT_UNIT, NetOutput};

/// The losses of a batch, each a mean over the samples that it applies to; `[1]` each, in nats except `moves_left`.
pub struct Losses {
    /// Cross-entropy of the policy over the legal moves.
    pub policy: Tensor<1>,
    /// Cross-entropy of win, draw and loss.
    pub value: Tensor<1>,
    /// Huber loss of the plies left, in units of [`MOVES_LEFT_UNIT`].
    pub moves_left: Tensor<1>,
}

impl Losses {
    /// Compares the net's output for a batch with its targets.
    pub fn new(output: &NetOutput, batch: &Batch) -> Losses {
        Losses {
            policy: policy_loss(output, batch),
            value: value_loss(output.wdl_logits.clone(), batch.value_target.clone()),
            moves_left: moves_left_loss(output.moves_left.clone(), batch),
        }
    }

    /// The weighted sum that is minimised; `[1]`.
    pub fn total(&self, config: &LearnConfig) -> Tensor<1> {
        self.policy.clone().mul_scalar(config.policy_weight)
            + self.value.clone().mul_scalar(config.value_weight)
            + self.moves_left.clone().mul_scalar(config.moves_left_weight)
    }
}

fn policy_loss(output: &NetOutput, batch: &Batch) -> Tensor<1> {
    let log_probs = log_softmax(output.legal_logits(&batch.moves), 1);
    (log_probs * batch.policy_target.clone())
        .sum()
        .neg()
        .div_scalar(batch.policy_samples.max(1) as f32)
}

/// Cross-entropy between `[B, 3]` logits and `[B, 3]` chances.
fn value_loss(logits: Tensor<2>, target: Tensor<2>) -> Tensor<1> {
    let [count, _] = target.dims();
    (log_softmax(logits, 1) * target)
        .sum()
        .neg()
        .div_scalar(count as f32)
}

/// Huber loss, quadratic up to one unit and linear beyond, so that a game that dragged on does not drown the others.
fn moves_left_loss(predicted: Tensor<2>, batch: &Batch) -> Tensor<1> {
    let target = batch.moves_left_target.clone().div_scalar(MOVES_LEFT_UNIT);
    let error = (predicted - target).abs();
    let quadratic = error.clone().clamp_max(1.0);
    let linear = error - quadratic.clone();
    let huber = (quadratic.clone() * quadratic).mul_scalar(0.5) + linear;
    let count = batch.moves_left_mask.clone().sum().clamp_min(1.0);
    (huber * batch.moves_left_mask.clone()).sum() / count
}
