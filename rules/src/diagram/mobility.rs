//! How many squares a piece reaches on average.

use crate::betza::{Landing, Motion, Offset, Reach};
use crate::{Bitboard, Square};

/// The share of empty squares in Betza's crowded-board mobility.
pub(super) const CROWDED: f64 = 0.7;

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
            let from = board.into_iter();
            weight
                * from
                    .map(|from| expected(motion, board, from, empty))
                    .sum::<f64>()
        })
        .sum();
    total / f64::from(board.count().max(1))
}

/// The expected number of targets of one motion from one square.
fn expected(motion: &Motion, board: Bitboard, from: Square, empty: f64) -> f64 {
    let (files, ranks) = motion.step;
    let at = |(files, ranks): Offset| {
        let square = from.offset(files, ranks)?;
        board.contains(square).then_some(square)
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
        Reach::Leap => at(motion.step).map_or(0.0, |_| 1.0),
        Reach::Ride { limit } | Reach::Hop { limit, .. } => (1..=*limit as i8)
            .take_while(|times| at((files * times, ranks * times)).is_some())
            .map(|times| chance(i32::from(times)))
            .sum(),
        Reach::Lame { paths } => {
            let ways = paths.iter().filter_map(|path| {
                let squares: Option<Vec<Square>> = path.iter().map(|&o| at(o)).collect();
                squares
            });
            let ways: Vec<Vec<Square>> = ways.collect();
            at(motion.step).map_or(0.0, |_| any_open(&ways, empty))
        }
    }
}

/// The probability that all squares of at least one way are empty, by trying all occupations.
fn any_open(ways: &[Vec<Square>], empty: f64) -> f64 {
    let squares: Vec<Square> = {
        let all: Bitboard = ways.iter().flatten().copied().collect();
        all.into_iter().collect()
    };
    let mut chance = 0.0;
    for occupation in 0u32..1 << squares.len().min(20) {
        let is_empty = |square: &Square| {
            let place = squares.iter().position(|known| known == square);
            place.is_some_and(|place| occupation >> place & 1 == 0)
        };
        if ways.iter().any(|way| way.iter().all(is_empty)) {
            let men = occupation.count_ones() as i32;
            chance += (1.0 - empty).powi(men) * empty.powi(squares.len() as i32 - men);
        }
    }
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
}
