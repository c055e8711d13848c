//! Global pooling, forwards and backwards, for one sample.

use super::norm::Norm;
use super::parameters::PoolingPlace;
use crate::compiled::conv::{BLOCK, lanes, lanes_mut};

/// What is pooled: relu(norm(z)) on the board's squares.
pub struct Pooled<'a> {
    /// Places of the squares within a block of channels.
    pub squares: &'a [usize],
    /// Floats in a block of channels.
    pub block_floats: usize,
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
            let (mut sum, mut max) = ([0f32; BLOCK], [0f32; BLOCK]);
            for at in self.squares {
                let z = lanes(self.z, block * self.block_floats + at);
                for i in 0..BLOCK {
                    let y = (z[i] * scale[i] + shift[i]).max(0.0);
                    sum[i] += y;
                    max[i] = max[i].max(y);
                }
            }
            for (i, (mean, maximum)) in means.iter_mut().zip(maxima).enumerate() {
                *mean = sum[i] / self.squares.len() as f32;
                *maximum = max[i];
            }
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
            let (mut tops, mut means, mut left) = ([0f32; BLOCK], [0f32; BLOCK], [0f32; BLOCK]);
            tops[..width].copy_from_slice(&pooled[channels + start..][..width]);
            means[..width].copy_from_slice(&pooled_gradient[start..][..width]);
            left[..width].copy_from_slice(&pooled_gradient[channels + start..][..width]);
            for mean in &mut means {
                *mean /= self.squares.len() as f32;
            }
            let scale = *lanes(&self.norm.scale, start);
            let shift = *lanes(&self.norm.shift, start);
            for at in self.squares {
                let at = start / BLOCK * self.block_floats + at;
                let (z, gradient) = (lanes(self.z, at), lanes_mut(gradient, at));
                let mut result = *gradient;
                for i in 0..BLOCK {
                    let y = z[i] * scale[i] + shift[i];
                    let (positive, top) = (y > 0.0, y == tops[i]);
                    let mean = if positive { means[i] } else { 0.0 };
                    result[i] += mean + if positive & top { left[i] } else { 0.0 };
                    left[i] = if top { 0.0 } else { left[i] };
                }
                *gradient = result;
            }
        }
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
