//! Global pooling within a block, forwards and backwards, for one sample.

use super::norm::Norm;
use super::parameters::PoolingPlace;
use crate::compiled::conv::{BLOCK, lanes, lanes_mut};

/// A block's pooling with its parameters at hand.
pub struct Pooling<'a> {
    /// Channels of the tower.
    pub channels: usize,
    /// Floats in a block of channels.
    pub block_floats: usize,
    /// `[2 · channels][channels]`
    pub weight: &'a [f32],
    pub bias: &'a [f32],
}

impl<'a> Pooling<'a> {
    /// The pooling at `place`.
    pub fn new(place: &PoolingPlace, parameters: &'a [f32], block_floats: usize) -> Pooling<'a> {
        let bias = &parameters[place.bias.clone()];
        Pooling {
            channels: bias.len(),
            block_floats,
            weight: &parameters[place.weight.clone()],
            bias,
        }
    }

    /// Means and maxima of relu(norm(z)) over `squares`, the places of the board's squares within
    /// a block, into `pooled`, `[2 · channels]`.
    pub fn pool(&self, squares: &[usize], z: &[f32], norm: &Norm, pooled: &mut [f32]) {
        let (means, maxima) = pooled.split_at_mut(self.channels);
        for (block, (means, maxima)) in
            (means.chunks_mut(BLOCK).zip(maxima.chunks_mut(BLOCK))).enumerate()
        {
            let scale = lanes(&norm.scale, block * BLOCK);
            let shift = lanes(&norm.shift, block * BLOCK);
            let (mut sum, mut max) = ([0f32; BLOCK], [0f32; BLOCK]);
            for at in squares {
                let z = lanes(z, block * self.block_floats + at);
                for i in 0..BLOCK {
                    let y = (z[i] * scale[i] + shift[i]).max(0.0);
                    sum[i] += y;
                    max[i] = max[i].max(y);
                }
            }
            for (i, (mean, maximum)) in means.iter_mut().zip(maxima).enumerate() {
                *mean = sum[i] / squares.len() as f32;
                *maximum = max[i];
            }
        }
    }

    /// The bias of each channel.
    pub fn apply(&self, pooled: &[f32], out: &mut [f32]) {
        out[..self.channels].copy_from_slice(self.bias);
        for (&x, weights) in pooled.iter().zip(self.weight.chunks_exact(self.channels)) {
            for (out, weight) in out.iter_mut().zip(weights) {
                *out += x * weight;
            }
        }
    }

    /// The backward pass. `gradient` holds that of norm(z) + bias and is changed to that of
    /// norm(z); the gradients of weights and bias are added to `sums`, `[2 · channels + 1]
    /// [channels]`. A maximum passes its gradient to the first square that has it, as in burn.
    pub fn backward(
        &self,
        squares: &[usize],
        cells: impl Iterator<Item = usize>,
        (z, norm, pooled): (&[f32], &Norm, &[f32]),
        gradient: &mut [f32],
        sums: &mut [f32],
    ) {
        let channels = self.channels;
        let mut bias_gradient = vec![0f32; channels.next_multiple_of(BLOCK)];
        for cell in cells {
            for (block, sums) in bias_gradient
                .as_chunks_mut::<BLOCK>()
                .0
                .iter_mut()
                .enumerate()
            {
                let gradient = lanes(gradient, block * self.block_floats + cell);
                for i in 0..BLOCK {
                    sums[i] += gradient[i];
                }
            }
        }
        let mut pooled_gradient = [
            vec![0f32; bias_gradient.len()],
            vec![0f32; bias_gradient.len()],
        ];
        let bias_gradient = &bias_gradient[..channels];
        let rows = sums.chunks_exact_mut(channels);
        let inputs = pooled.iter().copied().chain([1.0]);
        for (row, x) in rows.zip(inputs) {
            for (sum, gradient) in row.iter_mut().zip(bias_gradient) {
                *sum += x * gradient;
            }
        }
        for (row, weights) in self.weight.chunks_exact(channels).enumerate() {
            let products = weights.iter().zip(bias_gradient).map(|(w, g)| w * g);
            pooled_gradient[row / channels][row % channels] = products.sum();
        }
        let [mut means, mut maxima] = pooled_gradient;
        for mean in &mut means {
            *mean /= squares.len() as f32;
        }
        for block in 0..channels.div_ceil(BLOCK) {
            let scale = lanes(&norm.scale, block * BLOCK);
            let shift = lanes(&norm.shift, block * BLOCK);
            let mean = lanes(&means, block * BLOCK);
            let left = lanes_mut(&mut maxima, block * BLOCK);
            let mut tops = [0f32; BLOCK];
            let top = &pooled[channels + block * BLOCK..];
            let width = top.len().min(BLOCK);
            tops[..width].copy_from_slice(&top[..width]);
            for at in squares {
                let at = block * self.block_floats + at;
                let (z, gradient) = (lanes(z, at), lanes_mut(gradient, at));
                for i in 0..BLOCK {
                    let y = z[i] * scale[i] + shift[i];
                    if y > 0.0 {
                        gradient[i] += mean[i];
                        if y == tops[i] {
                            gradient[i] += left[i];
                            left[i] = 0.0;
                        }
                    }
                }
            }
        }
    }
}
