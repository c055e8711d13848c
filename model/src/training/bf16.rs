//! Activations, 3×3 convolutions and their gradients in bfloat16, for CPUs with AVX-512 BF16.
//!
//! Activations are rounded to 16 bits, products are added up in 32, and parameters stay in 32 bits, as
//! in mixed-precision training (Micikevicius et al. 2018, <https://arxiv.org/abs/1710.03740>). An
//! instruction multiplies and adds pairs of numbers, so everything comes in pairs, which are packed
//! into one `u32`, the first number in the low half: pairs of channels for activations and
//! convolutions, pairs of neighbouring squares or tiles for the gradients of weights.

mod direct;
#[cfg(target_arch = "x86_64")]
mod filtered_gradient;
#[cfg(target_arch = "x86_64")]
mod kernel;
#[cfg(target_arch = "x86_64")]
mod spread;
mod winograd;

use super::buffers::Spares;
use super::gradient_kernel::{GradientForm, GradientJob};
use super::norm::Moments;
use super::word::Word;
use crate::compiled::aligned::Aligned;
use crate::compiled::bfloat16;
use crate::compiled::conv::{BLOCK, ConvWeights, Grid};
use crate::compiled::kernel::SimdLevel;
use crate::compiled::winograd::{self as compiled, WinogradConv, WinogradKernel, WinogradScratch};
use direct::Bf16Conv;

/// Pairs of channels in a block: channel i goes with channel i + 16.
const PAIRS: usize = BLOCK / 2;

/// Two rounded numbers, the first in the low half.
pub type Pair = u32;

/// Whether this machine has the instructions.
pub fn supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        SimdLevel::best() == SimdLevel::Avx512
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The bits of a number rounded to the nearest bfloat16, ties to even, in the upper half.
#[inline(always)]
fn rounded(x: f32) -> u32 {
    u32::from(bfloat16(x)) << 16
}

/// A 3×3 convolution with packed weights.
pub enum PairConv {
    /// By its definition.
    Direct(Bf16Conv),
    /// By minimal filtering, with transformed inputs and weights rounded.
    Winograd(WinogradConv),
}

impl PairConv {
    /// Convolves one sample's `input` into `out`, whose border stays as it is, and adds the sums to
    /// `moments` before they are rounded.
    ///
    /// # Panics
    /// If a slice is too short or the board wider than ten files.
    fn run(
        &self,
        grid: Grid,
        input: &[Pair],
        (out, moments): (&mut [Pair], Option<&mut Moments>),
        scratch: &mut WinogradScratch,
    ) {
        match self {
            PairConv::Direct(conv) => conv.run(grid, input, out, moments),
            PairConv::Winograd(conv) => {
                winograd::run(conv.job(grid, input, scratch), out, moments);
            }
        }
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
    #[cfg(target_arch = "x86_64")]
    tiles: filtered_gradient::Tiles,
}

impl Word for Pair {
    type Conv = PairConv;
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

    fn pack((_, grid): (SimdLevel, Grid), part: &ConvWeights) -> PairConv {
        match compiled::pays(grid, part.inputs, part.outputs) {
            true => PairConv::Winograd(WinogradConv::pack(WinogradKernel::Bf16, part)),
            false => PairConv::Direct(Bf16Conv::new(part)),
        }
    }

    fn convolve(
        conv: &PairConv,
        (_, grid): (SimdLevel, Grid),
        input: &[Pair],
        (out, moments): (&mut [Pair], &mut Moments),
        scratch: &mut WinogradScratch,
    ) {
        conv.run(grid, input, (out, Some(moments)), scratch);
    }

    fn convolve_gradient(
        conv: &PairConv,
        grid: Grid,
        input: &[Pair],
        out: &mut [Pair],
        scratch: &mut WinogradScratch,
    ) {
        conv.run(grid, input, (out, None), scratch);
    }

    fn gradient_form(grid: Grid, inputs: usize, out_blocks: usize) -> GradientForm {
        match compiled::pays(grid, inputs, out_blocks * BLOCK) {
            true => GradientForm::Tiles,
            false => GradientForm::Taps,
        }
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
        let form = Pair::gradient_form(job.grid, job.inputs, job.out_blocks);
        let len = form.sums_len(job.inputs, job.out_blocks);
        assert_eq!(sums.len(), len, "gradient of a convolution's weights");
        assert_eq!(job.inputs % 8, 0, "inputs of a convolution");
        // SAFETY: the CPU has the instructions, and all lengths have been checked.
        #[cfg(target_arch = "x86_64")]
        if form == GradientForm::Tiles {
            unsafe { room.tiles.add(job, sums) };
            return;
        }
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

    fn finish_weight_gradient(sums: &mut [f32], room: &mut GradientPairs) {
        // SAFETY: something waits, so `add_weight_gradient` has asked the CPU for the instructions.
        #[cfg(target_arch = "x86_64")]
        if !room.tiles.is_empty() {
            unsafe { room.tiles.finish(sums) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (sums, room);
    }
}

#[cfg(test)]
mod tests;
