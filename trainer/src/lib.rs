//! Learning, measuring and the pipeline: everything between the game records of self-play and the published net.
//!
//! The path of the data, and the module that takes each step:
//!
//! 1. [`config`]: a run's recipe, read from TOML.

pub mod arena;
mod cholesky;
pub mod cli;
pub mod values;
pub mod variant;
