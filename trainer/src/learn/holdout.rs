//! How good a net is on games that it was not trained on.

use crate::learn::batch::Batcher;
use crate::learn::loss::Losses;
use crate::learn::read;
use crate::learn::sample::Sample;
use burn::tensor::activation::{log_softmax, softmax};
use model::{Net, NetOutput};
use serde::Serialize;

/// Samples that go through the net at once.
const CHUNK: usize = 256;
/// Bins of the calibration, of equal width in expected score.
pub const CALIBRATION_BINS: usize = 10;

/// Positions whose expected score is about the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Positions.
    pub positions: u32,
    /// Mean expected score of the side to move, 0 to 1.
    pub expected: f32,
    /// Mean score that came of them.
    pub scored: f32,
}

/// Measures on held-out samples; losses in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HoldoutReport {
    /// Samples measured on.
    pub samples: usize,
    /// Policy cross-entropy with the searches.
    pub policy_loss: f32,
    /// The same less the entropy of the searches' policies.
    pub policy_kl: f32,
    /// Entropy of the net's own policy over the legal moves.
    pub policy_entropy: f32,
    /// Cross-entropy with the outcomes.
    pub value_loss: f32,
    /// What `value_loss` would be for the best constant answer: the entropy of the outcomes.
    pub constant_value_loss: f32,
    /// Expected calibration error of the expected score, 0 to 1: the mean distance, over bins, of what was expected
    /// from what came out.
    pub calibration_error: f32,
    /// What that is the mean of, from sure losses to sure wins.
    pub calibration: [CalibrationBin; CALIBRATION_BINS],
    /// Moves-left loss, in its own units.
    pub moves_left_loss: f32,
}

/// Measures `net`, an inference net, on `samples`; `batcher` must put outcomes alone into the value target.
pub fn evaluate(net: &Net, batcher: &Batcher, samples: &[&Sample]) -> HoldoutReport {
    let mut sum = Sums::default();
    let mut calibration = Calibration::default();
    for chunk in samples.chunks(CHUNK) {
        let batch = batcher.batch(chunk, &net.device());
        let output = net.forward(batch.planes.clone());
        let losses = Losses::new(&output, &batch);
        let (count, teaching) = (chunk.len() as f32, batch.policy_samples as f32);
        let policy_loss = read(losses.policy);
        sum.policy_loss += policy_loss * teaching;
        sum.policy_kl += (policy_loss - batch.policy_target_entropy) * teaching;
        sum.policy_entropy += policy_entropy(&output, &batch.moves) * count;
        sum.value_loss += read(losses.value) * count;
        sum.moves_left_loss += read(losses.moves_left) * count;
        sum.count += count;
        sum.teaching += teaching;
        for (expected, sample) in expected_scores(&output).into_iter().zip(chunk) {
            calibration.add(expected, sample.outcome.win + 0.5 * sample.outcome.draw);
        }
    }
    let (count, teaching) = (sum.count.max(1.0), sum.teaching.max(1.0));
    HoldoutReport {
        samples: samples.len(),
        policy_loss: sum.policy_loss / teaching,
        policy_kl: sum.policy_kl / teaching,
        policy_entropy: sum.policy_entropy / count,
        value_loss: sum.value_loss / count,
        constant_value_loss: outcome_entropy(samples),
        calibration_error: calibration.error(),
        calibration: calibration.bins(),
        moves_left_loss: sum.moves_left_loss / count,
    }
}

#[derive(Default)]
struct Sums {
    count: f32,
    teaching: f32,
    policy_loss: f32,
    policy_kl: f32,
    policy_entropy: f32,
    value_loss: f32,
    moves_left_loss: f32,
}

/// Mean entropy of the policy over the legal moves of a batch.
fn policy_entropy(output: &NetOutput, moves: &model::PolicyGather) -> f32 {
    let logits = output.legal_logits(moves);
    let [count, _] = logits.dims();
    let terms = softmax(logits.clone(), 1) * log_softmax(logits, 1);
    read(terms.sum().neg().div_scalar(count as f32))
}

/// Expected scores from the side to move, 0 to 1.
fn expected_scores(output: &NetOutput) -> Vec<f32> {
    let probs = softmax(output.wdl_logits.clone(), 1).try_into_vec_as::<f32>();
    let probs = probs.expect("the device hands back its numbers");
    probs
        .chunks_exact(3)
        .map(|wdl| wdl[0] + 0.5 * wdl[1])
        .collect()
}

/// Entropy of the outcomes' frequencies in nats.
fn outcome_entropy(samples: &[&Sample]) -> f32 {
    let sum = |part: fn(&Sample) -> f32| samples.iter().map(|sample| part(sample)).sum::<f32>();
    let counts = [
        sum(|s| s.outcome.win),
        sum(|s| s.outcome.draw),
        sum(|s| s.outcome.loss),
    ];
    let total = samples.len().max(1) as f32;
    counts
        .iter()
        .map(|count| count / total)
        .filter(|&p| p > 0.0)
        .map(|p| -p * p.ln())
        .sum()
}

/// Sums over bins of expected score.
#[derive(Default)]
struct Calibration {
    /// Count, sum of expected scores, sum of scores.
    sums: [(f32, f32, f32); CALIBRATION_BINS],
}

impl Calibration {
    fn add(&mut self, expected: f32, score: f32) {
        let bin = ((expected * CALIBRATION_BINS as f32) as usize).min(CALIBRATION_BINS - 1);
        let (count, expected_sum, score_sum) = &mut self.sums[bin];
        *count += 1.0;
        *expected_sum += expected;
        *score_sum += score;
    }

    fn error(&self) -> f32 {
        let total: f32 = self.sums.iter().map(|bin| bin.0).sum();
        let distance: f32 = self
            .sums
            .iter()
            .map(|(_, expected, score)| (expected - score).abs())
            .sum();
        distance / total.max(1.0)
    }

    fn bins(&self) -> [CalibrationBin; CALIBRATION_BINS] {
        self.sums.map(|(count, expected, score)| CalibrationBin {
            positions: count as u32,
            expected: expected / count.max(1.0),
            scored: score / count.max(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Right on average in each bin is no error; always too sure by 0.1 is an error of 0.1.
    #[test]
    fn calibration_error_is_the_mean_distance() {
        let mut right = Calibration::default();
        let mut sure = Calibration::default();
        for i in 0..100 {
            right.add(0.75, if i < 75 { 1.0 } else { 0.0 });
            sure.add(0.85, if i < 75 { 1.0 } else { 0.0 });
        }
        assert!(right.error() < 1e-5, "{}", right.error());
        assert!((sure.error() - 0.1).abs() < 1e-5, "{}", sure.error());
    }
}
