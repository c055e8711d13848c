//! Training on the CPU with kernels of our own inside burn.
//!
//! The residual tower with the heads' convolutions and poolings, nearly all of the work, is one
//! operation of autodiff: planes and parameters in, the heads' inputs out. The policy's logits of
//! the legal moves are another. The value's small layers, losses and optimizers are burn's, and so
//! is everything on other devices. Within the operation activations lie as the compiled net has them; batch
//! normalisation, relu, residual sums and pooling happen while a sample is in the cache, and only
//! the outputs of convolutions and the blocks' inputs are kept for the backward pass, which
//! computes the rest again.

mod backward;
mod bf16;
mod buffers;
mod elementwise;
mod gradient_kernel;
mod heads;
mod legal;
mod norm;
mod operation;
mod parameters;
mod pooling;
mod precision;
mod reduction;
mod tape;
#[cfg(test)]
mod tests;
mod tower;
mod word;

pub use buffers::Buffers;
pub use heads::Outputs;
pub use legal::{MoveLists, legal_logits};
pub use norm::BatchStatistics;
pub use operation::{run, serves};
pub use precision::TrainingPrecision;
pub use tower::Tower;
