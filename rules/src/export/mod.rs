//! Variants in the languages of other programs.
//!
//! [`fairy_stockfish`] writes a section of a `variants.ini`, [`fairy_max`] a game of an ini file, [`xboard`] the lines that an
//! engine tells XBoard. What a program has no words
//! for is refused by name: half a game would be another game.

mod fairy_max;
mod fairy_stockfish;
mod orthodox;
mod xboard;
mod xboard_fen;

pub use fairy_max::fairy_max;
pub use fairy_stockfish::{fairy_stockfish, fairy_stockfish_order};
pub use xboard::{XboardSetup, xboard, xboard_name, xboard_own_name};
pub use xboard_fen::{fen_from_xboard, without_en_passant};

use crate::Variant;

/// A rule that a program has no words for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{program} cannot play {variant}: it has no words for {what}")]
pub struct Inexpressible {
    /// The program.
    pub program: &'static str,
    /// The variant's name.
    pub variant: String,
    /// The piece or rule.
    pub what: String,
}

/// Writes for one program and one variant.
#[derive(Clone, Copy)]
struct Target<'a> {
    program: &'static str,
    variant: &'a Variant,
}

impl Target<'_> {
    fn refuse<T>(self, what: impl Into<String>) -> Result<T, Inexpressible> {
        Err(Inexpressible {
            program: self.program,
            variant: self.variant.name().to_owned(),
            what: what.into(),
        })
    }
}
