//! Matches that claims are about, played until a sequential test has decided.

use crate::arena::elo::elo_of_score;
use crate::arena::sprt::Sprt;
use crate::values::claims::{Claims, Test};
use crate::values::odds::{Handicap, OddsMatch, Players, record};
use rules::Variant;
use std::ops::ControlFlow;

/// Pairs between two looks at the test: with fewer its normal approximation errs too often.
const PAIRS_AT_ONCE: usize = 32;

/// A claimed result.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedMatch {
    handicap: Handicap,
    score: f64,
}

/// The matches of the claims about a variant.
pub fn claimed_matches(variant: &Variant) -> Vec<ClaimedMatch> {
    let claims = Claims::about(variant);
    let claims = claims.iter().flat_map(|claims| &claims.claims);
    let of = |test: &Test| match test {
        Test::Match {
            first_lacks,
            second_lacks,
            score,
        } => Some(ClaimedMatch {
            handicap: Handicap {
                first_lacks: first_lacks.clone(),
                second_lacks: second_lacks.clone(),
            },
            score: *score,
        }),
        Test::Within { .. }
        | Test::Greater { .. }
        | Test::Less { .. }
        | Test::BishopPair { .. }
        | Test::Tablebase { .. }
        | Test::Draws { .. }
        | Test::FirstMoves { .. } => None,
    };
    claims
        .filter_map(|claim| claim.test.as_ref().and_then(of))
        .collect()
}

impl ClaimedMatch {
    /// Plays at most `games` games, until the test has decided or `on_progress` breaks. `None` without a game.
    pub fn play(
        &self,
        players: &mut dyn Players,
        games: usize,
        seed: u64,
        on_progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<OddsMatch> {
        let sprt = Sprt::new(0.0, elo_of_score(self.score)?).ok()?;
        let mut matches: Vec<OddsMatch> = Vec::new();
        let mut played = 0;
        while 2 * played < games {
            let pairs = (games / 2 - played).clamp(1, PAIRS_AT_ONCE);
            // Seeds of their own, so that no game is one of the estimator's.
            let seed = seed.wrapping_add(0x5eed_0000_0000 + played as u64 * 0x9e37_79b9);
            let scores = players.play(&self.handicap, pairs, seed);
            if scores.is_empty() {
                break;
            }
            played += scores.len();
            record(&mut matches, self.handicap.clone(), &scores);
            let decided = matches
                .iter()
                .any(|one| sprt.state(&one.pentanomial).verdict().is_some());
            if on_progress(2 * played).is_break() || decided {
                break;
            }
        }
        matches.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::odds::planted::PlantedPlayers;

    /// A planted advantage is found, a planted equality refutes it, and neither takes all games.
    #[test]
    fn tests_end_when_enough_is_known() {
        let falcon = Variant::by_name("falcon").expect("a shipped variant");
        let pawn_odds = claimed_matches(&falcon)
            .into_iter()
            .find(|one| one.score == 0.62)
            .expect("a claim");
        for (worth, above) in [(0.49, true), (0.0, false)] {
            let mut players = PlantedPlayers {
                worth: vec![('P', worth)],
                first_move: 0.1,
                draws: 0.3,
            };
            let played = pawn_odds.play(&mut players, 4000, 3, &mut |_| ControlFlow::Continue(()));
            let played = played.expect("games");
            assert!(played.pentanomial.pairs() < 1000, "{played:?}");
            assert_eq!(played.score().expect("games") > 0.56, above, "{played:?}");
        }
    }
}
