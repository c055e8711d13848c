//! Squares as the side to move sees them.

use rules::{Color, Square};

/// Files and ranks of the grid that planes and policies are laid out on, whatever the variant.
pub const GRID: usize = 10;
/// Squares of that grid.
pub const GRID_SQUARES: usize = GRID * GRID;

/// Grid index of `square` with `turn`'s first rank at the bottom: Black's ranks are mirrored
/// within the `ranks` of the variant's board, files never are.
pub fn seen_by(square: Square, turn: Color, ranks: u8) -> usize {
    let index = square.index();
    match turn {
        Color::White => index,
        Color::Black => {
            let (rank, file) = (index / GRID, index % GRID);
            let last = usize::from(ranks) - 1;
            assert!(
                rank <= last,
                "{square:?} is outside a board of {ranks} ranks"
            );
            (last - rank) * GRID + file
        }
    }
}
