//! The net at the board: matches with unequal armies.

use super::{OnProgress, Sources, ValuesConfig, ValuesStage};
use crate::arena::contestant::Contestant;
use crate::arena::search::SearchContestant;
use crate::values::court::{Findings, claimed_matches};
use crate::values::odds::{NetPlayers, measure};
use model::{Evaluator, load_evaluator};
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::search::SearchConfig;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// The bytes of the net that is asked and that plays.
pub(super) struct NetFile {
    bytes: Vec<u8>,
    origin: String,
}

impl NetFile {
    pub fn read(sources: &Sources<'_>, net: &CurrentNet) -> anyhow::Result<NetFile> {
        let object = RunPaths::net(&net.id);
        Ok(NetFile {
            bytes: sources.storage.get(&object)?.to_vec(),
            origin: sources.storage.object_url(&object),
        })
    }

    pub fn evaluator(&self, sources: &Sources<'_>) -> anyhow::Result<Box<dyn Evaluator>> {
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
pub(super) fn play_matches(
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
        let player = SearchContestant::new("net", evaluator, search.clone());
        Ok(Box::new(player.with_tables(sources.tables.cloned())))
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
