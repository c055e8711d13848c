//! Results of colour-swapped pairs of games: the pentanomial counts and their moments.
//!
//! The two games of a pair start from one opening with the colours swapped, so their results are not independent:
//! an opening that favours White makes one player win the first game and the other the second. Counting pairs by
//! their joint score keeps that correlation out of the error bar, which is then smaller than that of the same
//! number of independent games.

use serde::{Deserialize, Serialize};

/// The prior, in pairs: half a pair, one tenth of a pair on each of the five results. It enters only means and
/// variances that errors are made of, where it keeps a run of equal results from claiming certainty.
pub const PRIOR_PAIRS: f64 = 0.5;

/// The result of one game for the player whose score is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GameScore {
    /// No points.
    Loss,
    /// Half a point.
    Draw,
    /// One point.
    Win,
}

impl GameScore {
    /// Half points: 0 for a loss, 1 for a draw, 2 for a win.
    pub fn half_points(self) -> u8 {
        match self {
            GameScore::Loss => 0,
            GameScore::Draw => 1,
            GameScore::Win => 2,
        }
    }

    /// The same result seen by the opponent.
    pub fn reversed(self) -> GameScore {
        match self {
            GameScore::Loss => GameScore::Win,
            GameScore::Draw => GameScore::Draw,
            GameScore::Win => GameScore::Loss,
        }
    }
}

/// Pairs counted by their joint score: `[LL, LD, DD or WL, WD, WW]`, from the first player's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial {
    counts: [u64; 5],
}

impl Pentanomial {
    /// The statistics of these counts of pairs, `[LL, LD, DD or WL, WD, WW]`.
    pub fn new(counts: [u64; 5]) -> Pentanomial {
        Pentanomial { counts }
    }

    /// Counts one pair.
    pub fn record(&mut self, first: GameScore, second: GameScore) {
        self.counts[usize::from(first.half_points() + second.half_points())] += 1;
    }

    /// Adds the pairs of another match between the same players.
    pub fn merge(&mut self, other: &Pentanomial) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// The counts `[LL, LD, DD or WL, WD, WW]`.
    pub fn counts(&self) -> [u64; 5] {
        self.counts
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The points scored, a win being 1 and a draw ½.
    pub fn points(&self) -> f64 {
        (0u8..)
            .zip(self.counts)
            .map(|(bin, count)| f64::from(bin) / 2.0 * count as f64)
            .sum()
    }

    /// The mean score of a game, 0 to 1, as it was played; `None` without a pair.
    pub fn score(&self) -> Option<f64> {
        (self.pairs() > 0).then(|| self.points() / (2.0 * self.pairs() as f64))
    }

    /// The same pairs from the second player's view.
    pub fn reversed(&self) -> Pentanomial {
        let mut counts = self.counts;
        counts.reverse();
        Pentanomial { counts }
    }

    /// Mean and variance of a pair's mean score (0, ¼, ½, ¾, 1), with the prior of [`PRIOR_PAIRS`].
    pub fn moments(&self) -> Moments {
        let weights = self.counts.map(|count| count as f64 + PRIOR_PAIRS / 5.0);
        let pairs: f64 = weights.iter().sum();
        let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
        let expectation = |f: &dyn Fn(f64) -> f64| -> f64 {
            scores
                .iter()
                .zip(weights)
                .map(|(&s, w)| w * f(s))
                .sum::<f64>()
                / pairs
        };
        let mean = expectation(&|s| s);
        let variance = expectation(&|s| (s - mean) * (s - mean));
        Moments {
            pairs,
            mean,
            variance,
        }
    }
}

/// Mean and variance of the mean score of a pair, a number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of pairs, the prior's included.
    pub pairs: f64,
    /// Mean score of a game.
    pub mean: f64,
    /// Variance of one pair's mean score.
    pub variance: f64,
}

impl Moments {
    /// Standard error of `mean`.
    pub fn standard_error(&self) -> f64 {
        (self.variance / self.pairs).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pairs_by_their_joint_score() {
        use GameScore::{Draw, Loss, Win};
        let mut pentanomial = Pentanomial::default();
        for (first, second) in [
            (Loss, Loss),
            (Draw, Loss),
            (Win, Loss),
            (Draw, Draw),
            (Win, Draw),
            (Win, Win),
        ] {
            pentanomial.record(first, second);
        }
        assert_eq!(pentanomial.counts(), [1, 1, 2, 1, 1]);
        assert_eq!(pentanomial.points(), 6.0);
        assert_eq!(pentanomial.score(), Some(0.5));
        assert_eq!(Pentanomial::default().score(), None);
    }

    #[test]
    fn the_other_side_sees_the_mirrored_counts() {
        let pentanomial = Pentanomial::new([1, 2, 3, 4, 5]);
        assert_eq!(pentanomial.reversed().counts(), [5, 4, 3, 2, 1]);
        let sum = pentanomial.moments().mean + pentanomial.reversed().moments().mean;
        assert!((sum - 1.0).abs() < 1e-12);
    }

    /// By hand: weights 10.1, 20.1, 40.1, 20.1, 10.1 (sum 100.5), mean ½,
    /// variance (2·10.1·¼ + 2·20.1·1/16)/100.5 = 7.5625/100.5.
    #[test]
    fn moments_agree_with_a_calculation_by_hand() {
        let moments = Pentanomial::new([10, 20, 40, 20, 10]).moments();
        assert!((moments.mean - 0.5).abs() < 1e-12);
        assert!((moments.variance - 7.5625 / 100.5).abs() < 1e-12);
        assert!((moments.standard_error() - (7.5625f64).sqrt() / 100.5).abs() < 1e-12);
    }
}
