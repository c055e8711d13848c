//! Samples as tensors.

use crate::learn::sample::Sample;
use burn::tensor::{Device, Int, Tensor, TensorData};
use model::{Encoding, PolicyLayout};
use rayon::prelude::*;
use rules::{Position, Variant};

/// How samples of one variant become numbers.
pub struct Batcher {
    encoding: Encoding,
    layout: PolicyLayout,
    variant: std::sync::Arc<Variant>,
    /// Share of the search's value in the value target, in [0, 1]; the rest is the outcome.
    value_from_search: f32,
}

/// B samples, with the lists of legal moves padded to the longest, L.
pub struct Batch {
    /// `[B, planes, 10, 10]`
    pub planes: Tensor<4>,
    /// `[B, L]`: index of each legal move into the flattened `policy_qk`, `row * 100 + to`.
    pub qk_index: Tensor<2, Int>,
    /// `[B, L]`: index of each legal move into the flattened `policy_kind`, `kind * 100 + to`.
    pub kind_index: Tensor<2, Int>,
    /// `[B, L]`: 0 for a legal move, a large negative number for padding; added to the logits.
    pub padding: Tensor<2>,
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

/// Added to the logits of padding: far below any logit, far above what overflows.
const NEVER: f32 = -1e9;

impl Batcher {
    /// A batcher for samples of `variant`.
    pub fn new(variant: std::sync::Arc<Variant>, value_from_search: f32) -> Batcher {
        Batcher {
            encoding: Encoding::new(&variant),
            layout: PolicyLayout::new(&variant),
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
        let rows: Vec<Row> = samples.par_iter().map(|sample| self.row(sample)).collect();
        let count = rows.len();
        let longest = rows.iter().map(|row| row.qk_index.len()).max().unwrap_or(0).max(1);
        let padded = |of: fn(&Row) -> &Vec<f32>, filler: f32| {
            let mut flat = Vec::with_capacity(count * longest);
            for row in &rows {
                flat.extend_from_slice(of(row));
                flat.resize(flat.len() + longest - of(row).len(), filler);
            }
            Tensor::<2>::from_data(TensorData::new(flat, [count, longest]), device)
        };
        let indices = |of: fn(&Row) -> &Vec<i32>| {
            let mut flat = Vec::with_capacity(count * longest);
            for row in &rows {
                flat.extend_from_slice(of(row));
                flat.resize(flat.len() + longest - of(row).len(), 0);
            }
            Tensor::<2, Int>::from_data(TensorData::new(flat, [count, longest]), device)
        };
        let column = |of: fn(&Row) -> f32| {
            Tensor::<2>::from_data(TensorData::new(rows.iter().map(of).collect::<Vec<f32>>(), [count, 1]), device)
        };
        let planes: Vec<f32> = rows.iter().flat_map(|row| row.planes.iter().copied()).collect();
        let values: Vec<f32> = rows.iter().flat_map(|row| row.value_target).collect();
        let policy_samples = rows.iter().filter(|row| row.teaches_policy).count();
        let entropy: f32 = rows.iter().flat_map(|row| &row.policy_target).map(|&p| entropy_term(p)).sum();
        Batch {
            planes: Tensor::from_data(TensorData::new(planes, [count, self.encoding.planes(), 10, 10]), device),
            qk_index: indices(|row| &row.qk_index),
            kind_index: indices(|row| &row.kind_index),
            padding: padded(|row| &row.padding, NEVER),
            policy_target: padded(|row| &row.policy_target, 0.0),
            value_target: Tensor::from_data(TensorData::new(values, [count, 3]), device),
            moves_left_target: column(|row| row.moves_left.unwrap_or(0.0)),
            moves_left_mask: column(|row| f32::from(u8::from(row.moves_left.is_some()))),
            policy_samples,
            policy_target_entropy: entropy / policy_samples.max(1) as f32,
        }
    }

    fn row(&self, sample: &Sample) -> Row {
        let position: &Position = &sample.position;
        let moves = position.legal_moves(&self.variant);
        let mut planes = vec![0.0; self.encoding.planes() * 100];
        self.encoding.encode(position, sample.repetitions, &mut planes);
        let indices = moves.iter().map(|&mv| self.layout.index(position.turn(), mv));
        let (qk_index, kind_index) = indices.map(|index| (index.qk() as i32, index.kind_to() as i32)).unzip();
        let lambda = self.value_from_search;
        let mixed = |outcome: f32, searched: f32| (1.0 - lambda) * outcome + lambda * searched;
        let policy_target = match &sample.policy_target {
            Some(target) => target.to_vec(),
            None => vec![0.0; moves.len()],
        };
        assert_eq!(policy_target.len(), moves.len(), "a probability for each legal move");
        Row {
            planes,
            qk_index,
            kind_index,
            padding: vec![0.0; moves.len()],
            policy_target,
            teaches_policy: sample.policy_target.is_some(),
            value_target: [
                mixed(sample.outcome.win, sample.searched.win),
                mixed(sample.outcome.draw, sample.searched.draw),
                mixed(sample.outcome.loss, sample.searched.loss),
            ],
            moves_left: sample.moves_left,
        }
    }
}

/// One sample as numbers.
struct Row {
    planes: Vec<f32>,
    qk_index: Vec<i32>,
    kind_index: Vec<i32>,
    padding: Vec<f32>,
    policy_target: Vec<f32>,
    teaches_policy: bool,
    value_target: [f32; 3],
    moves_left: Option<f32>,
}

/// A probability's part of the entropy, in nats.
fn entropy_term(p: f32) -> f32 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}
