//! What the net is trained to make small.

use crate::config::LearnConfig;
use crate::learn::batch::Batch;
use burn::tensor::Tensor;
use burn::tensor::activation::{log_softmax, softmax};
use model::NetOutput;

/// The losses of a batch, each a mean over the samples that it applies to; `[1]` each, in nats except `moves_left`.
pub struct Losses {
    /// Cross-entropy of the policy over the legal moves.
    pub policy: Tensor<1>,
    /// Cross-entropy of win, draw and loss.
    pub value: Tensor<1>,
    /// Huber loss of the plies left, in units of [`MOVES_LEFT_UNIT`].
    pub moves_left: Tensor<1>,
}

/// Plies that count as an error of 1 in the moves-left loss, to bring it to the size of the others.
pub const MOVES_LEFT_UNIT: f32 = 20.0;

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

/// Logarithms of the probabilities of the legal moves: `[B, L]`, the padding very negative.
pub fn policy_log_probs(output: &NetOutput, batch: &Batch) -> Tensor<2> {
    let qk = output.policy_qk.clone().flatten::<2>(1, 2).gather(1, batch.qk_index.clone());
    let kind = output.policy_kind.clone().flatten::<2>(1, 2).gather(1, batch.kind_index.clone());
    log_softmax(qk + kind + batch.padding.clone(), 1)
}

fn policy_loss(output: &NetOutput, batch: &Batch) -> Tensor<1> {
    let log_probs = policy_log_probs(output, batch);
    (log_probs * batch.policy_target.clone()).sum().neg().div_scalar(batch.policy_samples.max(1) as f32)
}

/// Cross-entropy between `[B, 3]` logits and `[B, 3]` chances.
fn value_loss(logits: Tensor<2>, target: Tensor<2>) -> Tensor<1> {
    let [count, _] = target.dims();
    (log_softmax(logits, 1) * target).sum().neg().div_scalar(count as f32)
}

/// Huber loss, quadratic up to one unit and linear beyond, so that a game that dragged on does not drown the others.
fn moves_left_loss(predicted: Tensor<2>, batch: &Batch) -> Tensor<1> {
    let error = (predicted - batch.moves_left_target.clone()).div_scalar(MOVES_LEFT_UNIT).abs();
    let quadratic = error.clone().clamp_max(1.0);
    let linear = error - quadratic.clone();
    let huber = (quadratic.clone() * quadratic).mul_scalar(0.5) + linear;
    let count = batch.moves_left_mask.clone().sum().clamp_min(1.0);
    (huber * batch.moves_left_mask.clone()).sum() / count
}

/// Expected scores of a batch from the side to move, in [0, 1]; `[B]`.
pub fn expected_scores(wdl_logits: Tensor<2>) -> Vec<f32> {
    let probs = softmax(wdl_logits, 1).into_data().convert::<f32>();
    let probs: Vec<f32> = probs.to_vec().expect("the data were converted to f32");
    probs.chunks_exact(3).map(|wdl| wdl[0] + 0.5 * wdl[1]).collect()
}
