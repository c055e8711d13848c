//! Elo differences with their errors, from the pentanomial counts of a match.
//!
//! Expected score s and Elo difference d are tied by s = 1/(1 + 10^(−d/400)). The interval is the normal one of the
//! pairs' mean score, mapped to Elo end by end (as fishtest does), so it is wider on the side of the greater difference.
//! Normalised Elo (Van den Bergh) measures the score in standard deviations of a game, which makes results at
//! different draw rates comparable: (s − ½)/σ · 800/ln 10.

use super::normal;
use super::pentanomial::Pentanomial;
use serde::{Deserialize, Serialize};

/// Elo units in a nat of log-odds: 400/ln 10.
pub const ELO_PER_NAT: f64 = 400.0 / std::f64::consts::LN_10;

/// The Elo difference that a score corresponds to; `None` where it is infinite (scores of 0 and 1, and beyond).
pub fn elo_of_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| ELO_PER_NAT * (score / (1.0 - score)).ln())
}

/// The expected score at an Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_PER_NAT).exp())
}

/// What a match says about the difference in strength, from the first player's view.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EloEstimate {
    /// The difference at the score as played; `None` if every point, or none, was scored.
    pub elo: Option<f64>,
    /// Lower end of the 95% interval; `None` if unbounded.
    pub low: Option<f64>,
    /// Upper end of the 95% interval; `None` if unbounded.
    pub high: Option<f64>,
    /// Likelihood of superiority: the probability that the first player is the stronger one, 0 to 1.
    pub superiority: f64,
    /// Two-sided p-value of the score against 50%.
    pub p_value: f64,
    /// Normalised Elo.
    pub normalised: f64,
    /// Half width of the 95% interval of the normalised Elo.
    pub normalised_error: f64,
}

impl EloEstimate {
    /// The estimate from the counts of pairs, whose errors include the prior of
    /// [`PRIOR_PAIRS`](super::pentanomial::PRIOR_PAIRS).
    pub fn of(pentanomial: &Pentanomial) -> EloEstimate {
        let moments = pentanomial.moments();
        let error = moments.standard_error();
        let z = (moments.mean - 0.5) / error;
        let per_game = (2.0 * moments.variance).sqrt();
        EloEstimate {
            elo: pentanomial.score().and_then(elo_of_score),
            low: elo_of_score(moments.mean - normal::Z_95 * error),
            high: elo_of_score(moments.mean + normal::Z_95 * error),
            superiority: normal::cumulative(z),
            p_value: normal::two_sided_p(z),
            normalised: (moments.mean - 0.5) / per_game * 2.0 * ELO_PER_NAT,
            normalised_error: normal::Z_95 * 2.0 * ELO_PER_NAT / (2.0 * moments.pairs).sqrt(),
        }
    }
}

impl std::fmt::Display for EloEstimate {
    /// `+123.0 ± 39.4 (+84.5 … +163.3)`, or `more than +661.6` where the interval is open.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.elo, self.low, self.high) {
            (Some(elo), Some(low), Some(high)) => {
                write!(
                    f,
                    "{elo:+.1} ± {:.1} ({low:+.1} … {high:+.1})",
                    (high - low) / 2.0
                )
            }
            (Some(elo), Some(low), None) => write!(f, "{elo:+.1} (more than {low:+.1})"),
            (Some(elo), None, Some(high)) => write!(f, "{elo:+.1} (less than {high:+.1})"),
            (None, Some(low), _) => write!(f, "more than {low:+.1}"),
            (None, None, Some(high)) => write!(f, "less than {high:+.1}"),
            (Some(_), None, None) | (None, None, None) => write!(f, "unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::pentanomial::GameScore;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn close(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{value} against {expected}"
        );
    }

    #[test]
    fn score_and_elo_are_inverse() {
        close(elo_of_score(0.75).expect("finite"), 190.848_501_887_864_97);
        for elo in [-700.0, -3.0, 0.0, 55.0, 400.0] {
            close(elo_of_score(score_of_elo(elo)).expect("finite"), elo);
        }
        assert_eq!(elo_of_score(1.0), None);
        assert_eq!(elo_of_score(0.0), None);
    }

    /// Computed from the definitions by a separate program.
    #[test]
    fn agrees_with_known_matches() {
        let estimate = EloEstimate::of(&Pentanomial::new([5, 20, 50, 30, 10]));
        close(estimate.elo.expect("finite"), 30.288_285_575);
        close(estimate.low.expect("finite"), -0.488_540_993);
        close(estimate.high.expect("finite"), 61.278_137_856);
        close(estimate.superiority, 0.973_112_292);
        close(estimate.p_value, 0.053_775_416);
        close(estimate.normalised, 44.087_934_871);
        close(estimate.normalised_error, 44.803_959_848);
        let clear = EloEstimate::of(&Pentanomial::new([3, 10, 25, 40, 22]));
        assert_eq!(clear.to_string(), "+123.0 ± 39.4 (+84.5 … +163.3)");
        assert!(clear.p_value < 1e-10);
    }

    #[test]
    fn a_clean_sweep_gives_a_bound() {
        let won = EloEstimate::of(&Pentanomial::new([0, 0, 0, 0, 50]));
        assert_eq!((won.elo, won.high), (None, None));
        close(won.low.expect("finite"), 661.599_465_855);
        assert_eq!(won.to_string(), "more than +661.6");
        let lost = EloEstimate::of(&Pentanomial::new([50, 0, 0, 0, 0]));
        assert_eq!(lost.to_string(), "less than -661.6");
        close(lost.superiority + won.superiority, 1.0);
    }

    #[test]
    fn equal_pairs_do_not_claim_certainty() {
        let even = EloEstimate::of(&Pentanomial::new([0, 0, 20, 0, 0]));
        close(even.elo.expect("finite"), 0.0);
        close(even.high.expect("finite"), 16.621_479_583);
        close(even.p_value, 1.0);
        let nothing = EloEstimate::of(&Pentanomial::default());
        assert_eq!((nothing.elo, nothing.low, nothing.high), (None, None, None));
    }

    /// Pairs share an opening whose bias for White is drawn anew; the interval must cover the true score as often
    /// as it says, at several strengths.
    #[test]
    fn the_interval_covers_the_truth() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for elo in [0.0, 100.0, 250.0] {
            let truth = expected_score(elo);
            let true_elo = elo_of_score(truth).expect("finite");
            let repetitions = 2000;
            let covered = (0..repetitions)
                .filter(|_| {
                    let estimate = EloEstimate::of(&simulate(elo, 40, &mut rng));
                    estimate.low.is_none_or(|low| low <= true_elo)
                        && estimate.high.is_none_or(|high| true_elo <= high)
                })
                .count();
            let rate = covered as f64 / f64::from(repetitions);
            assert!(
                (0.93..=0.97).contains(&rate),
                "coverage {rate} at {elo} Elo"
            );
        }
    }

    const BIASES: [f64; 4] = [-200.0, -50.0, 100.0, 200.0];
    const DRAWS: f64 = 0.3;

    /// The mean score over the openings of [`simulate`].
    fn expected_score(elo: f64) -> f64 {
        let total: f64 = BIASES
            .iter()
            .map(|bias| score_of_elo(elo + bias) + score_of_elo(elo - bias))
            .sum();
        DRAWS / 2.0 + (1.0 - DRAWS) * total / (2.0 * BIASES.len() as f64)
    }

    fn simulate(elo: f64, pairs: usize, rng: &mut ChaCha8Rng) -> Pentanomial {
        let mut pentanomial = Pentanomial::default();
        let game = |edge: f64, rng: &mut ChaCha8Rng| {
            if rng.random_bool(DRAWS) {
                GameScore::Draw
            } else if rng.random_bool(score_of_elo(edge)) {
                GameScore::Win
            } else {
                GameScore::Loss
            }
        };
        for _ in 0..pairs {
            let bias = BIASES[rng.random_range(0..BIASES.len())];
            let (first, second) = (game(elo + bias, rng), game(elo - bias, rng));
            pentanomial.record(first, second);
        }
        pentanomial
    }
}
