//! A sequential test that ends a match as soon as it has shown what it was to show.
//!
//! Wald's sequential probability ratio test of two Elo differences, in its generalised form for pairs of games: the likelihood
//! ratio of the mean score under either hypothesis with the variance that was observed (Van den Bergh, *Comments on normalized
//! Elo*, 2021). With N pairs of mean m and variance v, and expected scores s₀ and s₁,
//! LLR = N (s₁ − s₀)(2m − s₀ − s₁) / 2v.

use super::elo::score_of_elo;
use super::pentanomial::Pentanomial;
use anyhow::ensure;
use serde::{Deserialize, Serialize};

/// Probability of either error: of accepting the one hypothesis where the other holds.
pub const ERROR_RATE: f64 = 0.05;

/// Before so many pairs nothing is decided: the variance that few have shown is often far too small.
const LEAST_PAIRS: u64 = 16;

/// Two hypotheses on the difference in strength, from the first contestant's view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
}

/// Where a test stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtState {
    /// The difference under the first hypothesis, in Elo.
    pub elo0: f64,
    /// The difference under the second hypothesis, in Elo.
    pub elo1: f64,
    /// Logarithm of the likelihood of the second hypothesis over that of the first.
    pub llr: f64,
    /// The test ends when `llr` is this much above or below 0.
    pub bound: f64,
    /// Pairs played.
    #[serde(default)]
    pub pairs: u64,
}

/// What a test has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The difference is `elo0` rather than `elo1`.
    First,
    /// The difference is `elo1` rather than `elo0`.
    Second,
}

/// A difference that no match could tell from a larger one.
const MOST_ELO: f64 = 4000.0;

impl Sprt {
    /// A test of `elo0` against the greater `elo1`.
    ///
    /// # Errors
    /// If they are larger than any difference that a match can show, or not in this order.
    pub fn new(elo0: f64, elo1: f64) -> anyhow::Result<Sprt> {
        ensure!(
            -MOST_ELO <= elo0 && elo0 < elo1 && elo1 <= MOST_ELO,
            "an SPRT needs two Elo differences from -{MOST_ELO} to {MOST_ELO}, the smaller first, such as 0 and 20"
        );
        Ok(Sprt { elo0, elo1 })
    }

    /// Where the test stands after these pairs.
    pub fn state(&self, pentanomial: &Pentanomial) -> SprtState {
        let moments = pentanomial.moments();
        let [s0, s1] = [self.elo0, self.elo1].map(score_of_elo);
        let llr =
            moments.pairs * (s1 - s0) * (2.0 * moments.mean - s0 - s1) / (2.0 * moments.variance);
        SprtState {
            elo0: self.elo0,
            elo1: self.elo1,
            llr: if pentanomial.pairs() == 0 { 0.0 } else { llr },
            bound: ((1.0 - ERROR_RATE) / ERROR_RATE).ln(),
            pairs: pentanomial.pairs(),
        }
    }
}

impl SprtState {
    /// What has been shown, if anything.
    pub fn verdict(&self) -> Option<Verdict> {
        if self.pairs < LEAST_PAIRS {
            None
        } else if self.llr >= self.bound {
            Some(Verdict::Second)
        } else if self.llr <= -self.bound {
            Some(Verdict::First)
        } else {
            None
        }
    }
}

impl std::fmt::Display for SprtState {
    /// `+20 accepted against +0 (LLR +2.98, bounds ±2.94)`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            elo0,
            elo1,
            llr,
            bound,
            pairs,
        } = self;
        match self.verdict() {
            Some(Verdict::Second) => write!(f, "{elo1:+} accepted against {elo0:+}")?,
            Some(Verdict::First) => write!(f, "{elo0:+} accepted against {elo1:+}")?,
            None => write!(f, "undecided between {elo0:+} and {elo1:+}")?,
        }
        write!(f, " (LLR {llr:+.2}, bounds ±{bound:.2}")?;
        if *pairs < LEAST_PAIRS {
            write!(f, "; decided from {LEAST_PAIRS} pairs on")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::pentanomial::GameScore;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn nothing_is_shown_by_nothing_and_nonsense_is_refused() {
        let sprt = Sprt::new(0.0, 20.0).expect("hypotheses");
        assert_eq!(sprt.state(&Pentanomial::default()).verdict(), None);
        for (elo0, elo1) in [
            (5.0, 5.0),
            (9.0, 0.0),
            (f64::NAN, 1.0),
            (0.0, f64::INFINITY),
        ] {
            assert!(Sprt::new(elo0, elo1).is_err());
        }
    }

    /// By hand: 100 pairs and half a pair of prior, mean 0.55 of the pairs with the prior 0.5, and so on.
    #[test]
    fn the_ratio_agrees_with_a_calculation_by_hand() {
        let sprt = Sprt::new(0.0, 50.0).expect("hypotheses");
        let state = sprt.state(&Pentanomial::new([0, 20, 40, 40, 0]));
        let (n, s1) = (100.5, 0.571_463_12);
        let mean = (20.1 * 0.25 + 40.1 * 0.5 + 40.1 * 0.75 + 0.1) / n;
        let square = (20.1 * 0.0625 + 40.1 * 0.25 + 40.1 * 0.5625 + 0.1) / n;
        let llr = n * (s1 - 0.5) * (2.0 * mean - 0.5 - s1) / (2.0 * (square - mean * mean));
        assert!((state.llr - llr).abs() < 1e-5, "{state:?} {llr}");
    }

    /// The wrong hypothesis must be accepted about as rarely as promised, and tests must end.
    #[test]
    fn errors_are_as_rare_as_promised() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (elo1, elo, wrong) in [
            (60.0, 0.0, Verdict::Second),
            (60.0, 60.0, Verdict::First),
            (200.0, 0.0, Verdict::Second),
        ] {
            let sprt = Sprt::new(0.0, elo1).expect("hypotheses");
            let score = score_of_elo(elo);
            let tests = 1000;
            let mut errors = 0;
            for _ in 0..tests {
                let mut pentanomial = Pentanomial::default();
                let verdict = loop {
                    let mut game = || match rng.random_bool(score) {
                        true => GameScore::Win,
                        false => GameScore::Loss,
                    };
                    pentanomial.record(game(), game());
                    assert!(pentanomial.pairs() < 20_000, "the test does not end");
                    if let Some(verdict) = sprt.state(&pentanomial).verdict() {
                        break verdict;
                    }
                };
                errors += usize::from(verdict == wrong);
            }
            let rate = errors as f64 / f64::from(tests);
            assert!(rate < 0.065, "{rate} errors at {elo} Elo against {elo1}");
        }
    }
}
