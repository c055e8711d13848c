//! Activations, 3×3 convolutions and their gradients in bfloat16, for CPUs with AVX-512 BF16.
//!
//! Activations are rounded to 16 bits, products are added up in 32, and parameters stay in 32 bits, as
//! in mixed-precision training (Micikevicius et al. 2018, <https://arxiv.org/abs/1710.03740>). An
//! instruction multiplies and adds pairs of numbers, so everything comes in pairs, which are packed
//! into one `u32`, the first number in the low half: pairs of channels for activations and
//! convolutions, pairs of neighbouring squares for the gradients of weights.

#[cfg(target_arch = "x86_64")]
mod kernel;

use super::buffers::Spares;
use super::gradient_kernel::{GradientJob, sums_len};
use super::norm::Moments;
use super::parameters::ConvPlace;
use super::word::Word;
use crate::compiled::aligned::Aligned;
use crate::compiled::conv::{BLOCK, Grid};
use crate::compiled::kernel::SimdLevel;

/// Pairs of channels in a block: channel i goes with channel i + 16.
const PAIRS: usize = BLOCK / 2;

/// Two rounded numbers, the first in the low half.
pub type Pair = u32;

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
#[inline(always)]
fn rounded(x: f32) -> u32 {
    let bits = x.to_bits();
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000
}

/// A 3×3 convolution with packed weights.
pub struct Bf16Conv {
    in_blocks: usize,
    out_blocks: usize,
    /// `[out_blocks][9][in_blocks · PAIRS][BLOCK]`, each a pair of inputs.
    weights: Aligned<u32>,
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
        let mut weights = Aligned::zeros(out_blocks * 9 * rows * BLOCK);
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

    /// Convolves one sample's `input` into `out`, whose border stays as it is, and adds the sums
    /// to `moments` before they are rounded.
    ///
    /// # Panics
    /// If a slice is too short or the board wider than ten files.
    fn run(&self, grid: Grid, input: &[Pair], out: &mut [Pair], moments: Option<&mut Moments>) {
        let words = grid.block_floats() / BLOCK * PAIRS;
        assert!(input.len() >= self.in_blocks * words, "input");
        assert!(out.len() >= self.out_blocks * words, "output");
        if let Some(moments) = &moments {
            assert_eq!(moments.channels(), self.out_blocks * BLOCK, "moments");
        }
        let job = (grid.ranks, input, out, moments);
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

    fn run_width<const FILES: usize>(
        &self,
        (ranks, input, out, moments): (usize, &[Pair], &mut [Pair], Option<&mut Moments>),
    ) {
        // SAFETY: `new` has asked the CPU for the instructions; `run` has checked that the input has
        // `in_blocks` blocks of the board and its border and the output `out_blocks` of them, and
        // `weights` has been made for both.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            kernel::convolve::<FILES>(self, ranks, input, out, moments);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!(
            "{ranks} {} {} {}",
            input.len(),
            out.len(),
            moments.is_some()
        );
    }
}

/// Room for what a sample's gradient is computed from.
#[derive(Default)]
pub struct GradientPairs {
    /// All squares with their right neighbours, `[in_blocks][ranks + 2][files + 2][BLOCK]` and one
    /// square more.
    input: Vec<u32>,
    /// Every second square of the board with its right neighbour,
    /// `[out_blocks][ranks][⌈files / 2⌉][BLOCK]`.
    gradient: Vec<u32>,
}

impl Word for Pair {
    type Conv = Bf16Conv;
    type Room = GradientPairs;
    const WORDS: usize = PAIRS;

    #[inline(always)]
    fn low(self) -> f32 {
        f32::from_bits(self << 16)
    }

    #[inline(always)]
    fn high(self) -> f32 {
        f32::from_bits(self & 0xffff_0000)
    }

    #[inline(always)]
    fn keep(low: f32, high: f32) -> Pair {
        rounded(low) >> 16 | rounded(high)
    }

    #[inline(always)]
    fn load_row(words: &[Pair], out: &mut [f32]) {
        let squares = words.as_chunks::<PAIRS>().0;
        for (out, pairs) in out.as_chunks_mut::<BLOCK>().0.iter_mut().zip(squares) {
            let (low, high) = out.split_at_mut(PAIRS);
            for (low, pair) in low.iter_mut().zip(pairs) {
                *low = pair.low();
            }
            for (high, pair) in high.iter_mut().zip(pairs) {
                *high = pair.high();
            }
        }
    }

    #[inline(always)]
    fn keep_row(values: &[f32], out: &mut [Pair]) {
        let squares = values.as_chunks::<BLOCK>().0;
        for (out, values) in out.as_chunks_mut::<PAIRS>().0.iter_mut().zip(squares) {
            let (low, high) = values.split_at(PAIRS);
            for (out, (&low, &high)) in out.iter_mut().zip(low.iter().zip(high)) {
                *out = Pair::keep(low, high);
            }
        }
    }

    fn spares(spares: &mut Spares) -> &mut Vec<Aligned<u32>> {
        &mut spares.pairs
    }

    fn pack(
        _: SimdLevel,
        place: &ConvPlace,
        parameters: &[f32],
        _: usize,
        transposed: bool,
    ) -> Bf16Conv {
        Bf16Conv::new(place, parameters, transposed)
    }

    fn convolve(
        conv: &Bf16Conv,
        (_, grid): (SimdLevel, Grid),
        input: &[u32],
        out: &mut [u32],
        moments: &mut Moments,
    ) {
        conv.run(grid, input, out, Some(moments));
    }

    fn convolve_gradient(conv: &Bf16Conv, grid: Grid, input: &[u32], out: &mut [u32]) {
        conv.run(grid, input, out, None);
    }

    fn add_weight_gradient(
        _: SimdLevel,
        job: GradientJob<u32>,
        sums: &mut [f32],
        room: &mut GradientPairs,
    ) {
        assert!(supported(), "this machine has no AVX-512 BF16");
        let Grid { files, ranks } = job.grid;
        let squares = job.grid.block_floats() / BLOCK;
        let in_squares = job.inputs.div_ceil(BLOCK) * squares;
        assert!(job.input.len() >= in_squares * PAIRS, "input");
        assert!(
            job.output_gradient.len() >= job.out_blocks * squares * PAIRS,
            "gradient of a convolution's output"
        );
        assert_eq!(sums.len(), sums_len(job.inputs, job.out_blocks, 3), "sums");
        assert_eq!(job.inputs % 8, 0, "inputs of a convolution");
        // One square more than the last block has, for the partner of the last.
        room.input.resize((in_squares + 1) * BLOCK, 0);
        (room.gradient).resize(job.out_blocks * ranks * files.div_ceil(2) * BLOCK, 0);
        // SAFETY: the CPU has the instructions, and all lengths have been checked.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            kernel::pair_input(&job, &mut room.input);
            kernel::pair_gradient(&job, &mut room.gradient);
            kernel::weight_gradient(job, &room.input, &room.gradient, sums);
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
    use crate::training::elementwise::{add_moments, keep_activations, load_activations};
    use crate::training::gradient_kernel;

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

    fn job<'a, W>(
        (grid, inputs, out_blocks): (Grid, usize, usize),
        (input, output_gradient): (&'a [W], &'a [W]),
    ) -> GradientJob<'a, W> {
        GradientJob {
            grid,
            inputs,
            out_blocks,
            input,
            output_gradient,
        }
    }

    fn kept(grid: Grid, values: &[f32]) -> Vec<u32> {
        let mut pairs = vec![0; values.len() / 2];
        keep_activations((SimdLevel::best(), grid), values, &mut pairs);
        pairs
    }

    /// The output is `plain`, rounded, and its moments are those of `plain`.
    fn check_conv(how: (SimdLevel, Grid), conv: &Bf16Conv, input: &[Pair], plain: &[f32]) {
        let channels = conv.out_blocks * BLOCK;
        let (mut ours, mut theirs) = (Moments::new(channels), Moments::new(channels));
        let (mut out, mut same) = (vec![0; plain.len() / 2], vec![0; plain.len() / 2]);
        conv.run(how.1, input, &mut out, Some(&mut ours));
        conv.run(how.1, input, &mut same, None);
        assert_eq!(out, same);
        let mut loaded = vec![0.0; plain.len()];
        load_activations(how, &out, &mut loaded);
        for (a, b) in loaded.iter().zip(plain) {
            assert!((a - b).abs() < 1e-3 + b.abs() / 128.0, "{a} and {b}");
        }
        add_moments(how, plain, &mut theirs);
        let [ours, theirs] = [ours, theirs].map(|moments| Moments::join(vec![moments]));
        assert_close(&ours.mean, &theirs.mean);
        assert_close(&ours.variance, &theirs.variance);
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
                    let mut a = grid.activations(outputs);
                    conv.run(grid, input, &mut a, After::Keep);
                    let conv = Bf16Conv::new(&place, &parameters, transposed == 1);
                    check_conv((level, grid), &conv, &kept(grid, input), &a);
                }
                let out_blocks = outputs.div_ceil(BLOCK);
                let (mut a, mut b) = (vec![0.5; sums_len(inputs, out_blocks, 3)], Vec::new());
                b.clone_from(&a);
                let pairs = (kept(grid, &input), kept(grid, &gradient));
                let job = self::job((grid, inputs, out_blocks), (&input, &gradient));
                gradient_kernel::add_weight_gradient(level, job, 3, &mut a);
                let job = self::job((grid, inputs, out_blocks), (&pairs.0, &pairs.1));
                let room = &mut GradientPairs::default();
                Pair::add_weight_gradient(level, job, &mut b, room);
                assert_close(&a, &b);
            }
        }
    }
}
