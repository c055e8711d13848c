//! `falconzero fit`: a fresh net from the games of a run.

use super::{json_file, text_file};
use crate::config::RunConfig;
use crate::fit::{FitConfig, FitPoint, fit};
use crate::interrupt;
use crate::run::Run;
use model::{NetMeta, save_net};
use std::path::PathBuf;

/// Train a fresh net on the games that a run has, without self-play.
///
/// One setting against another on the same games: the size of the net, batches, learning rate, precision. Prints the losses
/// on the held-out games, which no step has seen.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder or URL of the run whose games to use.
    #[arg(long)]
    run: String,
    /// A recipe for net and learning [default: the run's own].
    recipe: Option<PathBuf>,
    /// Training steps.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Steps from one measurement to the next.
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Seed of the fresh net and of the batches [default: the recipe's].
    #[arg(long)]
    seed: Option<u64>,
    /// Write the net to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero fit --run runs/falcon-quick
  falconzero fit --run runs/falcon-overnight wider.toml --steps 5000 \\
      --out wider.safetensors";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let run = Run::open(&args.run)?;
    let mut config = match &args.recipe {
        Some(path) => RunConfig::load(path)?,
        None => run.config.clone(),
    };
    config.run.seed = args.seed.unwrap_or(config.run.seed);
    json_file::check(args.out.as_deref())?;
    let stop = interrupt::flag(
        "Finishing with the steps made so far; press Ctrl-C again to stop at once.",
    )?;
    println!("          training          held out (value of a constant: see the last column)");
    println!("   step   policy  value   policy  value  calibration   seconds  constant");
    let mut made = 0;
    let steps = FitConfig {
        steps: args.steps,
        every: args.every,
    };
    let net = fit(&run, &config, steps, &stop, &mut |point| {
        println!("{}", line(&point));
        made = point.step;
    })?;
    if let Some(path) = &args.out {
        let id = path
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let meta = NetMeta::new(&run.variant, *net.config(), &id, made);
        let bytes = save_net(&net, &meta)?;
        text_file::write_with(path, |file| Ok(file.write_all(&bytes)?))?;
    }
    Ok(())
}

fn line(point: &FitPoint) -> String {
    let held_out = &point.holdout;
    format!(
        "{:7} {:8.3} {:6.3} {:8.3} {:6.3} {:12.3} {:9.1} {:9.3}",
        point.step,
        point.policy_loss,
        point.value_loss,
        held_out.policy_loss,
        held_out.value_loss,
        held_out.calibration_error,
        point.time.as_secs_f64(),
        held_out.constant_value_loss
    )
}
