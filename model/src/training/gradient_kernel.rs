//! The inner loop of the gradient of a convolution's weights, for each instruction set.
//!
//! A weight's gradient is the sum, over all squares, of the input that the weight saw times the
//! gradient of the output that it added to. A kernel keeps the sums of a few inputs times a strip
//! of outputs in registers while it walks over the board.

use crate::compiled::conv::{BLOCK, Grid};
use crate::compiled::kernel::SimdLevel;
use crate::compiled::winograd::ELEMENTS;

/// Inputs come in groups of this many, the largest that a kernel takes at once.
pub const INPUT_GROUP: usize = 8;

/// What one sample's share in the gradient of a convolution's weights is computed from. Activations
/// are laid out as for [`Conv::run`](crate::compiled::conv::Conv::run), of any kind of word.
pub struct GradientJob<'a, W> {
    pub grid: Grid,
    /// Input channels, a multiple of [`INPUT_GROUP`].
    pub inputs: usize,
    /// Blocks of output channels.
    pub out_blocks: usize,
    /// What the convolution saw.
    pub input: &'a [W],
    /// The gradient of what it gave.
    pub output_gradient: &'a [W],
}

/// What is summed up for each pair of an input and an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientForm {
    /// The gradient of a 1×1 convolution's weight.
    Single,
    /// Those of the nine weights of a 3×3 convolution.
    Taps,
    /// The elements of transformed tiles; see
    /// [`winograd`](crate::compiled::winograd::weight_gradient).
    Tiles,
}

impl GradientForm {
    /// Numbers for each pair of an input and an output.
    pub const fn numbers(self) -> usize {
        match self {
            GradientForm::Single => 1,
            GradientForm::Taps => 9,
            GradientForm::Tiles => ELEMENTS,
        }
    }

    /// Floats in the sums, `[out_blocks][numbers][inputs][BLOCK]`.
    pub const fn sums_len(self, inputs: usize, out_blocks: usize) -> usize {
        out_blocks * self.numbers() * inputs * BLOCK
    }
}

/// Adds a sample's share to the sums of a convolution with `taps`² taps: 3 for 3×3, 1 for 1×1.
///
/// # Panics
/// If a slice is too short for the job.
pub fn add_weight_gradient(level: SimdLevel, job: GradientJob<f32>, taps: usize, sums: &mut [f32]) {
    let block = job.grid.block_floats();
    assert_eq!(job.inputs % INPUT_GROUP, 0, "inputs of a convolution");
    assert!(
        job.input.len() >= job.inputs.div_ceil(BLOCK) * block,
        "input of a convolution"
    );
    assert!(
        job.output_gradient.len() >= job.out_blocks * block,
        "gradient of a convolution's output"
    );
    assert!(taps == 1 || taps == 3, "{taps} taps");
    let form = match taps {
        1 => GradientForm::Single,
        _ => GradientForm::Taps,
    };
    let len = form.sums_len(job.inputs, job.out_blocks);
    assert_eq!(sums.len(), len, "gradient of a convolution's weights");
    match level {
        SimdLevel::Portable => portable(job, taps, sums),
        // SAFETY: levels come from `SimdLevel::available`, which has asked the CPU; the lengths of
        // all slices have just been checked.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::avx2(job, taps, sums) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::avx512(job, taps, sums) },
        #[cfg(not(target_arch = "x86_64"))]
        SimdLevel::Avx2 | SimdLevel::Avx512 => portable(job, taps, sums),
    }
}

/// The taps as of a 3×3 kernel, of which a 1×1 kernel is the middle.
#[inline(always)]
fn tap_range(taps: usize) -> std::ops::Range<usize> {
    match taps {
        1 => 4..5,
        _ => 0..9,
    }
}

/// Along one dimension of `size` squares: the outputs that tap `tap` of three reaches from a
/// square of the board. The others see the border, which is zero.
#[inline(always)]
fn reached(tap: usize, size: usize) -> std::ops::Range<usize> {
    usize::from(tap == 0)..size - usize::from(tap == 2)
}

/// The kernel in plain Rust.
fn portable(job: GradientJob<f32>, taps: usize, sums: &mut [f32]) {
    const STRIP: usize = 8;
    const INPUTS: usize = 4;
    let Grid { files, ranks } = job.grid;
    let (row, block) = (files + 2, job.grid.block_floats());
    let taps = tap_range(taps);
    for strip in 0..job.out_blocks * BLOCK / STRIP {
        let lane = strip * STRIP;
        let (out_block, lane) = (lane / BLOCK, lane % BLOCK);
        for tap in taps.clone() {
            let (ky, kx) = (tap / 3, tap % 3);
            for group in (0..job.inputs).step_by(INPUTS) {
                let input = &job.input[group / BLOCK * block + group % BLOCK..];
                let place = out_block * taps.len() + tap - taps.start;
                let at = (place * job.inputs + group) * BLOCK + lane;
                let mut own = [[0f32; STRIP]; INPUTS];
                for y in reached(ky, ranks) {
                    for x in reached(kx, files) {
                        let place = ((y + 1) * row + x + 1) * BLOCK;
                        let gradient =
                            &job.output_gradient[out_block * block + place + lane..][..STRIP];
                        let seen = &input[((y + ky) * row + x + kx) * BLOCK..][..INPUTS];
                        for (own, seen) in own.iter_mut().zip(seen) {
                            for (sum, gradient) in own.iter_mut().zip(gradient) {
                                *sum += seen * gradient;
                            }
                        }
                    }
                }
                for (i, own) in own.iter().enumerate() {
                    let out = &mut sums[at + i * BLOCK..][..STRIP];
                    for (out, sum) in out.iter_mut().zip(own) {
                        *out += sum;
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, GradientJob, Grid, reached, tap_range};

    /// Writes the kernel for one kind of vector. `$vectors` of `$lanes` floats make a strip of
    /// outputs, and `$inputs` inputs are taken at once.
    macro_rules! kernel {
        ($name:ident, $features:literal, $lanes:literal x $vectors:literal, $inputs:literal,
         $zero:ident, $splat:ident, $load:ident, $store:ident, $fma:ident, $add:ident) => {
            /// # Safety
            /// The CPU has the features, and `job` has passed the checks of
            /// [`super::add_weight_gradient`].
            #[target_feature(enable = $features)]
            pub unsafe fn $name(job: GradientJob<f32>, taps: usize, totals: &mut [f32]) {
                const STRIP: usize = $lanes * $vectors;
                let Grid { files, ranks } = job.grid;
                let (row, block) = (files + 2, job.grid.block_floats());
                let taps = tap_range(taps);
                for strip in 0..job.out_blocks * BLOCK / STRIP {
                    let lane = strip * STRIP;
                    let (out_block, lane) = (lane / BLOCK, lane % BLOCK);
                    for tap in taps.clone() {
                        let (ky, kx) = (tap / 3, tap % 3);
                        let (ys, xs) = (reached(ky, ranks), reached(kx, files));
                        for group in (0..job.inputs).step_by($inputs) {
                            let mut sums = [[$zero(); $vectors]; $inputs];
                            // SAFETY: `group` and its `$inputs` channels are within one block of
                            // the input, the strip is within a block of the output's gradient, and
                            // all places are on the board or its border, which both have.
                            unsafe {
                                let input = job
                                    .input
                                    .as_ptr()
                                    .add(group / BLOCK * block + group % BLOCK);
                                let gradient =
                                    job.output_gradient.as_ptr().add(out_block * block + lane);
                                for y in ys.clone() {
                                    let mut g =
                                        gradient.add(((y + 1) * row + xs.start + 1) * BLOCK);
                                    let mut seen =
                                        input.add(((y + ky) * row + xs.start + kx) * BLOCK);
                                    for _ in xs.clone() {
                                        let mut gs = [$zero(); $vectors];
                                        for v in 0..$vectors {
                                            gs[v] = $load(g.add(v * $lanes));
                                        }
                                        for i in 0..$inputs {
                                            let x = $splat(*seen.add(i));
                                            for v in 0..$vectors {
                                                sums[i][v] = $fma(gs[v], x, sums[i][v]);
                                            }
                                        }
                                        g = g.wrapping_add(BLOCK);
                                        seen = seen.wrapping_add(BLOCK);
                                    }
                                }
                                let place = out_block * taps.len() + tap - taps.start;
                                let at = (place * job.inputs + group) * BLOCK;
                                let out = totals.as_mut_ptr().add(at + lane);
                                for i in 0..$inputs {
                                    for v in 0..$vectors {
                                        let out = out.add(i * BLOCK + v * $lanes);
                                        $store(out, $add($load(out), sums[i][v]));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        };
    }

    kernel!(
        avx512, "avx512f", 16 x 2, 8,
        _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps,
        _mm512_add_ps
    );

    kernel!(
        avx2, "avx2,fma", 8 x 2, 4,
        _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps,
        _mm256_add_ps
    );
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The gradient by its definition, for one weight.
    fn reference(
        grid: Grid,
        inputs: &[f32],
        gradients: &[f32],
        (output, input): (usize, usize),
        tap: usize,
    ) -> f32 {
        let Grid { files, ranks } = grid;
        let block = grid.block_floats();
        let mut sum = 0.0;
        for y in 0..ranks {
            for x in 0..files {
                let (sy, sx) = ((y + tap / 3).wrapping_sub(1), (x + tap % 3).wrapping_sub(1));
                if sy < ranks && sx < files {
                    let place = |channel: usize, cell: usize| {
                        channel / BLOCK * block + grid.at(cell) + channel % BLOCK
                    };
                    sum += inputs[place(input, sy * files + sx)]
                        * gradients[place(output, y * files + x)];
                }
            }
        }
        sum
    }

    #[test]
    fn every_kernel_computes_the_gradient_of_the_weights() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (files, ranks, inputs, out_blocks, taps) in [
            (1, 1, 8, 1, 3),
            (10, 8, 40, 2, 3),
            (10, 8, 32, 3, 1),
            (3, 5, 64, 1, 3),
        ] {
            let grid = Grid { files, ranks };
            let mut fill = |channels: usize| {
                let mut values = grid.activations(channels);
                for block in values.chunks_exact_mut(grid.block_floats()) {
                    for cell in 0..grid.cells() {
                        for value in &mut block[grid.at(cell)..][..BLOCK] {
                            *value = rng.random_range(-1.0..1.0);
                        }
                    }
                }
                values
            };
            let (input, output_gradient) = (fill(inputs), fill(out_blocks * BLOCK));
            for level in SimdLevel::available() {
                let mut sums = vec![0.5; out_blocks * taps * taps * inputs * BLOCK];
                let job = GradientJob {
                    grid,
                    inputs,
                    out_blocks,
                    input: &input,
                    output_gradient: &output_gradient,
                };
                add_weight_gradient(level, job, taps, &mut sums);
                for (at, &got) in sums.iter().enumerate() {
                    let rows = taps * taps * inputs;
                    let output = at / (rows * BLOCK) * BLOCK + at % BLOCK;
                    let (tap, input_channel) = (at / BLOCK % rows / inputs, at / BLOCK % inputs);
                    let tap = if taps == 1 { 4 } else { tap };
                    let channels = (output, input_channel);
                    let want = 0.5 + reference(grid, &input, &output_gradient, channels, tap);
                    assert!(
                        (got - want).abs() < 1e-4,
                        "{level:?} {grid:?}: {got} {want}"
                    );
                }
            }
        }
    }
}
