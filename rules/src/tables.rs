//! Where pieces reach, compiled square by square for one board.
//!
//! Four shapes cover every motion: a leap is a set of squares; a line is an axis on which a
//! rider slides until it is blocked; a hop is a line on which it leaps over the first man; a lame
//! table lists targets with the paths that lead there.
//! None of them asks which piece it is, so any Betza piece costs the same.

use crate::betza::{Landing, Motion, Offset, Reach};
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

    /// The same squares for a rider that must leap over the first blocker on its way.
    pub fn hop(self, occupied: u128, landing: Landing) -> u128 {
        let mut squares = 0;
        let hurdles = self.reach(occupied) & occupied;
        for (side, upwards) in [(self.upper, true), (self.lower, false)] {
            let hurdle = hurdles & side;
            if hurdle == 0 {
                continue;
            }
            let beyond = match upwards {
                true => side & !(hurdle | (hurdle - 1)),
                false => side & (hurdle - 1),
            };
            squares |= match landing {
                Landing::Beyond => Line::one_sided(beyond, upwards).reach(occupied),
                Landing::Behind => nearest(beyond, upwards),
            };
        }
        squares
    }

    /// Where a rider may stand that leaps over a man and lands on the line's square.
    pub fn hop_sources(self, occupied: u128, landing: Landing) -> u128 {
        match landing {
            // One man between is one man between from either end.
            Landing::Beyond => self.hop(occupied, landing),
            // The man leapt over is right beside the square.
            Landing::Behind => {
                let mut squares = 0;
                for (side, upwards) in [(self.upper, true), (self.lower, false)] {
                    let hurdle = nearest(side, upwards) & occupied;
                    if hurdle != 0 {
                        squares |= Line::one_sided(side & !hurdle, upwards).reach(occupied);
                    }
                }
                squares
            }
        }
    }

    fn one_sided(squares: u128, upwards: bool) -> Line {
        match upwards {
            true => Line {
                lower: 0,
                upper: squares,
            },
            false => Line {
                lower: squares,
                upper: 0,
            },
        }
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

/// The square of one side of a line that comes first; nothing if there is none.
fn nearest(side: u128, upwards: bool) -> u128 {
    match (side, upwards) {
        (0, _) => 0,
        (side, true) => side & side.wrapping_neg(),
        (side, false) => (1 << 127) >> side.leading_zeros(),
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
    Hop(Box<Axis>, Landing),
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
            Shape::Hop(lines, landing) => lines[from.index()].hop(occupied, *landing),
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
    let mut lines = Axes::default();
    let mut hops = [
        (Landing::Beyond, Axes::default()),
        (Landing::Behind, Axes::default()),
    ];
    let mut paths: [Vec<LamePath>; Square::COUNT] = std::array::from_fn(|_| Vec::new());
    for motion in motions {
        let step = turned(motion.step, color);
        match &motion.reach {
            Reach::Leap => {
                for from in board {
                    leaps[from.index()] |= ray(board, from, step, 1);
                }
            }
            Reach::Ride { limit } => lines.add(board, step, *limit),
            Reach::Hop { limit, landing } => {
                for (_, axes) in hops.iter_mut().filter(|(known, _)| known == landing) {
                    axes.add(board, step, *limit);
                }
            }
            Reach::Lame { paths: ways } => add_lame(&mut paths, board, step, ways, color),
        }
    }
    let mut shapes = Vec::new();
    if leaps.iter().any(|&set| set != 0) {
        shapes.push(Shape::Leap(leaps));
    }
    shapes.extend(lines.into_lines().map(Shape::Line));
    for (landing, axes) in hops {
        shapes.extend(axes.into_lines().map(|lines| Shape::Hop(lines, landing)));
    }
    if paths.iter().any(|paths| !paths.is_empty()) {
        shapes.push(Shape::Lame(Lame::new(paths)));
    }
    shapes
}

/// Rides collected by axis, both directions of an axis in one.
#[derive(Default)]
pub(crate) struct Axes(Vec<(Offset, Box<Axis>)>);

impl Axes {
    /// Adds rides in one direction.
    pub fn add(&mut self, board: Bitboard, step: Offset, limit: u8) {
        let axis = if leads_up(step) {
            step
        } else {
            (-step.0, -step.1)
        };
        let at = self.0.iter().position(|(known, _)| *known == axis);
        let at = at.unwrap_or_else(|| {
            self.0
                .push((axis, Box::new([Line::default(); Square::COUNT])));
            self.0.len() - 1
        });
        for from in board {
            let squares = ray(board, from, step, limit);
            let line = &mut self.0[at].1[from.index()];
            if leads_up(step) {
                line.upper |= squares;
            } else {
                line.lower |= squares;
            }
        }
    }

    /// The lines of each axis.
    pub fn into_lines(self) -> impl Iterator<Item = Box<Axis>> {
        self.0.into_iter().map(|(_, lines)| lines)
    }
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
