//! What each man is worth.

pub mod estimate;

mod bootstrap;
mod logistic;
