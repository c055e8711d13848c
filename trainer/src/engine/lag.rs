//! What the clock loses between engine and client.
//!
//! The client's clock runs while its command is on the way, while the answer is, and while a busy machine lets either of the
//! two wait. The engine sees that when the next command shows less time than it had reckoned with.

use super::limits::Clock;
use std::time::{Duration, Instant};

/// How much of the worst loss is remembered from move to move.
const MEMORY: f32 = 0.93;

/// Measures the loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    /// The loss to reckon with.
    worst: Duration,
    last: Option<Move>,
}

/// A move under the clock.
#[derive(Clone, Copy, Debug)]
struct Move {
    clock: Clock,
    begun: Instant,
    /// The time that the engine took; `None` while it thinks.
    used: Option<Duration>,
}

impl Lag {
    /// A move begins with this clock; returns the loss to reckon with. Without a clock there is none to be seen.
    pub fn begin(&mut self, clock: Option<Clock>) -> Duration {
        self.worst = self.worst.mul_f32(MEMORY);
        if let (Some(last), Some(clock)) = (self.last, clock) {
            let used = last.used.unwrap_or_default();
            let reckoned = (last.clock.left + last.clock.increment).saturating_sub(used);
            // More time than reckoned with is another game or another session of the same one.
            self.worst = self.worst.max(reckoned.saturating_sub(clock.left));
        }
        self.last = clock.map(|clock| Move {
            clock,
            begun: Instant::now(),
            used: None,
        });
        self.worst
    }

    /// The move has been made.
    pub fn end(&mut self) {
        if let Some(last) = &mut self.last {
            last.used.get_or_insert(last.begun.elapsed());
        }
    }

    /// What comes next does not follow from the last move.
    pub fn forget_move(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(left: u64) -> Option<Clock> {
        Some(Clock {
            left: Duration::from_millis(left),
            increment: Duration::from_millis(100),
            moves_to_go: None,
        })
    }

    #[test]
    fn time_that_is_missing_is_reckoned_with_for_some_moves() {
        let mut lag = Lag::default();
        assert_eq!(lag.begin(clock(1000)), Duration::ZERO);
        lag.end();
        // 1100 ms less next to nothing were to be left.
        let seen = lag.begin(clock(900));
        assert!(
            seen > Duration::from_millis(150) && seen <= Duration::from_millis(200),
            "{seen:?}"
        );
        lag.end();
        let later = lag.begin(clock(1000));
        assert!(
            later > Duration::from_millis(130) && later < seen,
            "{later:?}"
        );
        // More time than before tells nothing, and neither does another game.
        lag.end();
        assert!(lag.begin(clock(5000)) < later);
        lag.end();
        lag.forget_move();
        assert!(lag.begin(clock(10)) < later);
    }
}
