//! What can be wrong with a variant, a FEN, an edited position or a move's text.

use thiserror::Error;

/// A variant that cannot be played, and where it says so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VariantError {
    /// No variant of that name is built in.
    #[error("there is no variant `{name}`; the built-in ones are {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// The text is not TOML, or a field is missing, unknown or of the wrong type.
    #[error("variant file, line {line}: {message}")]
    Toml {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong and what to do.
        message: String,
    },
    /// A field makes no sense as part of these rules.
    #[error("variant file, line {line}, `{field}`: {message}")]
    Field {
        /// Line of the file, from 1.
        line: usize,
        /// The field, such as `piece.betza`.
        field: String,
        /// What is wrong and what to do.
        message: String,
    },
}

/// A FEN that does not describe a position of the variant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("FEN `{fen}`, {field}: {message}")]
pub struct FenError {
    /// The whole FEN.
    pub fen: String,
    /// The part that is wrong, such as `board` or `castling field`.
    pub field: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

/// Why a position cannot stand on the board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PositionError {
    /// A side has no king, or several.
    #[error("{color:?} has {count} royal men; each side must have exactly one")]
    Kings {
        /// The side.
        color: crate::Color,
        /// How many it has.
        count: u32,
    },
    /// The side that just moved has left its king attacked.
    #[error("{color:?}'s king can be captured although {color:?} has just moved")]
    KingInDanger {
        /// The side that has just moved.
        color: crate::Color,
    },
    /// A pawn stands where it would have promoted, or behind the rank where pawns can be.
    #[error("a pawn of {color:?} on {square} can never stand there")]
    PawnRank {
        /// The pawn's side.
        color: crate::Color,
        /// The square's name.
        square: String,
    },
    /// The square is not part of the board.
    #[error("{square} is not a square of this board")]
    NoSquare {
        /// The square's name.
        square: String,
    },
    /// The variant has no role with this index.
    #[error("this variant has no role with index {index}")]
    NoRole {
        /// The index.
        index: usize,
    },
}

/// A move's text that names no legal move.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a legal move in `{fen}`; {hint}")]
pub struct MoveTextError {
    /// The text.
    pub text: String,
    /// The position.
    pub fen: String,
    /// Moves that the text may have meant, or the form expected.
    pub hint: String,
}
