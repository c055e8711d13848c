//! How a run ends: what it has gained, what the pieces are worth, and how to go on.

use crate::arena::play::{MatchProgress, play_match};
use crate::arena::result::MatchResult;
use crate::arena::spec::{ContestantSpec, Equipment};
use crate::output::shell_word;
use crate::pipeline::{match_config, net_id};
use crate::run::Run;
use crate::values::table::ValueTable;
use crate::values::{Sources, ValuesConfig, first_table};
use anyhow::Context;
use selfplay::layout::{CurrentNet, RunPaths};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the final match's file among the run's match results.
const FINAL_MATCH: &str = "final";

/// Plays the final match, estimates the values, and prints both with the commands to go on with.
///
/// # Errors
/// If the nets or games cannot be read.
pub fn finish(run: &Run, stop: &AtomicBool) -> anyhow::Result<()> {
    let net = CurrentNet::read(&run.storage)?.context("the run has published no net")?;
    println!("\nThe time is up after {} training steps.", net.step);
    if let Some(result) = final_match(run, &net, stop)? {
        println!(
            "{} wins, {} draws, {} losses: Elo {}",
            result.wins, result.draws, result.losses, result.elo
        );
    }
    if !stop.load(Ordering::SeqCst) {
        match values_table(run) {
            Ok(table) => println!("\n{table}"),
            Err(error) => println!("\nThe values of the pieces cannot be estimated yet: {error:#}"),
        }
    }
    print_ways_on(run, &net);
    Ok(())
}

/// The newest net against the untrained one, at equal simulations; none if the run has no such match or is stopped.
fn final_match(
    run: &Run,
    net: &CurrentNet,
    stop: &AtomicBool,
) -> anyhow::Result<Option<MatchResult>> {
    let arena = &run.config.arena;
    if arena.final_games == 0 || net.step == 0 || stop.load(Ordering::SeqCst) {
        return Ok(None);
    }
    let config = match_config(arena, arena.final_games, run.config.run.seed);
    println!(
        "Final match: {} games against the untrained net, {} simulations a move.",
        config.games, config.simulations
    );
    let equipment = Equipment {
        simulations: config.simulations,
        device: run.config.device,
        inference: run.config.inference,
    };
    let newest = ContestantSpec::published(&run.storage, &net.id)?;
    let untrained = ContestantSpec::published(&run.storage, &net_id(0))?;
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(config.pairs());
    let teams = equipment.teams(&run.variant, [&newest, &untrained], threads)?;
    let result =
        play_match(&run.variant, &config, teams, &mut |_: &MatchProgress<
            '_,
        >| match stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
    run.storage
        .put_json(&RunPaths::arena(FINAL_MATCH), &result)?;
    Ok(Some(result))
}

/// What the games say about the pieces, as a table.
fn values_table(run: &Run) -> anyhow::Result<ValueTable> {
    let tables = run.tablebases()?;
    let sources = Sources {
        storage: &run.storage,
        variant: &run.variant,
        device: run.config.device,
        inference: run.config.inference,
        tables: tables.as_ref(),
        stop: &AtomicBool::new(false),
    };
    first_table(&sources, &ValuesConfig::default(), &mut |_, _, _| {})
}

/// The command that goes on with a run.
pub fn resume_command(run: &Run) -> String {
    let minutes = run.config.run.minutes;
    format!(
        "falconzero train --resume --run {} --minutes {}",
        shell_word(run.storage.url()),
        minutes * 2.0
    )
}

fn print_ways_on(run: &Run, net: &CurrentNet) {
    let location = shell_word(run.storage.url());
    println!(
        "\nnet   {}",
        run.storage.object_url(&RunPaths::net(&net.id))
    );
    println!("run   {}", run.storage.url());
    let curves = run.local_folder().join(RunPaths::TENSORBOARD);
    println!("\nGo on with");
    println!("  {:60} # train on", resume_command(run));
    println!(
        "  tensorboard --logdir {:39} # see the curves",
        shell_word(&curves.to_string_lossy())
    );
    println!(
        "  {:60} # values of the pieces",
        format!("falconzero values --run {location}")
    );
    if net.step == 0 {
        return;
    }
    let (a, b) = (
        shell_word(&run.storage.object_url(&RunPaths::net(&net.id))),
        shell_word(&run.storage.object_url(&RunPaths::net(&net_id(0)))),
    );
    println!(
        "  falconzero arena --variant {} --a {a} --b {b} --games 100 --simulations 32",
        shell_word(&run.config.run.variant)
    );
}
