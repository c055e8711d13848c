//! The small ends of the net: pooling, linear layers, the products of the policy.

use super::conv::{BLOCK, Grid, lanes};
use crate::ModelError;
use crate::Weights;

/// A linear layer, `[inputs][outputs]` as burn keeps it.
pub struct Dense {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    /// The layer `name` of this size.
    pub fn new(
        weights: &Weights,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Dense, ModelError> {
        Ok(Dense {
            weights: weights
                .expect(&format!("{name}.weight"), &[inputs, outputs])?
                .to_vec(),
            bias: weights
                .expect(&format!("{name}.bias"), &[outputs])?
                .to_vec(),
        })
    }

    /// Applies the layer; `out` is replaced.
    pub fn run(&self, input: &[f32], out: &mut Vec<f32>) {
        let outputs = self.bias.len();
        assert_eq!(
            input.len() * outputs,
            self.weights.len(),
            "inputs of a linear layer"
        );
        out.clear();
        out.extend_from_slice(&self.bias);
        for (&x, weights) in input.iter().zip(self.weights.chunks_exact(outputs)) {
            let out = &mut out[..weights.len()];
            for (i, w) in weights.iter().enumerate() {
                out[i] += w * x;
            }
        }
    }
}

/// Means and maxima over the board.
pub struct Pooling {
    grid: Grid,
    /// Places of the cells that exist, for White's and for Black's view.
    places: [Vec<usize>; 2],
}

impl Pooling {
    /// Pooling over the squares given as grid cells in White's and in Black's view.
    pub fn new(grid: Grid, cells: [Vec<usize>; 2]) -> Pooling {
        let places = cells.map(|cells| cells.into_iter().map(|cell| grid.at(cell)).collect());
        Pooling { grid, places }
    }

    /// The means of relu(activations), then the maxima, of `channels` channels from block
    /// `first_block` on; `out` is replaced.
    pub fn run(
        &self,
        view: usize,
        activations: &[f32],
        first_block: usize,
        channels: usize,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        out.resize(2 * channels, 0.0);
        let places = &self.places[view];
        let (means, maxima) = out.split_at_mut(channels);
        let blocks = activations
            .chunks_exact(self.grid.block_floats())
            .skip(first_block);
        let parts = means.chunks_mut(BLOCK).zip(maxima.chunks_mut(BLOCK));
        for (block, (mean, max)) in blocks.zip(parts) {
            let (mut sums, mut tops) = ([0f32; BLOCK], [0f32; BLOCK]);
            for &place in places {
                let values = lanes(block, place);
                for (i, &value) in values.iter().enumerate() {
                    let value = value.max(0.0);
                    sums[i] += value;
                    tops[i] = tops[i].max(value);
                }
            }
            let count = places.len() as f32;
            for (m, sum) in mean.iter_mut().zip(sums) {
                *m = sum / count;
            }
            max.copy_from_slice(&tops[..max.len()]);
        }
    }
}

/// Inner product in eight partial sums, in an order that does not depend on the machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (i, a) in a_chunks.iter().enumerate() {
        let b = &b_chunks[i];
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// log(1 + eˣ) without overflow.
pub fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
