//! Samples as tensors.

use crate::learn::sample::Sample;
use burn::tensor::{Device, Tensor, TensorData};
use model::{Encoding, NetShape, PolicyGather, PolicyIndex, PolicyLayout};
use rayon::prelude::*;
use rules::Variant;
use std::sync::Arc;

/// How samples of one variant become numbers.
pub struct Batcher {
    variant: Arc<Variant>,
    encoding: Encoding,
    layout: PolicyLayout,
    shape: NetShape,
    /// Share of the search's value in the value target, in [0, 1]; the rest is the outcome.
    value_from_search: f32,
}

/// B samples, with the lists of legal moves padded to L, the width of `moves`.
pub struct Batch {
    /// `[B, planes, 10, 10]`
    pub planes: Tensor<4>,
    /// Where the logits of the legal moves are.
    pub moves: PolicyGather,
    /// `[B, L]`: probabilities; all zero in samples that do not teach the policy.
    pub policy_target: Tensor<2>,
    /// `[B, 3]`: chances of win, draw and loss.
    pub value_target: Tensor<2>,
    /// `[B, 1]`: plies to the end of the game.
    pub moves_left_target: Tensor<2>,
    /// `[B, 1]`: 1 where `moves_left_target` means something, else 0.
    pub moves_left_mask: Tensor<2>,
    /// Samples that teach the policy.
    pub policy_samples: usize,
    /// Mean entropy of the policy targets in nats, which is the least that the policy loss can be.
    pub policy_target_entropy: f32,
}

impl Batcher {
    /// A batcher for samples of `variant`.
    pub fn new(variant: Arc<Variant>, value_from_search: f32) -> Batcher {
        Batcher {
            encoding: Encoding::new(&variant),
            layout: PolicyLayout::new(&variant),
            shape: NetShape::new(&variant),
            variant,
            value_from_search,
        }
    }

    /// Puts samples into tensors on `device`.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn batch(&self, samples: &[&Sample], device: &Device) -> Batch {
        assert!(!samples.is_empty(), "a batch has samples");
        let count = samples.len();
        let plane_count = self.encoding.planes();
        let mut planes = vec![0.0f32; count * plane_count * 100];
        let moves: Vec<Vec<PolicyIndex>> = planes
            .par_chunks_exact_mut(plane_count * 100)
            .zip(samples)
            .map(|(planes, sample)| {
                self.encoding
                    .encode(&sample.position, sample.repetitions, planes);
                self.policy_indices(sample)
            })
            .collect();
        let moves = PolicyGather::new(&self.shape, &moves, device);
        let values = samples
            .iter()
            .flat_map(|sample| self.value_target(sample))
            .collect();
        let moves_left = samples
            .iter()
            .map(|sample| sample.moves_left.unwrap_or(0.0))
            .collect();
        let mask = samples
            .iter()
            .map(|sample| f32::from(u8::from(sample.moves_left.is_some())))
            .collect();
        let targets = samples
            .iter()
            .filter_map(|sample| sample.policy_target.as_deref());
        let policy_samples = targets.clone().count();
        let entropy: f32 = targets.flatten().map(|&p| entropy_term(p)).sum();
        Batch {
            planes: Tensor::from_data(
                TensorData::new(planes, [count, plane_count, 10, 10]),
                device,
            ),
            policy_target: policy_targets(samples, moves.width(), device),
            moves,
            value_target: matrix(values, 3, device),
            moves_left_target: matrix(moves_left, 1, device),
            moves_left_mask: matrix(mask, 1, device),
            policy_samples,
            policy_target_entropy: entropy / policy_samples.max(1) as f32,
        }
    }

    fn policy_indices(&self, sample: &Sample) -> Vec<PolicyIndex> {
        let moves = sample.position.legal_moves(&self.variant);
        if let Some(target) = &sample.policy_target {
            assert_eq!(
                target.len(),
                moves.len(),
                "a probability for each legal move"
            );
        }
        moves
            .into_iter()
            .map(|mv| self.layout.index(sample.position.turn(), mv))
            .collect()
    }

    fn value_target(&self, sample: &Sample) -> [f32; 3] {
        let share = self.value_from_search;
        let mix = |outcome: f32, searched: f32| (1.0 - share) * outcome + share * searched;
        let (outcome, searched) = (sample.outcome, sample.searched);
        [
            mix(outcome.win, searched.win),
            mix(outcome.draw, searched.draw),
            mix(outcome.loss, searched.loss),
        ]
    }
}

/// Policy targets padded with zeros: `[B, width]`.
fn policy_targets(samples: &[&Sample], width: usize, device: &Device) -> Tensor<2> {
    let mut flat = vec![0.0; samples.len() * width];
    for (row, sample) in flat.chunks_exact_mut(width).zip(samples) {
        if let Some(target) = &sample.policy_target {
            row[..target.len()].copy_from_slice(target);
        }
    }
    matrix(flat, width, device)
}

fn matrix(flat: Vec<f32>, width: usize, device: &Device) -> Tensor<2> {
    let rows = flat.len() / width;
    Tensor::from_data(TensorData::new(flat, [rows, width]), device)
}

/// A probability's part of the entropy, in nats.
fn entropy_term(p: f32) -> f32 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}
