//! `falconzero compare`: recipes against each other.

use super::json_file;
use crate::arena::config::MatchConfig;
use crate::compare::plan::{Account, Plan};
use crate::compare::table::Comparison;
use crate::compare::{tournament, training};
use crate::{interrupt, logging, process_group, variant};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Train by several recipes for the same time from the same seeds, and let the nets play each other.
///
/// The first recipe is the baseline. The runs follow one another, each with the whole machine to itself; then all nets and
/// the greedy player play a round robin with equal simulations. Everything is kept in one folder: the same command again goes on where it was
/// stopped, and with more seeds or recipes adds what is missing. Other minutes, games or a changed recipe need another folder.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The recipes, all of the same variant and named differently; the first is the baseline.
    #[arg(required = true)]
    recipes: Vec<PathBuf>,
    /// Folder of the runs and results.
    #[arg(long, default_value = "runs/compare")]
    dir: PathBuf,
    /// Minutes of each run.
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// Each recipe trains with the seeds 1 to this.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Games of each match, even.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Simulations a move in matches.
    #[arg(long, default_value_t = 32)]
    simulations: u32,
    /// Also write the result as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero compare base.toml wide.toml --minutes 20 --seeds 2
  falconzero compare configs/runs/falcon-quick.toml mine.toml \\
      --dir runs/mine --minutes 5 --seeds 1 --games 40";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let matches = MatchConfig {
        games: args.games,
        simulations: args.simulations,
        ..MatchConfig::default()
    };
    matches.validate()?;
    json_file::check(args.json.as_deref())?;
    let plan = Plan::new(&args.dir, &args.recipes, args.seeds, args.minutes)?;
    for run in plan.runs() {
        plan.training_config(&run).validate("the command line")?;
    }
    let variant = variant::load(&plan.recipes[0].1.run.variant)?;
    tournament::played(&plan, &matches)?;
    training::keep_recipes(&plan)?;
    let stop = interrupt::flag_and(
        "Stopping; the same command goes on from here.",
        process_group::end_all,
    )?;
    let Some(accounts) = train_all(&plan, &stop)? else {
        return Ok(());
    };
    let bar = ProgressBar::new(0).with_style(style("{msg} {pos}/{len}"));
    logging::keep_clear_of(bar.clone());
    let complete = tournament::play(&plan, &variant, &matches, &stop, &mut |a, b, done, all| {
        tracing::info!("match {} of {all}: {a} against {b}", done + 1);
        bar.set_message(format!("{a} against {b}, match"));
        bar.set_length(all as u64);
        bar.set_position(done as u64 + 1);
    })?;
    bar.finish_and_clear();
    if !complete {
        return Ok(());
    }
    let found = Comparison::new(&plan, &tournament::played(&plan, &matches)?, &accounts);
    print!("{found}");
    if let Some(path) = &args.json {
        json_file::write(path, &found)?;
    }
    Ok(())
}

/// Trains what is not trained yet; none if stopped.
fn train_all(plan: &Plan, stop: &AtomicBool) -> anyhow::Result<Option<Vec<Account>>> {
    let runs = plan.runs();
    let seconds = (60.0 * plan.minutes) as u64;
    let bar = ProgressBar::new(seconds).with_style(style("{msg}"));
    logging::keep_clear_of(bar.clone());
    let mut accounts = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let account = match training::finished(plan, run)? {
            Some(account) => account,
            None => {
                tracing::info!(
                    "run {} of {}: {}, {} minutes, log in {}",
                    number + 1,
                    runs.len(),
                    run.name,
                    plan.minutes,
                    plan.run_folder(run).join(training::LOG).display()
                );
                bar.reset();
                bar.set_message(format!(
                    "training {}, run {} of {}",
                    run.name,
                    number + 1,
                    runs.len()
                ));
                let trained = training::train(plan, run, stop, &mut || {
                    bar.set_position(bar.elapsed().min(Duration::from_secs(seconds)).as_secs());
                })?;
                match trained {
                    Some(account) => account,
                    None => return Ok(None),
                }
            }
        };
        accounts.push(account);
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
    }
    bar.finish_and_clear();
    Ok(Some(accounts))
}

fn style(message: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{{elapsed_precise}} [{{bar:30}}] {message}"))
        .expect("the template is well formed")
        .progress_chars("=> ")
}
