//! Mates that are looked for by exhaustion beside the search.

use super::Job;
use crate::engine::time::Deadlines;
use selfplay::search::Search;

/// Positions that the exhaustive proof looks at in a second, at least.
const POSITIONS_A_SECOND: f64 = 1e6;
/// Share of the planned time that one proof may take.
const SHARE: f64 = 0.03;
/// Positions that cost about as much as a simulation.
const POSITIONS_A_SIMULATION: u64 = 50;
/// Positions for a proof where no time is planned.
const UNPLANNED: u64 = 200_000;
/// Positions where a mate is what is asked for.
const ASKED_FOR: u64 = 4_000_000;
/// A mate in two takes some two thousand; there is always time for that.
const LEAST: u64 = 3_000;
/// Longest mates that are looked for, in moves, if there are positions enough.
const LONGEST: u32 = 4;
const LONGEST_ASKED_FOR: u32 = 8;
/// Mates of the opponent's that are looked for after the best move.
const LONGEST_AGAINST: u32 = 2;
/// Moves that are looked at when the time is over.
const MOST_LAST_LOOKS: u32 = 3;
/// Simulations before the best move is looked at the first time.
const FIRST_LOOK: u32 = 128;

/// When to look for mates, and how far.
pub(super) struct MateWatch {
    moves: u32,
    budget: u64,
    /// Simulations at which the best move is looked at next.
    next: u32,
    begun: bool,
    last_looks: u32,
}

impl MateWatch {
    pub fn new(job: &Job, limit: Option<Deadlines>) -> MateWatch {
        let by_time = limit.map(|limit| limit.planned.as_secs_f64() * SHARE * POSITIONS_A_SECOND);
        let by_nodes = job.limits.nodes.map(u64::from);
        let by_nodes = by_nodes.map(|nodes| nodes as f64 * SHARE * POSITIONS_A_SIMULATION as f64);
        let planned = by_time.into_iter().chain(by_nodes).reduce(f64::min);
        let planned = planned.map_or(UNPLANNED, |positions| positions as u64);
        let (moves, budget) = match job.limits.mate {
            true => (LONGEST_ASKED_FOR, ASKED_FOR),
            false => (LONGEST, planned.clamp(LEAST, UNPLANNED)),
        };
        MateWatch {
            moves,
            budget,
            next: FIRST_LOOK,
            begun: false,
            last_looks: 0,
        }
    }

    /// Looks for mates if it is time to; between simulations, when there is a result.
    pub fn look(&mut self, search: &mut Search) {
        if !self.begun {
            self.begun = true;
            search.find_mate(self.moves, self.budget);
        } else if search.simulations() >= self.next {
            self.next = search.simulations().saturating_mul(2);
            search.refute_best(LONGEST_AGAINST, self.budget);
        }
    }

    /// A last look at the best move when the search is over. Whether it is lost, so that another move is to be chosen.
    pub fn change_the_end(&mut self, search: &mut Search) -> bool {
        self.last_looks += 1;
        self.last_looks <= MOST_LAST_LOOKS && search.refute_best(LONGEST_AGAINST, LEAST)
    }
}
