//! Men on the board by role and side.

use rules::{ByColor, Position, Role, Variant};

/// How many men of each role each side has on the board.
pub fn census(variant: &Variant, position: &Position) -> ByColor<[u8; Role::MAX]> {
    let count = |color| {
        let mut counts = [0; Role::MAX];
        for role in (0..variant.roles().len()).filter_map(Role::from_index) {
            counts[role.index()] = position.pieces(color, role).count() as u8;
        }
        counts
    };
    ByColor::from_fn(count)
}
