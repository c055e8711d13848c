//! `falconzero games`: a run's games for people.

use super::text_file;
use crate::pgn;
use crate::run::Run;
use anyhow::{Context, ensure};
use selfplay::games::GameStream;
use selfplay::record::GameRecord;
use std::collections::VecDeque;
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
    most: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero games --run runs/falcon-quick --pgn games.pgn
  falconzero games --run runs/falcon-quick --pgn last.pgn --most 10";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let run = Run::open(&args.run)?;
    let games = games(&run, args.most.unwrap_or(usize::MAX))?;
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

/// The newest games, oldest first.
fn games(run: &Run, most: usize) -> anyhow::Result<VecDeque<GameRecord>> {
    let mut stream = GameStream::new(&run.storage);
    let mut newest = VecDeque::new();
    loop {
        let scan = stream.scan().context("cannot read the run's games")?;
        for aside in &scan.set_aside {
            tracing::warn!("{} is left out: {}", aside.chunk, aside.reason);
        }
        for game in scan.games {
            newest.push_back(game);
            if newest.len() > most {
                newest.pop_front();
            }
        }
        if !scan.more {
            return Ok(newest);
        }
    }
}
