//! Tables of other material that captures and promotions lead into.

use std::sync::Arc;

use super::key::MaterialKey;
use super::layout::Places;
use super::symmetry::Map;
use super::{Cell, MOST_MEN, Tablebase};
use crate::{Color, Piece, Role};

/// A table seen by the positions of another one.
#[derive(Clone, Debug)]
pub(super) struct Sub {
    table: Arc<Tablebase>,
    /// Turns the board when the table has the sides exchanged.
    flip: Option<Map>,
    /// Which of the other table's men stands at each place of this one.
    slots: [u8; MOST_MEN],
}

impl Sub {
    /// A table for `pieces` of another table, `None` where a man is missing; `flip` if the table has the sides
    /// exchanged.
    pub fn new(table: &Arc<Tablebase>, pieces: &[Option<Piece>], flip: Option<Map>) -> Sub {
        let mut slots = [0; MOST_MEN];
        let mut used = [false; MOST_MEN];
        for (slot, wanted) in slots.iter_mut().zip(&table.layout.pieces) {
            let wanted = match flip {
                Some(_) => Piece {
                    color: !wanted.color,
                    ..*wanted
                },
                None => *wanted,
            };
            let at = (0..pieces.len()).find(|&at| !used[at] && pieces[at] == Some(wanted));
            let at = at.unwrap_or_else(|| panic!("{pieces:?} lack {wanted:?}"));
            used[at] = true;
            *slot = at as u8;
        }
        Sub {
            table: Arc::clone(table),
            flip,
            slots,
        }
    }

    /// The cell of a position of the other table.
    #[inline]
    pub fn cell(&self, turn: Color, places: Places) -> Cell {
        let mut own = [0; MOST_MEN];
        for (own, &slot) in own
            .iter_mut()
            .zip(&self.slots)
            .take(self.table.layout.pieces.len())
        {
            let square = places[usize::from(slot)];
            *own = self.flip.as_ref().map_or(square, |map| map.square(square));
        }
        match self.flip {
            Some(_) => self.table.cell(!turn, own),
            None => self.table.cell(turn, own),
        }
    }
}

/// The material of men of which some are gone.
pub(super) fn key_of(pieces: &[Option<Piece>], royal: Role) -> MaterialKey {
    let side = |color: Color| {
        let men = pieces.iter().flatten();
        men.filter(|piece| piece.color == color && piece.role != royal)
            .map(|piece| piece.role)
            .collect()
    };
    MaterialKey::new(side(Color::White), side(Color::Black))
}

/// What can come of a table's men by one move: one man captured, one pawn promoted, or both.
pub(super) struct Change {
    pub captured: Option<usize>,
    /// The pawn and what it becomes.
    pub promoted: Option<(usize, Role)>,
}

impl Change {
    /// All changes that a move can make.
    pub fn all(
        pieces: &[Piece],
        royal: Role,
        is_pawn: impl Fn(Role) -> bool,
        to: &[Role],
    ) -> Vec<Change> {
        let victims: Vec<Option<usize>> = (0..pieces.len())
            .filter(|&at| pieces[at].role != royal)
            .map(Some)
            .collect();
        let mut changes = Vec::new();
        for &captured in &victims {
            changes.push(Change {
                captured,
                promoted: None,
            });
        }
        for pawn in (0..pieces.len()).filter(|&at| is_pawn(pieces[at].role)) {
            let enemy = |at: &usize| pieces[*at].color != pieces[pawn].color;
            for captured in std::iter::once(None)
                .chain(victims.iter().copied().filter(|v| v.iter().all(&enemy)))
            {
                for &role in to {
                    changes.push(Change {
                        captured,
                        promoted: Some((pawn, role)),
                    });
                }
            }
        }
        changes
    }

    /// The men after the change, in the old order.
    pub fn apply(&self, pieces: &[Piece]) -> Vec<Option<Piece>> {
        let mut men: Vec<Option<Piece>> = pieces.iter().copied().map(Some).collect();
        if let Some(at) = self.captured {
            men[at] = None;
        }
        if let Some((at, role)) = self.promoted {
            men[at] = men[at].map(|piece| Piece { role, ..piece });
        }
        men
    }
}
