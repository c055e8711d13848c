//! What the two protocols have in common.

use super::clock::{Clocks, Limit};
use super::process::Silence;
use crate::arena::result::Forfeit;
use rules::{Game, Move, Outcome, Position, Variant};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A game as it has been played so far, the opening included.
#[derive(Debug, Clone)]
pub struct Course {
    /// The game, with the history that repetitions need.
    pub game: Game,
    /// Every move and the position in which it was made, from the variant's start.
    pub played: Vec<(Position, Move)>,
}

impl Course {
    /// A game of which only the opening has been played.
    pub fn new(variant: &Arc<Variant>, opening: &[Move]) -> Course {
        let mut course = Course {
            game: Game::new(Arc::clone(variant), variant.start()),
            played: Vec::new(),
        };
        opening.iter().for_each(|&mv| course.play(mv));
        course
    }

    /// Makes a legal move.
    pub fn play(&mut self, mv: Move) {
        self.played.push((*self.game.position(), mv));
        self.game.play(mv);
    }
}

/// What an engine has answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// A legal move.
    pub mv: Move,
    /// What it expects for itself, −1 (loss) to 1 (win), if it has said so.
    pub q: Option<f32>,
    /// How long it took.
    pub elapsed: Duration,
}

/// How a game was lost away from the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault it is.
    pub kind: Forfeit,
    /// What happened, for people.
    pub reason: String,
}

impl Fault {
    /// A fault with its reason.
    pub fn new(kind: Forfeit, reason: impl Into<String>) -> Fault {
        Fault {
            kind,
            reason: reason.into(),
        }
    }

    /// What it means that no line came while the engine was to do `task`.
    pub fn silent(silence: Silence, task: &str, waited: Duration) -> Fault {
        match silence {
            Silence::Timeout => Fault::new(
                Forfeit::Silent,
                format!("no answer within {:.1} s to {task}", waited.as_secs_f64()),
            ),
            Silence::Ended(words) => Fault::crashed(task, &words),
        }
    }

    /// The same fault with what the engine has complained of, if it has.
    #[must_use]
    pub fn with_complaint(mut self, complaint: Option<&str>) -> Fault {
        if let Some(complaint) = complaint {
            self.reason.push_str("; it said ");
            self.reason.push_str(&quoted_reason(complaint));
        }
        self
    }

    /// The engine ended when it was to do `task`.
    pub fn crashed(task: &str, last_words: &str) -> Fault {
        let mut reason = format!("the engine ended at {task}");
        if !last_words.is_empty() {
            reason.push_str(": ");
            reason.extend(last_words.chars().take(200));
        }
        Fault::new(Forfeit::Crashed, reason)
    }
}

/// How patient we are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// What an engine may use beyond its clock: our own delays are not its fault.
    pub grace: Duration,
    /// How long it may take for whatever no clock runs for: starting, getting ready, searching a number of nodes.
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            grace: Duration::from_millis(250),
            longest: Duration::from_secs(60),
        }
    }
}

/// An engine that is being talked to.
pub trait Client: Send {
    /// What the engine calls itself, if it has said so.
    fn name(&self) -> Option<&str>;

    /// Prepares for a new game from the variant's start position.
    ///
    /// # Errors
    /// If the engine does not get ready.
    fn new_game(&mut self, limit: Limit) -> Result<(), Fault>;

    /// Asks for a move in a game that is not over.
    ///
    /// # Errors
    /// How the engine lost the game instead.
    fn think(&mut self, course: &Course, clocks: &Clocks) -> Result<Answer, Fault>;

    /// Tells how the game ended.
    fn game_over(&mut self, outcome: Outcome);
}

/// When an engine has to have moved, and what to say if it has not.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    started: Instant,
    allowed: Duration,
    by_clock: bool,
    patience: Patience,
}

impl Deadline {
    /// The deadline of a search that begins now.
    pub fn new(allowed: Duration, patience: Patience) -> Deadline {
        Deadline {
            started: Instant::now(),
            allowed,
            by_clock: allowed != Duration::MAX,
            patience,
        }
    }

    /// The moment after which nothing counts.
    pub fn end(&self) -> Instant {
        self.started + self.whole()
    }

    fn whole(&self) -> Duration {
        match self.by_clock {
            true => self.allowed + self.patience.grace,
            false => self.patience.longest,
        }
    }

    /// How long a search took that ended at `at`.
    pub fn elapsed(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.started)
    }

    /// What it means that no move came.
    pub fn missed(&self, silence: Silence) -> Fault {
        match silence {
            Silence::Timeout if self.by_clock => Fault::new(
                Forfeit::Time,
                format!(
                    "no move within {:.2} s, of which {:.2} s were on the clock",
                    self.whole().as_secs_f64(),
                    self.allowed.as_secs_f64()
                ),
            ),
            silence => Fault::silent(silence, "a search", self.whole()),
        }
    }
}

/// What a centipawn score says about the outcome: −1 to 1, by the usual logistic curve on which 400 centipawns are odds of
/// ten to one.
pub fn q_of_centipawns(centipawns: f32) -> f32 {
    2.0 / (1.0 + 10f32.powf(-centipawns / 400.0)) - 1.0
}

/// Text from an engine, short enough for a message.
pub fn quoted(text: &str) -> String {
    quoted_to(text, 60)
}

/// A reason that an engine has given, in whole unless it is very long.
pub fn quoted_reason(text: &str) -> String {
    quoted_to(text, 400)
}

fn quoted_to(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    format!("`{}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_between_loss_and_win() {
        assert_eq!(q_of_centipawns(0.0), 0.0);
        assert!((q_of_centipawns(400.0) - 9.0 / 11.0).abs() < 1e-6);
        assert!(q_of_centipawns(1e9) <= 1.0 && q_of_centipawns(-1e9) >= -1.0);
    }

    #[test]
    fn without_a_clock_only_patience_ends() {
        let patience = Patience::default();
        let free = Deadline::new(Duration::MAX, patience);
        assert!(free.end() <= Instant::now() + patience.longest);
        assert_eq!(free.missed(Silence::Timeout).kind, Forfeit::Silent);
        let timed = Deadline::new(Duration::from_secs(1), patience);
        assert_eq!(timed.missed(Silence::Timeout).kind, Forfeit::Time);
        let ended = timed.missed(Silence::Ended("out of memory".into()));
        assert!(ended.kind == Forfeit::Crashed && ended.reason.contains("out of memory"));
    }
}
