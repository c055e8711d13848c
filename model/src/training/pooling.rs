//! Global pooling, forwards and backwards, for one sample.

use super::elementwise::ranks;
use super::norm::Norm;
use super::parameters::PoolingPlace;
use crate::compiled::conv::{BLOCK, Grid, lanes};

/// What is pooled: relu(norm(z)) on the board's squares.
pub struct Pooled<'a> {
    pub grid: Grid,
    /// Squares that the board has.
    pub squares: usize,
    /// 1 on these squares, else 0, `[ranks][files][BLOCK]`.
    pub mask: &'a [f32],
    pub z: &'a [f32],
    pub norm: &'a Norm,
}

impl Pooled<'_> {
    /// Means, then maxima, of the first half as many channels as `out` is long.
    #[inline(always)]
    pub fn pool(&self, out: &mut [f32]) {
        let (means, maxima) = out.split_at_mut(out.len() / 2);
        let blocks = means.chunks_mut(BLOCK).zip(maxima.chunks_mut(BLOCK));
        for (block, (means, maxima)) in blocks.enumerate() {
            let scale = *lanes(&self.norm.scale, block * BLOCK);
            let shift = *lanes(&self.norm.shift, block * BLOCK);
            let (mut sums, mut tops) = ([0f32; BLOCK], [0f32; BLOCK]);
            for (_, z, mask) in self.squares(block) {
                for i in 0..BLOCK {
                    let y = (z[i] * scale[i] + shift[i]).max(0.0) * mask[i];
                    sums[i] += y;
                    tops[i] = tops[i].max(y);
                }
            }
            for (mean, sum) in means.iter_mut().zip(sums) {
                *mean = sum / self.squares as f32;
            }
            let width = maxima.len();
            maxima.copy_from_slice(&tops[..width]);
        }
    }

    /// Adds to `gradient`, that of norm(z), what comes back through the pooling: `pooled` is what
    /// [`pool`](Pooled::pool) gave, `pooled_gradient` its gradient. A maximum passes its gradient
    /// to the first square that has it, as in burn.
    #[inline(always)]
    pub fn spread(&self, pooled: &[f32], pooled_gradient: &[f32], gradient: &mut [f32]) {
        let channels = pooled.len() / 2;
        for start in (0..channels).step_by(BLOCK) {
            let width = (channels - start).min(BLOCK);
            // Channels that fill up the block get no gradient: no number equals an infinite top.
            let (mut tops, mut means) = ([f32::INFINITY; BLOCK], [0f32; BLOCK]);
            tops[..width].copy_from_slice(&pooled[channels + start..][..width]);
            means[..width].copy_from_slice(&pooled_gradient[start..][..width]);
            let means = means.map(|mean| mean / self.squares as f32);
            let first = self.spread_means(start / BLOCK, &means, &tops, gradient);
            for (i, &at) in first[..width].iter().enumerate() {
                if at.is_finite() {
                    gradient[at as usize * BLOCK + i] += pooled_gradient[channels + start + i];
                }
            }
        }
    }

    /// Adds the means' gradients; the answer is, for each channel, the first square whose
    /// positive number is that of `tops`, or infinity.
    #[inline(always)]
    fn spread_means(
        &self,
        block: usize,
        means: &[f32; BLOCK],
        tops: &[f32; BLOCK],
        gradient: &mut [f32],
    ) -> [f32; BLOCK] {
        let gradient = gradient.as_chunks_mut::<BLOCK>().0;
        let scale = *lanes(&self.norm.scale, block * BLOCK);
        let shift = *lanes(&self.norm.shift, block * BLOCK);
        let mut first = [f32::INFINITY; BLOCK];
        for (at, z, mask) in self.squares(block) {
            let (place, gradient) = (at as f32, &mut gradient[at]);
            for i in 0..BLOCK {
                let y = (z[i] * scale[i] + shift[i]).max(0.0) * mask[i];
                gradient[i] += if y > 0.0 { means[i] } else { 0.0 };
                let found = if y > 0.0 && y == tops[i] {
                    place
                } else {
                    f32::INFINITY
                };
                first[i] = first[i].min(found);
            }
        }
        first
    }

    /// The squares of a block of channels in the order of the board: place, numbers, mask.
    #[inline(always)]
    fn squares(&self, block: usize) -> impl Iterator<Item = (usize, &[f32; BLOCK], &[f32; BLOCK])> {
        let z = self.z.as_chunks::<BLOCK>().0;
        let places = ranks(self.grid, block).flatten();
        (places.zip(self.mask.as_chunks::<BLOCK>().0)).map(|(at, mask)| (at, &z[at], mask))
    }
}

/// The linear layer that turns what a block has pooled into a bias for each channel.
pub struct PoolingLayer<'a> {
    /// `[2 · channels][channels]`
    weight: &'a [f32],
    bias: &'a [f32],
}

impl<'a> PoolingLayer<'a> {
    /// The layer at `place`.
    pub fn new(place: &PoolingPlace, parameters: &'a [f32]) -> PoolingLayer<'a> {
        PoolingLayer {
            weight: &parameters[place.weight.clone()],
            bias: &parameters[place.bias.clone()],
        }
    }

    /// The bias of each channel.
    #[inline(always)]
    pub fn apply(&self, pooled: &[f32], out: &mut [f32]) {
        let channels = self.bias.len();
        out[..channels].copy_from_slice(self.bias);
        for (&x, weights) in pooled.iter().zip(self.weight.chunks_exact(channels)) {
            for (out, weight) in out.iter_mut().zip(weights) {
                *out += x * weight;
            }
        }
    }

    /// The backward pass from the gradient of the biases: the gradient of `pooled` is written to
    /// `pooled_gradient`, those of weights and bias are added to `sums`,
    /// `[2 · channels + 1][channels]`.
    #[inline(always)]
    pub fn backward(
        &self,
        pooled: &[f32],
        bias_gradient: &[f32],
        pooled_gradient: &mut [f32],
        sums: &mut [f32],
    ) {
        let channels = self.bias.len();
        let inputs = pooled.iter().copied().chain([1.0]);
        for (row, x) in sums.chunks_exact_mut(channels).zip(inputs) {
            for (sum, gradient) in row.iter_mut().zip(bias_gradient) {
                *sum += x * gradient;
            }
        }
        let rows = self.weight.chunks_exact(channels);
        for (gradient, weights) in pooled_gradient.iter_mut().zip(rows) {
            *gradient = dot(weights, bias_gradient);
        }
    }
}

/// A product of vectors in a fixed order that vectorises.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    let (a_chunks, a_rest) = a.as_chunks::<16>();
    let (b_chunks, b_rest) = b.as_chunks::<16>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
