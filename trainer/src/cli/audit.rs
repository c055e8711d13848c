//! `falconzero audit`: can a run be trusted?

use super::json_file;
use super::stage_bar::StageBar;
use crate::audit::{AuditConfig, AuditStage, audit};
use crate::run::Run;
use std::path::PathBuf;

/// Check that a run learns from what it played, and what its net has learnt.
///
/// Plays the newest games once more by the rules and makes every training target from scratch; says how the games end and
/// how stale they are, what the searches add to the net, how the net does on samples that it learns from and on games that
/// it has never seen, by phase, whether its expected scores come true, and what it knows of solved endings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder or URL of the run.
    #[arg(long)]
    run: String,
    /// The newest games, so many.
    #[arg(long, default_value_t = 2000, value_parser = parse_count)]
    games: usize,
    /// Samples of either kind to measure the net on.
    #[arg(long, default_value_t = 4096, value_parser = parse_count)]
    samples: usize,
    /// Also write everything as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero audit --run runs/falcon-quick
  falconzero audit --run runs/falcon-overnight --games 20000 --json audit.json";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    json_file::check(args.json.as_deref())?;
    let run = Run::open(&args.run)?;
    let bar = StageBar::new();
    let config = AuditConfig {
        games: args.games,
        samples: args.samples,
    };
    let found = audit(&run, config, &mut |stage, done, all| {
        let stage = match stage {
            AuditStage::Reading => "reading games",
            AuditStage::Replaying => "replaying games",
            AuditStage::Measuring => "measuring the net",
        };
        bar.show(stage, done, all);
    })?;
    bar.finish();
    print!("{found}");
    if let Some(path) = &args.json {
        json_file::write(path, &found)?;
    }
    Ok(())
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number of at least 1 is needed".to_owned()),
        Ok(count) => Ok(count),
    }
}
