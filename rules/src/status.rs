//! How a game stands.

use crate::{Color, Position, Variant};

/// Whether a game goes on, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The side to move has a move and no draw rule applies.
    Ongoing,
    /// The side to move is in check and has no move: it has lost.
    Checkmate,
    /// The side to move is not in check and has no move: a draw.
    Stalemate,
    /// Fifty moves by each side without a capture or a pawn move: a draw.
    FiftyMoves,
    /// The position stands for the third time: a draw.
    ThreefoldRepetition,
    /// No sequence of moves can end in mate: a draw.
    InsufficientMaterial,
}

/// The result of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// White has won.
    WhiteWins,
    /// Black has won.
    BlackWins,
    /// Nobody has won.
    Draw,
}

impl Outcome {
    /// The outcome of a game that a side has won.
    pub const fn won_by(winner: Color) -> Outcome {
        match winner {
            Color::White => Outcome::WhiteWins,
            Color::Black => Outcome::BlackWins,
        }
    }

    /// As PGN writes it: `1-0`, `0-1` or `1/2-1/2`.
    pub const fn pgn(self) -> &'static str {
        match self {
            Outcome::WhiteWins => "1-0",
            Outcome::BlackWins => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }

    /// The points of a side: 1 for a win, ½ for a draw, 0 for a loss.
    ///
    /// ```
    /// use rules::{Color, Outcome};
    /// assert_eq!(Outcome::BlackWins.score(Color::Black), 1.0);
    /// assert_eq!(Outcome::BlackWins.score(Color::White), 0.0);
    /// assert_eq!(Outcome::Draw.score(Color::White), 0.5);
    /// ```
    pub const fn score(self, side: Color) -> f32 {
        match (self, side) {
            (Outcome::Draw, _) => 0.5,
            (Outcome::WhiteWins, Color::White) | (Outcome::BlackWins, Color::Black) => 1.0,
            (Outcome::WhiteWins, Color::Black) | (Outcome::BlackWins, Color::White) => 0.0,
        }
    }
}

impl Status {
    /// The result, given who is to move; `None` while the game goes on.
    pub const fn outcome(self, turn: Color) -> Option<Outcome> {
        match self {
            Status::Ongoing => None,
            Status::Checkmate => Some(match turn {
                Color::White => Outcome::BlackWins,
                Color::Black => Outcome::WhiteWins,
            }),
            Status::Stalemate
            | Status::FiftyMoves
            | Status::ThreefoldRepetition
            | Status::InsufficientMaterial => Some(Outcome::Draw),
        }
    }
}

impl Position {
    /// How the game stands, repetition left aside (see [`Game`](crate::Game)).
    ///
    /// Mate and stalemate go before the fifty moves.
    pub fn status(&self, variant: &Variant) -> Status {
        self.status_given(variant, self.has_legal_move(variant))
    }

    /// As [`Position::status`], for a caller that already knows whether there is a legal move.
    pub fn status_given(&self, variant: &Variant, has_legal_move: bool) -> Status {
        if !has_legal_move {
            return match self.is_check(variant) {
                true => Status::Checkmate,
                false => Status::Stalemate,
            };
        }
        if self.halfmove_clock() >= variant.quiet_plies {
            return Status::FiftyMoves;
        }
        if variant.material.is_insufficient(variant, self) {
            return Status::InsufficientMaterial;
        }
        Status::Ongoing
    }
}
