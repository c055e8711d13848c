//! The weakest anchor: any legal move.

use super::contestant::{Choice, Contestant, Turn};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Plays a legal move at random, each with the same probability.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomContestant;

impl Contestant for RandomContestant {
    fn name(&self) -> &str {
        "random"
    }

    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice> {
        let choose = |turn: &Turn<'_>| {
            let moves = turn.game.position().legal_moves(turn.game.variant());
            assert!(
                !moves.is_empty(),
                "a contestant was asked to move in a game that is over"
            );
            let mut rng = ChaCha8Rng::seed_from_u64(turn.seed);
            Choice {
                mv: moves[rng.random_range(0..moves.len())],
                q: None,
            }
        };
        turns.iter().map(choose).collect()
    }
}
