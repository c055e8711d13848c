//! From a run's games and its current net to a table of values.

use super::bootstrap::Bootstrap;
use super::claims::Claims;
use super::exact::agreement;
use super::probe::{ProbeConfig, ProbePosition, probe};
use super::regression::Regression;
use super::sample::{Sampling, quiet_positions};
use super::table::{TABLE_VERSION, ValueTable};
use anyhow::ensure;
use model::{DeviceChoice, load_evaluator};
use rayon::prelude::*;
use rules::tablebase::Tablebases;
use rules::{Outcome, Position, Variant};
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::record::from_bytes;
use selfplay::starts::StartKind;
use selfplay::storage::{ObjectInfo, Storage};

/// Which positions of a game the estimators see.
const SAMPLING: Sampling = Sampling {
    first_ply: 8,
    gap: 4,
    per_game: 16,
};
/// Of these, every how many a net is asked about: neighbours hardly differ in what the men are worth.
const PROBED_EVERY: usize = 4;
/// Positions that the net takes for nearly decided say little about single men.
const MAX_ABS_Q: f32 = 0.8;
/// Positions of each tablebase that the net is asked about.
const EXACT_POSITIONS: usize = 1000;
/// Chunks read at once, on all cores.
const CHUNKS_AT_ONCE: usize = 16;

/// How to estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuesConfig {
    /// Share of the run's games to use, the newest ones, above 0 and at most 1: early games are played by nets that do
    /// not know yet what a man can do. Default 0.5.
    pub share: f64,
    /// Positions to probe, 0 to leave the probe out. Default 2000.
    pub probe_positions: usize,
    /// Bootstrap resamples, at least 40. Default 400.
    pub resamples: usize,
    /// Seed of all random choices. Default 1.
    pub seed: u64,
}

impl Default for ValuesConfig {
    fn default() -> ValuesConfig {
        ValuesConfig {
            share: 0.5,
            probe_positions: 2000,
            resamples: 400,
            seed: 1,
        }
    }
}

impl ValuesConfig {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn validate(&self) -> anyhow::Result<()> {
        ensure!(
            self.share > 0.0 && self.share <= 1.0,
            "share is {}; it must be above 0 and at most 1",
            self.share
        );
        ensure!(
            self.resamples >= 40,
            "resamples is {}; an interval needs at least 40",
            self.resamples
        );
        Ok(())
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuesStage {
    /// Reading game files.
    Reading,
    /// Probing positions with the net.
    Probing,
    /// Fitting outcomes and resampling games.
    Fitting,
}

/// Estimates the worth of a variant's men from the run's newest games and its current net.
///
/// Games that start from a few men are left out, since their positions do not come up by themselves. `on_progress` hears
/// the stage with how much of it is done and how much there is to do. Nothing in the run is changed. With `tables` the net is
/// also compared with their exact values.
///
/// # Errors
/// If there is no game yet, the storage fails, or the current net cannot be loaded. Game files that cannot be read are
/// skipped with a warning.
pub fn first_table(
    storage: &Storage,
    variant: &Variant,
    device: DeviceChoice,
    config: &ValuesConfig,
    tables: Option<&Tablebases>,
    on_progress: &mut dyn FnMut(ValuesStage, usize, usize),
) -> anyhow::Result<ValueTable> {
    config.validate()?;
    let bootstrap = Bootstrap {
        resamples: config.resamples,
        seed: config.seed,
    };
    let mut regression = Regression::new(variant);
    let mut probes: Vec<ProbePosition> = Vec::new();
    let chunks = newest_chunks(storage, config.share)?;
    for (batch, names) in chunks.chunks(CHUNKS_AT_ONCE).enumerate() {
        on_progress(ValuesStage::Reading, batch * CHUNKS_AT_ONCE, chunks.len());
        let sampled: Vec<Vec<SampledGame>> = names
            .par_iter()
            .map(|name| sample_chunk(storage, variant, name))
            .collect();
        for game in sampled.into_iter().flatten() {
            let number = regression.games();
            let wanted = config.probe_positions.saturating_sub(probes.len());
            let positions = game.positions.iter().step_by(PROBED_EVERY).take(wanted);
            probes.extend(positions.map(|&position| ProbePosition {
                game: number,
                position,
            }));
            regression.add_game(game.outcome, &game.positions);
        }
    }
    ensure!(
        regression.games() > 0,
        "'{}' has no finished games to learn values from yet; let it run on",
        storage.url()
    );
    let net = CurrentNet::read(storage)?;
    let (mut estimates, mut exact) = (Vec::new(), Vec::new());
    on_progress(ValuesStage::Fitting, 0, config.resamples);
    estimates.extend(regression.estimate(bootstrap));
    if let Some(net) = &net {
        let object = RunPaths::net(&net.id);
        let bytes = storage.get(&object)?;
        let mut evaluator = load_evaluator(&bytes, &storage.object_url(&object), variant, device)?;
        let settings = ProbeConfig {
            max_abs_q: MAX_ABS_Q,
            bootstrap,
        };
        let total = probes.len();
        estimates.extend(probe(
            variant,
            evaluator.as_mut(),
            &probes,
            &settings,
            &mut |done| {
                on_progress(ValuesStage::Probing, done, total);
            },
        ));
        if let Some(tables) = tables {
            exact = agreement(tables, evaluator.as_mut(), EXACT_POSITIONS, config.seed);
        }
    }
    Ok(ValueTable {
        version: TABLE_VERSION,
        variant: variant.name().to_owned(),
        run: storage.url().to_owned(),
        net: net.map(|net| net.id),
        estimates,
        exact,
        claims: Claims::about(variant),
    })
}

/// What the estimators need of a game.
struct SampledGame {
    outcome: Outcome,
    positions: Vec<Position>,
}

/// Names of the chunks that changed last, the newest first: `share` of all by size, since one that a worker has just begun
/// holds no game yet.
fn newest_chunks(storage: &Storage, share: f64) -> anyhow::Result<Vec<String>> {
    let mut chunks = storage.list(RunPaths::GAMES)?;
    chunks.retain(|chunk| RunPaths::parse_chunk(&chunk.name).is_some());
    chunks.sort_by(|one, other| (other.modified, &other.name).cmp(&(one.modified, &one.name)));
    let wanted = share * chunks.iter().map(|chunk| chunk.size as f64).sum::<f64>();
    let mut taken = 0.0;
    let is_needed = |chunk: &ObjectInfo| {
        let is_needed = taken < wanted;
        taken += chunk.size as f64;
        is_needed
    };
    Ok(chunks
        .into_iter()
        .take_while(is_needed)
        .map(|chunk| chunk.name)
        .collect())
}

/// The sampled positions of a chunk's games; nothing, with a warning, if it cannot be read.
fn sample_chunk(storage: &Storage, variant: &Variant, name: &str) -> Vec<SampledGame> {
    let warn = |problem: &dyn std::fmt::Display| {
        tracing::warn!("{} is left out: {problem}", storage.object_url(name));
    };
    let games = match storage.get(name).map(from_bytes) {
        Ok(Ok(games)) => games,
        Ok(Err(error)) => {
            warn(&error);
            return Vec::new();
        }
        Err(error) => {
            warn(&error);
            return Vec::new();
        }
    };
    let mut sampled = Vec::new();
    for game in games
        .iter()
        .filter(|game| !matches!(game.start_kind, StartKind::FewMen | StartKind::Tablebase))
    {
        match quiet_positions(variant, game, SAMPLING) {
            Ok(positions) => sampled.push(SampledGame {
                outcome: game.outcome,
                positions,
            }),
            Err(error) => warn(&format!("{error:#}")),
        }
    }
    sampled
}

#[cfg(test)]
mod tests;
