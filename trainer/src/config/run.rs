//! The sections `run` and `arena`.

use super::require;
use serde::{Deserialize, Serialize};

/// What is trained, where, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// The variant: a name that `falconzero variants` lists, or the path of a TOML file. Default `falcon`.
    pub variant: String,
    /// The run's folder or URL; empty for `runs/` and the name of the recipe's file. Default empty.
    pub dir: String,
    /// Time for the whole run in minutes, above 0; the final match and the values table come on top. Default 10.
    pub minutes: f64,
    /// All of the run's random choices come from this number. Default 1.
    pub seed: u64,
    /// Worker processes to start, 0 for one per core. More can join from any machine. Default 0.
    pub workers: usize,
}

impl Default for RunSection {
    fn default() -> RunSection {
        RunSection { variant: "falcon".to_owned(), dir: String::new(), minutes: 10.0, seed: 1, workers: 0 }
    }
}

impl RunSection {
    /// Number of workers to start on this machine.
    pub fn worker_count(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        require(!self.variant.is_empty(), "run.variant", "\"\"", "a variant's name or the path of its TOML file")?;
        require(self.minutes.is_finite() && self.minutes > 0.0, "run.minutes", self.minutes, "above 0")?;
        require(self.workers <= 1024, "run.workers", self.workers, "at most 1024; start more by hand")
    }
}

/// Measuring strength during the run and at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArenaConfig {
    /// Every how many published nets a short match is played, at least 1. Default 4.
    pub every: u64,
    /// Pairs of games of a short match (each opening is played with both colours), at least 1. Default 8.
    pub pairs: u32,
    /// Simulations a move in matches, at least 1. Default 16.
    pub simulations: u32,
    /// Pairs of games of the final match against the untrained net; 0 leaves it out. Default 50.
    pub final_pairs: u32,
}

impl Default for ArenaConfig {
    fn default() -> ArenaConfig {
        ArenaConfig { every: 4, pairs: 8, simulations: 16, final_pairs: 50 }
    }
}

impl ArenaConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        require(self.every >= 1, "arena.every", self.every, "at least 1")?;
        require(self.pairs >= 1, "arena.pairs", self.pairs, "at least 1")?;
        require(self.simulations >= 1, "arena.simulations", self.simulations, "at least 1")
    }
}
