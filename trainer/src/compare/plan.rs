//! What is compared, and where it lies.

use crate::config::RunConfig;
use anyhow::{Context, ensure};
use selfplay::pace::WorkerProgress;
use selfplay::storage::Storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Simulations of a rating match would take time from training, so there is none: a period that no run reaches.
const NO_RATINGS: u64 = u64::MAX / 2;

/// A comparison.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where all of it lies.
    pub folder: PathBuf,
    /// The recipes by name, the first is the baseline.
    pub recipes: Vec<(String, RunConfig)>,
    /// Each recipe trains with the seeds 1 to this.
    pub seeds: u64,
    /// Minutes of each run.
    pub minutes: f64,
}

/// One training run of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedRun {
    /// Place of its recipe.
    pub recipe: usize,
    /// Its seed.
    pub seed: u64,
    /// Name of its folder and in matches.
    pub name: String,
}

/// What a run has done in its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Account {
    /// Name of the run.
    pub run: String,
    /// Training steps of its last net.
    pub steps: u64,
    /// Finished games.
    pub games: u64,
    /// Samples made by self-play.
    pub samples: u64,
    /// Positions evaluated by its workers.
    pub positions: u64,
    /// Share of the workers' time spent in the net, 0 to 1.
    pub net_share: f64,
    /// Share of the workers' time spent waiting for the trainer, 0 to 1.
    pub waiting_share: f64,
}

impl Plan {
    /// A comparison of recipe files.
    ///
    /// # Errors
    /// If a recipe cannot be read, two have the same name, or they are of different variants.
    pub fn new(folder: &Path, files: &[PathBuf], seeds: u64, minutes: f64) -> anyhow::Result<Plan> {
        let recipe = |path: &PathBuf| -> anyhow::Result<(String, RunConfig)> {
            let stem = path.file_stem().context("a recipe is a file")?;
            Ok((stem.to_string_lossy().into_owned(), RunConfig::load(path)?))
        };
        let recipes = files
            .iter()
            .map(recipe)
            .collect::<anyhow::Result<Vec<_>>>()?;
        let names: BTreeSet<&str> = recipes.iter().map(|(name, _)| name.as_str()).collect();
        ensure!(
            names.len() == recipes.len(),
            "two recipes have the same file name, which is what results are told apart by; rename one"
        );
        let variant = &recipes[0].1.run.variant;
        for (name, config) in &recipes {
            ensure!(
                config.run.variant == *variant,
                "'{name}' is a recipe for {}, '{}' for {variant}; only nets of the same variant can play each other",
                config.run.variant,
                recipes[0].0
            );
        }
        Ok(Plan {
            folder: folder.to_owned(),
            recipes,
            seeds,
            minutes,
        })
    }

    /// All runs; those of one seed follow each other, so that a change of the machine's mood hits all recipes.
    pub fn runs(&self) -> Vec<PlannedRun> {
        let of_seed = |seed| {
            (self.recipes.iter().enumerate()).map(move |(recipe, (name, _))| PlannedRun {
                recipe,
                seed,
                name: format!("{name}-seed{seed}"),
            })
        };
        (1..=self.seeds).flat_map(of_seed).collect()
    }

    /// Where a run lies.
    pub fn run_folder(&self, run: &PlannedRun) -> PathBuf {
        self.folder.join(&run.name)
    }

    /// Where accounts and results are kept.
    ///
    /// # Errors
    /// If the folder cannot be opened or made.
    pub fn storage(&self) -> anyhow::Result<Storage> {
        Ok(Storage::open(&self.folder.to_string_lossy())?)
    }

    /// The recipe of a run as it is trained: without matches, which would take time from training.
    pub fn training_config(&self, run: &PlannedRun) -> RunConfig {
        let mut config = self.recipes[run.recipe].1.clone();
        config.run.minutes = self.minutes;
        config.run.seed = run.seed;
        config.arena.every = NO_RATINGS;
        config.arena.final_games = 0;
        config
    }
}

impl Account {
    /// Reads what a finished run has done.
    ///
    /// # Errors
    /// If the run's files cannot be read.
    pub fn read(name: &str, storage: &Storage) -> anyhow::Result<Account> {
        let net = selfplay::layout::CurrentNet::read(storage)?;
        let workers = WorkerProgress::read_all(storage)?;
        let sum = |of: fn(&WorkerProgress) -> u64| workers.iter().map(of).sum();
        let seconds = |of: fn(&WorkerProgress) -> f64| workers.iter().map(of).sum::<f64>();
        let total = seconds(|worker| worker.total_seconds).max(1e-9);
        Ok(Account {
            run: name.to_owned(),
            steps: net.map_or(0, |net| net.step),
            games: sum(|worker| worker.games),
            samples: sum(|worker| worker.samples),
            positions: sum(|worker| worker.positions_evaluated),
            net_share: seconds(|worker| worker.net_seconds) / total,
            waiting_share: seconds(|worker| worker.waiting_seconds) / total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_of_two_variants_or_of_one_name_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(&path, text).expect("written");
            path
        };
        let chess = write("chess.toml", "[run]\nvariant = \"chess\"\n");
        let falcon = write("falcon.toml", "");
        let other = write("other/falcon.toml", "");
        let plan = |files: &[PathBuf]| Plan::new(folder.path(), files, 2, 1.0);
        let error = plan(&[chess, falcon.clone()])
            .expect_err("two variants")
            .to_string();
        assert!(
            error.contains("chess") && error.contains("falcon"),
            "{error}"
        );
        let error = plan(&[falcon.clone(), other])
            .expect_err("one name")
            .to_string();
        assert!(error.contains("same file name"), "{error}");
        let plan = plan(&[falcon]).expect("a plan");
        let names: Vec<String> = plan.runs().into_iter().map(|run| run.name).collect();
        assert_eq!(names, ["falcon-seed1", "falcon-seed2"]);
        let config = plan.training_config(&plan.runs()[1]);
        assert!(config.validate("the test").is_ok() && config.run.seed == 2);
    }
}
