//! What happens between convolutions, for one sample: activations laid out as
//! [`Grid`] describes, channels in blocks, borders left alone.

use super::norm::{GradientSums, Moments, Norm, NormGradient};
use crate::compiled::conv::{BLOCK, Grid, lanes, lanes_mut};
use crate::compiled::kernel::SimdLevel;

/// Calls `work` with the place of each square's first channel in block `block`.
#[inline(always)]
fn for_squares(grid: Grid, block: usize, mut work: impl FnMut(usize)) {
    for rank in 0..grid.ranks {
        let first = block * grid.block_floats() + ((rank + 1) * (grid.files + 2) + 1) * BLOCK;
        for file in 0..grid.files {
            work(first + file * BLOCK);
        }
    }
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
                let scale = *lanes(&norm.scale, block * BLOCK);
                let mut shift = *lanes(&norm.shift, block * BLOCK);
                if let Addend::Bias(bias) = addend {
                    let bias = lanes(bias, block * BLOCK);
                    for i in 0..BLOCK {
                        shift[i] += bias[i];
                    }
                }
                if let Addend::Activations(x) = addend {
                    for_squares(
                        grid,
                        block,
                        #[inline(always)]
                        |at| {
                            let (z, x) = (lanes(z, at), lanes(x, at));
                            let mut result = [0f32; BLOCK];
                            for i in 0..BLOCK {
                                result[i] = (z[i] * scale[i] + shift[i] + x[i]).max(0.0);
                            }
                            *lanes_mut(out, at) = result;
                        },
                    );
                } else {
                    for_squares(
                        grid,
                        block,
                        #[inline(always)]
                        |at| {
                            let z = lanes(z, at);
                            let mut result = [0f32; BLOCK];
                            for i in 0..BLOCK {
                                result[i] = (z[i] * scale[i] + shift[i]).max(0.0);
                            }
                            *lanes_mut(out, at) = result;
                        },
                    );
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
                let mut mean = [0f32; BLOCK];
                for_squares(
                    grid,
                    block,
                    #[inline(always)]
                    |at| {
                        let z = lanes(z, at);
                        for i in 0..BLOCK {
                            mean[i] += z[i];
                        }
                    },
                );
                for mean in &mut mean {
                    *mean /= count as f32;
                }
                let mut squares = [0f32; BLOCK];
                for_squares(
                    grid,
                    block,
                    #[inline(always)]
                    |at| {
                        let z = lanes(z, at);
                        for i in 0..BLOCK {
                            let distance = z[i] - mean[i];
                            squares[i] += distance * distance;
                        }
                    },
                );
                moments.add(block, count, &mean, &squares);
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
                for_squares(
                    grid,
                    block,
                    #[inline(always)]
                    |at| {
                        let (gradient, active) = (lanes(gradient, at), lanes(active, at));
                        let out = lanes_mut(out, at);
                        let mut result = *gradient;
                        if ADD {
                            for i in 0..BLOCK {
                                result[i] += out[i];
                            }
                        }
                        for i in 0..BLOCK {
                            result[i] = if active[i] > 0.0 { result[i] } else { 0.0 };
                        }
                        *out = result;
                    },
                );
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
                let mean = *lanes(&norm.mean, block * BLOCK);
                let (mut plain, mut centred) = ([0f32; BLOCK], [0f32; BLOCK]);
                for_squares(
                    grid,
                    block,
                    #[inline(always)]
                    |at| {
                        let (gradient, z) = (lanes(gradient, at), lanes(z, at));
                        for i in 0..BLOCK {
                            plain[i] += gradient[i];
                        }
                        for i in 0..BLOCK {
                            centred[i] += gradient[i] * (z[i] - mean[i]);
                        }
                    },
                );
                sums.add(block, &plain, &centred);
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
                let by_output = *lanes(&norm.by_output, block * BLOCK);
                let by_input = *lanes(&norm.by_input, block * BLOCK);
                let constant = *lanes(&norm.constant, block * BLOCK);
                for_squares(
                    grid,
                    block,
                    #[inline(always)]
                    |at| {
                        let (gradient, z) = (lanes(gradient, at), lanes(z, at));
                        let mut result = [0f32; BLOCK];
                        for i in 0..BLOCK {
                            result[i] =
                                gradient[i] * by_output[i] + z[i] * by_input[i] + constant[i];
                        }
                        *lanes_mut(out, at) = result;
                    },
                );
            }
        },
    );
}
