//! `falconzero games`: a run's games for people.

use super::text_file;
use crate::pgn;
use crate::run::Run;
use anyhow::ensure;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Write the finished games of a run as PGN.
///
/// Tags name variant, start position, result, the nets that played and why the game ended; moves are written in the
/// variant's letters, as in chess.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The run's folder or URL.
    #[arg(long)]
    run: String,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pgn: PathBuf,
    /// Only the newest so many games [default: all].
    #[arg(long, value_name = "N")]
    most: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero games --run runs/falcon-quick --pgn games.pgn
  falconzero games --run runs/falcon-quick --pgn last.pgn --most 10";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let run = Run::open(&args.run)?;
    let games = run.newest_games(args.most.map_or(usize::MAX, NonZeroUsize::get))?;
    ensure!(
        !games.is_empty(),
        "the run '{}' has no finished game yet; wait until its workers have played some",
        args.run
    );
    text_file::write_with(&args.pgn, |file| {
        for game in &games {
            writeln!(file, "{}", pgn::of_record(&run.variant, game)?)?;
        }
        Ok(())
    })?;
    println!("{} games in '{}'", games.len(), args.pgn.display());
    Ok(())
}
