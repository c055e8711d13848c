//! Moves.

use crate::{Role, Square};

/// A move of any kind, without the position it is made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// One man goes from a square to a square; en passant and promotion included.
    Step {
        /// Where the man stands.
        from: Square,
        /// Where it goes.
        to: Square,
        /// What it becomes, for a promotion.
        promotion: Option<Role>,
    },
    /// A king (or, where the variant says so, a queen) and a partner change places in one move.
    Castle {
        /// Where the king stands.
        from: Square,
        /// Where the king goes.
        to: Square,
        /// Where the partner stands.
        partner_from: Square,
        /// Where the partner goes.
        partner_to: Square,
    },
    /// A man in hand enters the board.
    Drop {
        /// The man that enters.
        role: Role,
        /// Where it enters.
        to: Square,
    },
}

impl Move {
    /// Where the man that moves stands (the king in castling); `None` for a man entering.
    #[inline]
    pub const fn from(self) -> Option<Square> {
        match self {
            Move::Step { from, .. } | Move::Castle { from, .. } => Some(from),
            Move::Drop { .. } => None,
        }
    }

    /// Where the man goes (the king in castling).
    #[inline]
    pub const fn to(self) -> Square {
        match self {
            Move::Step { to, .. } | Move::Castle { to, .. } | Move::Drop { to, .. } => to,
        }
    }

    /// What the man becomes, for a promotion.
    #[inline]
    pub const fn promotion(self) -> Option<Role> {
        match self {
            Move::Step { promotion, .. } => promotion,
            Move::Castle { .. } | Move::Drop { .. } => None,
        }
    }
}
