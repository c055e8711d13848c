//! The small ends of the net: pooling and linear layers.

use super::aligned::AlignedFloats;
use super::conv::{BLOCK, Grid, lanes};
use super::kernel::SimdLevel;
use crate::ModelError;
use crate::Weights;

/// A linear layer.
#[derive(Clone)]
pub struct Dense {
    matrix: Matrix,
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
        let matrix = weights.expect(&format!("{name}.weight"), &[inputs, outputs])?;
        let bias = weights.expect(&format!("{name}.bias"), &[outputs])?;
        Ok(Dense {
            matrix: Matrix::new(matrix, outputs),
            bias: bias.to_vec(),
        })
    }

    /// Numbers that come out.
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Applies the layer; `out` is replaced.
    pub fn run(&self, level: SimdLevel, input: &[f32], out: &mut Vec<f32>) {
        level.vectorize(
            #[inline(always)]
            || self.matrix.apply(input, out),
        );
        out.truncate(self.bias.len());
        for (out, bias) in out.iter_mut().zip(&self.bias) {
            *out += bias;
        }
    }
}

/// A matrix that vectors are multiplied with from the left: `[inputs][outputs]`, with zeros up to
/// a whole block of outputs.
#[derive(Clone)]
pub struct Matrix {
    rows: Vec<[f32; BLOCK]>,
    inputs: usize,
}

impl Matrix {
    /// From rows of `outputs` numbers each.
    pub fn new(weights: &[f32], outputs: usize) -> Matrix {
        let inputs = weights.len() / outputs;
        let blocks = outputs.div_ceil(BLOCK);
        // Block after block of outputs, so that a block's sums stay in registers.
        let mut rows = vec![[0f32; BLOCK]; blocks * inputs];
        for (input, row) in weights.chunks_exact(outputs).enumerate() {
            for (block, part) in row.chunks(BLOCK).enumerate() {
                rows[block * inputs + input][..part.len()].copy_from_slice(part);
            }
        }
        Matrix { rows, inputs }
    }

    /// Replaces `out` by the product, whole blocks, in an order of sums that does not depend on the
    /// machine.
    #[inline(always)]
    pub fn apply(&self, input: &[f32], out: &mut Vec<f32>) {
        assert_eq!(input.len(), self.inputs, "inputs of a matrix");
        out.clear();
        for rows in self.rows.chunks_exact(self.inputs) {
            let mut sums = [0f32; BLOCK];
            let (eights, rest) = rows.as_chunks::<8>();
            let (input_eights, input_rest) = input.as_chunks::<8>();
            // Eight products are added up before they join the sums, whose chain is the shorter.
            for ([a, b, c, d, e, f, g, h], x) in eights.iter().zip(input_eights) {
                for i in 0..BLOCK {
                    let low = (a[i] * x[0] + b[i] * x[1]) + (c[i] * x[2] + d[i] * x[3]);
                    let high = (e[i] * x[4] + f[i] * x[5]) + (g[i] * x[6] + h[i] * x[7]);
                    sums[i] += low + high;
                }
            }
            for (row, x) in rest.iter().zip(input_rest) {
                for i in 0..BLOCK {
                    sums[i] += row[i] * x;
                }
            }
            out.extend_from_slice(&sums);
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

    /// The means of relu(activations), then the maxima, of the first `channels` channels; `out` is
    /// replaced.
    pub fn run(
        &self,
        level: SimdLevel,
        view: usize,
        activations: &AlignedFloats,
        channels: usize,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        out.resize(2 * channels, 0.0);
        let places = &self.places[view];
        let (means, maxima) = out.split_at_mut(channels);
        let blocks = activations.chunks_exact(self.grid.block_floats());
        let parts = means.chunks_mut(BLOCK).zip(maxima.chunks_mut(BLOCK));
        for (block, (mean, max)) in blocks.zip(parts) {
            let (sums, tops) = level.vectorize(
                #[inline(always)]
                || sums_and_tops(block, places),
            );
            let count = places.len() as f32;
            for (m, sum) in mean.iter_mut().zip(sums) {
                *m = sum / count;
            }
            max.copy_from_slice(&tops[..max.len()]);
        }
    }
}

/// Sums and maxima of relu(activations) of a block's channels over some cells.
#[inline(always)]
fn sums_and_tops(block: &[f32], places: &[usize]) -> ([f32; BLOCK], [f32; BLOCK]) {
    let (mut sums, mut tops) = ([0f32; BLOCK], [0f32; BLOCK]);
    for &place in places {
        let values = lanes(block, place);
        for (i, &value) in values.iter().enumerate() {
            let value = value.max(0.0);
            sums[i] += value;
            tops[i] = tops[i].max(value);
        }
    }
    (sums, tops)
}

/// log(1 + eˣ) without overflow.
pub fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
