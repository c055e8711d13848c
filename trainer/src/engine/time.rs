//! How much of the clock a move gets.

use super::limits::{Clock, Limits};
use std::time::Duration;

/// Moves that a game without a time control in sight is taken to go on for.
const HORIZON: u32 = 30;

/// Time that is not planned with, so that a busy machine does not make the flag fall; less when there is little time
/// at all.
const RESERVE: Duration = Duration::from_millis(200);

/// The largest share of the time left that one move may take.
const MOST_OF_CLOCK: f64 = 0.4;

/// How often the planned time a move may take while the search is undecided.
const EXTENSION: f64 = 2.5;

/// When to stop thinking, counted from the start of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Deadlines {
    /// Stop here if the search is settled.
    pub planned: Duration,
    /// Stop here in any case.
    pub latest: Duration,
    /// Whether to stop before `planned` once the result cannot change any more.
    pub may_save: bool,
}

/// The deadlines that limits set; `None` if they set no time.
///
/// With a clock a move gets its share of the time left (one part in the moves to go, 30 if unknown) and three quarters
/// of the increment; `overhead` and a reserve (a fifth of a second, or a quarter of the time left) are kept back, and
/// never more than 40% of the rest is spent on one move. So under 1 s + 0.1 s the clock settles where a tenth of a second a
/// move comes in and goes out.
pub(super) fn deadlines(limits: &Limits, overhead: Duration) -> Option<Deadlines> {
    let fixed = limits.move_time.map(|time| {
        let time = time.saturating_sub(overhead.min(time / 4));
        Deadlines {
            planned: time,
            latest: time,
            may_save: false,
        }
    });
    let clock = limits.clock.map(|clock| from_clock(clock, overhead));
    match (fixed, clock) {
        (Some(fixed), Some(clock)) => Some(Deadlines {
            planned: fixed.planned.min(clock.planned),
            latest: fixed.latest.min(clock.latest),
            may_save: clock.may_save,
        }),
        (fixed, clock) => fixed.or(clock),
    }
}

fn from_clock(clock: Clock, overhead: Duration) -> Deadlines {
    let Clock {
        left,
        increment,
        moves_to_go,
    } = clock;
    // However much gets lost, there must be time for a move.
    let overhead = overhead.min(left / 2);
    let reserve = RESERVE.min(left / 4);
    let usable = left.saturating_sub(overhead + reserve).as_secs_f64();
    let moves = f64::from(moves_to_go.unwrap_or(HORIZON).clamp(1, HORIZON));
    // The last move before the control may not use up all that is left either.
    let most = usable * if moves <= 1.0 { 0.8 } else { MOST_OF_CLOCK };
    let share = usable / moves + 0.75 * increment.as_secs_f64();
    let planned = share.min(most);
    Deadlines {
        planned: Duration::from_secs_f64(planned),
        latest: Duration::from_secs_f64((EXTENSION * planned).min(most)),
        may_save: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock(left: u64, increment: u64, moves_to_go: Option<u32>) -> Limits {
        Limits {
            clock: Some(Clock {
                left: Duration::from_millis(left),
                increment: Duration::from_millis(increment),
                moves_to_go,
            }),
            ..Limits::default()
        }
    }

    const OVERHEAD: Duration = Duration::from_millis(50);

    #[test]
    fn shares_by_hand() {
        let of = |limits: Limits| {
            deadlines(&limits, OVERHEAD)
                .expect("a time")
                .planned
                .as_millis()
        };
        assert_eq!(of(clock(60_250, 0, None)), 2000);
        assert_eq!(of(clock(1150, 100, None)), 105);
        assert_eq!(of(clock(10_250, 0, Some(2))), 4000);
        assert_eq!(of(clock(10_250, 0, Some(1))), 8000);
        assert_eq!(of(clock(200, 0, Some(10))), 10);
        let move_time = Limits {
            move_time: Some(Duration::from_millis(500)),
            ..Limits::default()
        };
        assert_eq!(of(move_time), 450);
        assert_eq!(deadlines(&Limits::infinite(), OVERHEAD), None);
    }

    proptest! {
        /// The clock never runs out, however it stands.
        #[test]
        fn the_latest_moment_is_before_the_flag_falls(
            left in 0_u64..100_000_000,
            increment in 0_u64..1_000_000,
            moves_to_go in proptest::option::of(0_u32..1000),
        ) {
            let limits = clock(left, increment, moves_to_go);
            let found = deadlines(&limits, OVERHEAD).expect("a time");
            prop_assert!(found.planned <= found.latest);
            let left = Duration::from_millis(left);
            prop_assert!(found.latest <= left.saturating_sub(OVERHEAD.min(left / 2)));
        }

        /// A whole game of moves that take their latest time and the overhead keeps within the clock.
        #[test]
        fn a_game_of_slow_moves_is_not_lost_on_time(
            start in 500_u64..10_000,
            increment in 0_u64..1000,
        ) {
            let mut left = Duration::from_millis(start);
            for _ in 0..500 {
                let limits = clock(left.as_millis() as u64, increment, None);
                let found = deadlines(&limits, OVERHEAD).expect("a time");
                let used = found.latest + OVERHEAD / 2;
                prop_assert!(used <= left || left < OVERHEAD);
                left = left.saturating_sub(used) + Duration::from_millis(increment);
                if increment == 0 && left < 2 * OVERHEAD {
                    break;
                }
            }
        }
    }
}
