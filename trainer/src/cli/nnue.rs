//! `falconzero nnue`: what a net for Fairy-Stockfish says of positions.

use crate::variant;
use anyhow::Context;
use model::export::nnue::{Features, NnueNet};
use model::sample_requests;
use rules::Position;
use std::path::PathBuf;

/// Evaluate positions with a Fairy-Stockfish net, exactly as that program does.
///
/// Prints a line for each position: the stack of layers used, the piece–square and the layers' sums, their value in the program's own units
/// (a sixteenth of both sums; 208 are a pawn) for the side to move, and the FEN.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The net's file.
    file: PathBuf,
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// A position; may be given several times [default: the variant's start position].
    #[arg(long, conflicts_with = "random")]
    fen: Vec<String>,
    /// This many positions of random games instead.
    #[arg(long, value_name = "POSITIONS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    random: Option<u32>,
    /// Seed of the random games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const EXAMPLES: &str = "\
Examples:
  falconzero nnue chess-00004250.nnue --variant chess
  falconzero nnue chess-00004250.nnue --variant chess --random 200";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let features = Features::new(&variant)?;
    let origin = args.file.display().to_string();
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read '{origin}'"))?;
    let net = NnueNet::from_bytes(&bytes, &origin, &features)?;
    let positions: Vec<Position> = match args.random {
        Some(count) => sample_requests(&variant, count as usize, args.seed)
            .into_iter()
            .map(|request| request.position)
            .collect(),
        None if args.fen.is_empty() => vec![variant.start()],
        None => args
            .fen
            .iter()
            .map(|fen| variant::position(&variant, Some(fen)))
            .collect::<anyhow::Result<_>>()?,
    };
    println!("bucket       psqt positional  value  FEN");
    for position in &positions {
        let said = net.evaluate(&features, position);
        println!(
            "{:6} {:10} {:10} {:6}  {}",
            said.bucket,
            said.psqt,
            said.positional,
            said.value(),
            position.fen(&variant)
        );
    }
    Ok(())
}
