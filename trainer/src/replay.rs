//! The samples that learning draws from: a window of the newest ones, and some games kept apart to measure on.

use crate::config::LearnConfig;
use crate::learn::sample::{Sample, SampleError, look_ahead, samples};
use model::Fnv1a;
use rand::{Rng, RngExt};
use rules::Variant;
use rules::tablebase::Tablebases;
use selfplay::record::GameRecord;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most held-out samples kept in memory: enough to measure a calibration to ±0.02.
const HOLDOUT_SAMPLES: usize = 8192;

/// The replay window and the held-out samples.
pub struct Replay {
    variant: Arc<Variant>,
    tables: Option<Arc<Tablebases>>,
    config: LearnConfig,
    window: VecDeque<Sample>,
    holdout: VecDeque<Sample>,
    /// Positions of all games so far, held-out ones left out: what samples_per_position counts.
    positions: u64,
    games: u64,
}

impl Replay {
    /// An empty window; samples whose positions are in `tables` are exact.
    pub fn new(
        variant: Arc<Variant>,
        config: &LearnConfig,
        tables: Option<Arc<Tablebases>>,
    ) -> Replay {
        Replay {
            variant,
            tables,
            config: config.clone(),
            window: VecDeque::new(),
            holdout: VecDeque::new(),
            positions: 0,
            games: 0,
        }
    }

    /// Takes in a finished game and lets go of samples that fall out of the window.
    ///
    /// # Errors
    /// If the record is of another variant or breaks the rules; nothing is taken from it then.
    pub fn add(&mut self, record: &GameRecord) -> Result<(), SampleError> {
        let mut samples = samples(&self.variant, record, self.tables.as_deref())?;
        look_ahead(&mut samples, self.config.value_lambda);
        self.games += 1;
        let holds_out = holds_out(&record.game_id, self.config.holdout_every);
        let teaches =
            |sample: &Sample| sample.policy_target.is_some() || self.config.value_on_cheap;
        let samples = samples.into_iter().filter(teaches);
        if holds_out {
            self.holdout.extend(samples);
            let excess = self.holdout.len().saturating_sub(HOLDOUT_SAMPLES);
            self.holdout.drain(..excess);
        } else {
            let before = self.window.len();
            self.window.extend(samples);
            self.positions += (self.window.len() - before) as u64;
            let excess = self
                .window
                .len()
                .saturating_sub(self.config.window.size(self.positions));
            self.window.drain(..excess);
        }
        Ok(())
    }

    /// Draws `count` samples, each uniformly from the window.
    ///
    /// # Panics
    /// If the window is empty.
    pub fn draw(&self, count: usize, rng: &mut impl Rng) -> Vec<&Sample> {
        assert!(
            !self.window.is_empty(),
            "samples are drawn from a window that has some"
        );
        (0..count)
            .map(|_| &self.window[rng.random_range(0..self.window.len())])
            .collect()
    }

    /// The window, oldest sample first.
    pub fn window(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.window.iter()
    }

    /// The held-out samples, oldest first.
    pub fn holdout(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.holdout.iter()
    }

    /// Samples in the window.
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether there is nothing to learn from yet.
    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// Positions made so far for training, whether or not they are still in the window.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Games taken in so far, held-out ones included.
    pub fn games(&self) -> u64 {
        self.games
    }
}

/// Whether a game is kept out of training; decided by its id alone, so that it stays so after a restart.
pub(crate) fn holds_out(game_id: &str, every: u64) -> bool {
    (Fnv1a::of(game_id.as_bytes()) >> 16).is_multiple_of(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About the stated share of games is held out, whatever the ids look like.
    #[test]
    fn the_stated_share_is_held_out() {
        let held = (0..20_000)
            .filter(|i| holds_out(&format!("w0-{i:06}"), 20))
            .count();
        assert!((800..1200).contains(&held), "{held} of 20000");
    }
}
