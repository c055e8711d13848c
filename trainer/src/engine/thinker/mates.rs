//! Mates that are looked for by exhaustion beside the search.

use super::Job;
use crate::engine::time::Deadlines;
use selfplay::search::{MateLimits, Search};
use std::time::Duration;

/// Positions that the exhaustive proof looks at in a second, at least.
const POSITIONS_A_SECOND: f64 = 1e6;
/// Share of the planned time that one proof may take.
const SHARE: f64 = 0.03;
/// The same where a mate is what is asked for.
const SHARE_ASKED_FOR: f64 = 0.5;
/// Positions that cost about as much as a simulation.
const POSITIONS_A_SIMULATION: f64 = 50.0;
/// Positions for a proof where no time is planned.
const UNPLANNED: u64 = 200_000;
/// The same where a mate is asked for.
const UNPLANNED_ASKED_FOR: u64 = 20_000_000;
/// A mate in two takes some two thousand.
const LEAST: u64 = 3_000;
/// With less time than this for the move none is spent on mates.
const TOO_SHORT: Duration = Duration::from_millis(20);
/// Longest mates that are looked for, in moves, if there are positions enough.
const LONGEST: u32 = 4;
/// Mates of the opponent's that are looked for after the best move.
const LONGEST_AGAINST: u32 = 2;
/// Simulations before the best move is looked at the first time.
const FIRST_LOOK: u32 = 128;
/// Moves that are looked at when the time is over.
const MOST_LAST_LOOKS: usize = 3;

/// When to look for mates, and how far.
pub(super) struct MateWatch<'a> {
    job: &'a Job,
    moves: u32,
    budget: u64,
    /// Simulations at which the best move is looked at next.
    next: u32,
    begun: bool,
}

impl<'a> MateWatch<'a> {
    pub fn new(job: &'a Job, limit: Option<Deadlines>) -> MateWatch<'a> {
        let (share, unplanned) = match job.limits.mate {
            Some(_) => (SHARE_ASKED_FOR, UNPLANNED_ASKED_FOR),
            None => (SHARE, UNPLANNED),
        };
        let by_time = limit.map(|limit| limit.planned.as_secs_f64() * POSITIONS_A_SECOND);
        let by_nodes = job
            .limits
            .nodes
            .map(|nodes| f64::from(nodes) * POSITIONS_A_SIMULATION);
        let planned = by_time.into_iter().chain(by_nodes).reduce(f64::min);
        let planned = planned.map_or(unplanned, |positions| (share * positions) as u64);
        let is_short = limit.is_some_and(|limit| limit.planned < TOO_SHORT);
        MateWatch {
            job,
            moves: if is_short {
                0
            } else {
                job.limits.mate.unwrap_or(LONGEST)
            },
            budget: planned.clamp(LEAST, unplanned),
            next: FIRST_LOOK,
            begun: false,
        }
    }

    /// Looks for mates if it is time to; between simulations, when there is a result.
    pub fn look(&mut self, search: &mut Search) {
        let control = &self.job.control;
        let mut limits = MateLimits {
            moves: self.moves,
            positions: self.budget,
            stop: &|| control.state().stop,
        };
        if !self.begun {
            self.begun = true;
            search.find_mate(&limits);
        } else if search.simulations() >= self.next {
            self.next = search.simulations().saturating_mul(2);
            limits.moves = self.moves.min(LONGEST_AGAINST);
            search.refute_best(&limits);
        }
    }

    /// Last looks at the best move when the search is over, as far as there is `left` time: if it is lost, another is the best.
    pub fn look_again(&self, search: &mut Search, left: impl Fn() -> Duration) {
        let control = &self.job.control;
        let limits = MateLimits {
            moves: self.moves.min(LONGEST_AGAINST),
            positions: LEAST,
            stop: &|| control.state().stop,
        };
        let cost = Duration::from_secs_f64(LEAST as f64 / POSITIONS_A_SECOND);
        for _ in 0..MOST_LAST_LOOKS {
            if left() < cost || !search.refute_best(&limits) {
                return;
            }
        }
    }
}
