//! Convolutions between activations in single precision.

use super::conv::{After, Conv, ConvWeights, Grid};
use super::kernel::SimdLevel;
use super::winograd::{WinogradConv, WinogradKernel, WinogradScratch};

/// A convolution that reads and writes floats.
pub enum WideConv {
    /// Of floats, by its definition.
    Direct(Conv),
    /// By minimal filtering.
    Winograd(WinogradConv),
}

impl WideConv {
    /// Packs a 3×3 convolution.
    pub fn pack(
        level: SimdLevel,
        winograd: Option<WinogradKernel>,
        part: &ConvWeights,
    ) -> WideConv {
        match winograd {
            None => WideConv::Direct(Conv::pack(level, std::slice::from_ref(part))),
            Some(kernel) => WideConv::Winograd(WinogradConv::pack(kernel, part)),
        }
    }

    /// Convolves `input` into `out`. The border of `out` stays as it is.
    pub fn run(
        &self,
        grid: Grid,
        input: &[f32],
        out: &mut [f32],
        after: After,
        scratch: &mut WinogradScratch,
    ) {
        match self {
            WideConv::Direct(conv) => conv.run(grid, input, out, after),
            WideConv::Winograd(conv) => conv.run(grid, input, out, after, scratch),
        }
    }
}
