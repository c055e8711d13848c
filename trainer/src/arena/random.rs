//! The weakest anchor: any legal move.

use super::contestant::{Choice, Contestant, Turn};

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
            Choice::any_of(&moves, turn.seed)
        };
        turns.iter().map(choose).collect()
    }
}
