//! What a table says as a whole.

use rayon::prelude::*;

use super::layout::Places;
use super::{TableValue, Tablebase, value};
use crate::{Color, Position};

/// Counts by side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// White to move.
    pub white: SideStatistics,
    /// Black to move.
    pub black: SideStatistics,
}

/// All legal positions of a table with one side to move, mirror images counted one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideStatistics {
    /// The side to move mates by force.
    pub won: u64,
    /// Nobody can force mate.
    pub drawn: u64,
    /// The side to move is mated by force, or mated already.
    pub lost: u64,
    /// Positions in which the side to move is mated already.
    pub mated: u64,
    /// The win that takes longest; `None` if there is none.
    pub longest_win: Option<Longest>,
    /// The loss that takes longest.
    pub longest_loss: Option<Longest>,
}

/// The longest way to mate.
#[derive(Clone, Debug, PartialEq)]
pub struct Longest {
    /// Plies to mate with best play.
    pub plies: u16,
    /// One position that takes so long.
    pub position: Position,
}

/// Running counts with the cells of the longest ways.
#[derive(Clone, Copy, Default)]
struct Tally {
    won: u64,
    drawn: u64,
    lost: u64,
    mated: u64,
    win: Option<(u16, usize)>,
    loss: Option<(u16, usize)>,
}

impl Tally {
    fn with(mut self, other: Tally) -> Tally {
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
        self.mated += other.mated;
        self.win = longer(self.win, other.win);
        self.loss = longer(self.loss, other.loss);
        self
    }
}

/// The longer of two; the first cell of equals, so that the result does not depend on threads.
fn longer(a: Option<(u16, usize)>, b: Option<(u16, usize)>) -> Option<(u16, usize)> {
    let rank = |(plies, cell): (u16, usize)| (plies, std::cmp::Reverse(cell));
    match (a, b) {
        (Some(a), Some(b)) if rank(b) > rank(a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

pub(super) fn statistics(
    table: &Tablebase,
    position: impl Fn(Color, Places) -> Position,
) -> Statistics {
    let side = |color: Color| {
        let half = table.cells.len() / 2;
        let cells = color.index() * half..(color.index() + 1) * half;
        let tally = cells
            .into_par_iter()
            .fold(Tally::default, |tally, cell| {
                tally.with(tally_of(table, cell))
            })
            .reduce(Tally::default, Tally::with);
        let longest = |found: Option<(u16, usize)>| {
            found.map(|(plies, cell)| {
                let (turn, places) = table.layout.position(cell);
                Longest {
                    plies,
                    position: position(turn, places),
                }
            })
        };
        SideStatistics {
            won: tally.won,
            drawn: tally.drawn,
            lost: tally.lost,
            mated: tally.mated,
            longest_win: longest(tally.win),
            longest_loss: longest(tally.loss),
        }
    };
    Statistics {
        white: side(Color::White),
        black: side(Color::Black),
    }
}

fn tally_of(table: &Tablebase, cell: usize) -> Tally {
    let Some(value) = value(table.cells[cell]) else {
        return Tally::default();
    };
    let (_, places) = table.layout.position(cell);
    let images = table.layout.images(places);
    let mut tally = Tally::default();
    match value {
        TableValue::Win(plies) => {
            tally.won = images;
            tally.win = Some((plies, cell));
        }
        TableValue::Draw => tally.drawn = images,
        TableValue::Loss(plies) => {
            tally.lost = images;
            tally.mated = if plies == 0 { images } else { 0 };
            tally.loss = Some((plies, cell));
        }
    }
    tally
}
