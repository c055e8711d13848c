//! How precisely a training step on the CPU computes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bf16;

/// Precision of the activations, and of the factors in the 3×3 convolutions, of a training step on the
/// CPU; sums and parameters have 32 bits in any case. A configuration names it `f32` or `bf16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

impl fmt::Display for TrainingPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrainingPrecision::F32 => "f32",
            TrainingPrecision::Bf16 => "bf16",
        })
    }
}
