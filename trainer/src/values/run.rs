//! From a run's games and its current net to a table of values.

mod config;
mod fresh;
mod lines;
mod matches;

pub use config::ValuesConfig;

use super::bootstrap::Bootstrap;
use super::claims::Claims;
use super::court::{Findings, Results, judge};
use super::estimate::{Estimate, HeatMap, Sampled};
use super::exact::{Agreement, agreement};
use super::first_moves::first_moves;
use super::phase::Slice;
use super::probe::{ProbeConfig, ProbePosition, Way, probe};
use super::reconcile::combine;
use super::regression::Regression;
use super::sample::{Sampling, quiet_positions};
use super::table::{SliceValues, TABLE_VERSION, ValueTable, WayValues};
use anyhow::{Context, ensure};
use fresh::fresh_games;
use lines::own_lines;
use matches::{NetFile, play_matches};
use model::{DeviceChoice, Inference};
use rayon::prelude::*;
use rules::tablebase::Tablebases;
use rules::{Outcome, Position, Variant};
use selfplay::games::chunks;
use selfplay::layout::CurrentNet;
use selfplay::record::{GameRecord, from_bytes};
use selfplay::starts::StartKind;
use selfplay::storage::{ObjectInfo, Storage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
/// Resamples for parts of the games, at most: there are many fits.
const SLICE_RESAMPLES: usize = 100;
/// Chunks read at once, on all cores.
const CHUNKS_AT_ONCE: usize = 16;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuesStage {
    /// Reading game files.
    Reading,
    /// Playing games for the estimators' sake.
    FreshGames,
    /// Probing positions with the net.
    Probing,
    /// Fitting outcomes and resampling games.
    Fitting,
    /// Playing matches with unequal armies.
    Playing,
    /// Playing a match that a claim is about.
    Trying,
}

/// Where the games, the net and the exact values come from.
pub struct Sources<'a> {
    /// The run's storage.
    pub storage: &'a Storage,
    /// The rules.
    pub variant: &'a Arc<Variant>,
    /// Where the net is evaluated.
    pub device: DeviceChoice,
    /// How the net is evaluated.
    pub inference: Inference,
    /// Tables that the net is compared with, and that it knows when it plays.
    pub tables: Option<&'a Arc<Tablebases>>,
    /// Ends games and matches when raised; what has been played by then counts.
    pub stop: &'a AtomicBool,
}

/// What is going on: the stage, how much of it is done, and how much there is to do.
pub type OnProgress<'a> = dyn FnMut(ValuesStage, usize, usize) + 'a;

/// Estimates the worth of a variant's men from the run's newest games (or from fresh ones of its current net), its current
/// net, and matches that the net plays, and judges the claims about the variant.
///
/// Games that start from a few men are left out, since their positions do not come up by themselves. Nothing in the run
/// is changed, but that fresh games are kept in it.
///
/// # Errors
/// If there is no game yet, the storage fails, or the current net cannot be loaded. Game files that cannot be read are
/// skipped with a warning.
pub fn first_table(
    sources: &Sources<'_>,
    config: &ValuesConfig,
    on_progress: &mut OnProgress<'_>,
) -> anyhow::Result<ValueTable> {
    config.validate(sources.variant)?;
    let mut findings = Findings::default();
    let net = CurrentNet::read(sources.storage)?;
    let net_file = net.as_ref().map(|net| NetFile::read(sources, net));
    let net_file = net_file.transpose()?;
    let player = net_file
        .as_ref()
        .zip(net.as_ref().map(|net| net.id.as_str()));
    let games = Games::gather(sources, config, player, &mut findings.results, on_progress)?;
    let bootstrap = config.bootstrap();
    on_progress(ValuesStage::Fitting, 0, config.resamples);
    regress(&games.regression, bootstrap, &mut findings);
    let (mut heat, mut ways, mut exact) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(net) = &net_file {
        let mut evaluator = net.evaluator(sources)?;
        let settings = ProbeConfig {
            max_abs_q: MAX_ABS_Q,
            bootstrap,
        };
        let total = games.probes.len();
        let probed = probe(
            sources.variant,
            evaluator.as_mut(),
            &games.probes,
            &settings,
            &mut |done| on_progress(ValuesStage::Probing, done, total),
        );
        if let Some(probed) = probed {
            findings.wholes.push(probed.whole);
            findings.slices.extend(probed.slices);
            heat = probed.heat;
            ways = probed.ways;
        }
        if let Some(tables) = sources.tables {
            exact = agreement(tables, evaluator.as_mut(), EXACT_POSITIONS, config.seed);
        }
        findings.first_moves = first_moves(sources.variant, evaluator.as_mut());
        play_matches(sources, config, net, &mut findings, on_progress)?;
    }
    let parts = Parts { heat, ways, exact };
    Ok(table(
        sources,
        config,
        net.map(|net| net.id),
        findings,
        parts,
    ))
}

/// What the net alone says.
struct Parts {
    heat: Vec<HeatMap>,
    ways: Vec<(Way, Sampled)>,
    exact: Vec<Agreement>,
}

/// What the outcomes say, all in all and by parts of the games.
fn regress(regression: &Regression, bootstrap: Bootstrap, findings: &mut Findings) {
    findings.wholes.extend(regression.estimate(bootstrap));
    let fewer = Bootstrap {
        resamples: bootstrap.resamples.min(SLICE_RESAMPLES),
        ..bootstrap
    };
    for slice in Slice::ALL {
        let sampled = regression.estimate_in(Some(slice), fewer);
        let sampled = sampled.map(|sampled| (slice, sampled));
        findings.slices.extend(sampled);
    }
}

/// All of it as one table, the claims judged.
fn table(
    sources: &Sources<'_>,
    config: &ValuesConfig,
    net: Option<String>,
    findings: Findings,
    parts: Parts,
) -> ValueTable {
    let claims = Claims::about(sources.variant);
    let rulings = claims
        .as_ref()
        .map(|claims| judge(sources.variant, claims, &findings));
    let estimates: Vec<Estimate> = findings
        .wholes
        .into_iter()
        .map(|whole| whole.estimate)
        .collect();
    let slices = findings
        .slices
        .into_iter()
        .map(|(slice, sampled)| SliceValues {
            slice,
            estimate: sampled.estimate,
        });
    ValueTable {
        version: TABLE_VERSION,
        variant: sources.variant.name().to_owned(),
        run: sources.storage.url().to_owned(),
        net,
        fresh_simulations: (config.fresh_games > 0).then_some(config.simulations),
        combined: combine(&estimates),
        estimates,
        slices: slices.collect(),
        ways: parts
            .ways
            .into_iter()
            .map(|(way, sampled)| WayValues {
                way,
                estimate: sampled.estimate,
            })
            .collect(),
        heat: parts.heat,
        matches: findings.matches,
        trials: findings.trials,
        exact: parts.exact,
        results: findings.results,
        first_moves: findings.first_moves,
        claims,
        rulings: rulings.unwrap_or_default(),
    }
}

/// The sampled positions of the run's games.
struct Games<'a> {
    regression: Regression<'a>,
    probes: Vec<ProbePosition>,
}

impl<'a> Games<'a> {
    fn new(variant: &'a Variant) -> Games<'a> {
        Games {
            regression: Regression::new(variant),
            probes: Vec::new(),
        }
    }

    /// Fresh games or the run's own, as the settings want it; at least one.
    fn gather(
        sources: &Sources<'a>,
        config: &ValuesConfig,
        player: Option<(&NetFile, &str)>,
        results: &mut Results,
        on_progress: &mut OnProgress<'_>,
    ) -> anyhow::Result<Games<'a>> {
        let mut games = Games::new(sources.variant);
        if config.fresh_games == 0 {
            games.read(sources, config, results, on_progress)?;
        } else {
            let player = player.with_context(|| {
                format!(
                    "'{}' has no net yet that could play fresh games; let it run on",
                    sources.storage.url()
                )
            })?;
            let all = fresh_games(sources, config, player, on_progress)?;
            let played = all.len();
            let own = own_lines(all);
            if own.len() < played {
                tracing::info!(
                    "{} of {played} fresh games ran into the line of another one and are left out",
                    played - own.len()
                );
            }
            for game in own {
                match SampledGame::new(sources.variant, &game) {
                    Ok(game) => games.add(game, config, results),
                    Err(error) => tracing::warn!("a fresh game is left out: {error:#}"),
                }
            }
        }
        ensure!(
            games.regression.games() > 0,
            "'{}' has no finished games to learn values from yet (those that begin in endgames do not count); let it run on",
            sources.storage.url()
        );
        Ok(games)
    }

    /// Takes the run's newest games.
    fn read(
        &mut self,
        sources: &Sources<'a>,
        config: &ValuesConfig,
        results: &mut Results,
        on_progress: &mut OnProgress<'_>,
    ) -> anyhow::Result<()> {
        let (storage, variant) = (sources.storage, sources.variant);
        let chunks = newest_chunks(storage, config.share)?;
        for (batch, names) in chunks.chunks(CHUNKS_AT_ONCE).enumerate() {
            on_progress(ValuesStage::Reading, batch * CHUNKS_AT_ONCE, chunks.len());
            let sampled: Vec<Vec<SampledGame>> = names
                .par_iter()
                .map(|name| sample_chunk(storage, variant, name))
                .collect();
            for game in sampled.into_iter().flatten() {
                self.add(game, config, results);
            }
        }
        Ok(())
    }

    fn add(&mut self, game: SampledGame, config: &ValuesConfig, results: &mut Results) {
        if game.is_from_array {
            *match game.outcome {
                Outcome::WhiteWins => &mut results.white,
                Outcome::Draw => &mut results.drawn,
                Outcome::BlackWins => &mut results.black,
            } += 1;
        }
        let number = self.regression.games();
        let wanted = config.probe_positions.saturating_sub(self.probes.len());
        let positions = game.positions.iter().step_by(PROBED_EVERY).take(wanted);
        self.probes.extend(positions.map(|&position| ProbePosition {
            game: number,
            position,
        }));
        self.regression.add_game(game.outcome, &game.positions);
    }
}

/// What the estimators need of a game.
pub(super) struct SampledGame {
    /// Whether the game began in the array.
    is_from_array: bool,
    pub outcome: Outcome,
    pub positions: Vec<Position>,
}

impl SampledGame {
    fn new(variant: &Variant, game: &GameRecord) -> anyhow::Result<SampledGame> {
        Ok(SampledGame {
            is_from_array: game.start_kind == StartKind::Opening,
            outcome: game.outcome,
            positions: quiet_positions(variant, game, SAMPLING)?,
        })
    }
}

/// Names of the chunks that changed last, the newest first: `share` of all by size, since one that a worker has just begun
/// holds no game yet.
fn newest_chunks(storage: &Storage, share: f64) -> anyhow::Result<Vec<String>> {
    let chunks = chunks(storage)?;
    let wanted = share * chunks.iter().map(|chunk| chunk.size as f64).sum::<f64>();
    let mut taken = 0.0;
    let is_needed = |chunk: &ObjectInfo| {
        let is_needed = taken < wanted;
        taken += chunk.size as f64;
        is_needed
    };
    Ok(chunks
        .into_iter()
        .rev()
        .take_while(is_needed)
        .map(|chunk| chunk.name)
        .collect())
}

/// The sampled positions of a chunk's games; nothing, with a warning, if it cannot be read.
pub(super) fn sample_chunk(storage: &Storage, variant: &Variant, name: &str) -> Vec<SampledGame> {
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
    let (own, others): (Vec<_>, Vec<_>) =
        (games.iter()).partition(|game| game.variant == variant.name());
    if let Some(other) = others.first() {
        warn(&format!("{} games are of {}", others.len(), other.variant));
    }
    for game in own
        .into_iter()
        .filter(|game| !matches!(game.start_kind, StartKind::FewMen | StartKind::Tablebase))
    {
        match SampledGame::new(variant, game) {
            Ok(game) => sampled.push(game),
            Err(error) => warn(&format!("{error:#}")),
        }
    }
    sampled
}

#[cfg(test)]
mod tests;
