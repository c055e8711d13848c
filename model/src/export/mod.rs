//! Nets in the formats of other programs.
//!
//! [`onnx`]: a graph for any ONNX runtime, with all that an engine's author needs in its metadata.

pub mod onnx;
