//! From a run's games and its current net to a table of values.

use super::bootstrap::Bootstrap;
use super::claims::Claims;
use super::court::{Findings, Results, claimed_matches, judge};
use super::estimate::Estimate;
use super::exact::agreement;
use super::first_moves::first_moves;
use super::odds::{NetPlayers, OddsConfig, measure};
use super::phase::Slice;
use super::probe::{ProbeConfig, ProbePosition, probe};
use super::reconcile::combine;
use super::regression::Regression;
use super::sample::{Sampling, quiet_positions};
use super::table::{SliceValues, TABLE_VERSION, ValueTable};
use crate::arena::contestant::Contestant;
use crate::arena::search::SearchContestant;
use anyhow::ensure;
use model::{DeviceChoice, Evaluator, Inference, load_evaluator};
use rayon::prelude::*;
use rules::tablebase::Tablebases;
use rules::{Outcome, Position, Variant};
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::record::from_bytes;
use selfplay::search::SearchConfig;
use selfplay::starts::StartKind;
use selfplay::storage::{ObjectInfo, Storage};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// The matches with unequal armies; `games` is 0 by default, which leaves them out.
    pub odds: OddsConfig,
    /// Games at most for each claim about a match, 0 to play none; the sequential test mostly ends sooner. Default 0.
    pub claim_games: usize,
    /// Simulations a move in all matches, at least 1. Default 16.
    pub simulations: u32,
}

impl Default for ValuesConfig {
    fn default() -> ValuesConfig {
        ValuesConfig {
            share: 0.5,
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
            self.resamples >= 40,
            "resamples is {}; an interval needs at least 40",
            self.resamples
        );
        ensure!(
            self.simulations >= 1,
            "simulations is 0; a search needs at least 1"
        );
        if self.odds.games > 0 {
            self.odds.validate(variant)?;
        }
        Ok(())
    }

    fn bootstrap(&self) -> Bootstrap {
        Bootstrap {
            resamples: self.resamples,
            seed: self.seed,
        }
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
    /// Tables that the net is compared with.
    pub tables: Option<&'a Tablebases>,
    /// Ends the matches when raised; what has been played by then counts.
    pub stop: &'a AtomicBool,
}

/// What is going on: the stage, how much of it is done, and how much there is to do.
pub type OnProgress<'a> = dyn FnMut(ValuesStage, usize, usize) + 'a;

/// Estimates the worth of a variant's men from the run's newest games, its current net, and matches that the net plays, and
/// judges the claims about the variant.
///
/// Games that start from a few men are left out, since their positions do not come up by themselves. Nothing in the run
/// is changed.
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
    let games = read_games(sources, config, &mut findings, on_progress)?;
    let bootstrap = config.bootstrap();
    on_progress(ValuesStage::Fitting, 0, config.resamples);
    findings.wholes.extend(games.regression.estimate(bootstrap));
    let fewer = Bootstrap {
        resamples: bootstrap.resamples.min(SLICE_RESAMPLES),
        ..bootstrap
    };
    for slice in Slice::ALL {
        let sampled = games.regression.estimate_in(Some(slice), fewer);
        findings
            .slices
            .extend(sampled.map(|sampled| (slice, sampled)));
    }
    let (mut heat, mut exact) = (Vec::new(), Vec::new());
    let net = CurrentNet::read(sources.storage)?;
    if let Some(net) = &net {
        let net = NetFile::read(sources, net)?;
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
        }
        if let Some(tables) = sources.tables {
            exact = agreement(tables, evaluator.as_mut(), EXACT_POSITIONS, config.seed);
        }
        findings.first_moves = first_moves(sources.variant, evaluator.as_mut());
        play_matches(sources, config, &net, &mut findings, on_progress)?;
    }
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
    Ok(ValueTable {
        version: TABLE_VERSION,
        variant: sources.variant.name().to_owned(),
        run: sources.storage.url().to_owned(),
        net: net.map(|net| net.id),
        combined: combine(&estimates),
        estimates,
        slices: slices.collect(),
        heat,
        matches: findings.matches,
        trials: findings.trials,
        exact,
        results: findings.results,
        first_moves: findings.first_moves,
        claims,
        rulings: rulings.unwrap_or_default(),
    })
}

/// The sampled positions of the run's games.
struct Games<'a> {
    regression: Regression<'a>,
    probes: Vec<ProbePosition>,
}

fn read_games<'a>(
    sources: &Sources<'a>,
    config: &ValuesConfig,
    findings: &mut Findings,
    on_progress: &mut OnProgress<'_>,
) -> anyhow::Result<Games<'a>> {
    let (storage, variant) = (sources.storage, sources.variant);
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
            if game.is_from_array {
                let Results {
                    white,
                    drawn,
                    black,
                } = &mut findings.results;
                *match game.outcome {
                    Outcome::WhiteWins => white,
                    Outcome::Draw => drawn,
                    Outcome::BlackWins => black,
                } += 1;
            }
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
    Ok(Games { regression, probes })
}

/// The bytes of the net that is asked and that plays.
struct NetFile {
    bytes: Vec<u8>,
    origin: String,
}

impl NetFile {
    fn read(sources: &Sources<'_>, net: &CurrentNet) -> anyhow::Result<NetFile> {
        let object = RunPaths::net(&net.id);
        Ok(NetFile {
            bytes: sources.storage.get(&object)?.to_vec(),
            origin: sources.storage.object_url(&object),
        })
    }

    fn evaluator(&self, sources: &Sources<'_>) -> anyhow::Result<Box<dyn Evaluator>> {
        Ok(load_evaluator(
            &self.bytes,
            &self.origin,
            sources.variant,
            sources.device,
            sources.inference,
        )?)
    }
}

/// The third estimator, and the matches that claims are about.
fn play_matches(
    sources: &Sources<'_>,
    config: &ValuesConfig,
    net: &NetFile,
    findings: &mut Findings,
    on_progress: &mut OnProgress<'_>,
) -> anyhow::Result<()> {
    if config.odds.games == 0 && config.claim_games == 0 {
        return Ok(());
    }
    let search = SearchConfig {
        simulations: config.simulations,
        gumbel_scale: 0.0,
        ..SearchConfig::default()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let contestants = (0..threads).map(|_| -> anyhow::Result<Box<dyn Contestant>> {
        let evaluator = net.evaluator(sources)?;
        Ok(Box::new(SearchContestant::new(
            "net",
            evaluator,
            search.clone(),
        )))
    });
    let contestants = contestants.collect::<anyhow::Result<Vec<_>>>()?;
    let mut players = NetPlayers::new(sources.variant, contestants, sources.stop);
    let flow = || match sources.stop.load(Ordering::SeqCst) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    if config.odds.games > 0 {
        let all = config.odds.games;
        let measured = measure(
            sources.variant,
            &mut players,
            &config.odds,
            &mut |progress| {
                tracing::info!("{progress}");
                on_progress(ValuesStage::Playing, progress.games.min(all), all);
                flow()
            },
        );
        if let Some(measured) = measured {
            findings.wholes.push(measured.values);
            findings.matches = measured.matches;
        }
    }
    for test in claimed_matches(sources.variant) {
        let seed = config.odds.seed;
        let played = test.play(&mut players, config.claim_games, seed, &mut |games| {
            on_progress(ValuesStage::Trying, games, config.claim_games);
            flow()
        });
        findings.trials.extend(played);
    }
    Ok(())
}

/// What the estimators need of a game.
struct SampledGame {
    /// Whether the game began in the array.
    is_from_array: bool,
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
                is_from_array: game.start_kind == StartKind::Opening,
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
