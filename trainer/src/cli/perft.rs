//! `falconzero perft`: counts lines of play.

use crate::variant;
use std::time::Instant;

/// Count the lines of play of a given length, to check or time the move generator.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// Position to start from [default: the variant's start position].
    #[arg(long)]
    fen: Option<String>,
    /// Length of the lines in plies, at most 100.
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=100))]
    depth: u32,
    /// Also print the count below each legal move.
    #[arg(long)]
    divide: bool,
}

const EXAMPLES: &str = "\
Examples:
  falconzero perft --variant falcon --depth 3
  falconzero perft --variant chess --fen '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1' \\
      --depth 5 --divide";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let position = variant::position(&variant, args.fen.as_deref())?;
    let start = Instant::now();
    let nodes = if args.divide && args.depth > 0 {
        let counts = rules::divide(&variant, &position, args.depth);
        for (mv, count) in &counts {
            println!("{} {count}", variant.move_text(&position, *mv));
        }
        counts.iter().map(|(_, count)| count).sum()
    } else {
        rules::perft(&variant, &position, args.depth)
    };
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{seconds:.2} s, {:.1} million nodes a second",
        nodes as f64 / seconds.max(1e-9) / 1e6
    );
    println!("nodes {nodes}");
    Ok(())
}
