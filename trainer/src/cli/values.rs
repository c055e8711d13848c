//! `falconzero values`: what the pieces are worth.

use super::json_file;
use crate::logging;
use crate::run::Run;
use crate::values::{ValuesConfig, ValuesStage, first_table};
use anyhow::ensure;
use indicatif::{ProgressBar, ProgressStyle};
use model::DeviceChoice;
use selfplay::tables;
use std::path::{Path, PathBuf};
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
    /// Positions to probe with the run's current net; 0 leaves the probe out.
    #[arg(long, default_value_t = ValuesConfig::default().probe_positions)]
    positions: usize,
    /// Bootstrap resamples.
    #[arg(long, default_value_t = ValuesConfig::default().resamples)]
    resamples: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = ValuesConfig::default().seed)]
    seed: u64,
    /// Where the net is evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
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
  falconzero values --run runs/falcon-overnight --share 0.3 --positions 10000 --json values.json";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let config = ValuesConfig {
        share: args.share,
        probe_positions: args.positions,
        resamples: args.resamples,
        seed: args.seed,
    };
    config.validate()?;
    json_file::check(args.json.as_deref())?;
    let run = open(&args.run)?;
    let tables = match &args.tablebases {
        Some(folder) => Some(Arc::new(tables::load_some(&run.variant, folder)?)),
        None => run.tablebases()?,
    };
    let bar = ProgressBar::new(0).with_style(style());
    logging::keep_clear_of(bar.clone());
    let table = first_table(
        &run.storage,
        &run.variant,
        args.device,
        &config,
        tables.as_deref(),
        &mut |stage, done, all| {
            bar.set_message(match stage {
                ValuesStage::Reading => "reading games",
                ValuesStage::Probing => "probing positions",
                ValuesStage::Fitting => "fitting outcomes",
            });
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        },
    )?;
    bar.finish_and_clear();
    print!("{table}");
    if let Some(path) = &args.json {
        json_file::write(path, &table)?;
    }
    Ok(())
}

/// Opens a run that must be there; opening a folder that is not would create it.
fn open(location: &str) -> anyhow::Result<Run> {
    ensure!(
        location.contains("://") || Path::new(location).is_dir(),
        "there is no run in '{location}'; give the folder or URL of one, for instance runs/falcon-quick"
    );
    Run::open(location)
}

fn style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {msg} {pos}/{len}");
    style
        .expect("the template is well formed")
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_run_is_refused_and_not_created() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none");
        for location in [folder.path(), &missing] {
            let error = open(&location.to_string_lossy())
                .err()
                .map(|error| error.to_string());
            let error = error.expect("no run there");
            assert!(error.contains("there is no run"), "{error}");
        }
        assert!(!missing.exists());
    }
}
