//! The policy's logits, for the moves that are asked for alone.
//!
//! With the query q = Wq·x(from) + bq of a move's source, the key Wk·x(to) + bk of its goal and the
//! kind's weights v, the logit is q·(Wk·x(to) + bk)/√d + v·x(to) + c. What belongs to the source is
//! r = Wkᵀ·q/√d and q·bk/√d, both linear in x(from), so their matrix is multiplied out when the net is
//! loaded. A source costs one product with it and a move one product of r + v with x(to); neither
//! queries nor keys are computed but for men in hand, which have queries of their own.

use super::aligned::AlignedFloats;
use super::conv::{BLOCK, ConvWeights, Grid, lanes};
use super::heads::{Dense, Matrix};
use super::kernel::SimdLevel;
use crate::net::{MovePlace, NetShape};

/// The policy head.
pub struct PolicyHead {
    /// From a source's features to r.
    source: Affine,
    /// From a query to r: Wkᵀ/√d for each channel.
    key: Matrix,
    /// Divided by √d.
    key_bias: Vec<f32>,
    /// One for each kind: weights of whole blocks of channels, and a bias.
    kinds: Vec<(Vec<[f32; BLOCK]>, f32)>,
    /// The queries of roles to be entered, from the pooled features.
    pub hand: Option<Dense>,
    channels: usize,
}

/// From features to r and q·bk/√d.
struct Affine {
    matrix: Matrix,
    bias: Vec<f32>,
    /// Whole blocks of channels.
    constant: Vec<[f32; BLOCK]>,
    constant_bias: f32,
}

/// What is known of the sources of the position at hand.
#[derive(Default)]
pub struct PolicyScratch {
    sources: Vec<Source>,
    features: Vec<f32>,
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
        let kinds = (kind.weights.chunks_exact(channels).zip(&kind.bias))
            .map(|(weights, &bias)| (blocks(weights), bias));
        PolicyHead {
            source: Affine::new(query, key),
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
        let source = &mut scratch.sources[row];
        if let Some(hand) = row.checked_sub(grid.cells()) {
            let dim = self.key_bias.len();
            let query = &scratch.hand[hand * dim..][..dim];
            self.key.apply(query, &mut source.product);
            source.constant = query.iter().zip(&self.key_bias).map(|(q, b)| q * b).sum();
        } else {
            let x = &mut scratch.features;
            x.clear();
            for block in features.chunks_exact(grid.block_floats()) {
                x.extend_from_slice(lanes(block, grid.at(row)));
            }
            self.source.apply(x, self.channels, source);
        }
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

impl Affine {
    fn new(query: &ConvWeights, key: &ConvWeights) -> Affine {
        let (channels, scale) = (query.inputs, 1.0 / (query.outputs as f64).sqrt());
        let column = |weights: &ConvWeights, channel: usize| -> Vec<f64> {
            let column = weights.weights.iter().skip(channel).step_by(channels);
            column.map(|&weight| f64::from(weight)).collect()
        };
        let wide = |bias: &[f32]| bias.iter().map(|&b| f64::from(b)).collect::<Vec<_>>();
        let product = |a: &[f64], b: &[f64]| -> f32 {
            (scale * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()) as f32
        };
        let columns = |weights| (0..channels).map(move |channel| column(weights, channel));
        let (queries, keys): (Vec<_>, Vec<_>) = (columns(query).collect(), columns(key).collect());
        let (query_bias, key_bias) = (wide(&query.bias), wide(&key.bias));
        let matrix: Vec<f32> = (queries.iter())
            .flat_map(|query| keys.iter().map(|key| product(query, key)))
            .collect();
        let constant: Vec<f32> = (queries.iter())
            .map(|query| product(query, &key_bias))
            .collect();
        Affine {
            matrix: Matrix::new(&matrix, channels),
            bias: keys.iter().map(|key| product(&query_bias, key)).collect(),
            constant: blocks(&constant),
            constant_bias: product(&query_bias, &key_bias),
        }
    }

    /// From features `x`, of which the first `channels` count and the rest are zeros.
    #[inline(always)]
    fn apply(&self, x: &[f32], channels: usize, source: &mut Source) {
        self.matrix.apply(&x[..channels], &mut source.product);
        for (r, bias) in source.product.iter_mut().zip(&self.bias) {
            *r += bias;
        }
        let mut sums = [0f32; BLOCK];
        for (x, constant) in x.as_chunks::<BLOCK>().0.iter().zip(&self.constant) {
            for i in 0..BLOCK {
                sums[i] += x[i] * constant[i];
            }
        }
        source.constant = total(sums) + self.constant_bias;
    }
}

/// Numbers in blocks, the last one filled up with zeros.
fn blocks(values: &[f32]) -> Vec<[f32; BLOCK]> {
    let block = |part: &[f32]| {
        let mut block = [0f32; BLOCK];
        block[..part.len()].copy_from_slice(part);
        block
    };
    values.chunks(BLOCK).map(block).collect()
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
