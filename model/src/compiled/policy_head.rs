//! The policy's logits, for the moves that are asked for alone.
//!
//! With the query q = Wq·x(from) + bq of a move's source, the key Wk·x(to) + bk of its goal and the
//! kind's weights v, the logit is q·(Wk·x(to) + bk)/√d + v·x(to) + c. All that belongs to the source
//! is multiplied out once, to r = Wkᵀ·q/√d and q·bk/√d; a move then costs one product of r + v with
//! x(to), and keys are never computed.

use super::aligned::AlignedFloats;
use super::conv::{BLOCK, ConvWeights, Grid, lanes};
use super::heads::{Dense, Matrix};
use super::kernel::SimdLevel;
use crate::net::{MovePlace, NetShape};

/// The policy head.
pub struct PolicyHead {
    /// Products with a source's features, d numbers.
    query: Matrix,
    query_bias: Vec<f32>,
    /// Products with a query: Wkᵀ/√d for each channel.
    key: Matrix,
    /// Divided by √d.
    key_bias: Vec<f32>,
    /// One for each kind: weights of whole blocks of channels, and a bias.
    kinds: Vec<(Vec<[f32; BLOCK]>, f32)>,
    /// The queries of roles to be entered, from the pooled features.
    pub hand: Option<Dense>,
    channels: usize,
}

/// What is known of the sources of the position at hand.
#[derive(Default)]
pub struct PolicyScratch {
    sources: Vec<Source>,
    features: Vec<f32>,
    query: Vec<f32>,
    /// Queries of roles to be entered.
    pub hand: Vec<f32>,
}

/// What belongs to a row of the policy matrix.
#[derive(Clone, Default)]
struct Source {
    known: bool,
    /// r, whole blocks of channels.
    product: Vec<f32>,
    constant: f32,
}

impl PolicyHead {
    /// From the 1×1 convolutions for queries, keys and kinds.
    pub fn new(
        query: &ConvWeights,
        key: &ConvWeights,
        kind: &ConvWeights,
        hand: Option<Dense>,
    ) -> PolicyHead {
        let scale = 1.0 / (query.outputs as f32).sqrt();
        let scaled = |values: &[f32]| values.iter().map(|x| x * scale).collect::<Vec<f32>>();
        let channels = query.inputs;
        let kinds =
            (kind.weights.chunks_exact(channels).zip(&kind.bias)).map(|(weights, &bias)| {
                let blocks = weights.chunks(BLOCK).map(|part| {
                    let mut block = [0f32; BLOCK];
                    block[..part.len()].copy_from_slice(part);
                    block
                });
                (blocks.collect(), bias)
            });
        PolicyHead {
            query: Matrix::new(&transposed(&query.weights, channels), query.outputs),
            query_bias: query.bias.clone(),
            key: Matrix::new(&scaled(&key.weights), channels),
            key_bias: scaled(&key.bias),
            kinds: kinds.collect(),
            hand,
            channels,
        }
    }

    /// The logits of `moves` in the position with these features.
    pub fn logits(
        &self,
        level: SimdLevel,
        (grid, shape): (Grid, &NetShape),
        features: &AlignedFloats,
        moves: impl Iterator<Item = MovePlace>,
        scratch: &mut PolicyScratch,
    ) -> Vec<f32> {
        scratch
            .sources
            .resize(shape.query_rows(), Source::default());
        for source in &mut scratch.sources {
            source.known = false;
        }
        let moves: Vec<MovePlace> = moves.collect();
        let mut logits = vec![0.0; moves.len()];
        level.vectorize(
            #[inline(always)]
            || {
                for (logit, mv) in logits.iter_mut().zip(&moves) {
                    if !scratch.sources[mv.row].known {
                        self.learn_source(grid, features, mv.row, scratch);
                    }
                    *logit = self.logit(grid, features, mv, &scratch.sources[mv.row]);
                }
            },
        );
        logits
    }

    #[inline(always)]
    fn learn_source(
        &self,
        grid: Grid,
        features: &AlignedFloats,
        row: usize,
        scratch: &mut PolicyScratch,
    ) {
        let dim = self.query_bias.len();
        let query = match row.checked_sub(grid.cells()) {
            Some(hand) => &scratch.hand[hand * dim..][..dim],
            None => {
                scratch.features.clear();
                for block in features.chunks_exact(grid.block_floats()) {
                    scratch
                        .features
                        .extend_from_slice(lanes(block, grid.at(row)));
                }
                let features = &scratch.features[..self.channels];
                self.query.apply(features, &mut scratch.query);
                for (q, bias) in scratch.query.iter_mut().zip(&self.query_bias) {
                    *q += bias;
                }
                &scratch.query[..dim]
            }
        };
        let source = &mut scratch.sources[row];
        self.key.apply(query, &mut source.product);
        source.constant = query.iter().zip(&self.key_bias).map(|(q, b)| q * b).sum();
        source.known = true;
    }

    #[inline(always)]
    fn logit(&self, grid: Grid, features: &AlignedFloats, mv: &MovePlace, source: &Source) -> f32 {
        let (kind, bias) = &self.kinds[mv.kind];
        let at = grid.at(mv.to);
        let mut sums = [0f32; BLOCK];
        let blocks = features.chunks_exact(grid.block_floats());
        let products = source.product.as_chunks::<BLOCK>().0;
        for ((block, product), kind) in blocks.zip(products).zip(kind) {
            let x = lanes(block, at);
            for i in 0..BLOCK {
                sums[i] += (product[i] + kind[i]) * x[i];
            }
        }
        total(sums) + source.constant + bias
    }
}

/// The sum of a block, by halves.
#[inline(always)]
fn total(mut sums: [f32; BLOCK]) -> f32 {
    let mut width = BLOCK;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            sums[i] += sums[i + width];
        }
    }
    sums[0]
}

/// `[outputs][inputs]` as `[inputs][outputs]`.
fn transposed(weights: &[f32], inputs: usize) -> Vec<f32> {
    let column = |input| weights.iter().skip(input).step_by(inputs).copied();
    (0..inputs).flat_map(column).collect()
}
