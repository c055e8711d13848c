//! How many squares a piece reaches on average.

use std::collections::{BTreeSet, HashMap};

use crate::betza::{Landing, Motion, Offset, Reach};
use crate::{Bitboard, Square};

/// The share of empty squares in Betza's crowded-board mobility.
pub(super) const CROWDED: f64 = 0.7;

/// The ways of a lame leap, each the squares that must be empty.
type Ways = BTreeSet<BTreeSet<Offset>>;

/// Squares reached, averaged over all squares of the board, when each square is empty with
/// probability `empty`, independently of the others.
///
/// A target that is only for moves counts with the probability that it is empty, one that is
/// only for captures with that of the contrary. First-move powers do not count.
pub(super) fn average(motions: &[Motion], board: Bitboard, empty: f64) -> f64 {
    let motions = motions.iter().filter(|motion| !motion.initial);
    let total: f64 = motions
        .map(|motion| {
            let weight = match (motion.quiet, motion.capture) {
                (true, false) => empty,
                (false, true) => 1.0 - empty,
                _ => 1.0,
            };
            let mut known = HashMap::new();
            let from = board.into_iter();
            let targets = from.map(|from| expected(motion, board, from, empty, &mut known));
            weight * targets.sum::<f64>()
        })
        .sum();
    // The sum of nothing is -0.
    total.abs() / f64::from(board.count().max(1))
}

/// The expected number of targets of one motion from one square.
fn expected(
    motion: &Motion,
    board: Bitboard,
    from: Square,
    empty: f64,
    known: &mut HashMap<Ways, f64>,
) -> f64 {
    let (files, ranks) = motion.step;
    let on_board = |(files, ranks): Offset| {
        let square = from.offset(files, ranks);
        square.is_some_and(|square| board.contains(square))
    };
    // The probability of reaching the target of a number of steps.
    let chance = |times: i32| match motion.reach {
        Reach::Leap | Reach::Lame { .. } => 1.0,
        Reach::Ride { .. } => empty.powi(times - 1),
        Reach::Hop { .. } if times < 2 => 0.0,
        Reach::Hop { landing, .. } => {
            let places = match landing {
                Landing::Beyond => f64::from(times - 1),
                Landing::Behind => 1.0,
            };
            places * (1.0 - empty) * empty.powi(times - 2)
        }
    };
    match &motion.reach {
        Reach::Leap if on_board(motion.step) => 1.0,
        Reach::Lame { paths } if on_board(motion.step) => {
            let ways = paths
                .iter()
                .filter(|path| path.iter().all(|&at| on_board(at)));
            let ways = ways.map(|path| path.iter().copied().collect()).collect();
            any_open(&ways, empty, known)
        }
        Reach::Leap | Reach::Lame { .. } => 0.0,
        Reach::Ride { limit } | Reach::Hop { limit, .. } => (1..=*limit as i8)
            .take_while(|times| on_board((files * times, ranks * times)))
            .map(|times| chance(i32::from(times)))
            .sum(),
    }
}

/// The probability that all squares of at least one way are empty.
///
/// Splits by whether one square is empty or not, square by square along the ways; what is left to decide is soon the same again
/// and again, and `known`.
fn any_open(ways: &Ways, empty: f64, known: &mut HashMap<Ways, f64>) -> f64 {
    if ways.iter().any(BTreeSet::is_empty) {
        return 1.0;
    }
    // The way with most squares left is the one that has been followed least; its nearest square decides next.
    let longest = ways.iter().max_by_key(|way| way.len());
    let nearest = |&&(x, y): &&Offset| x.abs().max(y.abs());
    let Some(&square) = longest.and_then(|way| way.iter().min_by_key(nearest)) else {
        return 0.0;
    };
    if let Some(&chance) = known.get(ways) {
        return chance;
    }
    let without = |way: &BTreeSet<Offset>| {
        let others = way.iter().copied().filter(|&other| other != square);
        others.collect::<BTreeSet<Offset>>()
    };
    let if_empty: Ways = ways.iter().map(without).collect();
    let if_taken = ways.iter().filter(|way| !way.contains(&square));
    let if_taken: Ways = if_taken.cloned().collect();
    let chance = empty * any_open(&if_empty, empty, known)
        + (1.0 - empty) * any_open(&if_taken, empty, known);
    known.insert(ways.clone(), chance);
    chance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::betza::parse;
    use crate::diagram::board_of;

    fn mobility(betza: &str, empty: f64) -> f64 {
        average(&parse(betza).unwrap(), board_of(8, 8).unwrap(), empty)
    }

    /// Numbers that every chess player can count: squares attacked, averaged over the board.
    #[test]
    fn empty_board_averages_are_the_known_ones() {
        assert_eq!(mobility("R", 1.0), 14.0);
        assert_eq!(mobility("B", 1.0), 8.75);
        assert_eq!(mobility("N", 1.0), 5.25);
        assert_eq!(mobility("K", 1.0), 6.5625);
        assert_eq!(mobility("nCnZ", 1.0), mobility("CZ", 1.0));
    }

    #[test]
    fn crowding_hurts_riders_and_lame_leapers_only() {
        assert_eq!(mobility("N", CROWDED), 5.25);
        assert!(mobility("R", CROWDED) < 14.0);
        let lame = mobility("nCnZ", CROWDED);
        assert!(lame < mobility("CZ", CROWDED));
        // Two squares on each path: any of three paths beats a single one.
        assert!(lame > 0.49 * mobility("CZ", CROWDED));
        assert!(mobility("gQ", 1.0) == 0.0 && mobility("gQ", CROWDED) > 0.0);
    }

    /// All ways of a long lame leap at once against trying all occupations of the squares on them.
    #[test]
    fn chances_are_exact_however_many_ways_there_are() {
        for text in ["nC", "nZ", "n(2,4)", "n(3,5)", "n(2,6)"] {
            let motions = parse(text).unwrap();
            let Reach::Lame { paths } = &motions[0].reach else {
                panic!("{text} is not lame");
            };
            let squares: Vec<Offset> = {
                let all: BTreeSet<Offset> = paths.iter().flatten().copied().collect();
                all.into_iter().collect()
            };
            let mut expected = 0.0;
            for occupation in 0u32..1 << squares.len() {
                let taken = |square: &Offset| {
                    let place = squares.iter().position(|known| known == square).unwrap();
                    occupation >> place & 1 == 1
                };
                if paths.iter().any(|path| !path.iter().any(taken)) {
                    let men = occupation.count_ones() as i32;
                    expected += 0.3f64.powi(men) * 0.7f64.powi(squares.len() as i32 - men);
                }
            }
            let ways = paths.iter().map(|path| path.iter().copied().collect());
            let found = any_open(&ways.collect(), 0.7, &mut HashMap::new());
            assert!(
                (found - expected).abs() < 1e-12,
                "{text}: {found}, not {expected}"
            );
        }
        // Some hundred ways over dozens of squares take no time.
        let far = average(&parse("n(4,9)").unwrap(), board_of(10, 10).unwrap(), 0.7);
        assert!(far > 0.0 && far < 0.5, "{far}");
    }
}
