//! What happens between convolutions, for one sample: activations laid out as [`Grid`] describes,
//! channels in blocks, borders left alone.
//!
//! Work goes by rows, the squares of a rank with all channels of a block, which lie side by side:
//! loops over so many floats are what compilers turn into vectors of any width. Factors that
//! belong to channels are written out for a whole row first.

use std::ops::Range;

use super::norm::{GradientSums, Moments, Norm, NormGradient};
use crate::board::GRID;
use crate::compiled::conv::{BLOCK, Grid, lanes};
use crate::compiled::kernel::SimdLevel;

/// A number for each float of the longest possible row.
pub type Row = [f32; GRID * BLOCK];

/// The numbers of a block's channels, repeated for each square of a row.
#[inline(always)]
pub fn repeat(values: &[f32; BLOCK]) -> Row {
    let mut row = [0.0; GRID * BLOCK];
    for square in row.as_chunks_mut::<BLOCK>().0 {
        *square = *values;
    }
    row
}

/// The reverse of [`repeat`]: sums over the squares of a row.
#[inline(always)]
pub fn fold(row: &Row, grid: Grid) -> [f32; BLOCK] {
    let mut sums = [0.0; BLOCK];
    for square in &row.as_chunks::<BLOCK>().0[..grid.files] {
        for i in 0..BLOCK {
            sums[i] += square[i];
        }
    }
    sums
}

/// Where the rows of block `block` are, from the first rank on.
#[inline(always)]
pub fn rows(grid: Grid, block: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    (0..grid.ranks).map(move |rank| {
        let start = block * grid.block_floats() + ((rank + 1) * (grid.files + 2) + 1) * BLOCK;
        start..start + grid.files * BLOCK
    })
}

/// What is added to a normalised convolution before its relu.
#[derive(Clone, Copy)]
pub enum Addend<'a> {
    Nothing,
    /// The block's input.
    Activations(&'a [f32]),
    /// One number for each channel.
    Bias(&'a [f32]),
}

/// out = relu(norm(z) + addend)
pub fn normalize_relu(
    (level, grid): (SimdLevel, Grid),
    z: &[f32],
    norm: &Norm,
    addend: Addend,
    out: &mut [f32],
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.scale.len() / BLOCK {
                let scale = repeat(lanes(&norm.scale, block * BLOCK));
                let mut shift = *lanes(&norm.shift, block * BLOCK);
                if let Addend::Bias(bias) = addend {
                    let bias = lanes(bias, block * BLOCK);
                    for i in 0..BLOCK {
                        shift[i] += bias[i];
                    }
                }
                let shift = repeat(&shift);
                for row in rows(grid, block) {
                    let factors = scale.iter().zip(&shift);
                    let numbers = out[row.clone()].iter_mut().zip(&z[row.clone()]);
                    if let Addend::Activations(x) = addend {
                        for (((out, z), x), (scale, shift)) in numbers.zip(&x[row]).zip(factors) {
                            *out = (z * scale + shift + x).max(0.0);
                        }
                    } else {
                        for ((out, z), (scale, shift)) in numbers.zip(factors) {
                            *out = (z * scale + shift).max(0.0);
                        }
                    }
                }
            }
        },
    );
}

/// Adds a sample's numbers to the moments of their channels.
pub fn add_moments((level, grid): (SimdLevel, Grid), z: &[f32], moments: &mut Moments) {
    let count = grid.cells();
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..moments.channels() / BLOCK {
                let mut sums = [0.0; GRID * BLOCK];
                for row in rows(grid, block) {
                    for (sum, z) in sums.iter_mut().zip(&z[row]) {
                        *sum += z;
                    }
                }
                let mean = fold(&sums, grid).map(|sum| sum / count as f32);
                let means = repeat(&mean);
                let mut squares = [0.0; GRID * BLOCK];
                for row in rows(grid, block) {
                    for ((square, z), mean) in squares.iter_mut().zip(&z[row]).zip(&means) {
                        let distance = z - mean;
                        *square += distance * distance;
                    }
                }
                moments.add(block, count, &mean, &fold(&squares, grid));
            }
        },
    );
}

/// The gradient behind a relu: `gradient` where the relu's output `active` is positive, else 0.
/// With `ADD`, what `out` holds is added to the gradient first.
pub fn mask_gradient<const ADD: bool>(
    (level, grid): (SimdLevel, Grid),
    blocks: usize,
    gradient: &[f32],
    active: &[f32],
    out: &mut [f32],
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..blocks {
                for row in rows(grid, block) {
                    let given = gradient[row.clone()].iter().zip(&active[row.clone()]);
                    for (out, (gradient, active)) in out[row].iter_mut().zip(given) {
                        let sum = if ADD { gradient + *out } else { *gradient };
                        *out = if *active > 0.0 { sum } else { 0.0 };
                    }
                }
            }
        },
    );
}

/// Adds a sample's share to the sums that the backward pass of `norm` needs; `gradient` is that of
/// its output, `z` its input.
pub fn add_gradient_sums(
    (level, grid): (SimdLevel, Grid),
    gradient: &[f32],
    z: &[f32],
    norm: &Norm,
    sums: &mut GradientSums,
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.mean.len() / BLOCK {
                let means = repeat(lanes(&norm.mean, block * BLOCK));
                let (mut plain, mut centred) = ([0.0; GRID * BLOCK], [0.0; GRID * BLOCK]);
                for row in rows(grid, block) {
                    let given = gradient[row.clone()].iter().zip(&z[row]).zip(&means);
                    let sums = plain.iter_mut().zip(&mut centred);
                    for ((plain, centred), ((gradient, z), mean)) in sums.zip(given) {
                        *plain += gradient;
                        *centred += gradient * (z - mean);
                    }
                }
                sums.add(block, &fold(&plain, grid), &fold(&centred, grid));
            }
        },
    );
}

/// The sum over all squares of each channel, for blocks that lie one after the other, added to
/// `sums`.
pub fn add_squares((level, grid): (SimdLevel, Grid), values: &[f32], sums: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            for (block, sums) in sums.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let mut own = [0.0; GRID * BLOCK];
                for row in rows(grid, block) {
                    for (sum, value) in own.iter_mut().zip(&values[row]) {
                        *sum += value;
                    }
                }
                for (sum, own) in sums.iter_mut().zip(fold(&own, grid)) {
                    *sum += own;
                }
            }
        },
    );
}

/// The gradient of a normalisation's input.
pub fn norm_input_gradient(
    (level, grid): (SimdLevel, Grid),
    gradient: &[f32],
    z: &[f32],
    norm: &NormGradient,
    out: &mut [f32],
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.constant.len() / BLOCK {
                let by_output = repeat(lanes(&norm.by_output, block * BLOCK));
                let by_input = repeat(lanes(&norm.by_input, block * BLOCK));
                let constant = repeat(lanes(&norm.constant, block * BLOCK));
                for row in rows(grid, block) {
                    let given = gradient[row.clone()].iter().zip(&z[row.clone()]);
                    let factors = by_output.iter().zip(&by_input).zip(&constant);
                    let numbers = out[row].iter_mut().zip(given).zip(factors);
                    for ((out, (gradient, z)), ((by_output, by_input), constant)) in numbers {
                        *out = gradient * by_output + z * by_input + constant;
                    }
                }
            }
        },
    );
}
