//! The 3×3 convolutions and their gradients in bfloat16, for CPUs with AVX-512 BF16.
//!
//! Inputs are rounded to 16 bits, products are added up in 32, and parameters stay in 32 bits, as
//! in mixed-precision training (Micikevicius et al. 2018, <https://arxiv.org/abs/1710.03740>). An
//! instruction multiplies and adds pairs of numbers, so everything comes in pairs, which are packed
//! into one `u32`, the first number in the low half: pairs of channels for convolutions, pairs of
//! neighbouring squares for the gradients of weights.

use super::gradient_kernel::GradientJob;
use super::parameters::ConvPlace;
use crate::compiled::conv::{BLOCK, Grid, lanes};
use crate::compiled::kernel::SimdLevel;

/// Pairs of channels in a block: channel i goes with channel i + 16.
const PAIRS: usize = BLOCK / 2;

/// Whether this machine has the instructions.
pub fn supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        SimdLevel::best() == SimdLevel::Avx512 && is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The bits of a number rounded to the nearest bfloat16, ties to even, in the upper half.
fn rounded(x: f32) -> u32 {
    let bits = x.to_bits();
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000
}

/// A 3×3 convolution with packed weights.
pub struct Bf16Conv {
    in_blocks: usize,
    out_blocks: usize,
    /// `[out_blocks][9][in_blocks · PAIRS][BLOCK]`, each a pair of inputs.
    weights: Vec<u32>,
}

impl Bf16Conv {
    /// The convolution at `place`; with `transposed`, the one that takes the gradient of its output
    /// to that of its input.
    ///
    /// # Panics
    /// If the machine is not [`supported`].
    pub fn new(place: &ConvPlace, parameters: &[f32], transposed: bool) -> Bf16Conv {
        assert!(supported(), "this machine has no AVX-512 BF16");
        let weight = &parameters[place.weight.clone()];
        let (inputs, outputs) = match transposed {
            false => (place.inputs, place.outputs),
            true => (place.outputs, place.inputs),
        };
        let (in_blocks, out_blocks) = (inputs.div_ceil(BLOCK), outputs.div_ceil(BLOCK));
        let rows = in_blocks * PAIRS;
        let mut weights = vec![0; out_blocks * 9 * rows * BLOCK];
        for (at, &value) in weight.iter().enumerate() {
            let (output, input, tap) = (at / 9 / place.inputs, at / 9 % place.inputs, at % 9);
            let (output, input, tap) = match transposed {
                false => (output, input, tap),
                true => (input, output, 8 - tap),
            };
            let row = input / BLOCK * PAIRS + input % PAIRS;
            let group = (output / BLOCK * 9 + tap) * rows + row;
            weights[group * BLOCK + output % BLOCK] |= match input % BLOCK < PAIRS {
                true => rounded(value) >> 16,
                false => rounded(value),
            };
        }
        Bf16Conv {
            in_blocks,
            out_blocks,
            weights,
        }
    }

    /// Convolves one sample's `input` into `out`, whose border stays as it is. `packed` is room
    /// for the rounded input.
    ///
    /// # Panics
    /// If a slice is too short or the board wider than ten files.
    pub fn run(&self, grid: Grid, input: &[f32], packed: &mut Vec<u32>, out: &mut [f32]) {
        let len = self.in_blocks * grid.block_floats();
        packed.resize(len / 2, 0);
        let squares = input[..len].as_chunks::<BLOCK>().0.iter();
        pack(squares.map(halves), packed);
        assert!(out.len() >= self.out_blocks * grid.block_floats(), "output");
        let job = (grid.ranks, &packed[..], out);
        match grid.files {
            1 => self.run_width::<1>(job),
            2 => self.run_width::<2>(job),
            3 => self.run_width::<3>(job),
            4 => self.run_width::<4>(job),
            5 => self.run_width::<5>(job),
            6 => self.run_width::<6>(job),
            7 => self.run_width::<7>(job),
            8 => self.run_width::<8>(job),
            9 => self.run_width::<9>(job),
            10 => self.run_width::<10>(job),
            files => panic!("there is no kernel for boards of {files} files"),
        }
    }

    fn run_width<const FILES: usize>(&self, (ranks, input, out): (usize, &[u32], &mut [f32])) {
        // SAFETY: `new` has asked the CPU for the instructions; `run` has packed `in_blocks` blocks
        // of the board and its border, checked that `out` has `out_blocks` of them, and `weights`
        // has been made for both.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            x86::convolve::<FILES>(self, ranks, input, out);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{ranks} {} {}", input.len(), out.len());
    }
}

/// Room for what a sample's gradient is computed from.
#[derive(Default)]
pub struct GradientPairs {
    input: Vec<u32>,
    gradient: Vec<u32>,
}

/// As [`add_weight_gradient`](super::gradient_kernel::add_weight_gradient), for 3×3 convolutions,
/// in bfloat16.
///
/// # Panics
/// If the machine is not [`supported`] or a length is wrong.
pub fn add_weight_gradient(job: GradientJob, pairs: &mut GradientPairs) {
    assert!(supported(), "this machine has no AVX-512 BF16");
    let block = job.grid.block_floats();
    let in_blocks = job.inputs.div_ceil(BLOCK);
    let len = super::gradient_kernel::sums_len(job.inputs, job.out_blocks, 3);
    assert_eq!(job.sums.len(), len, "gradient of a convolution's weights");
    assert_eq!(job.inputs % 8, 0, "inputs of a convolution");
    // One square more than the last block has, for the partner of the last.
    pairs.input.resize(in_blocks * block + BLOCK, 0);
    let squares = job.input[..in_blocks * block].as_chunks::<BLOCK>().0;
    let neighbours = squares
        .array_windows::<2>()
        .flat_map(|[a, b]| pairs_of(a, b));
    pack(neighbours, &mut pairs.input);
    pack_gradient(&job, &mut pairs.gradient);
    // SAFETY: the CPU has the instructions; the lengths of the sums have been checked, those of the
    // pairs follow from the packing.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        x86::weight_gradient(job, &pairs.input, &pairs.gradient);
    }
}

/// Every second square of the board with its right neighbour:
/// `[out_blocks][ranks][⌈files / 2⌉][BLOCK]`.
fn pack_gradient(job: &GradientJob, out: &mut Vec<u32>) {
    let Grid { files, ranks } = job.grid;
    out.resize(job.out_blocks * ranks * files.div_ceil(2) * BLOCK, 0);
    let rows = (0..job.out_blocks * ranks).map(|row| {
        let (block, rank) = (row / ranks, row % ranks);
        block * job.grid.block_floats() + ((rank + 1) * (files + 2) + 1) * BLOCK
    });
    // The partner of the last square of an odd row is the border, which is zero.
    let squares = rows.flat_map(|row| (0..files).step_by(2).map(move |file| row + file * BLOCK));
    let gradient = job.output_gradient;
    pack(
        squares.flat_map(|at| pairs_of(lanes(gradient, at), lanes(gradient, at + BLOCK))),
        out,
    );
}

/// Half a block of channels.
type Half = [f32; PAIRS];

fn halves(square: &[f32; BLOCK]) -> (&Half, &Half) {
    let [low, high] = square.as_chunks::<PAIRS>().0 else {
        unreachable!("a block has two halves")
    };
    (low, high)
}

/// Each half of a square with that of another.
fn pairs_of<'a>(a: &'a [f32; BLOCK], b: &'a [f32; BLOCK]) -> [(&'a Half, &'a Half); 2] {
    let ((a, c), (b, d)) = (halves(a), halves(b));
    [(a, b), (c, d)]
}

/// Packs pairs until one of the two sides ends.
fn pack<'a>(pairs: impl Iterator<Item = (&'a Half, &'a Half)>, out: &mut [u32]) {
    let out = out.as_chunks_mut::<PAIRS>().0.iter_mut();
    // SAFETY: only `Bf16Conv::new` and `add_weight_gradient` lead here, which ask the CPU for the
    // instructions.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        x86::pack(pairs, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{BLOCK, Bf16Conv, GradientJob, Grid, Half, PAIRS};

    /// # Safety
    /// The CPU has the features.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn pack<'a, 'b>(
        pairs: impl Iterator<Item = (&'a Half, &'a Half)>,
        out: impl Iterator<Item = &'b mut [u32; PAIRS]>,
    ) {
        // SAFETY: loads and stores are of arrays of just this size, whose alignment does not
        // matter; both types of halves are 256 bits of plain data.
        unsafe {
            let wide = |half: &Half| {
                let short = _mm512_cvtneps_pbh(_mm512_loadu_ps(half.as_ptr()));
                _mm512_cvtepu16_epi32(transmute::<__m256bh, __m256i>(short))
            };
            for ((low, high), out) in pairs.zip(out) {
                let packed = _mm512_or_si512(wide(low), _mm512_slli_epi32::<16>(wide(high)));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), packed);
            }
        }
    }

    /// sum + low · low + high · high, for each pair.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn multiply_add(sum: __m512, a: __m512i, b: __m512i) -> __m512 {
        // SAFETY: both types are 512 bits of plain data.
        let (a, b) = unsafe {
            (
                transmute::<__m512i, __m512bh>(a),
                transmute::<__m512i, __m512bh>(b),
            )
        };
        _mm512_dpbf16_ps(sum, a, b)
    }

    /// # Safety
    /// The CPU has the features, `input` has the packed blocks of the convolution's inputs and
    /// `out` room for its outputs, on a board of `FILES` × `ranks`.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn convolve<const FILES: usize>(
        conv: &Bf16Conv,
        ranks: usize,
        input: &[u32],
        out: &mut [f32],
    ) {
        let row = FILES + 2;
        let cells = (ranks + 2) * row;
        let tap_len = conv.in_blocks * PAIRS * BLOCK;
        for block in 0..conv.out_blocks {
            for y in 0..ranks {
                let mut sums = [[_mm512_setzero_ps(); 2]; FILES];
                // Kernel rows beyond the board would add zeros.
                for ky in usize::from(y == 0)..3 - usize::from(y + 1 == ranks) {
                    for kx in 0..3 {
                        for b in 0..conv.in_blocks {
                            // SAFETY: `FILES` squares from column `kx` of row `y + ky` are within
                            // the border; the weights have this tap and these inputs.
                            unsafe {
                                let first = b * cells + (y + ky) * row + kx;
                                let x = input.as_ptr().add(first * PAIRS).cast::<i32>();
                                let tap = (block * 9 + ky * 3 + kx) * tap_len;
                                let w = conv.weights.as_ptr().add(tap + b * PAIRS * BLOCK);
                                for i in 0..PAIRS {
                                    let w = w.add(i * BLOCK);
                                    let low = _mm512_loadu_si512(w.cast());
                                    let high = _mm512_loadu_si512(w.add(16).cast());
                                    for (p, sums) in sums.iter_mut().enumerate() {
                                        let x = _mm512_set1_epi32(*x.add(p * PAIRS + i));
                                        sums[0] = multiply_add(sums[0], low, x);
                                        sums[1] = multiply_add(sums[1], high, x);
                                    }
                                }
                            }
                        }
                    }
                }
                for (p, [low, high]) in sums.into_iter().enumerate() {
                    // SAFETY: square `p` of rank `y` is on the board.
                    unsafe {
                        let place = block * cells + (y + 1) * row + p + 1;
                        let out = out.as_mut_ptr().add(place * BLOCK);
                        _mm512_storeu_ps(out, low);
                        _mm512_storeu_ps(out.add(16), high);
                    }
                }
            }
        }
    }

    /// # Safety
    /// The CPU has the features, `job` has room for the sums, `input` and `gradient` have been
    /// packed from it.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn weight_gradient(job: GradientJob, input: &[u32], gradient: &[u32]) {
        const INPUTS: usize = 8;
        let Grid { files, ranks } = job.grid;
        let (row, width) = (files + 2, files.div_ceil(2));
        let cells = (ranks + 2) * row;
        for block in 0..job.out_blocks {
            for tap in 0..9 {
                let (ky, kx) = (tap / 3, tap % 3);
                for group in (0..job.inputs).step_by(INPUTS) {
                    let mut sums = [[_mm512_setzero_ps(); 2]; INPUTS];
                    // SAFETY: all places are on the board, its border, or the square after it,
                    // which `input` has.
                    unsafe {
                        let lane = group / BLOCK * cells * BLOCK + group % BLOCK;
                        for y in usize::from(ky == 0)..ranks - usize::from(ky == 2) {
                            let place = (block * ranks + y) * width * BLOCK;
                            let mut g = gradient.as_ptr().add(place);
                            let first = lane + ((y + ky) * row + kx) * BLOCK;
                            let mut x = input.as_ptr().add(first).cast::<i32>();
                            for _ in 0..width {
                                let low = _mm512_loadu_si512(g.cast());
                                let high = _mm512_loadu_si512(g.add(16).cast());
                                for (i, sums) in sums.iter_mut().enumerate() {
                                    let x = _mm512_set1_epi32(*x.add(i));
                                    sums[0] = multiply_add(sums[0], low, x);
                                    sums[1] = multiply_add(sums[1], high, x);
                                }
                                g = g.wrapping_add(BLOCK);
                                x = x.wrapping_add(2 * BLOCK);
                            }
                        }
                        let place = ((block * 9 + tap) * job.inputs + group) * BLOCK;
                        let out = job.sums.as_mut_ptr().add(place);
                        for (i, [low, high]) in sums.into_iter().enumerate() {
                            let out = out.add(i * BLOCK);
                            let added = _mm512_add_ps(_mm512_loadu_ps(out), low);
                            _mm512_storeu_ps(out, added);
                            let added = _mm512_add_ps(_mm512_loadu_ps(out.add(16)), high);
                            _mm512_storeu_ps(out.add(16), added);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::compiled::aligned::AlignedFloats;
    use crate::compiled::conv::After;
    use crate::training::gradient_kernel::{self, sums_len};

    /// Numbers that have 16 bits as they are, so that rounding changes nothing.
    fn short(rng: &mut ChaCha8Rng) -> f32 {
        f32::from_bits(rounded(rng.random_range(-1.0..1.0)))
    }

    fn activations(grid: Grid, channels: usize, rng: &mut ChaCha8Rng) -> AlignedFloats {
        let mut values = grid.activations(channels);
        for channel in 0..channels {
            let block = channel / BLOCK * grid.block_floats() + channel % BLOCK;
            for cell in 0..grid.cells() {
                values[block + grid.at(cell)] = short(rng);
            }
        }
        values
    }

    fn assert_close(a: &[f32], b: &[f32]) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-3, "{a} and {b}");
        }
    }

    #[test]
    fn kernels_agree_with_32_bits_where_there_is_nothing_to_round() {
        if !supported() {
            return;
        }
        let (level, mut rng) = (SimdLevel::best(), ChaCha8Rng::seed_from_u64(1));
        for (files, ranks) in [(1, 1), (3, 5), (8, 8), (9, 10), (10, 8)] {
            let grid = Grid { files, ranks };
            for (inputs, outputs) in [(40, 48), (32, 32), (16, 64)] {
                let weights = outputs * inputs * 9;
                let parameters: Vec<f32> = (0..weights).map(|_| short(&mut rng)).collect();
                let place = ConvPlace {
                    inputs,
                    outputs,
                    weight: 0..weights,
                    gamma: 0..0,
                    beta: 0..0,
                };
                let input = activations(grid, inputs, &mut rng);
                let gradient = activations(grid, outputs, &mut rng);
                let both = [
                    (place.forward(level, &parameters, inputs), &input, outputs),
                    (place.transposed(level, &parameters), &gradient, inputs),
                ];
                for (transposed, (conv, input, outputs)) in both.into_iter().enumerate() {
                    let (mut a, mut b) = (grid.activations(outputs), grid.activations(outputs));
                    conv.run(grid, input, &mut a, After::Keep);
                    let conv = Bf16Conv::new(&place, &parameters, transposed == 1);
                    conv.run(grid, input, &mut Vec::new(), &mut b);
                    assert_close(&a, &b);
                }
                let out_blocks = outputs.div_ceil(BLOCK);
                let (mut a, mut b) = (vec![0.5; sums_len(inputs, out_blocks, 3)], Vec::new());
                b.clone_from(&a);
                let job = |sums| GradientJob {
                    grid,
                    inputs,
                    out_blocks,
                    taps: 3,
                    input: &input,
                    output_gradient: &gradient,
                    sums,
                };
                gradient_kernel::add_weight_gradient(level, job(&mut a));
                add_weight_gradient(job(&mut b), &mut GradientPairs::default());
                assert_close(&a, &b);
            }
        }
    }
}
