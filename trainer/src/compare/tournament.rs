//! The round robin of all trained nets and the greedy player.

use super::plan::{Plan, PlannedRun};
use super::training::run_location;
use crate::arena::config::MatchConfig;
use crate::arena::ladder::Matchup;
use crate::arena::play::play_match;
use crate::arena::spec::{ContestantSpec, Equipment};
use anyhow::{Context, ensure};
use rules::Variant;
use selfplay::layout::CurrentNet;
use selfplay::storage::Storage;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the greedy player, who ties the scale to other comparisons.
pub const GREEDY: &str = "greedy";

/// Name of the file with the results of all matches so far.
const RESULTS: &str = "matches.json";

/// The matches that have been played, and how.
#[derive(Serialize, Deserialize)]
struct Played {
    games: u32,
    simulations: u32,
    matches: Vec<Matchup>,
}

/// The matches that have been played.
///
/// # Errors
/// If the results are there and cannot be read, or matches of other lengths or simulations have been played in the folder.
pub fn played(plan: &Plan, config: &MatchConfig) -> anyhow::Result<Vec<Matchup>> {
    let storage = plan.storage()?;
    let Some(played) = storage.find_json::<Played>(RESULTS)? else {
        return Ok(Vec::new());
    };
    ensure!(
        (played.games, played.simulations) == (config.games, config.simulations),
        "the matches in {} are of {} games at {} simulations; give --games {} --simulations {}, or delete the file to play all matches anew",
        storage.object_url(RESULTS),
        played.games,
        played.simulations,
        played.games,
        played.simulations
    );
    Ok(played.matches)
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
    let mut results = played(plan, config)?;
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
        let played = Played {
            games: config.games,
            simulations: config.simulations,
            matches: results.clone(),
        };
        plan.storage()?.put_json(RESULTS, &played)?;
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
