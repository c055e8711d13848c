//! How a match is played.

use anyhow::ensure;
use selfplay::search::SearchConfig;
use serde::{Deserialize, Serialize};

/// Settings of a match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MatchConfig {
    /// Games of a match, even and at least 2; each opening is played twice with the colours swapped. Default 40.
    pub games: u32,
    /// Simulations a move for contestants that search, at least 1. Default 16.
    pub simulations: u32,
    /// Random plies from the start array before the contestants take over. Default 6.
    pub opening_plies: u32,
    /// Plies, the opening's included, after which a game counts as drawn; at least 1. Default 400.
    pub max_plies: u32,
    /// Games that a thread keeps going at once, even and at least 2; the size of evaluation batches. Default 64.
    pub parallel_games: u32,
    /// When to end a game early as won. Off by default.
    pub adjudication: Option<Adjudication>,
    /// Seed of openings and of the contestants' random choices. Default 1.
    pub seed: u64,
}

/// A game is won as soon as both contestants have agreed on the winner for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// Least |q| of each contestant's search, 0 to 1.
    pub q: f32,
    /// Plies in a row on which the contestants agree, at least 2.
    pub plies: u32,
}

impl Default for MatchConfig {
    fn default() -> MatchConfig {
        MatchConfig {
            games: 40,
            simulations: 16,
            opening_plies: 6,
            max_plies: 400,
            parallel_games: 64,
            adjudication: None,
            seed: 1,
        }
    }
}

impl MatchConfig {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn validate(&self) -> anyhow::Result<()> {
        for (field, games) in [
            ("games", self.games),
            ("parallel_games", self.parallel_games),
        ] {
            ensure!(
                games >= 2 && games % 2 == 0,
                "{field} is {games}; games come in colour-swapped pairs, so it must be even and at least 2"
            );
        }
        ensure!(
            (1..=SearchConfig::MOST_SIMULATIONS).contains(&self.simulations),
            "simulations is {}; a search needs from 1 to {}",
            self.simulations,
            SearchConfig::MOST_SIMULATIONS
        );
        ensure!(
            self.max_plies > self.opening_plies,
            "max_plies is {}, which leaves nothing to play after opening_plies = {}",
            self.max_plies,
            self.opening_plies
        );
        if let Some(Adjudication { q, plies }) = self.adjudication {
            ensure!(
                (0.0..=1.0).contains(&q),
                "adjudication.q is {q}; it must lie between 0 and 1"
            );
            ensure!(
                plies >= 2,
                "adjudication.plies is {plies}; both sides must agree, so it is at least 2"
            );
        }
        Ok(())
    }

    /// Pairs of a match.
    pub fn pairs(&self) -> usize {
        self.games as usize / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_bad_fields_are_named() {
        MatchConfig::default()
            .validate()
            .expect("the defaults are valid");
        let odd = MatchConfig {
            games: 7,
            ..MatchConfig::default()
        };
        assert!(
            odd.validate()
                .expect_err("odd")
                .to_string()
                .contains("games")
        );
        let short = MatchConfig {
            max_plies: 6,
            ..MatchConfig::default()
        };
        assert!(
            short
                .validate()
                .expect_err("short")
                .to_string()
                .contains("max_plies")
        );
        let alone = Adjudication { q: 0.9, plies: 1 };
        let alone = MatchConfig {
            adjudication: Some(alone),
            ..MatchConfig::default()
        };
        assert!(alone.validate().is_err());
    }
}
