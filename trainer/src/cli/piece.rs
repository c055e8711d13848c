//! `falconzero piece`: where a piece goes.

use super::text_file;
use anyhow::Context;
use rules::{PieceDiagram, Square, betza};
use std::path::PathBuf;
use std::str::FromStr;

/// Draw where a piece goes, given its moves in Betza notation, and how many squares it reaches on average.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The moves in Betza notation; docs/variants.md lists what is understood.
    betza: String,
    /// Files and ranks of the board, at most 10x10.
    #[arg(long, default_value = "10x8", value_name = "SIZE")]
    board: BoardSize,
    /// Also write the drawing to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  # the falcon of Falcon Chess
  falconzero piece nCnZ
  # the hunter
  falconzero piece fRbB --board 8x8
  # a cannon, also as a picture
  falconzero piece mRcpR --svg cannon.svg";

/// Files and ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BoardSize {
    files: u8,
    ranks: u8,
}

impl FromStr for BoardSize {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<BoardSize> {
        let side = |text: &str| {
            text.parse()
                .ok()
                .filter(|side| (1..=Square::SIDE).contains(side))
        };
        let sides = text.split_once('x');
        let size = sides.and_then(|(files, ranks)| {
            Some(BoardSize {
                files: side(files)?,
                ranks: side(ranks)?,
            })
        });
        size.context("write files x ranks, each from 1 to 10, such as 10x8")
    }
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let motions = betza::parse(&args.betza)?;
    let BoardSize { files, ranks } = args.board;
    let diagram = PieceDiagram::new(&motions, files, ranks).context("the board has no squares")?;
    print!("{}", describe(&diagram));
    if let Some(path) = &args.svg {
        text_file::write(path, &diagram.svg())?;
        println!("drawn in '{}'", path.display());
    }
    Ok(())
}

/// Drawing, legend of the marks in it, paths of lame leaps, mobility.
fn describe(diagram: &PieceDiagram) -> String {
    let mut text = format!("{}\n{}", diagram.text(), PieceDiagram::legend([diagram]));
    let paths: Vec<String> = diagram
        .lame_paths()
        .map(|(to, ways)| path_line(to, ways))
        .collect();
    if !paths.is_empty() {
        text.push_str(
            "\nLame leaps, each with its ways; one way whose squares are all empty is enough:\n",
        );
        text.push_str(&paths.concat());
    }
    text.push_str(&format!(
        "\nmobility {:.2} squares on an empty board, {:.2} on one where three squares of ten are taken\n",
        diagram.empty_mobility(),
        diagram.crowded_mobility()
    ));
    text
}

fn path_line(to: Square, ways: &[Vec<Square>]) -> String {
    let way = |way: &Vec<Square>| {
        way.iter()
            .map(|&square| name(square))
            .collect::<Vec<_>>()
            .join("-")
    };
    let ways: Vec<String> = ways.iter().map(way).collect();
    format!("  {:3} by {}\n", name(to), ways.join(", "))
}

fn name(square: Square) -> String {
    format!("{}{}", (b'a' + square.file()) as char, square.rank() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> String {
        describe(&PieceDiagram::new(&betza::parse(text).expect("a piece"), 10, 8).expect("a board"))
    }

    /// The legend has the marks of the drawing and no others.
    #[test]
    fn legend_and_paths_fit_the_piece() {
        let falcon = described("nCnZ");
        assert!(
            falcon.contains("~  a lame leap") && !falcon.contains("^  "),
            "{falcon}"
        );
        assert!(falcon.contains("g8  by f6-f7, f6-g7, g6-g7"), "{falcon}");
        let pawn = described("fmWfceFifmnD");
        for part in ["m  only moves", "x  only captures", "i  only with"] {
            assert!(pawn.contains(part), "'{part}' is missing in:\n{pawn}");
        }
        assert!(!described("R").contains("Lame leaps"));
        let cannon = described("mRcpR");
        assert!(cannon.contains("c  moves, and captures over"), "{cannon}");
        assert!(cannon.contains("m  only moves"), "{cannon}");
    }

    #[test]
    fn board_sizes_are_checked() {
        let size = BoardSize {
            files: 10,
            ranks: 8,
        };
        assert_eq!("10x8".parse::<BoardSize>().expect("a size"), size);
        for bad in ["10", "11x8", "0x8", "x", "8x8x8", "-1x3"] {
            assert!(bad.parse::<BoardSize>().is_err(), "{bad}");
        }
    }
}
