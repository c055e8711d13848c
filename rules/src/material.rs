//! Which men can mate at all.
//!
//! The draw by insufficient material asks whether any sequence of moves can end in mate. A lone
//! king with one man is settled by trying every placement once when the variant is loaded, so
//! the answer follows from the board and the man's moves: a knight mates nobody on 8×8 but does
//! where a king can stand in a dead end.

use crate::betza::{Motion, Reach};
use crate::{Bitboard, Color, Position, Role, Square, Variant};

/// A man on his square.
type Placed = (Square, Color, Role);

/// The mating powers of a variant's men, as sets of roles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Material {
    /// King and this man alone can mate (any pawn counts, as it may promote).
    mates_alone: u16,
    /// The man never leaves the colour of its square.
    color_bound: u16,
}

/// Squares of the colour of a1.
const DARK: u128 = {
    let mut squares = 0;
    let mut index = 0;
    while index < Square::COUNT {
        if (index % 10 + index / 10) % 2 == 0 {
            squares |= 1 << index;
        }
        index += 1;
    }
    squares
};

impl Material {
    /// Tries all placements of king and one man against a king; `motions` is indexed by role.
    pub fn new(variant: &Variant, motions: &[Vec<Motion>]) -> Material {
        let mut material = Material::default();
        for role in variant.role_ids().filter(|&role| role != variant.royal) {
            let bit = 1 << role.index();
            let hops = |motion: &Motion| matches!(motion.reach, Reach::Hop { .. });
            let hopper = motions[role.index()].iter().any(hops);
            let mates = |color| {
                mate_positions(variant, color, role, hopper)
                    .next()
                    .is_some()
            };
            if variant.is_pawn(role) || Color::ALL.into_iter().any(mates) {
                material.mates_alone |= bit;
            }
            let keeps_color = |motion: &Motion| (motion.step.0 + motion.step.1) % 2 == 0;
            if motions[role.index()].iter().all(keeps_color) {
                material.color_bound |= bit;
            }
        }
        material
    }

    /// Whether king and one man of a role can mate a bare king (or the man may become one that
    /// can).
    pub fn mates_alone(&self, role: Role) -> bool {
        self.mates_alone & (1 << role.index()) != 0
    }

    /// Whether the men on the board, and those that may still enter, cannot mate.
    pub fn is_insufficient(&self, variant: &Variant, position: &Position) -> bool {
        let mut men = Bitboard::EMPTY;
        for role in variant.role_ids().filter(|&role| role != variant.royal) {
            let of_role = Bitboard(position.roles[role.index()]);
            if of_role.is_empty() {
                continue;
            }
            if self.mates_alone(role) {
                return false;
            }
            if self.color_bound & (1 << role.index()) == 0 && position.occupied().count() > 3 {
                return false;
            }
            men |= of_role;
        }
        let one_color = men.0 & DARK == 0 || men.0 & !DARK == 0;
        (men.count() <= 1 || one_color)
            && Color::ALL
                .into_iter()
                .all(|c| !may_enter(variant, position, c))
    }
}

/// Whether a side has an entry due or men whose loss would earn one.
fn may_enter(variant: &Variant, position: &Position, color: Color) -> bool {
    let Some(entry) = &variant.entry else {
        return false;
    };
    let earning = variant
        .role_ids()
        .filter(|role| entry.earned_by & (1 << role.index()) != 0)
        .any(|role| position.pieces(color, role).any());
    position.entries_due(color) > 0 || (position.hand_count(color) > 0 && earning)
}

/// All positions in which a side's king and one man, a hopper or not, have mated the bare king.
fn mate_positions(
    variant: &Variant,
    color: Color,
    role: Role,
    hopper: bool,
) -> impl Iterator<Item = Position> + '_ {
    let board = variant.board();
    let pairs = board
        .into_iter()
        .flat_map(move |bare| board.into_iter().map(move |man| (bare, man)));
    let pairs = pairs.filter(|(bare, man)| bare != man);
    pairs.flat_map(move |(bare, man)| {
        let pair = [(bare, !color, variant.royal), (man, color, role)];
        // The other king may be what a hopper leaps over, so that every place of his is tried.
        let kings = match hopper {
            true => board,
            false => kings_that_guard(variant, pair),
        };
        kings
            .into_iter()
            .filter(move |&king| king != bare && king != man)
            .filter_map(move |king| mate(variant, pair, king))
    })
}

/// The position of a bare king, who is to move, a man and the other king, if it is mate and the other king is not attacked.
fn mate(variant: &Variant, pair: [Placed; 2], king: Square) -> Option<Position> {
    let [(_, them, _), (_, color, _)] = pair;
    let three = [pair[0], pair[1], (king, color, variant.royal)];
    let position = Position::of_men(&three, them);
    let mate = position.is_check(variant)
        && !position.is_attacked(variant, color, king)
        && !position.has_legal_move(variant);
    mate.then_some(position)
}

/// Where the other king takes all flights from a bare king attacked by a man that does not hop.
fn kings_that_guard(variant: &Variant, pair: [Placed; 2]) -> Bitboard {
    let [(bare, them, royal), (man, color, _)] = pair;
    if !Position::of_men(&pair, them).is_attacked(variant, them, bare) {
        return Bitboard::EMPTY;
    }
    let reach = |color: Color, king: Square| {
        let tables = &variant.moves[color][royal.index()];
        tables
            .iter()
            .fold(0, |all, table| all | table.reach(king, 0))
    };
    // Where the bare king could flee if it were not for the other king; that king's own square only ever gives shelter.
    let flights = Bitboard(reach(them, bare) & !(1 << man.index()));
    let open: Bitboard = flights
        .into_iter()
        .filter(|&to| {
            let fled = [(to, them, royal), pair[1]];
            !Position::of_men(&fled, them).is_attacked(variant, them, to)
        })
        .collect();
    variant
        .board()
        .into_iter()
        .filter(|&king| open.0 & !(reach(color, king) | 1 << king.index()) == 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of another program that tried every placement.
    #[test]
    fn lone_men_mate_as_often_as_counted_elsewhere() {
        let cases = [
            ("chess", 'N', 0),
            ("chess", 'B', 0),
            ("falcon", 'N', 0),
            ("falcon", 'B', 0),
            ("falcon-10x10", 'N', 0),
            ("falcon-10x10", 'B', 0),
            ("falcon-8x8", 'F', 16),
            ("falcon", 'F', 16),
            ("falcon-10x10", 'F', 16),
            ("falcon-hunter", 'F', 54),
            ("falcon-hunter", 'H', 54),
            ("decimal-falcon-hunter", 'F', 88),
            ("decimal-falcon-hunter", 'H', 88),
            ("falcon-hunter-66", 'N', 8),
            ("falcon-hunter-66", 'B', 24),
        ];
        for (name, letter, expected) in cases {
            let variant = Variant::by_name(name).unwrap();
            let role = variant.role_by_letter(letter).unwrap();
            for color in Color::ALL {
                let mates = mate_positions(&variant, color, role, false).count();
                assert_eq!(mates, expected, "{name} {letter} {color:?}");
                let all = mate_positions(&variant, color, role, true).count();
                assert_eq!(all, expected, "{name} {letter} {color:?}, every placement");
            }
        }
    }

    /// A cannon and a grasshopper need the king to leap over, who then is in nobody's way to guard a flight; a queen that
    /// only captures over a man mates with his help.
    #[test]
    fn hoppers_are_tried_with_the_king_to_leap_over() {
        let chess = Variant::by_name("chess").unwrap();
        for (betza, can_mate) in [("mRcpR", false), ("gQ", false), ("RpR", true)] {
            let text = chess
                .toml()
                .replacen("betza = \"R\"", &format!("betza = \"{betza}\""), 1);
            let variant = Variant::from_toml(&text).unwrap();
            let rook = variant.role_by_letter('R').unwrap();
            assert_eq!(variant.material.mates_alone(rook), can_mate, "{betza}");
        }
    }
}
