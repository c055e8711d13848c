//! How values are estimated.

use crate::values::bootstrap::Bootstrap;
use crate::values::odds::OddsConfig;
use anyhow::ensure;
use rules::Variant;
use selfplay::search::SearchConfig;

const MOST_RESAMPLES: usize = 100_000;
const MOST_FRESH_GAMES: usize = 1_000_000;

/// How to estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuesConfig {
    /// Share of the run's games to use, the newest ones, above 0 and at most 1: early games are played by nets that do
    /// not know yet what a man can do. Default 0.5.
    pub share: f64,
    /// Games that the current net is to play for the estimators, which then take no others; 0 takes the run's own.
    /// Default 0.
    pub fresh_games: usize,
    /// Positions to probe, 0 to leave the probe out. Default 2000.
    pub probe_positions: usize,
    /// Bootstrap resamples, at least 40. Default 400.
    pub resamples: usize,
    /// Seed of all random choices. Default 1.
    pub seed: u64,
    /// The matches with unequal armies; `games` is 0 by default, which leaves them out.
    pub odds: OddsConfig,
    /// Games at most for each claim about a match, 0 to play none; the sequential test mostly ends sooner. Default 0.
    pub claim_games: usize,
    /// Simulations a move in fresh games and in all matches, at least 1. Default 16.
    pub simulations: u32,
}

impl Default for ValuesConfig {
    fn default() -> ValuesConfig {
        ValuesConfig {
            share: 0.5,
            fresh_games: 0,
            probe_positions: 2000,
            resamples: 400,
            seed: 1,
            odds: OddsConfig {
                games: 0,
                ..OddsConfig::default()
            },
            claim_games: 0,
            simulations: 16,
        }
    }
}

impl ValuesConfig {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn validate(&self, variant: &Variant) -> anyhow::Result<()> {
        ensure!(
            self.share > 0.0 && self.share <= 1.0,
            "share is {}; it must be above 0 and at most 1",
            self.share
        );
        ensure!(
            (40..=MOST_RESAMPLES).contains(&self.resamples),
            "resamples is {}; an interval needs from 40 to {MOST_RESAMPLES}",
            self.resamples
        );
        ensure!(
            self.fresh_games <= MOST_FRESH_GAMES,
            "fresh games are {}; there can be {MOST_FRESH_GAMES} at most",
            self.fresh_games
        );
        ensure!(
            (1..=SearchConfig::MOST_SIMULATIONS).contains(&self.simulations),
            "simulations is {}; a search needs from 1 to {}",
            self.simulations,
            SearchConfig::MOST_SIMULATIONS
        );
        if self.odds.games > 0 {
            self.odds.validate(variant)?;
        }
        Ok(())
    }

    /// How intervals are made.
    pub(super) fn bootstrap(&self) -> Bootstrap {
        Bootstrap {
            resamples: self.resamples,
            seed: self.seed,
        }
    }
}
