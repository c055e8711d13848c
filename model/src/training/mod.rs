//! Training on the CPU with kernels of our own inside burn.
//!
//! The residual tower, nearly all of the work, is one operation of autodiff: planes and all its
//! parameters in, features out. Heads, losses and optimizers are burn's, and so is everything on
//! other devices. Within the operation activations lie as the compiled net has them; batch
//! normalisation, relu, residual sums and pooling happen while a sample is in the cache, and only
//! the outputs of convolutions and the blocks' inputs are kept for the backward pass, which
//! computes the rest again.

mod backward;
mod elementwise;
mod gradient_kernel;
mod norm;
mod operation;
mod parameters;
mod pooling;
mod tower;

#[cfg(test)]
mod tests;

pub use norm::BatchStatistics;
pub use operation::{run, serves};
pub use tower::Tower;
