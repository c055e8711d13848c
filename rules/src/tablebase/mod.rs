//! Endgame tablebases: the exact value of every position with few men, found by retrograde analysis.
//!
//! A table covers one [`MaterialKey`] (kings included, at most [`MOST_MEN`]) on the variant's own board and says for
//! each position how many plies are left to mate with best play on both sides (distance to mate, DTM). Captures and
//! promotions lead into tables of other material, which are built first.
//!
//! What the tables leave out: castling, powers of a first move other than a pawn's, men in hand, the fifty-move rule,
//! repetition and draws by insufficient material. A position with rights or men in hand is not answered.
//!
//! ```
//! use rules::Variant;
//! use rules::tablebase::{MaterialKey, Tablebases};
//!
//! let chess = Variant::by_name("chess")?;
//! let mut tables = Tablebases::new(&chess);
//! let key = MaterialKey::parse(&chess, "KRvK")?;
//! tables.build(&key, &mut |_| {})?;
//! let table = tables.get(&key).expect("just built");
//! let statistics = table.statistics(&tables);
//! assert_eq!(statistics.white.longest_win.map(|longest| longest.plies), Some(31));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod error;
mod file;
mod geometry;
mod key;
mod layout;
mod set;
mod statistics;
mod sub;
mod symmetry;
#[cfg(test)]
mod tests;
mod ways;

pub use build::{Progress, Stage};
pub use error::TablebaseError;
pub use key::MaterialKey;
pub use set::{Plan, Tablebases};
pub use statistics::{Longest, SideStatistics, Statistics};

use layout::{Layout, Places};

use crate::Color;

/// The most men of a table, kings included.
pub const MOST_MEN: usize = 4;

/// What a position is worth with best play, seen by the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableValue {
    /// The side to move mates in so many plies, always odd.
    Win(u16),
    /// Nobody can force mate.
    Draw,
    /// The side to move is mated in so many plies, always even; 0 if it is mated already.
    Loss(u16),
}

/// One finished table.
#[derive(Clone, Debug)]
pub struct Tablebase {
    key: MaterialKey,
    layout: Layout,
    cells: Vec<Cell>,
}

/// A value as it is stored: 0 is a draw, `n` above 0 mate in `n − 1` plies (parity says whose), [`ILLEGAL`] no
/// position.
type Cell = u16;

/// Two men on one square, a king that could be captured, a pawn where none can be, or another name of a mirrored
/// position.
const ILLEGAL: Cell = Cell::MAX;

impl Tablebase {
    /// The material.
    pub fn key(&self) -> &MaterialKey {
        &self.key
    }

    /// Bytes that the table takes in memory.
    pub fn bytes(&self) -> u64 {
        self.cells.len() as u64 * size_of::<Cell>() as u64
    }

    fn cell(&self, turn: Color, places: Places) -> Cell {
        self.cells[self.layout.index(turn, places)]
    }
}

/// The value in a cell; `None` for an illegal one.
fn value(cell: Cell) -> Option<TableValue> {
    match cell {
        ILLEGAL => None,
        0 => Some(TableValue::Draw),
        win if win % 2 == 0 => Some(TableValue::Win(win - 1)),
        loss => Some(TableValue::Loss(loss - 1)),
    }
}
