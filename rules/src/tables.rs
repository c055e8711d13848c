//! Where pieces reach, compiled square by square for one board.
//!
//! Three shapes cover every motion: a leap is a set of squares; a line is an axis on which a
//! rider slides until it is blocked; a lame table lists targets with the paths that lead there.
//! None of them asks which piece it is, so any Betza piece costs the same.

use crate::betza::{Motion, Offset, Reach};
use crate::{Bitboard, Color, Square};

/// The lines of one axis, square by square.
pub(crate) type Axis = [Line; Square::COUNT];

/// One set of squares for every square.
pub(crate) type SquareSets = Box<[u128; Square::COUNT]>;

/// An axis seen from one square, its blockers unknown.
///
/// The squares with a higher index are `upper`, the others `lower`; along either, distance from
/// the square grows with the difference of indices. That holds for riders of any step, so the
/// nearest blocker is a matter of bit arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    pub lower: u128,
    pub upper: u128,
}

impl Line {
    /// The squares up to and including the first blocker on either side.
    ///
    /// Subtracting the nearest blocker below from the blockers above flips all bits from the one
    /// to the nearest of the others.
    #[inline(always)]
    pub fn reach(self, occupied: u128) -> u128 {
        let below = (self.lower & occupied) | 1;
        let above = self.upper & occupied;
        let nearest = (1 << 127) >> below.leading_zeros();
        (self.lower | self.upper) & (above ^ above.wrapping_sub(nearest))
    }

    /// The squares strictly between the line's square and another square of the line.
    #[inline(always)]
    pub fn between(self, end: u128) -> u128 {
        if end & self.upper != 0 {
            self.upper & (end - 1)
        } else {
            self.lower & !(end | (end - 1))
        }
    }
}

/// One path of a lame leap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LamePath {
    /// The far end, a single square.
    pub end: u128,
    /// The squares that must be empty.
    pub way: u128,
}

/// The lame leaps of a piece from (or, inverted, to) every square.
#[derive(Clone, Debug)]
pub(crate) struct Lame {
    /// All far ends, were the board empty.
    pub ends: SquareSets,
    /// All squares of all paths.
    ways: SquareSets,
    paths: Vec<LamePath>,
    first: Vec<u32>,
}

impl Lame {
    fn new(paths_of: [Vec<LamePath>; Square::COUNT]) -> Lame {
        let mut lame = Lame {
            ends: empty_sets(),
            ways: empty_sets(),
            paths: Vec::new(),
            first: vec![0],
        };
        for (index, paths) in paths_of.into_iter().enumerate() {
            for path in &paths {
                lame.ends[index] |= path.end;
                lame.ways[index] |= path.way;
            }
            lame.paths.extend(paths);
            lame.first.push(lame.paths.len() as u32);
        }
        lame
    }

    /// The paths of a square, those with the same far end side by side.
    #[inline(always)]
    pub fn paths(&self, square: Square) -> &[LamePath] {
        let index = square.index();
        &self.paths[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// The far ends with an open path.
    #[inline(always)]
    pub fn reach(&self, square: Square, occupied: u128) -> u128 {
        if self.ways[square.index()] & occupied == 0 {
            return self.ends[square.index()];
        }
        let mut reach = 0;
        for path in self.paths(square) {
            let open = (path.way & occupied == 0) as u128;
            reach |= path.end & open.wrapping_neg();
        }
        reach
    }

    /// The same paths with both ends exchanged.
    pub fn inverted(&self) -> Lame {
        let mut inverted: [Vec<LamePath>; Square::COUNT] = std::array::from_fn(|_| Vec::new());
        for square in Bitboard::GRID {
            for path in self.paths(square) {
                inverted[path.end.trailing_zeros() as usize].push(LamePath {
                    end: Bitboard::from(square).0,
                    way: path.way,
                });
            }
        }
        Lame::new(inverted)
    }
}

/// Where one shape of motion leads.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Leap(SquareSets),
    Line(Box<Axis>),
    Lame(Lame),
}

/// A shape, and when it may be used.
#[derive(Clone, Debug)]
pub(crate) struct MoveTable {
    pub shape: Shape,
    pub quiet: bool,
    pub capture: bool,
    pub initial: bool,
}

impl MoveTable {
    /// The squares reached, including the first blocker on every line.
    #[inline(always)]
    pub fn reach(&self, from: Square, occupied: u128) -> u128 {
        match &self.shape {
            Shape::Leap(sets) => sets[from.index()],
            Shape::Line(lines) => lines[from.index()].reach(occupied),
            Shape::Lame(lame) => lame.reach(from, occupied),
        }
    }
}

/// Compiles the motions of one piece for one side.
pub(crate) fn compile(board: Bitboard, motions: &[Motion], color: Color) -> Vec<MoveTable> {
    let mut tables = Vec::new();
    let uses = motions.iter().map(|m| (m.quiet, m.capture, m.initial));
    let mut seen = Vec::new();
    for usage in uses {
        if seen.contains(&usage) {
            continue;
        }
        seen.push(usage);
        let (quiet, capture, initial) = usage;
        let same: Vec<&Motion> = motions
            .iter()
            .filter(|m| (m.quiet, m.capture, m.initial) == usage)
            .collect();
        for shape in shapes(board, &same, color) {
            tables.push(MoveTable {
                shape,
                quiet,
                capture,
                initial,
            });
        }
    }
    tables
}

fn shapes(board: Bitboard, motions: &[&Motion], color: Color) -> Vec<Shape> {
    let mut leaps = empty_sets();
    let mut lines: Vec<(Offset, Box<Axis>)> = Vec::new();
    let mut paths: [Vec<LamePath>; Square::COUNT] = std::array::from_fn(|_| Vec::new());
    for motion in motions {
        let step = turned(motion.step, color);
        match &motion.reach {
            Reach::Leap => {
                for from in board {
                    leaps[from.index()] |= ray(board, from, step, 1);
                }
            }
            Reach::Ride { limit } => {
                let axis = axis_of(step);
                let at = lines.iter().position(|(known, _)| *known == axis);
                let at = at.unwrap_or_else(|| {
                    lines.push((axis, empty_lines()));
                    lines.len() - 1
                });
                add_ray(&mut lines[at].1, board, step, *limit);
            }
            Reach::Lame { paths: ways } => add_lame(&mut paths, board, step, ways, color),
        }
    }
    let mut shapes = Vec::new();
    if leaps.iter().any(|&set| set != 0) {
        shapes.push(Shape::Leap(leaps));
    }
    shapes.extend(lines.into_iter().map(|(_, lines)| Shape::Line(lines)));
    if paths.iter().any(|paths| !paths.is_empty()) {
        shapes.push(Shape::Lame(Lame::new(paths)));
    }
    shapes
}

/// A step as a side makes it: Black's is turned upside down.
pub(crate) fn turned((files, ranks): Offset, color: Color) -> Offset {
    match color {
        Color::White => (files, ranks),
        Color::Black => (files, -ranks),
    }
}

/// Whether a step leads to a higher index, for steps that stay on the grid.
fn leads_up((files, ranks): Offset) -> bool {
    ranks > 0 || (ranks == 0 && files > 0)
}

/// A step or its opposite, whichever leads up.
pub(crate) fn axis_of(step: Offset) -> Offset {
    if leads_up(step) {
        step
    } else {
        (-step.0, -step.1)
    }
}

/// The squares of a ride over an empty board.
pub(crate) fn ray(board: Bitboard, from: Square, step: Offset, limit: u8) -> u128 {
    let mut squares = Bitboard::EMPTY;
    let mut at = from;
    for _ in 0..limit {
        match at.offset(step.0, step.1) {
            Some(next) if board.contains(next) => at = next,
            _ => break,
        }
        squares = squares.with(at);
    }
    squares.0
}

/// Adds a ride in one direction to the lines of its axis.
pub(crate) fn add_ray(lines: &mut Axis, board: Bitboard, step: Offset, limit: u8) {
    for from in board {
        let squares = ray(board, from, step, limit);
        let line = &mut lines[from.index()];
        if leads_up(step) {
            line.upper |= squares;
        } else {
            line.lower |= squares;
        }
    }
}

fn add_lame(
    paths: &mut [Vec<LamePath>; Square::COUNT],
    board: Bitboard,
    step: Offset,
    ways: &[Vec<Offset>],
    color: Color,
) {
    for from in board {
        let Some(to) = from.offset(step.0, step.1).filter(|&to| board.contains(to)) else {
            continue;
        };
        for way in ways {
            let squares: Option<Vec<Square>> = way
                .iter()
                .map(|&offset| {
                    let (files, ranks) = turned(offset, color);
                    from.offset(files, ranks).filter(|&sq| board.contains(sq))
                })
                .collect();
            if let Some(squares) = squares {
                paths[from.index()].push(LamePath {
                    end: Bitboard::from(to).0,
                    way: squares.into_iter().collect::<Bitboard>().0,
                });
            }
        }
    }
}

/// No square for any square.
pub(crate) fn empty_sets() -> SquareSets {
    Box::new([0; Square::COUNT])
}

/// Empty lines for every square.
pub(crate) fn empty_lines() -> Box<Axis> {
    Box::new([Line::default(); Square::COUNT])
}
