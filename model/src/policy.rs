//! Numbers for moves: where from, where to, and what kind of move.

use rules::{Color, Move, Role, Variant};

use crate::board::{GRID_SQUARES, seen_by};

/// The policy indices of one variant.
///
/// A move is a triple (row, to, kind), seen from the side to move (Black's ranks mirrored):
///
/// * **row**: the square that the man comes from (0..100), or, for a man entered from the hand,
///   a row of its role after those;
/// * **to**: the square that it goes to (0..100);
/// * **kind**: 0 for a plain move, then one kind for each role that a pawn can become, then, if
///   the variant has it, castling.
///
/// Castling has the row of the *partner* and the goal of the king (or of the queen where she
/// castles). A man castles only over empty squares, so partner and goal tell all castlings of a
/// position apart, also those that share their first man and its goal and differ in the partner;
/// and a short free castling is not the plain king's move to the same square.
#[derive(Clone, Debug)]
pub struct PolicyLayout {
    ranks: u8,
    hand_rows: [Option<u8>; Role::MAX],
    promotion_kinds: [Option<u8>; Role::MAX],
    rows: usize,
    kinds: usize,
    castle_kind: Option<u8>,
}

/// The place of a move in a [`PolicyLayout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyIndex {
    /// From-square, or 100 + number of the entered role.
    pub row: u8,
    /// To-square.
    pub to: u8,
    /// Plain, promotion or castling.
    pub kind: u8,
}

impl PolicyLayout {
    /// The policy indices of `variant`.
    pub fn new(variant: &Variant) -> PolicyLayout {
        let mut layout = PolicyLayout {
            ranks: variant.ranks(),
            hand_rows: [None; Role::MAX],
            promotion_kinds: [None; Role::MAX],
            rows: GRID_SQUARES,
            kinds: 1,
            castle_kind: None,
        };
        for role in variant.hand_roles() {
            layout.hand_rows[role.index()] = Some(layout.rows as u8);
            layout.rows += 1;
        }
        for role in variant.promotion_roles() {
            layout.promotion_kinds[role.index()] = Some(layout.kinds as u8);
            layout.kinds += 1;
        }
        if variant.can_castle() {
            layout.castle_kind = Some(layout.kinds as u8);
            layout.kinds += 1;
        }
        layout
    }

    /// Number of rows: 100 squares and the roles that can be entered.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of roles that can be entered from the hand.
    pub fn hand_rows(&self) -> usize {
        self.rows - GRID_SQUARES
    }

    /// Number of kinds.
    pub fn kinds(&self) -> usize {
        self.kinds
    }

    /// Number of indices, `rows × 100 × kinds`; most of them are no move of any piece.
    pub fn len(&self) -> usize {
        self.rows * GRID_SQUARES * self.kinds
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The index as one number below [`len`](PolicyLayout::len).
    pub fn flat(&self, index: PolicyIndex) -> usize {
        (usize::from(index.row) * GRID_SQUARES + usize::from(index.to)) * self.kinds
            + usize::from(index.kind)
    }

    /// The index of `mv` played by `turn`.
    ///
    /// # Panics
    /// If the move promotes to, enters or castles what the layout's variant does not.
    pub fn index(&self, turn: Color, mv: Move) -> PolicyIndex {
        let view = |square| seen_by(square, turn, self.ranks) as u8;
        let known = |slot: Option<u8>| {
            slot.unwrap_or_else(|| panic!("{mv:?} is not a move of the policy layout's variant"))
        };
        match mv {
            Move::Step {
                from,
                to,
                promotion,
            } => PolicyIndex {
                row: view(from),
                to: view(to),
                kind: promotion.map_or(0, |role: Role| known(self.promotion_kinds[role.index()])),
            },
            Move::Castle {
                to, partner_from, ..
            } => PolicyIndex {
                row: view(partner_from),
                to: view(to),
                kind: known(self.castle_kind),
            },
            Move::Drop { role, to } => PolicyIndex {
                row: known(self.hand_rows[role.index()]),
                to: view(to),
                kind: 0,
            },
        }
    }
}
