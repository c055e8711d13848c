//! `falconzero solve`: mate problems, with no net.

use crate::variant;
use rules::{Move, Position, Variant};
use selfplay::solve::{Verdict, solve};

/// Find the shortest forced mate of a position by search alone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// The position.
    #[arg(long)]
    fen: String,
    /// Moves of the mating side in which the mate is to be found.
    #[arg(long)]
    mate: u32,
    /// Positions to look at before giving up.
    #[arg(long, default_value_t = 200_000_000)]
    nodes: u64,
}

const EXAMPLES: &str = "\
Example:
  falconzero solve --variant falcon \\
      --fen '10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1' --mate 1";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let position = variant::position(&variant, Some(&args.fen))?;
    let report = solve(&variant, &position, args.mate, args.nodes);
    eprintln!("{} positions looked at", report.nodes);
    match report.verdict {
        Verdict::Mate {
            moves,
            keys,
            keys_complete,
            pv,
            shortest,
        } => {
            let keys: Vec<String> = keys
                .iter()
                .map(|&key| variant.move_text(&position, key))
                .collect();
            println!(
                "mate in {moves}{}",
                if shortest {
                    ""
                } else {
                    " (a shorter one is not ruled out)"
                }
            );
            let others = if keys_complete {
                ""
            } else {
                " (there may be others)"
            };
            println!("keys {}{others}", keys.join(" "));
            println!("line {}", line(&variant, position, &pv));
            Ok(())
        }
        Verdict::NoMate => {
            println!("no mate in {}", args.mate);
            Ok(())
        }
        Verdict::Unknown { refuted } => anyhow::bail!(
            "not solved within {} positions (no mate in {refuted} is certain); look at more: --nodes {}",
            args.nodes,
            args.nodes.max(1).saturating_mul(10)
        ),
    }
}

/// The moves of a line as text.
fn line(variant: &Variant, mut position: Position, moves: &[Move]) -> String {
    let mut texts = Vec::new();
    for &mv in moves {
        texts.push(variant.move_text(&position, mv));
        position = position.play(variant, mv);
    }
    texts.join(" ")
}
