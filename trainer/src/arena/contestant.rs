//! Who plays in a match.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
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

impl Choice {
    /// Any of `moves`, all equally likely; `seed` decides.
    ///
    /// # Panics
    /// If there are none, which means that the game is over.
    pub fn any_of(moves: &[Move], seed: u64) -> Choice {
        assert!(
            !moves.is_empty(),
            "a contestant was asked to move in a game that is over"
        );
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Choice {
            mv: moves[rng.random_range(0..moves.len())],
            q: None,
        }
    }
}

/// A player that is asked for its moves in many games at once.
pub trait Contestant: Send {
    /// The name in results.
    fn name(&self) -> &str;

    /// One choice a turn, in the same order. No game is over.
    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice>;
}
