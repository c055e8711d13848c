//! The sections `run` and `arena`.

use selfplay::config_error::{ConfigError, require};
use selfplay::search::SearchConfig;
use serde::{Deserialize, Serialize};

/// Most minutes of a run, ten years.
pub const MOST_MINUTES: f64 = 10.0 * 365.0 * 24.0 * 60.0;
/// Games of a worker at most: each has a search tree of its own in memory.
const MOST_GAMES: usize = 16_384;

/// What is trained, where, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// The variant: a name that `falconzero variants` lists, or the path of a TOML file, from the working directory or else
    /// from the recipe's folder. Default `falcon`.
    pub variant: String,
    /// The run's folder or URL; empty for `runs/` and the name of the recipe's file. Default empty.
    pub dir: String,
    /// Time for the whole run in minutes, above 0; the final match and the values table come on top. Default 10.
    pub minutes: f64,
    /// The net that the run begins with instead of random weights: its file, the folder or URL of a run, whose current
    /// net is taken, or `shipped:VARIANT` for a net that comes with the program. It may be of another game; see
    /// [`load_related`](model::load_related). Its training steps count on. Empty for random weights. Default empty.
    pub initial_net: String,
    /// All of the run's random choices come from this number. Default 1.
    pub seed: u64,
    /// Worker processes to start, 0 for one per core. More can join from any machine. Default 0.
    pub workers: usize,
    /// Games that a worker plays at once, 1 to 16384: the size of its evaluation batches. A CPU is as fast with few; a
    /// GPU wants hundreds. Default 32.
    pub games_in_parallel: usize,
}

impl Default for RunSection {
    fn default() -> RunSection {
        RunSection {
            variant: "falcon".to_owned(),
            dir: String::new(),
            minutes: 10.0,
            initial_net: String::new(),
            seed: 1,
            workers: 0,
            games_in_parallel: 32,
        }
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

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        require(
            !self.variant.is_empty(),
            "run.variant",
            &self.variant,
            "a variant's name or the path of its TOML file",
        )?;
        require(
            self.minutes > 0.0 && self.minutes <= MOST_MINUTES,
            "run.minutes",
            self.minutes,
            "above 0 and at most 5256000, ten years",
        )?;
        require(
            (1..=MOST_GAMES).contains(&self.games_in_parallel),
            "run.games_in_parallel",
            self.games_in_parallel,
            "from 1 to 16384",
        )?;
        require(
            self.workers <= 1024,
            "run.workers",
            self.workers,
            "at most 1024; start more by hand",
        )
    }
}

/// Measuring strength during the run and at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArenaConfig {
    /// Every how many published nets one is rated, at least 1. Default 4.
    pub every: u64,
    /// Games of a rating match, even and at least 2: each opening is played with both colours. Default 16.
    pub games: u32,
    /// Earlier nets that a net plays besides the fixed anchors (the untrained net and the greedy player). Default 1.
    pub milestones: usize,
    /// Simulations a move in matches, 1 to 1000000. Default 16.
    pub simulations: u32,
    /// Random plies at the start of a game, so that no two are alike. Default 6.
    pub opening_plies: u32,
    /// Plies after which a game counts as drawn, more than `opening_plies`. Default 300.
    pub max_plies: u32,
    /// Games of the final match against the untrained net, even; 0 leaves it out. Default 100.
    pub final_games: u32,
}

impl Default for ArenaConfig {
    fn default() -> ArenaConfig {
        ArenaConfig {
            every: 4,
            games: 16,
            milestones: 1,
            simulations: 16,
            opening_plies: 6,
            max_plies: 300,
            final_games: 100,
        }
    }
}

impl ArenaConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let even = "even: each opening is played with both colours";
        require(self.every >= 1, "arena.every", self.every, "at least 1")?;
        require(self.games >= 2, "arena.games", self.games, "at least 2")?;
        require(
            self.games.is_multiple_of(2),
            "arena.games",
            self.games,
            even,
        )?;
        require(
            self.final_games.is_multiple_of(2),
            "arena.final_games",
            self.final_games,
            even,
        )?;
        require(
            (1..=SearchConfig::MOST_SIMULATIONS).contains(&self.simulations),
            "arena.simulations",
            self.simulations,
            "from 1 to 1000000",
        )?;
        let longer = self.max_plies > self.opening_plies;
        require(
            longer,
            "arena.max_plies",
            self.max_plies,
            "more than arena.opening_plies",
        )
    }
}
