//! How a piece moves, written in Betza notation.
//!
//! The dialect is that of XBoard and the Interactive Diagram, as far as pieces of this crate go:
//!
//! | part | meaning |
//! |---|---|
//! | `W F D N A H C Z G` (also `L` = `C`, `J` = `Z`) | one leap: (0,1) (1,1) (0,2) (1,2) (2,2) (0,3) (1,3) (2,3) (3,3) |
//! | `(2,4)` | one leap of any size, written out |
//! | `K R B Q` | `WF`, `WW`, `FF`, `WWFF` |
//! | `N3`, `N0`, `NN` | the leap repeated in one direction: at most 3 times, or without limit |
//! | `f b l r s v` and pairs such as `fl`, `ff`, `fs` | only in these directions |
//! | `m`, `c` | only without capturing, only capturing |
//! | `i` | only a man that has not moved yet |
//! | `n` | lame: squares on the way must be empty |
//! | `e` | a capture that may also be made en passant |
//! | `p` | a rider that must leap over exactly one man (a cannon captures with `cpR`) |
//! | `g` | a rider that must leap over one man and land right behind it (grasshopper: `gQ`) |
//! | `a` | one more king step, turning: `afsK` goes one step, then another half a turn off |
//!
//! A lame leap goes by single steps. Where one straight and one diagonal direction lead to the
//! target in several orders of steps, as for `nC` and `nZ`, every order is a path of its own and
//! one open path is enough: `nCnZ` is the falcon of Falcon Chess. `nN` is the horse of Xiangqi,
//! straight step first, which is how players of both games read these strings. XBoard spells the
//! falcon step by step, `aflafrKafraflKafafsKafsafK`; that is the same piece here.

mod direction;
mod legs;
mod parse;

pub use parse::{BetzaError, parse};

/// Files and ranks from one square to another, seen by White.
pub type Offset = (i8, i8);

/// One direction of a piece's movement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Motion {
    /// One leap or one step, seen by White; Black's is turned upside down.
    pub step: Offset,
    /// How far it leads and what may stand in the way.
    pub reach: Reach,
    /// Whether it may end on an empty square.
    pub quiet: bool,
    /// Whether it may end on an enemy man.
    pub capture: bool,
    /// Whether it is only for a man that has not moved.
    pub initial: bool,
    /// Whether it may capture en passant.
    pub en_passant: bool,
}

/// How far a [`Motion`] leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// One leap over whatever stands between.
    Leap,
    /// The step repeated over empty squares, at most `limit` times.
    Ride {
        /// The most steps, at least 2.
        limit: u8,
    },
    /// The step repeated, at most `limit` times, over exactly one man.
    Hop {
        /// The most steps, at least 2.
        limit: u8,
        /// Where it may end.
        landing: Landing,
    },
    /// One leap that needs one of these paths open, each given by the squares on the way.
    Lame {
        /// The squares between, as offsets from the start, path by path.
        paths: Vec<Vec<Offset>>,
    },
}

/// Where a rider that leaps over a man may land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Landing {
    /// On any square from the man leapt over to the next man.
    Beyond,
    /// Only on the square right behind the man leapt over.
    Behind,
}
