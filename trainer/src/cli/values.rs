//! `falconzero values`: what the pieces are worth.

use super::json_file;
use super::stage_bar::StageBar;
use crate::interrupt;
use crate::run::Run;
use crate::values::odds::OddsConfig;
use crate::values::{Sources, ValuesConfig, ValuesStage, first_table};
use model::{DeviceChoice, Inference};
use selfplay::tables;
use std::path::PathBuf;
use std::sync::Arc;

/// Estimate what each piece is worth from a run's games and net.
///
/// Prints the estimates with 95% intervals, in pawns and in knights, beside what has been published about the variant.
/// docs/values.md tells how they are made.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder or URL of the run.
    #[arg(long)]
    run: String,
    /// Share of the run's games to use, the newest ones, above 0 and at most 1.
    #[arg(long, default_value_t = ValuesConfig::default().share)]
    share: f64,
    /// Games to play with the run's current net and to look at instead of the run's own; finished ones are kept in the
    /// run and found again.
    #[arg(long, default_value_t = 0)]
    fresh_games: usize,
    /// Positions to probe with the run's current net; 0 leaves the probe out.
    #[arg(long, default_value_t = ValuesConfig::default().probe_positions)]
    positions: usize,
    /// Games with unequal armies to play with the run's current net; 0 leaves them out.
    #[arg(long, default_value_t = 0)]
    odds_games: usize,
    /// Letters of the men that those games are to be about, such as F [default: all].
    #[arg(long)]
    focus: Option<String>,
    /// Games at most for each claim about a match; a sequential test mostly ends sooner.
    #[arg(long, default_value_t = 0)]
    claim_games: usize,
    /// Simulations a move in fresh games, odds and claims.
    #[arg(long, default_value_t = ValuesConfig::default().simulations)]
    simulations: u32,
    /// Bootstrap resamples.
    #[arg(long, default_value_t = ValuesConfig::default().resamples)]
    resamples: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = ValuesConfig::default().seed)]
    seed: u64,
    /// Where the net is evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// How the net is evaluated: auto (the fastest), int8, bf16, f32 or burn.
    #[arg(long, default_value_t = Inference::Auto)]
    inference: Inference,
    /// Folder of endgame tablebases to compare the net with [default: the recipe's].
    #[arg(long, value_name = "DIR")]
    tablebases: Option<PathBuf>,
    /// Also write the table as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero values --run runs/falcon-quick
  falconzero values --run runs/falcon-overnight --share 0.3 \\
      --positions 10000 --json values.json
  # matches as well
  falconzero values --run runs/falcon-overnight --odds-games 2000 \\
      --claim-games 2000
  # the net at its best instead of while it learnt:
  falconzero values --run runs/falcon-overnight --fresh-games 2000 \\
      --odds-games 2000 --simulations 200";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let config = ValuesConfig {
        share: args.share,
        fresh_games: args.fresh_games,
        probe_positions: args.positions,
        resamples: args.resamples,
        seed: args.seed,
        odds: OddsConfig {
            games: args.odds_games,
            focus: args.focus.unwrap_or_default(),
            seed: args.seed,
            ..OddsConfig::default()
        },
        claim_games: args.claim_games,
        simulations: args.simulations,
    };
    json_file::check(args.json.as_deref())?;
    let run = Run::open(&args.run)?;
    config.validate(&run.variant)?;
    let tables = match &args.tablebases {
        Some(folder) => Some(Arc::new(tables::load_some(&run.variant, folder)?)),
        None => run.tablebases()?,
    };
    let bar = StageBar::new();
    let stop = interrupt::flag(
        "Finishing with the games played so far; press Ctrl-C again to stop at once.",
    )?;
    let sources = Sources {
        storage: &run.storage,
        variant: &run.variant,
        device: args.device,
        inference: args.inference,
        tables: tables.as_ref(),
        stop: &stop,
    };
    let table = first_table(&sources, &config, &mut |stage, done, all| {
        let stage = match stage {
            ValuesStage::Reading => "reading games",
            ValuesStage::FreshGames => "playing fresh games",
            ValuesStage::Probing => "probing positions",
            ValuesStage::Fitting => "fitting outcomes",
            ValuesStage::Playing => "playing odds",
            ValuesStage::Trying => "trying claims",
        };
        bar.show(stage, done, all);
    })?;
    bar.finish();
    print!("{table}");
    if let Some(path) = &args.json {
        json_file::write(path, &table)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_run_is_refused_and_not_created() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none");
        for location in [folder.path(), &missing] {
            let error = Run::open(&location.to_string_lossy())
                .err()
                .map(|error| error.to_string());
            let error = error.expect("no run there");
            assert!(error.contains("there is no run"), "{error}");
        }
        assert!(!missing.exists());
    }
}
