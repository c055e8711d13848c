//! The command line: one file a subcommand, one printer for errors.

mod arena;
mod audit;
mod bench;
mod compare;
mod engine;
mod export;
mod fit;
mod games;
mod json_file;
mod moves;
mod nnue;
mod perft;
mod piece;
mod report;
mod selfplay;
mod solve;
mod stage_bar;
mod tablebase;
mod text_file;
mod train;
mod values;
mod variants;
mod worth;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "falconzero", version, about = ABOUT, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const ABOUT: &str =
    "Teach a network a chess variant by self-play, and measure what its pieces are worth";

const EXAMPLES: &str = "\
Examples:
  # what can be played
  falconzero variants
  # where a piece goes
  falconzero piece nCnZ
  # ten minutes of self-play training
  falconzero train configs/runs/falcon-quick.toml
  # what the run says the pieces are worth
  falconzero values --run runs/falcon-quick
  # play in XBoard and other programs, over UCI or CECP
  falconzero engine --net runs/falcon-quick
  # count the lines of play of a given length
  falconzero perft --variant falcon --depth 4

`falconzero COMMAND --help` explains each command. RUST_LOG=debug shows more of what happens.";

// There is one in a program's life.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Args),
    Selfplay(selfplay::Args),
    Arena(arena::Args),
    Values(values::Args),
    Audit(audit::Args),
    Engine(engine::Args),
    Report(report::Args),
    Worth(worth::Args),
    Perft(perft::Args),
    Moves(moves::Args),
    Solve(solve::Args),
    Tablebase(tablebase::Args),
    Variants(variants::Args),
    Piece(piece::Args),
    Export(export::Args),
    Nnue(nnue::Args),
    Games(games::Args),
    Fit(fit::Args),
    Compare(compare::Args),
    Bench(bench::Args),
}

/// Parses the command line, runs the subcommand and reports its error, if any, on stderr.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    crate::logging::start();
    let result = match cli.command {
        Command::Train(args) => train::run(args),
        Command::Selfplay(args) => selfplay::run(args),
        Command::Arena(args) => arena::run(args),
        Command::Values(args) => values::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Engine(args) => engine::run(args),
        Command::Report(args) => report::run(args),
        Command::Worth(args) => worth::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Moves(args) => moves::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Tablebase(args) => tablebase::run(args),
        Command::Variants(args) => variants::run(args),
        Command::Piece(args) => piece::run(args),
        Command::Export(args) => export::run(args),
        Command::Nnue(args) => nnue::run(args),
        Command::Games(args) => games::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Bench(args) => bench::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints an error and its causes, one a line, the most general first, each only if it says something new.
fn print_error(error: &anyhow::Error) {
    let mut said = error.to_string();
    eprintln!("error: {said}");
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            eprintln!("  because: {cause}");
            said = cause;
        }
    }
}
