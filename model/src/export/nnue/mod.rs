//! Fairy-Stockfish's efficiently updatable nets (NNUE): features, integer arithmetic, file, and the float net that becomes one.
//!
//! The format is specified in `docs/export.md`. [`Features`] says which inputs a position switches on, [`NnueNet`] holds the integers
//! of a file and computes with them what Fairy-Stockfish computes, to the last bit, and [`FloatNnue`] is the same function in floats, with
//! few enough parameters to be learnt from some hundred thousand positions.
//!
//! Sizes, hashes and arithmetic are facts of Fairy-Stockfish 14 (<https://github.com/fairy-stockfish/Fairy-Stockfish>, `src/nnue`) and of its
//! trainer (<https://github.com/fairy-stockfish/variant-nnue-pytorch>); the code is our own.

mod features;
mod file;
mod float;
mod layers;
mod net;
#[cfg(test)]
mod tests;

pub use features::{Features, Man, View};
pub use float::{FloatNnue, InputRows};
pub use layers::LayerStacks;
pub use net::{Dense, NnueEvaluation, NnueNet, Stack};

/// Outputs of the feature transformer for each side.
pub const HALF: usize = 512;
/// Stacks of layers, and piece–square outputs: one for each eighth of the men at the start.
pub const BUCKETS: usize = 8;
/// Neurons of the two hidden layers.
pub const HIDDEN: [usize; 2] = [16, 32];

/// What Fairy-Stockfish's own units are to one pawn: its `eval` prints values divided by this.
pub const UNITS_PER_PAWN: i32 = 208;
/// Sums of the output layer for one such unit.
const OUTPUT_SCALE: i32 = 16;
/// What a float 1 is among the transformer's outputs and the activations.
const ACTIVATION_ONE: i32 = 127;
/// Bits that the sums of hidden layers are shifted right by.
const WEIGHT_BITS: u32 = 6;
/// What a float 1 is in the units of Fairy-Stockfish; sums of the output layer and piece–square weights are this times 16.
pub const UNITS_PER_ONE: i32 = 600;
