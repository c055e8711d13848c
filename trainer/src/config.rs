//! The recipe of a run, read from TOML.
//!
//! `configs/runs/reference.toml` shows every field with its default, unit, range and effect.

mod learn;
mod run;

pub use learn::{LearnConfig, OptimizerConfig, OptimizerKind, WindowConfig};
pub use run::{ArenaConfig, MOST_MINUTES, RunSection};

use model::{DeviceChoice, Inference, NetConfig};
use selfplay::game::SelfPlayConfig;
use selfplay::search::SearchConfig;
use selfplay::starts::StartConfig;
use serde::{Deserialize, Serialize};
use std::path::Path;
use thiserror::Error;

/// Everything that a run needs to know; every section and field may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunConfig {
    /// Where tensors live: `auto`, `cpu` or `gpu:0`. Default `auto`.
    pub device: DeviceChoice,
    /// How nets are evaluated in self-play, matches and values: `auto`, `int8`, `bf16`, `f32` or `burn`. Default `auto`.
    pub inference: Inference,
    /// What is trained, where, and for how long.
    pub run: RunSection,
    /// The network.
    pub net: NetConfig,
    /// The search of a self-play move.
    pub search: SearchConfig,
    /// The self-play games.
    pub selfplay: SelfPlayConfig,
    /// How the games start.
    pub starts: StartConfig,
    /// Replay and learning.
    pub learn: LearnConfig,
    /// Measuring strength during the run.
    pub arena: ArenaConfig,
}

/// Why a recipe cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(
        "cannot read the recipe '{path}'; give the path of a TOML file, for instance configs/runs/falcon-quick.toml"
    )]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is not the TOML of a recipe; the message of the parser names line and field.
    #[error(
        "the recipe '{path}' is not valid: {message}\nconfigs/runs/reference.toml lists every field"
    )]
    Parse {
        /// The file.
        path: String,
        /// What is wrong, and where.
        message: String,
    },
    /// A field has a value that makes no sense.
    #[error("{origin} cannot be used: {problem}")]
    Field {
        /// The file, or what else set it.
        origin: String,
        /// Field, value and what is allowed.
        problem: String,
    },
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            device: DeviceChoice::Auto,
            inference: Inference::Auto,
            run: RunSection::default(),
            net: NetConfig::default(),
            search: SearchConfig::default(),
            selfplay: SelfPlayConfig::default(),
            starts: StartConfig::default(),
            learn: LearnConfig::default(),
            arena: ArenaConfig::default(),
        }
    }
}

impl RunConfig {
    /// Reads and checks a recipe.
    ///
    /// # Errors
    /// If the file cannot be read, is not a recipe, or has a value out of range.
    pub fn load(path: &Path) -> Result<RunConfig, ConfigError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: name.clone(),
            source,
        })?;
        let mut config = RunConfig::parse(&text, &name)?;
        // A variant's file may lie beside the recipe that names it.
        let beside = path.with_file_name(&config.run.variant);
        let is_here = Path::new(&config.run.variant).exists();
        if config.run.variant.ends_with(".toml") && !is_here && beside.exists() {
            config.run.variant = beside.display().to_string();
        }
        Ok(config)
    }

    /// Reads and checks a recipe that `source` (a path or URL) holds.
    ///
    /// # Errors
    /// If the text is not a recipe or has a value out of range.
    pub fn parse(text: &str, source: &str) -> Result<RunConfig, ConfigError> {
        let config: RunConfig = toml::from_str(text).map_err(|error| ConfigError::Parse {
            path: source.to_owned(),
            message: error.to_string(),
        })?;
        config.validate(&format!("the recipe '{source}'"))?;
        Ok(config)
    }

    /// Checks every range; `origin` names in errors what set the fields.
    ///
    /// # Errors
    /// If a field has a value out of range.
    pub fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        let fail = |problem: String| ConfigError::Field {
            origin: origin.to_owned(),
            problem,
        };
        let out_of_range = |error: selfplay::config_error::ConfigError| fail(error.to_string());
        self.run.validate().map_err(out_of_range)?;
        self.net
            .validate()
            .map_err(|error| fail(error.to_string()))?;
        self.search.validate().map_err(out_of_range)?;
        self.selfplay.validate().map_err(out_of_range)?;
        self.starts.validate().map_err(out_of_range)?;
        self.learn.validate().map_err(out_of_range)?;
        self.arena.validate().map_err(out_of_range)?;
        if self.selfplay.full_search_share == 0.0 && !self.learn.value_on_cheap {
            return Err(fail(
                "selfplay.full_search_share = 0 with learn.value_on_cheap = false leaves nothing to learn from; raise the one or switch on the other".to_owned(),
            ));
        }
        Ok(())
    }
    /// The recipe as TOML, every field written out.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a recipe holds only what TOML can hold")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recipe survives writing and reading, so that a run can resume from its own copy.
    #[test]
    fn recipes_round_trip() {
        let config = RunConfig::default();
        assert_eq!(RunConfig::parse(&config.to_toml(), "test").unwrap(), config);
    }

    /// The reference shows every field, with its default.
    #[test]
    fn the_reference_is_complete_and_true() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../configs/runs/reference.toml"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let shown: toml::Table = text.parse().unwrap();
        let all: toml::Table = RunConfig::default().to_toml().parse().unwrap();
        assert_same_fields("", &shown, &all);
        assert_eq!(RunConfig::parse(&text, path).unwrap(), RunConfig::default());
    }

    fn assert_same_fields(path: &str, shown: &toml::Table, all: &toml::Table) {
        for (key, value) in all {
            let found = shown
                .get(key)
                .unwrap_or_else(|| panic!("reference.toml lacks {path}{key}"));
            if let (toml::Value::Table(found), toml::Value::Table(value)) = (found, value) {
                assert_same_fields(&format!("{path}{key}."), found, value);
            }
        }
    }

    /// A recipe may name any one field and leave out all others.
    #[test]
    fn one_field_is_enough() {
        let all: toml::Table = RunConfig::default().to_toml().parse().unwrap();
        let mut path = Vec::new();
        assert_enough_alone(&mut path, &all);
    }

    fn assert_enough_alone(path: &mut Vec<String>, fields: &toml::Table) {
        for (key, value) in fields {
            path.push(key.clone());
            if let toml::Value::Table(fields) = value {
                assert_enough_alone(path, fields);
            } else {
                let text = format!("{} = {value}", path.join("."));
                let config =
                    RunConfig::parse(&text, "test").unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(config, RunConfig::default(), "{text}");
            }
            path.pop();
        }
    }

    /// All shipped recipes are valid.
    #[test]
    fn shipped_recipes_are_valid() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/runs");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            RunConfig::load(&entry.unwrap().path()).unwrap_or_else(|error| panic!("{error}"));
            count += 1;
        }
        assert!(count >= 4, "{count} recipes in {folder}");
    }

    /// Errors name file, field and what to do.
    #[test]
    fn errors_name_file_and_field() {
        for (text, expected) in [
            ("[learn]\nbatch_sise = 3", "batch_sise"),
            ("[run]\nminutes = -1.0", "run.minutes = -1"),
            ("[learn]\nema_decay = 1.5", "learn.ema_decay = 1.5"),
            ("[learn", "line 1"),
        ] {
            let message = RunConfig::parse(text, "my.toml").unwrap_err().to_string();
            assert!(
                message.contains("my.toml") && message.contains(expected),
                "{message}"
            );
        }
    }
}
