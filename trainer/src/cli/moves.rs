//! `falconzero moves`: the legal moves of a position.

use crate::variant;

/// Print the legal moves of a position, one a line, in alphabetical order.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// The position [default: the variant's start position].
    #[arg(long)]
    fen: Option<String>,
}

const EXAMPLES: &str = "\
Example:
  falconzero moves --variant falcon \\
      --fen '4k5/10/10/10/4F5/10/10/4K5 w - - 0 1'";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let position = variant::position(&variant, args.fen.as_deref())?;
    let mut texts: Vec<String> = position
        .legal_moves(&variant)
        .into_iter()
        .map(|mv| variant.move_text(&position, mv))
        .collect();
    texts.sort();
    texts.iter().for_each(|text| println!("{text}"));
    Ok(())
}
