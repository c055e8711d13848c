//! What can go wrong with tablebases.

use thiserror::Error;

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TablebaseError {
    /// The text names no material of the variant.
    #[error("`{text}` is no material: {message}")]
    Material {
        /// The text.
        text: String,
        /// What is wrong and what to write.
        message: String,
    },
    /// The tables do not cover such material.
    #[error("no table can be built for {key}: {message}")]
    Unsupported {
        /// The material.
        key: String,
        /// Why.
        message: String,
    },
    /// The bytes are not a table of this variant.
    #[error("this is no usable tablebase: {message}")]
    File {
        /// What is wrong and what to do.
        message: String,
    },
}
