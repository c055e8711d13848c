//! Global pooling, forwards and backwards, for one sample.

use super::elementwise::{Row, fold, repeat, rows};
use super::norm::Norm;
use super::parameters::PoolingPlace;
use crate::board::GRID;
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
            let scale = repeat(lanes(&self.norm.scale, block * BLOCK));
            let shift = repeat(lanes(&self.norm.shift, block * BLOCK));
            let (mut sums, mut tops) = ([0f32; GRID * BLOCK], [0f32; GRID * BLOCK]);
            for (row, mask) in rows(self.grid, block).zip(self.mask_rows()) {
                let given = self.z[row].iter().zip(mask).zip(scale.iter().zip(&shift));
                let results = sums.iter_mut().zip(&mut tops);
                for ((sum, top), ((z, mask), (scale, shift))) in results.zip(given) {
                    let y = (z * scale + shift).max(0.0) * mask;
                    *sum += y;
                    *top = top.max(y);
                }
            }
            for (mean, sum) in means.iter_mut().zip(fold(&sums, self.grid)) {
                *mean = sum / self.squares as f32;
            }
            maxima.fill(0.0);
            for square in &tops.as_chunks::<BLOCK>().0[..self.grid.files] {
                for (maximum, top) in maxima.iter_mut().zip(square) {
                    *maximum = maximum.max(*top);
                }
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
            // Channels that fill up the block get no gradient: no number equals an infinite top.
            let (mut tops, mut means) = ([f32::INFINITY; BLOCK], [0f32; BLOCK]);
            tops[..width].copy_from_slice(&pooled[channels + start..][..width]);
            means[..width].copy_from_slice(&pooled_gradient[start..][..width]);
            let means = repeat(&means.map(|mean| mean / self.squares as f32));
            let first = self.spread_means(start / BLOCK, &means, &repeat(&tops), gradient);
            let firsts = first.as_chunks::<BLOCK>().0;
            for i in 0..width {
                let ranks = firsts[..self.grid.files].iter().map(|square| square[i]);
                let cells = ranks.enumerate().map(|(file, rank)| {
                    let cell = rank * self.grid.files as f32 + file as f32;
                    cell as usize
                });
                let cell = cells.min().unwrap_or(usize::MAX);
                if cell < self.grid.cells() {
                    let at = start / BLOCK * self.grid.block_floats() + self.grid.at(cell);
                    gradient[at + i] += pooled_gradient[channels + start + i];
                }
            }
        }
    }

    /// Adds the means' gradients; the answer is, for each float of a row, the first rank whose
    /// positive number is `tops`, or infinity.
    #[inline(always)]
    fn spread_means(&self, block: usize, means: &Row, tops: &Row, gradient: &mut [f32]) -> Row {
        let scale = repeat(lanes(&self.norm.scale, block * BLOCK));
        let shift = repeat(lanes(&self.norm.shift, block * BLOCK));
        let mut first = [f32::INFINITY; GRID * BLOCK];
        let ranks = rows(self.grid, block).zip(self.mask_rows()).enumerate();
        for (rank, (row, mask)) in ranks {
            let given = self.z[row.clone()].iter().zip(mask);
            let factors = scale.iter().zip(&shift).zip(means.iter().zip(tops));
            let results = gradient[row].iter_mut().zip(&mut first);
            for (((gradient, first), (z, mask)), ((scale, shift), (mean, top))) in
                results.zip(given).zip(factors)
            {
                let y = (z * scale + shift).max(0.0) * mask;
                *gradient += if y > 0.0 { *mean } else { 0.0 };
                let found = if y > 0.0 && y == *top {
                    rank as f32
                } else {
                    f32::INFINITY
                };
                *first = first.min(found);
            }
        }
        first
    }

    #[inline(always)]
    fn mask_rows(&self) -> impl Iterator<Item = &[f32]> {
        self.mask.chunks_exact(self.grid.files * BLOCK)
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
