//! Numbers that a compiled net computes with.

use std::fmt;

use super::kernel::SimdLevel;
use super::narrow_kernel::NarrowKernel;

/// What the convolutions of a compiled net multiply. Sums, the residual stream, pooling, linear
/// layers and the policy are in single precision whatever the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single precision.
    F32,
    /// Inputs and weights rounded to bfloat16, after their transforms where convolutions are by
    /// minimal filtering; sums in single precision.
    Bf16,
    /// Inputs of 8 bits without sign and weights of 8 bits with sign, exact sums.
    Int8,
}

impl Precision {
    /// The precisions that there are kernels for at `level` on this machine, slowest first: 32 bits
    /// and 8 bits always, 16 bits where the CPU multiplies them (AVX-512 BF16).
    pub fn available(level: SimdLevel) -> Vec<Precision> {
        [Precision::F32, Precision::Bf16, Precision::Int8]
            .into_iter()
            .filter(|&precision| {
                precision == Precision::F32 || NarrowKernel::choose(precision, level).is_some()
            })
            .collect()
    }

    /// Whether instructions of `level` make this precision faster than single precision: all kernels
    /// with narrow numbers are, except the portable one.
    pub(crate) fn is_fast(self, level: SimdLevel) -> bool {
        let kernel = NarrowKernel::choose(self, level);
        kernel.is_some_and(|kernel| kernel != NarrowKernel::Int8Portable)
    }

    /// The instructions that do the work at `level`.
    pub(crate) fn instructions(self, level: SimdLevel) -> &'static str {
        match (NarrowKernel::choose(self, level), level) {
            (Some(NarrowKernel::Int8Vnni), _) => "AVX-512 VNNI",
            (Some(NarrowKernel::Bf16), _) => "AVX-512 BF16",
            (Some(NarrowKernel::Int8Avx2), _) | (None, SimdLevel::Avx2) => "AVX2",
            (Some(NarrowKernel::Int8Portable), _) | (None, SimdLevel::Portable) => "portable code",
            (None, SimdLevel::Avx512) => "AVX-512",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
            Precision::Int8 => "int8",
        })
    }
}
