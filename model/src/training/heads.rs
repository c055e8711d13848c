//! The heads' 1×1 convolutions and poolings.

use rayon::prelude::*;

use super::elementwise::load_activations;
use super::norm::Norm;
use super::parameters::HeadPlace;
use super::pooling::Pooled;
use super::tape::Tape;
use super::tower::Tower;
use super::word::Word;
use crate::compiled::conv::{After, BLOCK, Conv, ConvWeights, lanes};

/// Index of the value's convolution among the heads.
const VALUE: usize = 3;

/// One thing, such as the numbers or their gradient, for each output of the tower with its heads.
/// Cells are the squares of the board's bounding rectangle, rank by rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs<T> {
    /// `[batch, cells, policy_dim]`
    pub query: T,
    /// `[batch, cells, policy_dim]`
    pub key: T,
    /// `[batch, cells, kinds]`
    pub kind: T,
    /// Means and maxima of the value's channels, `[batch, 2 · value_channels]`
    pub value: T,
    /// Means and maxima of the features, `[batch, 2 · channels]`; none without hands.
    pub pooled: T,
}

impl<T> Outputs<T> {
    /// The same for each output.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Outputs<U> {
        Outputs {
            query: f(self.query),
            key: f(self.key),
            kind: f(self.kind),
            value: f(self.value),
            pooled: f(self.pooled),
        }
    }

    /// References to all.
    pub fn as_ref(&self) -> Outputs<&T> {
        Outputs {
            query: &self.query,
            key: &self.key,
            kind: &self.kind,
            value: &self.value,
            pooled: &self.pooled,
        }
    }
}

impl Tower {
    /// Numbers of each output for a sample.
    pub(super) fn output_widths(&self) -> Outputs<usize> {
        let cells = self.grid.cells();
        let [query, key, kind, value] = self.plan.heads.each_ref().map(|head| head.outputs);
        Outputs {
            query: query * cells,
            key: key * cells,
            kind: kind * cells,
            value: 2 * value,
            pooled: if self.has_hands { 2 * self.channels } else { 0 },
        }
    }

    /// First block of channels of each head in what [`head_conv`](Tower::head_conv) gives, and
    /// the number of blocks.
    pub(super) fn head_blocks(&self) -> ([usize; 4], usize) {
        let mut next = 0;
        let firsts = self.plan.heads.each_ref().map(|head| {
            next += head.outputs.div_ceil(BLOCK);
            next - head.outputs.div_ceil(BLOCK)
        });
        (firsts, next)
    }

    /// The convolutions of some heads in one.
    fn head_conv(&self, heads: &[HeadPlace], parameters: &[f32]) -> Conv {
        let part = |head: &HeadPlace| ConvWeights {
            taps: 1,
            inputs: self.channels,
            outputs: head.outputs,
            weights: parameters[head.weight.clone()].to_vec(),
            bias: parameters[head.bias.clone()].to_vec(),
        };
        Conv::pack(self.level, &heads.iter().map(part).collect::<Vec<_>>())
    }

    /// The convolution that takes the gradients of the heads' outputs to that of the features.
    pub(super) fn transposed_heads(&self, parameters: &[f32]) -> Conv {
        let (firsts, blocks) = self.head_blocks();
        let inputs = blocks * BLOCK;
        let mut weights = vec![0.0; self.channels * inputs];
        for (head, first) in self.plan.heads.iter().zip(firsts) {
            for (at, &value) in parameters[head.weight.clone()].iter().enumerate() {
                let (output, channel) = (at / self.channels, at % self.channels);
                weights[channel * inputs + first * BLOCK + output] = value;
            }
        }
        let part = ConvWeights {
            taps: 1,
            inputs,
            outputs: self.channels,
            weights,
            bias: vec![0.0; self.channels],
        };
        Conv::pack(self.level, &[part])
    }

    /// The value's convolution.
    pub(super) fn value_conv(&self, parameters: &[f32]) -> Conv {
        self.head_conv(&self.plan.heads[VALUE..], parameters)
    }
}

impl<W: Word> Tape<W> {
    /// What comes out, from the last block's output.
    pub(super) fn run_heads(&self, features: &[W]) -> Outputs<Vec<f32>> {
        let tower = &self.tower;
        let widths = tower.output_widths();
        let mut outputs = widths.clone().map(|width| vec![0.0; width * self.batch]);
        let conv = tower.head_conv(&tower.plan.heads, &self.parameters);
        let (firsts, _) = tower.head_blocks();
        let identity = Norm::identity(conv.outputs().max(tower.blocks() * BLOCK));
        let samples = split(&mut outputs, &widths, self.batch);
        samples.into_par_iter().enumerate().for_each_init(
            || [tower.channels, conv.outputs()].map(|count| tower.grid.activations(count)),
            |[loaded, scratch], (sample, out)| {
                load_activations(self.how(), self.of(features, sample), loaded);
                let features = &loaded[..];
                conv.run(tower.grid, features, scratch, After::Keep);
                let lists = [
                    (out.query, firsts[0]),
                    (out.key, firsts[1]),
                    (out.kind, firsts[2]),
                ];
                for (head, (out, first)) in lists.into_iter().enumerate() {
                    tower.gather_cells(scratch, first, tower.plan.heads[head].outputs, out);
                }
                let mask = tower.mask(self.sample_planes(sample));
                let value = &scratch[firsts[VALUE] * tower.grid.block_floats()..];
                tower.level.vectorize(
                    #[inline(always)]
                    || {
                        self.pooled(&mask, value, &identity).pool(out.value);
                        if tower.has_hands {
                            self.pooled(&mask, features, &identity).pool(out.pooled);
                        }
                    },
                );
            },
        );
        outputs
    }

    /// The gradient of a sample's features, without that through their relu, from that of the
    /// outputs. `scratch` is for the gradients of the convolutions' outputs.
    pub(super) fn heads_backward(
        &self,
        (sample, features): (usize, &[f32]),
        gradient: &Outputs<Option<&[f32]>>,
        tools: &HeadTools,
        scratch: &mut HeadScratch,
        out: &mut [f32],
    ) {
        let tower = &self.tower;
        let widths = tower.output_widths();
        let of = |values: Option<&'_ [f32]>, width: usize| -> Vec<f32> {
            values.map_or_else(Vec::new, |v| v[sample * width..][..width].to_vec())
        };
        let lists = [
            (gradient.query, widths.query),
            (gradient.key, widths.key),
            (gradient.kind, widths.kind),
        ];
        for (head, (values, width)) in lists.into_iter().enumerate() {
            let Some(values) = values else { continue };
            let outputs = tower.plan.heads[head].outputs;
            let values = &values[sample * width..][..width];
            tower.scatter_cells(values, tools.firsts[head], outputs, &mut scratch.gradient);
        }
        let mask = tower.mask(self.sample_planes(sample));
        let value_start = tools.firsts[VALUE] * tower.grid.block_floats();
        let value_gradient = &mut scratch.gradient[value_start..];
        if gradient.value.is_some() {
            tools
                .value
                .run(tower.grid, features, &mut scratch.value, After::Keep);
            value_gradient.fill(0.0);
        }
        let spread = |z: &[f32], pooled_gradient: &[f32], out: &mut [f32]| {
            let pooled = self.pooled(&mask, z, &tools.identity);
            let mut values = vec![0.0; pooled_gradient.len()];
            tower.level.vectorize(
                #[inline(always)]
                || {
                    pooled.pool(&mut values);
                    pooled.spread(&values, pooled_gradient, out);
                },
            );
        };
        if gradient.value.is_some() {
            spread(
                &scratch.value,
                &of(gradient.value, widths.value),
                value_gradient,
            );
        }
        tools
            .transposed
            .run(tower.grid, &scratch.gradient, out, After::Keep);
        if gradient.pooled.is_some() && tower.has_hands {
            spread(features, &of(gradient.pooled, widths.pooled), out);
        }
    }

    /// What is pooled of a sample.
    pub(super) fn pooled<'a>(&self, mask: &'a [f32], z: &'a [f32], norm: &'a Norm) -> Pooled<'a> {
        Pooled {
            grid: self.tower.grid,
            squares: self.tower.squares,
            mask,
            z,
            norm,
        }
    }
}

/// What the backward pass of the heads needs for every sample.
pub(super) struct HeadTools {
    pub firsts: [usize; 4],
    pub blocks: usize,
    transposed: Conv,
    value: Conv,
    identity: Norm,
}

impl HeadTools {
    pub fn new(tower: &Tower, parameters: &[f32]) -> HeadTools {
        let (firsts, blocks) = tower.head_blocks();
        HeadTools {
            firsts,
            blocks,
            transposed: tower.transposed_heads(parameters),
            value: tower.value_conv(parameters),
            identity: Norm::identity((blocks + tower.blocks()) * BLOCK),
        }
    }

    pub fn scratch(&self, tower: &Tower) -> HeadScratch {
        HeadScratch {
            gradient: tower.grid.activations(self.blocks * BLOCK),
            value: tower.grid.activations(self.value.outputs()),
        }
    }
}

/// Buffers of one part of the batch.
pub(super) struct HeadScratch {
    /// Gradients of the convolutions' outputs.
    pub gradient: crate::compiled::aligned::AlignedFloats,
    value: crate::compiled::aligned::AlignedFloats,
}

impl Tower {
    /// Some channels of activations as `[cells][outputs]`.
    fn gather_cells(&self, activations: &[f32], first: usize, outputs: usize, out: &mut [f32]) {
        let block_floats = self.grid.block_floats();
        for (cell, out) in out.chunks_exact_mut(outputs).enumerate() {
            let at = first * block_floats + self.grid.at(cell);
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let width = out.len();
                out.copy_from_slice(&lanes(activations, at + block * block_floats)[..width]);
            }
        }
    }

    /// The reverse of [`gather_cells`](Tower::gather_cells).
    fn scatter_cells(&self, values: &[f32], first: usize, outputs: usize, out: &mut [f32]) {
        let block_floats = self.grid.block_floats();
        for (cell, values) in values.chunks_exact(outputs).enumerate() {
            let at = first * block_floats + self.grid.at(cell);
            for (block, values) in values.chunks(BLOCK).enumerate() {
                out[at + block * block_floats..][..values.len()].copy_from_slice(values);
            }
        }
    }
}

/// Each sample's part of the outputs.
fn split<'a>(
    outputs: &'a mut Outputs<Vec<f32>>,
    widths: &Outputs<usize>,
    batch: usize,
) -> Vec<Outputs<&'a mut [f32]>> {
    let mut query = outputs.query.chunks_mut(widths.query);
    let mut key = outputs.key.chunks_mut(widths.key);
    let mut kind = outputs.kind.chunks_mut(widths.kind);
    let mut value = outputs.value.chunks_mut(widths.value);
    let mut pooled = outputs.pooled.chunks_mut(widths.pooled.max(1));
    (0..batch)
        .map(|_| Outputs {
            query: query.next().unwrap_or_default(),
            key: key.next().unwrap_or_default(),
            kind: kind.next().unwrap_or_default(),
            value: value.next().unwrap_or_default(),
            pooled: pooled.next().unwrap_or_default(),
        })
        .collect()
}
