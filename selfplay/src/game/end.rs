//! Why a game ended.

use std::fmt;
use std::str::FromStr;

use rules::Status;
use serde::{Deserialize, Serialize};

/// Why a self-play game ended, recorded with the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Fifty moves without a capture or a pawn move.
    FiftyMoves,
    /// A position stood for the third time.
    Repetition,
    /// Nobody can mate any more.
    InsufficientMaterial,
    /// The side to move gave up.
    Resignation,
    /// The game was too long and is counted as a draw.
    MaxPlies,
    /// An endgame tablebase knows the result.
    Tablebase,
}

impl EndReason {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::Checkmate,
        Self::Stalemate,
        Self::FiftyMoves,
        Self::Repetition,
        Self::InsufficientMaterial,
        Self::Resignation,
        Self::MaxPlies,
        Self::Tablebase,
    ];

    /// The name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::FiftyMoves => "fifty_moves",
            Self::Repetition => "repetition",
            Self::InsufficientMaterial => "insufficient_material",
            Self::Resignation => "resignation",
            Self::MaxPlies => "max_plies",
            Self::Tablebase => "tablebase",
        }
    }

    /// The reason that the rules give; `None` while the game goes on.
    pub const fn of_status(status: Status) -> Option<Self> {
        match status {
            Status::Ongoing => None,
            Status::Checkmate => Some(Self::Checkmate),
            Status::Stalemate => Some(Self::Stalemate),
            Status::FiftyMoves => Some(Self::FiftyMoves),
            Status::ThreefoldRepetition => Some(Self::Repetition),
            Status::InsufficientMaterial => Some(Self::InsufficientMaterial),
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no reason for an end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason for the end of a game")]
pub struct UnknownEndReason(pub String);

impl FromStr for EndReason {
    type Err = UnknownEndReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let reason = Self::ALL.into_iter().find(|reason| reason.as_str() == text);
        reason.ok_or_else(|| UnknownEndReason(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for reason in EndReason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
            assert_eq!(
                serde_json::to_value(reason).ok(),
                Some(reason.as_str().into())
            );
        }
        assert!("mate".parse::<EndReason>().is_err());
    }
}
