//! How much time the players of a match have used.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Thinking time of one player.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeUse {
    /// Moves made.
    pub moves: u64,
    /// Seconds for all of them.
    pub seconds: f64,
    /// Seconds for the move that took longest.
    pub longest: f64,
}

impl TimeUse {
    /// Counts a move.
    pub fn add(&mut self, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        self.moves += 1;
        self.seconds += seconds;
        self.longest = self.longest.max(seconds);
    }

    /// Adds what another player of the same kind has used.
    pub fn merge(&mut self, other: &TimeUse) {
        self.moves += other.moves;
        self.seconds += other.seconds;
        self.longest = self.longest.max(other.longest);
    }

    /// Seconds a move; 0 without moves.
    pub fn mean(&self) -> f64 {
        self.seconds / self.moves.max(1) as f64
    }
}

impl std::fmt::Display for TimeUse {
    /// `123 moves, 0.050 s each, 0.120 s at most, 6 s in all`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} moves, {:.3} s each, {:.3} s at most, {:.0} s in all",
            self.moves,
            self.mean(),
            self.longest,
            self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_add_up() {
        let mut use_of_a = TimeUse::default();
        assert_eq!(use_of_a.mean(), 0.0);
        use_of_a.add(Duration::from_millis(250));
        let mut more = TimeUse::default();
        more.add(Duration::from_millis(750));
        use_of_a.merge(&more);
        assert_eq!(
            use_of_a.to_string(),
            "2 moves, 0.500 s each, 0.750 s at most, 1 s in all"
        );
    }
}
