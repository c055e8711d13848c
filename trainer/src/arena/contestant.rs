//! Who plays in a match.

use rules::{Game, Move};

/// A game in which a contestant is to move.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The game, with the history that repetitions need.
    pub game: &'a Game,
    /// Source of all random choices of this move. It depends on match, pair, game and ply only, so that a game does
    /// not change with what it is batched with.
    pub seed: u64,
}

/// What a contestant plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// A legal move.
    pub mv: Move,
    /// What the contestant expects, −1 (loss) to 1 (win) for itself; `None` if it has no opinion.
    pub q: Option<f32>,
}

/// A player that is asked for its moves in many games at once.
pub trait Contestant: Send {
    /// The name in results.
    fn name(&self) -> &str;

    /// One choice a turn, in the same order. No game is over.
    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice>;
}
