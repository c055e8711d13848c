//! The cluster bootstrap: whole games are resampled, never single positions.
//!
//! The positions of a game share its outcome and most of its course, so treating them as independent would make
//! intervals several times too narrow. Each resample draws as many games as there are, with replacement (Efron 1979;
//! clusters as in Davison and Hinkley 1997, section 3.8).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// How many resamples to draw, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of resamples; 400 put an error of a few percent on the ends of a 95% interval.
    pub resamples: usize,
    /// Seed of all draws; the same seed gives the same intervals on any number of threads.
    pub seed: u64,
}

impl Bootstrap {
    /// Calls `statistic` with each resample's multiplicities, one a game, and returns the results in order.
    pub fn over_games<T: Send>(
        &self,
        games: usize,
        statistic: impl Fn(&[f64]) -> T + Sync,
    ) -> Vec<T> {
        (0..self.resamples)
            .into_par_iter()
            .map(|resample| {
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
                rng.set_stream(resample as u64);
                let mut multiplicities = vec![0.0; games];
                for _ in 0..games {
                    multiplicities[rng.random_range(0..games)] += 1.0;
                }
                statistic(&multiplicities)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_mean_is_its_standard_error() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 10)).collect();
        let means = Bootstrap {
            resamples: 1000,
            seed: 3,
        }
        .over_games(values.len(), |weights| {
            weights.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>() / values.len() as f64
        });
        let mean = means.iter().sum::<f64>() / 1000.0;
        let error = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 1000.0).sqrt();
        assert!((mean - 4.5).abs() < 0.03);
        let expected = (8.25f64 / 200.0).sqrt();
        assert!(
            (error / expected - 1.0).abs() < 0.1,
            "{error} against {expected}"
        );
    }
}
