//! The round robin of all trained nets and the greedy player.

use super::plan::{Plan, PlannedRun};
use super::training::run_location;
use crate::arena::config::MatchConfig;
use crate::arena::ladder::Matchup;
use crate::arena::play::play_match;
use crate::arena::spec::{ContestantSpec, Equipment};
use anyhow::Context;
use rules::Variant;
use selfplay::layout::CurrentNet;
use selfplay::storage::Storage;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the greedy player, who ties the scale to other comparisons.
pub const GREEDY: &str = "greedy";

/// Where the results of all matches so far are.
fn results_file(plan: &Plan) -> PathBuf {
    plan.folder.join("matches.json")
}

/// The matches that have been played.
///
/// # Errors
/// If the results are there and cannot be read.
pub fn played(plan: &Plan) -> anyhow::Result<Vec<Matchup>> {
    let path = results_file(plan);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("'{}' cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("'{}' is damaged", path.display()))
}

/// All pairs of names that are to play each other.
pub fn pairings(runs: &[PlannedRun]) -> Vec<(String, String)> {
    let names: Vec<&str> = (runs.iter().map(|run| run.name.as_str()))
        .chain([GREEDY])
        .collect();
    let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
    pairs
        .map(|(a, b)| (names[a].to_owned(), names[b].to_owned()))
        .collect()
}

/// Plays the matches that are missing, and keeps each result at once. Stops early, and answers false, if `stop` is raised.
///
/// # Errors
/// If a net cannot be read or a result not be written.
pub fn play(
    plan: &Plan,
    variant: &Arc<Variant>,
    config: &MatchConfig,
    stop: &AtomicBool,
    on_match: &mut dyn FnMut(&str, &str, usize, usize),
) -> anyhow::Result<bool> {
    let mut results = played(plan)?;
    let all = pairings(&plan.runs());
    for (number, (first, second)) in all.iter().enumerate() {
        let done = (results.iter()).any(|m| m.first == *first && m.second == *second);
        if done {
            continue;
        }
        on_match(first, second, number, all.len());
        let config = MatchConfig {
            seed: config.seed + number as u64,
            ..config.clone()
        };
        let Some(matchup) = play_one(plan, variant, &config, (first, second), stop)? else {
            return Ok(false);
        };
        results.push(matchup);
        let path = results_file(plan);
        std::fs::write(&path, serde_json::to_string_pretty(&results)?)
            .with_context(|| format!("'{}' cannot be written", path.display()))?;
    }
    Ok(true)
}

fn play_one(
    plan: &Plan,
    variant: &Arc<Variant>,
    config: &MatchConfig,
    (first, second): (&str, &str),
    stop: &AtomicBool,
) -> anyhow::Result<Option<Matchup>> {
    let (a, b) = (contestant(plan, first)?, contestant(plan, second)?);
    let recipe = &plan.recipes[0].1;
    let equipment = Equipment {
        simulations: config.simulations,
        device: recipe.device,
        inference: recipe.inference,
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let teams = equipment.teams(variant, [&a, &b], threads.min(config.pairs()))?;
    let result = play_match(
        variant,
        config,
        teams,
        &mut |_| match stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        },
    );
    Ok((!stop.load(Ordering::SeqCst)).then(|| Matchup {
        first: first.to_owned(),
        second: second.to_owned(),
        pentanomial: result.pentanomial,
    }))
}

fn contestant(plan: &Plan, name: &str) -> anyhow::Result<ContestantSpec> {
    if name == GREEDY {
        return Ok(ContestantSpec::Greedy);
    }
    let storage = Storage::open(&run_location(&plan.folder.join(name)))?;
    let net = CurrentNet::read(&storage)?
        .with_context(|| format!("the run {name} has published no net"))?;
    ContestantSpec::published(&storage, &net.id)
}
