//! How long an engine may think.

use anyhow::{Context, bail, ensure};
use rules::{ByColor, Color};
use std::fmt;
use std::time::Duration;

/// What limits the thinking for a move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A clock for the whole game.
    Clock(TimeControl),
    /// The same time for each move.
    MoveTime(Duration),
    /// Nodes of the engine's search.
    Nodes(u64),
    /// Plies of the engine's search.
    Depth(u32),
}

/// A clock: so much time for the game or for each period of moves, and more after each move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeControl {
    /// Moves after which `base` is added again; `None` if it is for the whole game.
    pub moves: Option<u32>,
    /// Time at the start.
    pub base: Duration,
    /// Time added after each move.
    pub increment: Duration,
}

impl TimeControl {
    /// Reads `[MOVES/]BASE[+INCREMENT]`: base in seconds or minutes:seconds, increment in seconds.
    ///
    /// # Errors
    /// If it is something else.
    pub fn parse(text: &str) -> anyhow::Result<TimeControl> {
        let wrong = || {
            format!(
                "`{text}` is no time control; write [MOVES/]SECONDS[+INCREMENT], such as 40/60 or 1+0.1"
            )
        };
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => (Some(moves.parse::<u32>().with_context(wrong)?), rest),
            None => (None, text),
        };
        let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
        let base = match base.split_once(':') {
            Some((minutes, seconds)) => {
                60 * seconds_of(minutes).with_context(wrong)?
                    + seconds_of(seconds).with_context(wrong)?
            }
            None => seconds_of(base).with_context(wrong)?,
        };
        let increment = seconds_of(increment).with_context(wrong)?;
        ensure!(!base.is_zero() && moves != Some(0), wrong());
        Ok(TimeControl {
            moves,
            base,
            increment,
        })
    }
}

/// A duration in seconds, up to a day.
///
/// # Errors
/// If it is not a number of seconds.
pub fn seconds_of(text: &str) -> anyhow::Result<Duration> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        Ok(_) | Err(_) => bail!("`{text}` is not a number of seconds"),
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Clock(TimeControl {
                moves,
                base,
                increment,
            }) => {
                if let Some(moves) = moves {
                    write!(f, "{moves}/")?;
                }
                write!(f, "{}+{}", base.as_secs_f64(), increment.as_secs_f64())
            }
            Limit::MoveTime(time) => write!(f, "{} s a move", time.as_secs_f64()),
            Limit::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Limit::Depth(depth) => write!(f, "depth {depth}"),
        }
    }
}

/// Both clocks of a game.
#[derive(Debug, Clone)]
pub struct Clocks {
    limit: Limit,
    remaining: ByColor<Duration>,
    moves: ByColor<u32>,
}

impl Clocks {
    /// The clocks before the first move.
    pub fn new(limit: Limit) -> Clocks {
        let base = match limit {
            Limit::Clock(control) => control.base,
            Limit::MoveTime(time) => time,
            Limit::Nodes(_) | Limit::Depth(_) => Duration::MAX,
        };
        Clocks {
            limit,
            remaining: ByColor::from_fn(|_| base),
            moves: ByColor::from_fn(|_| 0),
        }
    }

    /// What limits each move.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Time that a side may spend on its next move; [`Duration::MAX`] if time does not matter.
    pub fn remaining(&self, color: Color) -> Duration {
        self.remaining[color]
    }

    /// Moves that a side has to make until it gets more time, if that happens.
    pub fn moves_to_go(&self, color: Color) -> Option<u32> {
        match self.limit {
            Limit::Clock(TimeControl {
                moves: Some(moves), ..
            }) => Some(moves - self.moves[color] % moves),
            Limit::Clock(_) | Limit::MoveTime(_) | Limit::Nodes(_) | Limit::Depth(_) => None,
        }
    }

    /// Counts a move that took so long. What it took beyond the clock is forgiven, so that whoever calls decides about grace.
    pub fn press(&mut self, color: Color, elapsed: Duration) {
        self.moves[color] += 1;
        if let Limit::Clock(control) = self.limit {
            let mut left = self.remaining[color].saturating_sub(elapsed) + control.increment;
            if control
                .moves
                .is_some_and(|moves| self.moves[color].is_multiple_of(moves))
            {
                left += control.base;
            }
            self.remaining[color] = left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn time_controls_are_read() {
        for (text, moves, base, increment) in [
            ("1+0.1", None, 1.0, 0.1),
            ("40/60", Some(40), 60.0, 0.0),
            ("2:30+5", None, 150.0, 5.0),
        ] {
            let control = TimeControl::parse(text).expect("a time control");
            let expected = TimeControl {
                moves,
                base: seconds(base),
                increment: seconds(increment),
            };
            assert_eq!(control, expected, "{text}");
        }
        for wrong in [
            "", "x", "0/10", "0", "-1", "1+", "1+-1", "nan", "inf", "1e99", "9/",
        ] {
            assert!(TimeControl::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn clocks_run_down_and_are_wound_up_again() {
        let control = TimeControl::parse("2/10+1").expect("a time control");
        let mut clocks = Clocks::new(Limit::Clock(control));
        assert_eq!(clocks.moves_to_go(Color::White), Some(2));
        clocks.press(Color::White, seconds(4.0));
        assert_eq!(clocks.remaining(Color::White), seconds(7.0));
        assert_eq!(clocks.moves_to_go(Color::White), Some(1));
        clocks.press(Color::White, seconds(7.5));
        assert_eq!(clocks.remaining(Color::White), seconds(11.0));
        assert_eq!(clocks.remaining(Color::Black), seconds(10.0));
    }

    #[test]
    fn a_fixed_time_does_not_run_down() {
        let mut clocks = Clocks::new(Limit::MoveTime(seconds(1.0)));
        clocks.press(Color::Black, seconds(0.9));
        assert_eq!(clocks.remaining(Color::Black), seconds(1.0));
    }
}
