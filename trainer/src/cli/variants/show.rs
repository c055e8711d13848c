//! `falconzero variants show`: a variant in words and as a picture.

use crate::cli::text_file;
use crate::variant;
use std::path::PathBuf;

/// Explain a variant: board, moves of each man, castling, promotion, entries, draws; draw its board as SVG.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(value_name = "VARIANT")]
    name: String,
    /// Draw this position instead of the start, in text and, with --svg, as a picture.
    #[arg(long)]
    fen: Option<String>,
    /// Write a picture of the board to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.name)?;
    let position = variant::position(&variant, args.fen.as_deref())?;
    print!("{}", variant.explain());
    if args.fen.is_some() {
        print!("\n{}", position.board_text(&variant));
    }
    if let Some(path) = &args.svg {
        text_file::write(path, &position.board_svg(&variant))?;
        println!("\nThe board is drawn in '{}'.", path.display());
    }
    Ok(())
}
