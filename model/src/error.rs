//! What can go wrong with nets and devices.

/// Errors of this crate. `origin` is the file, URL or object that the bytes came from.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The bytes are not a whole safetensors file, or hold nonsense.
    #[error(
        "{origin} is not a readable net: {reason}. It is damaged, was cut short, or is no net of \
         falconzero (.safetensors) but an export; copy it again from where it came from, or take \
         another net"
    )]
    Corrupt {
        /// Where the bytes came from.
        origin: String,
        /// What was found.
        reason: String,
    },
    /// A net of finite weights that says what is not finite.
    #[error(
        "{origin} gives values that are not finite: the training that made it went astray; use an older net, or train with a lower learning rate"
    )]
    Diverged {
        /// Where the bytes came from.
        origin: String,
    },
    /// A safetensors file of another program, or of another version of this one.
    #[error(
        "{origin} has net format {found}, and this program reads format {expected}; use the \
         version of falconzero that wrote it, or train anew"
    )]
    Format {
        /// Where the bytes came from.
        origin: String,
        /// The version found, or what is there in its place.
        found: String,
        /// The version that this program writes and reads.
        expected: u32,
    },
    /// The net was trained on another game.
    #[error(
        "{origin} is a net for variant `{found}`, not for `{expected}`; pass --variant {found} or another net"
    )]
    Variant {
        /// Where the bytes came from.
        origin: String,
        /// The net's variant.
        found: String,
        /// The variant asked for.
        expected: String,
    },
    /// The net reads other planes, or numbers its moves otherwise.
    #[error(
        "{origin} was made for encoding {found} and this program has {expected}: the encoding or \
         the pieces of the variant have changed since; train anew, or use the program and the \
         variant file that the net was made with"
    )]
    Encoding {
        /// Where the bytes came from.
        origin: String,
        /// Version and layout hash in the file.
        found: String,
        /// Version and layout hash of this program.
        expected: String,
    },
    /// The weights do not fit the net that the configuration describes.
    #[error(
        "{origin} does not fit its own net configuration: {reason}; the file was put together \
         wrongly, save the net again"
    )]
    Weights {
        /// Where the weights came from.
        origin: String,
        /// Which tensor, and how it differs.
        reason: String,
    },
    /// Not a net that Fairy-Stockfish would load for this variant.
    #[error(
        "{origin} is not a Fairy-Stockfish net for this variant: {reason}; give the variant that it was made for, or \
         export it again"
    )]
    Nnue {
        /// Where the bytes came from.
        origin: String,
        /// What was found.
        reason: String,
    },
    /// A net size that cannot be built.
    #[error("net configuration: {0}")]
    Config(String),
    /// A kind of inference that does not exist.
    #[error("`{0}` is no kind of inference; write `auto`, `int8`, `bf16`, `f32` or `burn`")]
    Inference(String),
    /// A device that this machine or this binary does not have.
    #[error("device {device}: {reason}")]
    Device {
        /// The device as asked for.
        device: String,
        /// What is missing, and what to do.
        reason: String,
    },
}

impl ModelError {
    /// The same error about weights with the file that they came from.
    #[must_use]
    pub fn at_origin(self, origin: &str) -> ModelError {
        match self {
            ModelError::Weights { reason, .. } => ModelError::Weights {
                origin: origin.into(),
                reason,
            },
            other => other,
        }
    }
}
