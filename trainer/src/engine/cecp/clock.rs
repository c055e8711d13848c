//! CECP's time controls.

use super::parse::Level;
use crate::engine::limits::{Clock, Limits};
use std::time::{Duration, Instant};

/// What the client has said about time.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    level: Level,
    /// Instead of the level: time for each move.
    move_time: Option<Duration>,
    depth: Option<u32>,
    /// The engine's clock, and when it showed that.
    time: Option<(Duration, Instant)>,
}

impl Default for Clocks {
    /// Five minutes for the game, until the client says otherwise.
    fn default() -> Clocks {
        Clocks {
            level: Level {
                moves: 0,
                base: Duration::from_secs(300),
                increment: Duration::ZERO,
            },
            move_time: None,
            depth: None,
            time: None,
        }
    }
}

impl Clocks {
    /// A new game lifts the limits on single moves.
    pub fn new_game(&mut self) {
        self.depth = None;
        self.time = None;
    }

    /// `level`.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
        self.move_time = None;
        self.time = None;
    }

    /// `st`.
    pub fn set_move_time(&mut self, time: Duration) {
        self.move_time = Some(time);
    }

    /// `sd`.
    pub fn set_depth(&mut self, plies: u32) {
        self.depth = Some(plies);
    }

    /// `time`.
    pub fn set_time(&mut self, time: Duration) {
        self.time = Some((time, Instant::now()));
    }

    /// The engine has moved: what its clock shows now is a guess until the client says it.
    pub fn moved(&mut self) {
        if let Some((left, since)) = self.time {
            let left = left.saturating_sub(since.elapsed()) + self.level.increment;
            self.time = Some((left, Instant::now()));
        }
    }

    /// The limits for the engine's next move, after so many of its own.
    pub fn limits(&self, own_moves: usize) -> Limits {
        let clock = match self.move_time {
            Some(_) => None,
            None => Some(self.clock(own_moves)),
        };
        Limits {
            clock,
            move_time: self.move_time,
            depth: self.depth,
            ..Limits::default()
        }
    }

    fn clock(&self, own_moves: usize) -> Clock {
        let moves_to_go = match self.level.moves {
            0 => None,
            moves => Some(moves - own_moves as u32 % moves),
        };
        Clock {
            // `time` comes just before the move that starts the clock.
            left: self.time.map_or(self.level.base, |(left, _)| left),
            increment: self.level.increment,
            moves_to_go,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_moves_start_again() {
        let mut clocks = Clocks::default();
        clocks.set_level(Level {
            moves: 40,
            base: Duration::from_secs(300),
            increment: Duration::ZERO,
        });
        let to_go = |own_moves| clocks.limits(own_moves).clock.and_then(|c| c.moves_to_go);
        assert_eq!(
            [0, 39, 40, 79].map(to_go),
            [Some(40), Some(1), Some(40), Some(1)]
        );
    }

    #[test]
    fn time_for_each_move_replaces_the_clock() {
        let mut clocks = Clocks::default();
        clocks.set_time(Duration::from_secs(9));
        let left = clocks.limits(0).clock.map(|clock| clock.left);
        assert_eq!(left, Some(Duration::from_secs(9)));
        clocks.set_move_time(Duration::from_secs(2));
        let limits = clocks.limits(0);
        assert_eq!(
            (limits.clock, limits.move_time),
            (None, Some(Duration::from_secs(2)))
        );
    }
}
