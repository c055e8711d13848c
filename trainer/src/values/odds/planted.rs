//! Players whose results follow planted values, for simulations.

use super::{Handicap, PairScores, Players};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Scores drawn as the model says, with draws, and a first move that is worth something.
pub struct PlantedPlayers {
    /// Worth of the men in logits.
    pub worth: Vec<(char, f64)>,
    /// Worth of the first move in logits.
    pub first_move: f64,
    /// Share of draws in even games; it shrinks with the distance from ½.
    pub draws: f64,
}

impl PlantedPlayers {
    fn score(&self, difference: f64, rng: &mut ChaCha8Rng) -> f64 {
        let p = 1.0 / (1.0 + (-difference).exp());
        let draws = self.draws * (1.0 - (2.0 * p - 1.0).abs());
        match rng.random::<f64>() {
            u if u < draws => 0.5,
            u if u < draws / 2.0 + p => 1.0,
            _ => 0.0,
        }
    }
}

impl Players for PlantedPlayers {
    fn play(&mut self, handicap: &Handicap, pairs: usize, seed: u64) -> Vec<PairScores> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let worth = |lacks: &str| -> f64 {
            let of = |letter| self.worth.iter().find(|(known, _)| *known == letter);
            lacks.chars().filter_map(of).map(|(_, worth)| worth).sum()
        };
        let difference = worth(&handicap.second_lacks) - worth(&handicap.first_lacks);
        (0..pairs)
            .map(|_| PairScores {
                as_white: self.score(difference + self.first_move, &mut rng),
                as_black: self.score(difference - self.first_move, &mut rng),
            })
            .collect()
    }
}
