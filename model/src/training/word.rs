//! What activations are kept as, and the kernels that go with it.

use std::fmt::Debug;

use super::buffers::Spares;
use super::elementwise::add_moments;
use super::gradient_kernel::{GradientForm, GradientJob, add_weight_gradient};
use super::norm::Moments;
use crate::compiled::aligned::Aligned;
use crate::compiled::conv::{After, BLOCK, ConvWeights, Grid};
use crate::compiled::kernel::SimdLevel;
use crate::compiled::precision::Precision;
use crate::compiled::wide::WideConv;
use crate::compiled::winograd::{self, WinogradKernel, WinogradScratch};

/// What activations are kept as between a step's passes: a number, or a pair of rounded numbers of
/// channels i and i + 16 of a block.
///
/// Activations are laid out as [`Grid`] describes: blocks, each `[ranks + 2][files + 2]` squares with
/// a border of zeros.
pub trait Word: Copy + Default + Debug + Send + Sync + 'static {
    /// A packed 3×3 convolution.
    type Conv: Send + Sync;
    /// Room that the gradient of weights needs.
    type Room: Default + Send;
    /// Words of a square in a block of channels.
    const WORDS: usize;
    /// Whether a word is a pair.
    const PAIRS: bool = Self::WORDS < BLOCK;

    /// The number, or the first of a pair.
    fn low(self) -> f32;
    /// The second of a pair, else 0.
    fn high(self) -> f32;
    /// The word for these numbers, rounded if need be.
    fn keep(low: f32, high: f32) -> Self;
    /// Writes out the numbers of squares that lie side by side.
    fn load_row(words: &[Self], out: &mut [f32]);
    /// The reverse of [`load_row`](Word::load_row).
    fn keep_row(values: &[f32], out: &mut [Self]);
    /// Spare buffers of this kind.
    fn spares(spares: &mut Spares) -> &mut Vec<Aligned<Self>>;

    /// Packs a 3×3 convolution without biases.
    fn pack(how: (SimdLevel, Grid), part: &ConvWeights) -> Self::Conv;

    /// Convolves one sample and adds the output to the moments of its channels.
    fn convolve(
        conv: &Self::Conv,
        how: (SimdLevel, Grid),
        input: &[Self],
        out: (&mut [Self], &mut Moments),
        scratch: &mut WinogradScratch,
    );

    /// Convolves one sample.
    fn convolve_gradient(
        conv: &Self::Conv,
        grid: Grid,
        input: &[Self],
        out: &mut [Self],
        scratch: &mut WinogradScratch,
    );

    /// What is summed up for the gradient of a 3×3 convolution's weights.
    fn gradient_form(grid: Grid, inputs: usize, out_blocks: usize) -> GradientForm;

    /// Adds a sample's share to the gradient of a 3×3 convolution's weights, in the form for its
    /// size, or keeps it in the room.
    fn add_weight_gradient(
        level: SimdLevel,
        job: GradientJob<Self>,
        sums: &mut [f32],
        room: &mut Self::Room,
    );

    /// Adds what is still in the room after the last sample of a convolution.
    fn finish_weight_gradient(sums: &mut [f32], room: &mut Self::Room);
}

/// 32 bits a number, as they are computed with.
impl Word for f32 {
    type Conv = WideConv;
    type Room = ();
    const WORDS: usize = BLOCK;

    #[inline(always)]
    fn low(self) -> f32 {
        self
    }

    #[inline(always)]
    fn high(self) -> f32 {
        0.0
    }

    #[inline(always)]
    fn keep(low: f32, _: f32) -> f32 {
        low
    }

    #[inline(always)]
    fn load_row(words: &[f32], out: &mut [f32]) {
        out.copy_from_slice(words);
    }

    #[inline(always)]
    fn keep_row(values: &[f32], out: &mut [f32]) {
        out.copy_from_slice(values);
    }

    fn spares(spares: &mut Spares) -> &mut Vec<Aligned<f32>> {
        &mut spares.floats
    }

    fn pack((level, grid): (SimdLevel, Grid), part: &ConvWeights) -> WideConv {
        let winograd = WinogradKernel::choose(Precision::F32, level);
        let winograd = winograd.filter(|_| winograd::pays(grid, part.inputs, part.outputs));
        WideConv::pack(level, winograd, part)
    }

    fn convolve(
        conv: &WideConv,
        how: (SimdLevel, Grid),
        input: &[f32],
        (out, moments): (&mut [f32], &mut Moments),
        scratch: &mut WinogradScratch,
    ) {
        conv.run(how.1, input, out, After::Keep, scratch);
        add_moments(how, out, moments);
    }

    fn convolve_gradient(
        conv: &WideConv,
        grid: Grid,
        input: &[f32],
        out: &mut [f32],
        scratch: &mut WinogradScratch,
    ) {
        conv.run(grid, input, out, After::Keep, scratch);
    }

    fn gradient_form(_: Grid, _: usize, _: usize) -> GradientForm {
        GradientForm::Taps
    }

    fn add_weight_gradient(
        level: SimdLevel,
        job: GradientJob<f32>,
        sums: &mut [f32],
        (): &mut Self::Room,
    ) {
        add_weight_gradient(level, job, 3, sums);
    }

    fn finish_weight_gradient(_: &mut [f32], (): &mut Self::Room) {}
}
