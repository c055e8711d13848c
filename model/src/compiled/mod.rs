//! Inference on the CPU without a tensor library.
//!
//! A net's weights are compiled once into a flat list of convolutions: batch normalisation is
//! folded into them, bias, residual sum and relu happen while their results are still in registers,
//! and the policy is computed only for the moves that are asked for. Positions are evaluated one by
//! one, so a result does not depend on its batch by a single bit, and a batch of one is as fast as
//! any other.

pub(crate) mod aligned;
mod calibration;
pub(crate) mod conv;
mod evaluator;
mod folded;
mod heads;
pub(crate) mod kernel;
mod narrow;
mod narrow_kernel;
pub(crate) mod peak;
mod policy_head;
pub(crate) mod precision;
mod program;
mod stem;
mod tower;
pub(crate) mod wide;
pub(crate) mod winograd;

pub use evaluator::CompiledEvaluator;
pub(crate) use folded::conv_norm as folded_conv_norm;
pub use kernel::SimdLevel;
pub(crate) use narrow::bfloat16;
pub use precision::Precision;
