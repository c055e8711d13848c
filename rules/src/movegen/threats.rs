//! Attacks on squares, checks and pins.

use crate::{Bitboard, Color, Position, Role, Square, Variant};

impl Position {
    /// Whether a square is attacked by the enemies of a side, on the board as it stands.
    pub(crate) fn is_attacked(&self, variant: &Variant, color: Color, square: Square) -> bool {
        let occupied = self.occupied().0;
        let attackers = self.by_color(!color).0;
        attacked(self, variant, !color, square, occupied, attackers)
    }
}

/// Men of a role that may use motions of a kind (all, or only those of the first move).
#[inline(always)]
fn users(position: &Position, variant: &Variant, by: Color, role: Role, initial: bool) -> u128 {
    if initial {
        position.unmoved(variant, by, role)
    } else {
        position.pieces(by, role).0
    }
}

/// Whether men of `by` among `attackers` attack a square of a board occupied like this.
pub(super) fn attacked(
    position: &Position,
    variant: &Variant,
    by: Color,
    square: Square,
    occupied: u128,
    attackers: u128,
) -> bool {
    let tables = &variant.attacks[by];
    let at = square.index();
    for leap in &tables.leaps {
        let men = users(position, variant, by, leap.role, leap.initial);
        if leap.sources[at] & men & attackers != 0 {
            return true;
        }
    }
    for group in &tables.lines {
        let mut riders = 0;
        for &role in &group.roles {
            riders |= users(position, variant, by, role, group.initial);
        }
        riders &= attackers;
        if group.sources[at] & riders == 0 {
            continue;
        }
        for axis in &group.axes {
            if axis[at].reach(occupied) & riders != 0 {
                return true;
            }
        }
    }
    for hop in &tables.hops {
        let men = users(position, variant, by, hop.role, hop.initial) & attackers;
        if hop.sources[at] & men != 0 && hop.reach(square, occupied) & men != 0 {
            return true;
        }
    }
    for lame in &tables.lames {
        let men = users(position, variant, by, lame.role, lame.initial) & attackers;
        if lame.sources.ends[at] & men != 0 && lame.sources.reach(square, occupied) & men != 0 {
            return true;
        }
    }
    false
}

/// The most pins that are kept with their lines; men pinned beyond that are tried one by one.
const PINS: usize = 16;

/// What the enemy's men do to a king.
pub(super) struct Threats {
    /// Whether the king is attacked.
    pub check: bool,
    /// Where a man other than the king must end to leave no check: everywhere if there is none.
    pub answers: u128,
    /// Own men that may not move freely.
    pub bound: u128,
    /// Own men whose every move has to be tried, since leaving their square opens some path.
    pub suspects: u128,
    /// Whether any move, an entry too, may expose the king, since some enemy leaps over men.
    pub hoppers: bool,
    pins: [(u128, u128); PINS],
    count: usize,
}

impl Threats {
    pub fn new(position: &Position, variant: &Variant, us: Color, king: Square) -> Threats {
        let mut threats = Threats {
            check: false,
            answers: u128::MAX,
            bound: 0,
            suspects: 0,
            hoppers: false,
            pins: [(0, 0); PINS],
            count: 0,
        };
        let own = position.by_color(us).0;
        let occupied = position.occupied().0;
        threats.leaps(position, variant, !us, king);
        threats.lines(position, variant, !us, king, (own, occupied));
        threats.lames(position, variant, !us, king, (own, occupied));
        threats.hops(position, variant, !us, king, (own, occupied));
        threats
    }

    /// The squares that a man bound to its king keeps the line closed on.
    pub fn pinned_to(&self, man: u128) -> u128 {
        let pins = self.pins[..self.count].iter();
        pins.filter(|(pinned, _)| *pinned == man)
            .fold(u128::MAX, |squares, (_, line)| squares & line)
    }

    fn checked_by(&mut self, answers: u128) {
        self.check = true;
        self.answers &= answers;
    }

    #[inline(always)]
    fn leaps(&mut self, position: &Position, variant: &Variant, by: Color, king: Square) {
        for leap in &variant.attacks[by].leaps {
            let men = users(position, variant, by, leap.role, leap.initial);
            for checker in Bitboard(leap.sources[king.index()] & men) {
                self.checked_by(1 << checker.index());
            }
        }
    }

    /// Riders: a line with nothing between gives check, a line with one own man pins it.
    #[inline(always)]
    fn lines(
        &mut self,
        position: &Position,
        variant: &Variant,
        by: Color,
        king: Square,
        (own, occupied): (u128, u128),
    ) {
        let at = king.index();
        for group in &variant.attacks[by].lines {
            let mut riders = 0;
            for &role in &group.roles {
                riders |= users(position, variant, by, role, group.initial);
            }
            if group.sources[at] & riders == 0 {
                continue;
            }
            for axis in &group.axes {
                let line = axis[at];
                for rider in Bitboard((line.lower | line.upper) & riders) {
                    let rider = 1u128 << rider.index();
                    let between = line.between(rider);
                    let blockers = between & occupied;
                    if blockers == 0 {
                        self.checked_by(between | rider);
                    } else if blockers & (blockers - 1) == 0 && blockers & own != 0 {
                        self.pin(blockers, between | rider);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn pin(&mut self, man: u128, line: u128) {
        self.bound |= man;
        if self.count < PINS {
            self.pins[self.count] = (man, line);
            self.count += 1;
        } else {
            self.suspects |= man;
        }
    }

    /// Lame leapers: a check may be answered on a square that all open paths share; an own man
    /// alone on a path keeps that path closed, and what happens when it moves depends on all
    /// paths together.
    #[inline(always)]
    fn lames(
        &mut self,
        position: &Position,
        variant: &Variant,
        by: Color,
        king: Square,
        (own, occupied): (u128, u128),
    ) {
        for lame in &variant.attacks[by].lames {
            let men = users(position, variant, by, lame.role, lame.initial);
            let leapers = lame.sources.ends[king.index()] & men;
            for leaper in Bitboard(leapers) {
                let leaper = 1u128 << leaper.index();
                let mut shared = u128::MAX;
                let mut open = false;
                for path in lame.sources.paths(king) {
                    if path.end != leaper {
                        continue;
                    }
                    let blockers = path.way & occupied;
                    if blockers == 0 {
                        open = true;
                        shared &= path.way;
                    } else if blockers & (blockers - 1) == 0 && blockers & own != 0 {
                        self.bound |= blockers;
                        self.suspects |= blockers;
                    }
                }
                if open {
                    self.checked_by(shared | leaper);
                }
            }
        }
    }

    /// Hoppers: any move may bring a man onto their line or take one off it, so every move is
    /// tried as soon as one of them bears on the king.
    fn hops(
        &mut self,
        position: &Position,
        variant: &Variant,
        by: Color,
        king: Square,
        (own, occupied): (u128, u128),
    ) {
        for hop in &variant.attacks[by].hops {
            let men = users(position, variant, by, hop.role, hop.initial);
            if hop.sources[king.index()] & men == 0 {
                continue;
            }
            self.hoppers = true;
            self.bound = own;
            self.suspects = own;
            self.check |= hop.reach(king, occupied) & men != 0;
        }
    }
}
