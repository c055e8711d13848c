//! How long a search may go on.

use rules::Move;
use std::time::Duration;

/// What ends a search; the first limit that is reached does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Limits {
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Simulations.
    pub nodes: Option<u32>,
    /// Plies of the best line.
    pub depth: Option<u32>,
    /// Go on until a mate is proven; one in so many moves is expected.
    pub mate: Option<u32>,
    /// Go on, whatever is found, until told to stop.
    pub infinite: bool,
    /// The opponent is to move on the real board: as `infinite`, until the expected move has come. The other limits
    /// count from then.
    pub ponder: bool,
    /// Root moves to search; all if there are none.
    pub moves: Vec<Move>,
}

/// A chess clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clock {
    /// Time left.
    pub left: Duration,
    /// Added after every move.
    pub increment: Duration,
    /// Moves until more time is added; the whole game if `None`.
    pub moves_to_go: Option<u32>,
}

impl Limits {
    /// A search without end.
    pub fn infinite() -> Limits {
        Limits {
            infinite: true,
            ..Limits::default()
        }
    }
}
