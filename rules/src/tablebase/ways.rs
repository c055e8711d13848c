//! Single moves as conditions on what stands between, the same for every shape of motion.
//!
//! The retrograde analysis asks in both directions, "where can this man go?" and "where can it have come from?". A
//! list of conditions by pair of squares answers both and is easily compared with its mirror image.

use crate::betza::Landing;
use crate::tables::{Line, MoveTable, Shape};
use crate::{Bitboard, Color, Role, Square, Variant};

/// What must hold for a man to get from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Way {
    pub from: u8,
    pub to: u8,
    /// Squares that must be empty.
    pub clear: u128,
    /// A square that must be occupied; 0 for none.
    pub hurdle: u128,
}

impl Way {
    #[inline]
    fn is_open(&self, occupied: u128) -> bool {
        self.clear & occupied == 0 && self.hurdle & !occupied == 0
    }
}

/// All ways of a man of one side, for moves or for captures.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// Sorted.
    pub list: Vec<Way>,
    /// Where the ways from `from` to `to` begin in `list`, at `from · 100 + to`.
    first: Vec<u32>,
    /// By square: squares reached on an empty board.
    plain: Vec<u128>,
    /// By square: squares whose occupation matters for what is reached.
    sensitive: Vec<u128>,
    /// By square: squares ever reached from it.
    targets: Vec<u128>,
    /// By square: squares from which it is ever reached.
    sources: Vec<u128>,
}

impl Ways {
    /// The quiet moves and the captures of a man that has lost the powers of its first move, pawns on their start
    /// squares excepted.
    pub fn of_role(variant: &Variant, color: Color, role: Role) -> [Ways; 2] {
        let collect = |used: fn(&MoveTable) -> bool| {
            let mut list = Vec::new();
            for table in variant.moves[color][role.index()]
                .iter()
                .filter(|&t| used(t))
            {
                for from in variant.board() {
                    let starts = variant.is_pawn(role) && variant.pawn_start[color].contains(from);
                    if !table.initial || starts {
                        ways_from(table, from, &mut list);
                    }
                }
            }
            Ways::new(list)
        };
        [collect(|table| table.quiet), collect(|table| table.capture)]
    }

    fn new(mut list: Vec<Way>) -> Ways {
        list.sort_unstable();
        list.dedup();
        let mut ways = Ways {
            first: Vec::with_capacity(Square::COUNT * Square::COUNT + 1),
            plain: vec![0; Square::COUNT],
            sensitive: vec![0; Square::COUNT],
            targets: vec![0; Square::COUNT],
            sources: vec![0; Square::COUNT],
            list,
        };
        for way in &ways.list {
            let (from, to) = (usize::from(way.from), usize::from(way.to));
            ways.targets[from] |= 1 << to;
            ways.sources[to] |= 1 << from;
            ways.sensitive[from] |= way.clear | way.hurdle;
            if way.hurdle == 0 {
                ways.plain[from] |= 1 << to;
            }
        }
        let mut at = 0;
        for pair in 0..=Square::COUNT * Square::COUNT {
            ways.first.push(at as u32);
            let is_here =
                |way: &Way| usize::from(way.from) * Square::COUNT + usize::from(way.to) == pair;
            at += ways.list[at..]
                .iter()
                .take_while(|way| is_here(way))
                .count();
        }
        ways
    }

    /// Whether a man can get from one square to another over a board occupied like this.
    #[inline]
    pub fn is_open(&self, from: u8, to: u8, occupied: u128) -> bool {
        let pair = usize::from(from) * Square::COUNT + usize::from(to);
        let ways = &self.list[self.first[pair] as usize..self.first[pair + 1] as usize];
        ways.iter().any(|way| way.is_open(occupied))
    }

    /// Where a man can get, whatever stands there.
    #[inline]
    pub fn targets(&self, from: u8, occupied: u128) -> u128 {
        let at = usize::from(from);
        if self.sensitive[at] & occupied == 0 {
            return self.plain[at];
        }
        let open = |to: &Square| self.is_open(from, to.index() as u8, occupied);
        Bitboard(self.targets[at])
            .into_iter()
            .filter(open)
            .collect::<Bitboard>()
            .0
    }

    /// Where a man on `to` can have come from over a board occupied like this, its own squares left aside.
    #[inline]
    pub fn sources(&self, to: u8, occupied: u128) -> impl Iterator<Item = u8> + '_ {
        let sources = self.sources[usize::from(to)] & !occupied;
        Bitboard(sources)
            .into_iter()
            .map(|from| from.index() as u8)
            .filter(move |&from| self.is_open(from, to, occupied))
    }
}

/// The ways of one table from one square.
fn ways_from(table: &MoveTable, from: Square, list: &mut Vec<Way>) {
    let mut add = |to: u128, clear: u128, hurdle: u128| {
        list.push(Way {
            from: from.index() as u8,
            to: to.trailing_zeros() as u8,
            clear,
            hurdle,
        });
    };
    match &table.shape {
        Shape::Leap(sets) => bits(sets[from.index()]).for_each(|to| add(to, 0, 0)),
        Shape::Line(axis) => {
            let line = axis[from.index()];
            bits(line.lower | line.upper).for_each(|to| add(to, line.between(to), 0));
        }
        Shape::Hop(axis, landing) => {
            let line = axis[from.index()];
            for to in bits(line.lower | line.upper) {
                let between = line.between(to);
                for hurdle in hurdles(line, to, between, *landing) {
                    add(to, between & !hurdle, hurdle);
                }
            }
        }
        Shape::Lame(lame) => {
            for path in lame.paths(from) {
                add(path.end, path.way, 0);
            }
        }
    }
}

/// The squares that a hopper on its way to `to` may leap over.
fn hurdles(line: Line, to: u128, between: u128, landing: Landing) -> Vec<u128> {
    match landing {
        Landing::Beyond => bits(between).collect(),
        Landing::Behind if between == 0 => Vec::new(),
        Landing::Behind if line.upper & to != 0 => vec![(1 << 127) >> between.leading_zeros()],
        Landing::Behind => vec![between & between.wrapping_neg()],
    }
}

fn bits(set: u128) -> impl Iterator<Item = u128> {
    Bitboard(set).into_iter().map(|square| 1 << square.index())
}
