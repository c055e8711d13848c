//! Pictures in text and SVG: where a piece goes, and what stands where.

mod board;
mod explain;
mod glyphs;
mod mobility;
mod svg;

use std::collections::BTreeMap;

use crate::betza::{Motion, Offset, Reach};
use crate::tables::ray;
use crate::{Bitboard, Color, Position, Square, Variant};

/// Where a piece goes from the middle of an empty board, seen by White.
///
/// ```
/// use rules::{PieceDiagram, betza};
/// let horse = PieceDiagram::new(&betza::parse("nN").unwrap(), 5, 5).unwrap();
/// assert_eq!(
///     horse.text().lines().next().unwrap(),
///     "5  .  o~ .  o~ . "
/// );
/// ```
#[derive(Clone, Debug)]
pub struct PieceDiagram {
    files: u8,
    ranks: u8,
    at: Square,
    marks: BTreeMap<Square, Mark>,
    lame_paths: BTreeMap<Square, Vec<Vec<Square>>>,
    empty_mobility: f64,
    crowded_mobility: f64,
}

/// What a piece can do on one square.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    quiet: bool,
    capture: bool,
    /// Every way there needs the man not to have moved.
    initial: bool,
    /// Every way there can be blocked by a lame leap's path.
    lame: bool,
    /// Every move there without capture leads over another man.
    quiet_hop: bool,
    /// Every capture there leads over another man.
    capture_hop: bool,
}

/// What the marks of the text drawings mean.
const LEGEND: [(char, &str); 9] = [
    ('@', "the piece"),
    ('o', "moves and captures"),
    ('m', "only moves"),
    ('x', "only captures"),
    ('c', "moves, and captures over another man only"),
    ('h', "captures, and moves over another man only"),
    ('~', "a lame leap, which men on the way can block"),
    ('^', "only over another man"),
    ('i', "only with a piece that has not moved"),
];

impl Mark {
    /// Whether every way there leads over another man.
    fn is_hop(self) -> bool {
        self.quiet_hop && self.capture_hop
    }
}

impl PieceDiagram {
    /// Draws motions on a board of 1 to 10 files and ranks; `None` for other sizes.
    pub fn new(motions: &[Motion], files: u8, ranks: u8) -> Option<PieceDiagram> {
        let board = board_of(files, ranks)?;
        let at = Square::new(files / 2, ranks / 2)?;
        let mut marks: BTreeMap<Square, Mark> = BTreeMap::new();
        let mut lame_paths: BTreeMap<Square, Vec<Vec<Square>>> = BTreeMap::new();
        for motion in motions {
            if let (Reach::Lame { paths }, Some(to)) =
                (&motion.reach, at.offset(motion.step.0, motion.step.1))
            {
                let whole = |path: &Vec<Offset>| -> Option<Vec<Square>> {
                    path.iter()
                        .map(|&(x, y)| at.offset(x, y).filter(|&s| board.contains(s)))
                        .collect()
                };
                if board.contains(to) {
                    lame_paths
                        .entry(to)
                        .or_default()
                        .extend(paths.iter().filter_map(whole));
                }
            }
            for to in Bitboard(targets(board, at, motion)) {
                let is_hop = matches!(motion.reach, Reach::Hop { .. });
                let new = Mark {
                    quiet: motion.quiet,
                    capture: motion.capture,
                    initial: motion.initial,
                    lame: matches!(motion.reach, Reach::Lame { .. }),
                    quiet_hop: is_hop || !motion.quiet,
                    capture_hop: is_hop || !motion.capture,
                };
                let mark = marks.entry(to).or_insert(new);
                mark.quiet |= new.quiet;
                mark.capture |= new.capture;
                mark.initial &= new.initial;
                mark.lame &= new.lame;
                mark.quiet_hop &= new.quiet_hop;
                mark.capture_hop &= new.capture_hop;
            }
        }
        Some(PieceDiagram {
            files,
            ranks,
            at,
            marks,
            lame_paths,
            empty_mobility: mobility::average(motions, board, 1.0),
            crowded_mobility: mobility::average(motions, board, mobility::CROWDED),
        })
    }

    /// What the marks in these drawings mean, a line each.
    pub fn legend<'a>(diagrams: impl IntoIterator<Item = &'a PieceDiagram>) -> String {
        let mut marks = String::new();
        for diagram in diagrams {
            let board = diagram.text();
            // The last line has the letters of the files, the numbers of the ranks come first in every other.
            marks.extend(board.lines().rev().skip(1).map(|line| &line[2..]));
        }
        let used = LEGEND.iter().filter(|(mark, _)| marks.contains(*mark));
        used.map(|(mark, meaning)| format!("{mark}  {meaning}\n"))
            .collect()
    }

    /// Squares reached on average over all squares of an empty board.
    pub fn empty_mobility(&self) -> f64 {
        self.empty_mobility
    }

    /// The same with every square empty with probability 0.7, a measure of Ralph Betza's: on a
    /// board as crowded as in the middle of a game.
    pub fn crowded_mobility(&self) -> f64 {
        self.crowded_mobility
    }

    /// The targets of lame leaps with the ways to each: the squares between, way by way. The square must be reached by
    /// one way at least whose squares are all empty.
    pub fn lame_paths(&self) -> impl Iterator<Item = (Square, &[Vec<Square>])> {
        self.lame_paths
            .iter()
            .map(|(&to, paths)| (to, paths.as_slice()))
    }

    /// The board as text, two characters a square: `o` moves and captures, `m` only moves, `x`
    /// only captures, `c` moves, and captures over a man only, `h` the other way round; `~` by a lame
    /// leap, `^` over a man, `i` only if it has not moved.
    pub fn text(&self) -> String {
        let cell = |square: Square| -> String {
            if square == self.at {
                return "@ ".to_string();
            }
            let Some(mark) = self.marks.get(&square) else {
                return ". ".to_string();
            };
            let what = match (mark.quiet, mark.capture) {
                (true, false) => 'm',
                (false, true) => 'x',
                _ if mark.capture_hop && !mark.quiet_hop => 'c',
                _ if mark.quiet_hop && !mark.capture_hop => 'h',
                _ => 'o',
            };
            let how = match (mark.initial, mark.is_hop(), mark.lame) {
                (true, _, _) => 'i',
                (_, true, _) => '^',
                (_, _, true) => '~',
                _ => ' ',
            };
            format!("{what}{how}")
        };
        grid(self.files, self.ranks, 1, cell)
    }
}

impl Position {
    /// The board as text, with ranks and files: letters, `.` for empty squares; a line with the men in hand if there are
    /// any.
    pub fn board_text(&self, variant: &Variant) -> String {
        let mut text = self.squares_text(variant);
        let hands = Color::ALL.map(|color| {
            let men = variant.hand_roles.iter();
            let letters = men.map(|&role| {
                let letter = variant.role_info(role).letter.to_string();
                letter.repeat(self.hand(color, role).into())
            });
            letters.collect::<String>()
        });
        if hands.iter().any(|men| !men.is_empty()) {
            let [white, black] = hands;
            text.push_str(&format!("in hand: White {white}, Black {black}\n"));
        }
        text
    }

    fn squares_text(&self, variant: &Variant) -> String {
        grid(
            variant.files(),
            variant.ranks(),
            variant.first_rank,
            |square| {
                let letter = self.piece_at(square).map(|piece| {
                    let letter = variant.role_info(piece.role).letter;
                    match piece.color {
                        Color::White => letter,
                        Color::Black => letter.to_ascii_lowercase(),
                    }
                });
                match letter {
                    Some(letter) => letter.to_string(),
                    None if variant.board().contains(square) => ".".to_string(),
                    None => " ".to_string(),
                }
            },
        )
    }
}

/// Cells of a board, top rank first, with rank numbers and file letters.
fn grid(files: u8, ranks: u8, first_rank: u8, cell: impl Fn(Square) -> String) -> String {
    let mut text = String::new();
    let mut width = 1;
    for rank in (0..ranks).rev() {
        text.push_str(&format!("{:<2}", rank + first_rank));
        for square in (0..files).filter_map(|file| Square::new(file, rank)) {
            let cell = cell(square);
            width = cell.chars().count();
            text.push(' ');
            text.push_str(&cell);
        }
        text.push('\n');
    }
    text.push_str("  ");
    for file in 0..files {
        text.push_str(&format!(" {:<width$}", (b'a' + file) as char));
    }
    text.push('\n');
    text
}

/// The squares of a board of a size; `None` if it does not fit the grid.
fn board_of(files: u8, ranks: u8) -> Option<Bitboard> {
    Square::new(files.checked_sub(1)?, ranks.checked_sub(1)?)?;
    let square = |index: usize| Square::from_index(index);
    let squares = (0..Square::COUNT).filter_map(square);
    Some(
        squares
            .filter(|s| s.file() < files && s.rank() < ranks)
            .collect(),
    )
}

/// Where a motion can lead, whatever stands where.
fn targets(board: Bitboard, from: Square, motion: &Motion) -> u128 {
    match motion.reach {
        Reach::Leap | Reach::Lame { .. } => ray(board, from, motion.step, 1),
        Reach::Ride { limit } => ray(board, from, motion.step, limit),
        // The first square can only hold the man leapt over.
        Reach::Hop { limit, .. } => {
            ray(board, from, motion.step, limit) & !ray(board, from, motion.step, 1)
        }
    }
}
