//! Nets in the formats of other programs.
//!
//! [`onnx`]: a graph for any ONNX runtime, with all that an engine's author needs in its metadata. [`nnue`]: the small net that
//! Fairy-Stockfish evaluates positions with, which has to be distilled from ours.

pub mod nnue;
pub mod onnx;
