//! A run's storage together with its recipe and rules.

use crate::config::RunConfig;
use crate::output::shell_word;

use anyhow::Context;
use rules::Variant;
use rules::tablebase::Tablebases;
use selfplay::game::SelfPlayConfig;
use selfplay::games::GameStream;
use selfplay::layout::{RunInfo, RunPaths};
use selfplay::record::GameRecord;
use selfplay::storage::Storage;
use selfplay::tables;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open run.
pub struct Run {
    /// All of the run's objects.
    pub storage: Storage,
    /// The recipe.
    pub config: RunConfig,
    /// The rules.
    pub variant: Arc<Variant>,
}

impl Run {
    /// Begins a run at `location`, a folder or URL.
    ///
    /// # Errors
    /// If there is a run already, or the storage cannot be used.
    pub fn begin(location: &str, config: RunConfig, variant: Arc<Variant>) -> anyhow::Result<Run> {
        let storage = Storage::open(location)?;
        if RunInfo::read(&storage)?.is_some() {
            anyhow::bail!(
                "there is a run in '{location}' already; go on with it: falconzero train --resume --run {}; \
                 or begin another beside it: --run DIR; or delete it first",
                shell_word(location)
            );
        }
        // Config and rules go first: whoever sees the run's info can read them.
        storage.put(RunPaths::CONFIG, config.to_toml())?;
        storage.put(RunPaths::VARIANT, variant.toml().to_owned())?;
        let info = RunInfo::new(variant.name(), config.run.seed);
        anyhow::ensure!(
            info.create(&storage)?,
            "another trainer has begun a run in '{location}' just now; use another folder: --run DIR"
        );
        Ok(Run {
            storage,
            config,
            variant,
        })
    }

    /// Opens the run at `location` with the recipe and rules that it was begun with.
    ///
    /// # Errors
    /// If there is none, or its files cannot be read.
    pub fn open(location: &str) -> anyhow::Result<Run> {
        let none = || {
            format!(
                "there is no run in '{location}'; begin one with: falconzero train RECIPE --run {}",
                shell_word(location)
            )
        };
        // Opening a local folder would create it.
        let local = match location.split_once("://") {
            None => Some(location),
            Some((scheme, path)) => (scheme == "file").then_some(path),
        };
        if local.is_some_and(|folder| !Path::new(folder).is_dir()) {
            anyhow::bail!(none());
        }
        let storage = Storage::open(location)?;
        let info = RunInfo::read(&storage)?.with_context(none)?;
        let text = |name: &str| -> anyhow::Result<String> {
            let bytes = storage.get(name)?;
            String::from_utf8(bytes.to_vec())
                .with_context(|| format!("'{}' is not text", storage.object_url(name)))
        };
        let config = RunConfig::parse(
            &text(RunPaths::CONFIG)?,
            &storage.object_url(RunPaths::CONFIG),
        )?;
        let variant = Variant::from_toml(&text(RunPaths::VARIANT)?).with_context(|| {
            format!(
                "'{}' is not a valid variant",
                storage.object_url(RunPaths::VARIANT)
            )
        })?;
        anyhow::ensure!(
            info.variant == variant.name(),
            "'{}' says that the run is one of {}, '{}' has the rules of {}; put back the file that was \
             there before",
            storage.object_url(RunPaths::RUN),
            info.variant,
            storage.object_url(RunPaths::VARIANT),
            variant.name()
        );
        Ok(Run {
            storage,
            config,
            variant,
        })
    }

    /// A folder on this machine for what is no object of the run: TensorBoard and workers' logs. The run's own folder
    /// if it is a local one.
    pub fn local_folder(&self) -> PathBuf {
        match self.storage.local_dir() {
            Some(folder) => folder.to_owned(),
            None => PathBuf::from("runs").join(selfplay::layout::safe_segment(self.storage.url())),
        }
    }

    /// The tables that the recipe names, if it names any; those that are made on the spot take a second or two.
    ///
    /// # Errors
    /// If the folder has no tables, or one that cannot be used.
    pub fn tablebases(&self) -> anyhow::Result<Option<Arc<Tablebases>>> {
        let folder = &self.config.selfplay.tablebases;
        if folder.is_empty() {
            return Ok(None);
        }
        if folder == SelfPlayConfig::AUTO_TABLES {
            // A variant that has something unknown to tables is played without them.
            let solved = Tablebases::three_men(&self.variant);
            let solved = solved.inspect_err(|error| tracing::info!("no tablebases: {error}"));
            return Ok(solved.ok().map(Arc::new));
        }
        let tables = tables::load_some(&self.variant, Path::new(folder))
            .context("the recipe's field selfplay.tablebases names no usable tables")?;
        Ok(Some(Arc::new(tables)))
    }

    /// The newest finished games, at most so many, oldest first. Files that cannot be read are left out with a warning.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn newest_games(&self, most: usize) -> anyhow::Result<VecDeque<GameRecord>> {
        let mut stream = GameStream::new(&self.storage);
        let mut newest = VecDeque::new();
        loop {
            let scan = stream.scan().context("cannot read the run's games")?;
            let found = scan.games.len();
            let own = scan
                .games
                .into_iter()
                .filter(|game| game.variant == self.variant.name());
            let before = newest.len();
            newest.extend(own);
            let others = before + found - newest.len();
            if others > 0 {
                tracing::warn!(
                    "{others} games are of another variant than {} and left out; move their files out of games/",
                    self.variant.name()
                );
            }
            newest.drain(..newest.len().saturating_sub(most));
            if !scan.more {
                return Ok(newest);
            }
        }
    }

    /// Loads a published net as bytes, with its name for errors.
    ///
    /// # Errors
    /// If there is no such net.
    pub fn net_bytes(&self, id: &str) -> anyhow::Result<(Vec<u8>, String)> {
        let name = RunPaths::net(id);
        Ok((
            self.storage.get(&name)?.to_vec(),
            self.storage.object_url(&name),
        ))
    }
}
