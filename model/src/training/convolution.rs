//! The 3×3 convolutions in one precision or the other.

use super::bf16::{self, Bf16Conv, GradientPairs};
use super::gradient_kernel::{GradientJob, add_weight_gradient};
use super::parameters::ConvPlace;
use crate::compiled::conv::{After, Conv, Grid};
use crate::compiled::kernel::SimdLevel;

/// Precision of the factors in the convolutions of a training step on the CPU; sums and parameters
/// have 32 bits in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainingPrecision {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits (bfloat16) if the CPU has instructions for them, else 32: faster, and gradients are
    /// off by up to about a percent.
    Bf16,
}

impl TrainingPrecision {
    /// What this machine can do of it.
    pub fn available(self) -> TrainingPrecision {
        match self {
            TrainingPrecision::Bf16 if bf16::supported() => self,
            _ => TrainingPrecision::F32,
        }
    }
}

/// A 3×3 convolution with packed weights.
pub enum TowerConv {
    F32(Conv),
    Bf16(Bf16Conv),
}

/// Room that convolutions of one thread need.
#[derive(Default)]
pub struct Packing {
    input: Vec<u32>,
    pairs: GradientPairs,
}

impl TowerConv {
    /// The convolution at `place`, for an input of `inputs` channels.
    pub fn forward(
        (level, precision): (SimdLevel, TrainingPrecision),
        place: &ConvPlace,
        parameters: &[f32],
        inputs: usize,
    ) -> TowerConv {
        match precision {
            TrainingPrecision::F32 => TowerConv::F32(place.forward(level, parameters, inputs)),
            TrainingPrecision::Bf16 => TowerConv::Bf16(Bf16Conv::new(place, parameters, false)),
        }
    }

    /// The convolution that takes the gradient of the output to that of the input.
    pub fn transposed(
        (level, precision): (SimdLevel, TrainingPrecision),
        place: &ConvPlace,
        parameters: &[f32],
    ) -> TowerConv {
        match precision {
            TrainingPrecision::F32 => TowerConv::F32(place.transposed(level, parameters)),
            TrainingPrecision::Bf16 => TowerConv::Bf16(Bf16Conv::new(place, parameters, true)),
        }
    }

    /// Convolves one sample's `input` into `out`, whose border stays as it is.
    pub fn run(&self, grid: Grid, input: &[f32], packing: &mut Packing, out: &mut [f32]) {
        match self {
            TowerConv::F32(conv) => conv.run(grid, input, out, After::Keep),
            TowerConv::Bf16(conv) => conv.run(grid, input, &mut packing.input, out),
        }
    }
}

/// Adds a sample's share to the gradient of a 3×3 convolution's weights.
pub fn add_conv_gradient(
    (level, precision): (SimdLevel, TrainingPrecision),
    job: GradientJob,
    packing: &mut Packing,
) {
    match precision {
        TrainingPrecision::F32 => add_weight_gradient(level, job),
        TrainingPrecision::Bf16 => bf16::add_weight_gradient(job, &mut packing.pairs),
    }
}
