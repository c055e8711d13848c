//! Values as protocols want them: centipawns and moves to mate.

use selfplay::search::Proven;

/// The q that counts as an advantage of one pawn.
const PAWN: f32 = 0.5;

/// Values beyond this are shown as this, so that scores stay below 1200 centipawns, far from any mate score.
const MOST: f32 = 0.99999;

/// The value q = win − loss, −1 to 1, in centipawns: 100 · artanh(q) / artanh(½).
///
/// One pawn is what makes a win likelier than a loss by 50 points in a hundred. Artanh makes equal steps of evidence
/// equal steps of the score: q = (o − 1) / (o + 1) for odds o of a win against a loss, and centipawns are proportional to
/// the logarithm of o.
pub fn centipawns(q: f32) -> i32 {
    let q = if q.is_nan() {
        0.0
    } else {
        q.clamp(-MOST, MOST)
    };
    (100.0 * q.atanh() / PAWN.atanh()).round() as i32
}

/// Moves to the mate, negative for the side that is mated; `None` if no mate is proven. Being mated on the board is 0.
pub(super) fn mate_in(proven: Option<Proven>) -> Option<i32> {
    match proven? {
        Proven::Win(plies) => Some((i32::from(plies) + 1) / 2),
        Proven::Loss(plies) => Some(-(i32::from(plies) / 2)),
        Proven::Draw => None,
    }
}

/// Thousandths, for `wdl`; they sum to 1000.
pub(super) fn thousandths(wdl: model::Wdl) -> [i32; 3] {
    let part = |p: f32| (p.clamp(0.0, 1.0) * 1000.0).round() as i32;
    let (win, loss) = (part(wdl.win), part(wdl.loss));
    let win = win.min(1000 - loss.min(1000));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Wdl;

    #[test]
    fn scores_are_odd_rise_and_stay_within_bounds() {
        assert_eq!(centipawns(0.0), 0);
        assert_eq!(centipawns(0.5), 100);
        assert_eq!(centipawns(0.8), 200);
        assert_eq!(centipawns(f32::NAN), 0);
        let mut last = -1200;
        for step in -100..=100 {
            let q = step as f32 / 100.0;
            assert_eq!(centipawns(-q), -centipawns(q));
            assert!(centipawns(q) > last, "{q}");
            last = centipawns(q);
        }
        assert!(last < 1200, "{last}");
    }

    #[test]
    fn plies_become_moves_of_the_side_that_mates() {
        let moves = [
            (Proven::Win(1), 1),
            (Proven::Win(3), 2),
            (Proven::Loss(2), -1),
            (Proven::Loss(4), -2),
        ];
        for (proven, expected) in moves {
            assert_eq!(mate_in(Some(proven)), Some(expected));
        }
        assert_eq!(mate_in(Some(Proven::Draw)), None);
    }

    #[test]
    fn thousandths_sum_to_a_thousand() {
        for (win, draw, loss) in [
            (0.3335, 0.333, 0.3335),
            (1.0, 0.0, 0.0),
            (0.0005, 0.0, 0.9995),
        ] {
            let parts = thousandths(Wdl { win, draw, loss });
            assert_eq!(parts.iter().sum::<i32>(), 1000, "{parts:?}");
            assert!(parts.iter().all(|&part| part >= 0), "{parts:?}");
        }
    }
}
