//! How often positions occur.

use rules::Position;

use super::Search;

/// How often a position has stood on the board before.
pub(super) struct Earlier {
    pub total: u8,
    /// At least once at or below the root.
    pub in_search: bool,
}

impl Search {
    /// Counts earlier occurrences of a new position that the present path leads to.
    pub(super) fn earlier_occurrences(&self, position: &Position, key: u64) -> Earlier {
        let reversible = usize::from(position.halfmove_clock());
        let path = self
            .scratch
            .path
            .iter()
            .rev()
            .map(|&id| self.tree.node(id).key);
        let earlier = path
            .chain(self.history.iter().rev().copied())
            .take(reversible);
        let mut count = Earlier {
            total: 0,
            in_search: false,
        };
        // The side to move is the same every second ply only.
        for (distance, earlier_key) in earlier.enumerate().skip(1).step_by(2) {
            if earlier_key == key {
                count.total += 1;
                count.in_search |= distance < self.scratch.path.len();
            }
        }
        count
    }
}
