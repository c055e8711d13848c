//! The policy's logits of legal moves alone, as an operation of burn's autodiff.
//!
//! A position has a few dozen legal moves, the matrix of all pairs of squares thousands of
//! entries. On the CPU it is several times faster to compute only those that are asked for.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex};
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::operation::{Floats, primitive, tensor};
use crate::net::{MovePlace, PolicyVectors};

/// Where the moves of a batch are: a list for each sample.
pub type MoveLists = Arc<Vec<Vec<MovePlace>>>;

/// Logits `[batch, width]` of the moves in `lists`, `padding` beyond the end of each list.
///
/// # Panics
/// If the tensors are not on the CPU with autodiff, or a list is of another net's moves.
pub fn legal_logits(
    vectors: &PolicyVectors,
    lists: &MoveLists,
    width: usize,
    padding: f32,
) -> Tensor<2> {
    let [batch, cells, dim] = vectors.query.dims();
    let [_, _, kinds] = vectors.kind.dims();
    let hand = match &vectors.hand {
        Some(hand) => hand.clone(),
        None => Tensor::zeros([batch, 1, dim], &vectors.query.device()),
    };
    let [_, hand_rows, _] = hand.dims();
    let tensors = [&vectors.query, &vectors.key, &vectors.kind, &hand];
    let tracked = tensors.map(|tensor| primitive(tensor.clone()));
    let nodes = tracked.each_ref().map(|tensor| tensor.node());
    let state = Logits {
        values: tracked.map(|tensor| Floats::new(tensor.into_primitive())),
        lists: Arc::clone(lists),
        width,
        sizes: Sizes {
            cells,
            dim,
            kinds,
            hand_rows,
        },
    };
    assert_eq!(lists.len(), batch, "a list of moves for each sample");
    let logits = tensor(state.forward(padding), vec![batch, width]);
    let operation = LogitsBackward.prepare::<NoCheckpointing>(nodes);
    let output = match operation.compute_bound().stateful() {
        OpsKind::Tracked(operation) => operation.finish(state, logits),
        OpsKind::UnTracked(operation) => operation.finish(logits),
    };
    Tensor::from_primitive::<Autodiff<Flex>>(output)
}

#[derive(Clone, Copy, Debug)]
struct Sizes {
    cells: usize,
    dim: usize,
    kinds: usize,
    hand_rows: usize,
}

#[derive(Clone, Debug)]
struct Logits {
    /// Query, key, kind, hand.
    values: [Floats; 4],
    lists: MoveLists,
    width: usize,
    sizes: Sizes,
}

impl Sizes {
    /// Numbers of a sample in each of the four.
    fn widths(&self) -> [usize; 4] {
        [
            self.cells * self.dim,
            self.cells * self.dim,
            self.cells * self.kinds,
            self.hand_rows * self.dim,
        ]
    }

    fn scale(&self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }
}

impl Logits {
    /// The numbers of a sample.
    fn of(&self, sample: usize) -> [&[f32]; 4] {
        let widths = self.sizes.widths();
        [0, 1, 2, 3].map(|i| &self.values[i].as_ref()[sample * widths[i]..][..widths[i]])
    }

    fn forward(&self, padding: f32) -> Vec<f32> {
        let Sizes {
            cells, dim, kinds, ..
        } = self.sizes;
        let mut out = vec![padding; self.lists.len() * self.width];
        out.par_chunks_mut(self.width)
            .enumerate()
            .for_each(|(sample, out)| {
                let [query, key, kind, hand] = self.of(sample);
                for (out, place) in out.iter_mut().zip(&self.lists[sample]) {
                    let from = match place.row.checked_sub(cells) {
                        None => &query[place.row * dim..][..dim],
                        Some(row) => &hand[row * dim..][..dim],
                    };
                    let to = &key[place.to * dim..][..dim];
                    let product: f32 = from.iter().zip(to).map(|(a, b)| a * b).sum();
                    *out = product * self.sizes.scale() + kind[place.to * kinds + place.kind];
                }
            });
        out
    }

    /// Gradients of the four from that of the logits.
    fn backward(&self, gradient: &[f32]) -> [Vec<f32>; 4] {
        let widths = self.sizes.widths();
        let mut all = widths.map(|width| vec![0.0; self.lists.len() * width]);
        let [query, key, kind, hand] = &mut all;
        let samples = (query.par_chunks_mut(widths[0]))
            .zip(key.par_chunks_mut(widths[1]))
            .zip(
                kind.par_chunks_mut(widths[2])
                    .zip(hand.par_chunks_mut(widths[3])),
            );
        samples
            .enumerate()
            .for_each(|(sample, ((query, key), (kind, hand)))| {
                let gradient = &gradient[sample * self.width..][..self.width];
                self.sample_backward(sample, gradient, [query, key, kind, hand]);
            });
        all
    }

    fn sample_backward(&self, sample: usize, gradient: &[f32], out: [&mut [f32]; 4]) {
        let Sizes {
            cells, dim, kinds, ..
        } = self.sizes;
        let [query, key, _, hand] = self.of(sample);
        let [query_out, key_out, kind_out, hand_out] = out;
        for (gradient, place) in gradient.iter().zip(&self.lists[sample]) {
            kind_out[place.to * kinds + place.kind] += gradient;
            let (from, from_out) = match place.row.checked_sub(cells) {
                None => (&query[place.row * dim..], &mut query_out[place.row * dim..]),
                Some(row) => (&hand[row * dim..], &mut hand_out[row * dim..]),
            };
            let gradient = gradient * self.sizes.scale();
            let to = place.to * dim..(place.to + 1) * dim;
            let (to, to_out) = (&key[to.clone()], &mut key_out[to]);
            for i in 0..dim {
                from_out[i] += gradient * to[i];
                to_out[i] += gradient * from[i];
            }
        }
    }
}

#[derive(Debug)]
struct LogitsBackward;

impl Backward<Flex, 4> for LogitsBackward {
    type State = Logits;

    fn backward(self, ops: Ops<Logits, 4>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = Floats::new(grads.consume::<Flex>(&ops.node));
        let logits = ops.state;
        let Sizes {
            cells,
            dim,
            kinds,
            hand_rows,
        } = logits.sizes;
        let rows = [(cells, dim), (cells, dim), (cells, kinds), (hand_rows, dim)];
        let gradients = logits.backward(gradient.as_ref());
        for ((node, gradient), (rows, width)) in ops.parents.into_iter().zip(gradients).zip(rows) {
            if let Some(node) = node {
                let shape = vec![logits.lists.len(), rows, width];
                grads.register::<Flex>(node.id, tensor(gradient, shape));
            }
        }
    }
}
