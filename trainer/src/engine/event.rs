//! What reaches the engine's loop.

use rules::{Move, Position, Variant};
use selfplay::search::Line;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Event {
    /// A line of input, without its end.
    Line(String),
    /// A line that could not be read.
    BadLine(LineError),
    /// The input has ended.
    End,
    /// News from a search.
    Info(Report),
    /// A search has ended.
    Done(Report),
    /// The thinker is in trouble.
    Warning(String),
}

/// Why a line of input was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum LineError {
    /// Nobody means such a line.
    #[error("a line of input is longer than {limit} bytes and was passed over")]
    TooLong {
        /// The most bytes that are read.
        limit: usize,
    },
    /// The bytes are not text.
    #[error("a line of input is not valid UTF-8 and was passed over")]
    NotText,
}

/// What a search says.
#[derive(Clone, Debug)]
pub(super) struct Report {
    /// Which search.
    pub job: u64,
    /// The rules that the search played by.
    pub variant: Arc<Variant>,
    /// The position searched.
    pub position: Position,
    /// The best lines, best first; none if the search came to nothing.
    pub lines: Vec<Line>,
    /// Plies of the deepest simulation.
    pub deepest: u32,
    /// Simulations of this search.
    pub nodes: u32,
    /// Time since the search began.
    pub elapsed: Duration,
    /// Share of the memory in use, 0 to 1.
    pub fullness: f32,
}

impl Report {
    /// The move to play; any legal one if the search came to nothing.
    pub fn best_move(&self) -> Option<Move> {
        let found = self.lines.first().and_then(|line| line.pv.first());
        let any = || self.position.legal_moves(&self.variant).first().copied();
        found.copied().or_else(any)
    }

    /// Simulations a second.
    pub fn speed(&self) -> u64 {
        let seconds = self.elapsed.as_secs_f64().max(1e-3);
        (f64::from(self.nodes) / seconds) as u64
    }
}

/// Input as it may be repeated in a message: its beginning, without control characters.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 80;
    let mut shown: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
