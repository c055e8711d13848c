//! What is known about the weights of the men: a normal distribution.
//!
//! The likelihood is the fractional logistic one of [`logistic`](super::super::logistic) (a draw is half a win), tempered by the dispersion
//! of the pairs: draws make scores vary less than wins and losses alone would, and the two games of a pair are not independent. With pair residuals
//! r and their binomial variances v, φ = Σr²/Σv (McCullagh and Nelder, *Generalized Linear Models*, 1989, section 4.5). The posterior is Laplace's:
//! the mode, and the inverse of the curvature there.

use super::play::PairScores;
use crate::cholesky::{Cholesky, semidefinite_factor};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Residual variance that the dispersion starts from, as if some games had been seen at φ = 1.
const PRIOR_DISPERSION: f64 = 2.0;
/// A prior standard deviation of a man's weight, in units of its prior mean.
const PRIOR_SPREAD: f64 = 1.0;
/// A prior standard deviation of the first move's worth in logits, around 0.
const FIRST_MOVE_SPREAD: f64 = 0.5;

/// The weights of the men and, last, the worth of the first move, in logits.
#[derive(Debug, Clone)]
pub struct Posterior {
    prior: Vec<f64>,
    games: Vec<Game>,
    /// The most likely weights.
    mean: Vec<f64>,
    /// Their covariance, row-major.
    covariance: Vec<f64>,
    dispersion: f64,
}

/// One game: who had what, and how it ended.
#[derive(Debug, Clone)]
struct Game {
    features: Vec<f64>,
    score: f64,
}

impl Posterior {
    /// Before any game: weights around `prior` (logits, one a man), each as uncertain as it is large.
    pub fn new(prior: &[f64]) -> Posterior {
        let mut prior = prior.to_vec();
        prior.push(0.0);
        let mut posterior = Posterior {
            mean: prior.clone(),
            covariance: Vec::new(),
            games: Vec::new(),
            dispersion: 1.0,
            prior,
        };
        posterior.fit();
        posterior
    }

    fn precision(&self, at: usize) -> f64 {
        let spread = match at + 1 == self.prior.len() {
            true => FIRST_MOVE_SPREAD,
            false => PRIOR_SPREAD * self.prior[at].abs().max(0.05),
        };
        1.0 / (spread * spread)
    }

    /// Takes in a match: `difference` is what the first side had more of.
    pub fn learn(&mut self, difference: &[f64], pairs: &[PairScores]) {
        for pair in pairs {
            for (score, white) in [(pair.as_white, 1.0), (pair.as_black, -1.0)] {
                let mut features = difference.to_vec();
                features.push(white);
                self.games.push(Game { features, score });
            }
        }
        // Weights and dispersion depend on each other, but hardly.
        for _ in 0..2 {
            self.fit();
            self.dispersion = self.measured_dispersion();
        }
        self.fit();
    }

    /// The expected score of one game of the first side, colours aside.
    pub fn expected(&self, difference: &[f64]) -> f64 {
        let men = difference.len();
        sigmoid(dot(difference, &self.mean[..men]))
    }

    /// Weights of the men, most likely ones.
    pub fn mean(&self) -> &[f64] {
        &self.mean[..self.mean.len() - 1]
    }

    /// Random weights of the men, as likely as they are.
    pub fn draws(&self, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let size = self.mean.len();
        let lower = semidefinite_factor(&self.covariance, size);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let draw = |_| {
            let normal: Vec<f64> = (0..size).map(|_| standard_normal(&mut rng)).collect();
            (0..size - 1)
                .map(|row| {
                    let terms = (0..=row).map(|column| lower[row * size + column] * normal[column]);
                    self.mean[row] + terms.sum::<f64>()
                })
                .collect()
        };
        (0..count).map(draw).collect()
    }

    /// By how much a pair of games with this difference would lower the sum of the relative variances of the ratios
    /// `targets` to `unit` (places among the men).
    pub fn gain(&self, difference: &[f64], unit: usize, targets: &[usize]) -> f64 {
        let size = self.mean.len();
        let mut x = difference.to_vec();
        x.push(0.0);
        let p = self.expected(difference);
        let information = 2.0 * p * (1.0 - p) / self.dispersion;
        let spread = multiply(&self.covariance, &x);
        let denominator = 1.0 + information * dot(&x, &spread);
        let gains = targets.iter().map(|&target| {
            // The relative change of w_target/w_unit is dw_target/w_target − dw_unit/w_unit.
            let floor = |weight: f64| weight.abs().max(0.02);
            let mut gradient = vec![0.0; size];
            gradient[target] += 1.0 / floor(self.mean[target]);
            gradient[unit] -= 1.0 / floor(self.mean[unit]);
            information * dot(&gradient, &spread).powi(2) / denominator
        });
        gains.sum()
    }

    /// Newton's method for the mode, and the covariance there.
    fn fit(&mut self) {
        let size = self.prior.len();
        let mut hessian = Vec::new();
        for _ in 0..50 {
            let mut gradient: Vec<f64> = (0..size)
                .map(|at| self.precision(at) * (self.prior[at] - self.mean[at]))
                .collect();
            hessian = vec![0.0; size * size];
            for at in 0..size {
                hessian[at * size + at] = self.precision(at);
            }
            for game in &self.games {
                let p = sigmoid(dot(&game.features, &self.mean));
                let curvature = p * (1.0 - p) / self.dispersion;
                for row in 0..size {
                    gradient[row] += (game.score - p) / self.dispersion * game.features[row];
                    for column in 0..size {
                        hessian[row * size + column] +=
                            curvature * game.features[row] * game.features[column];
                    }
                }
            }
            let Some(step) = Cholesky::factor(&hessian, size).map(|factor| factor.solve(&gradient))
            else {
                break;
            };
            let length = dot(&step, &step).sqrt();
            // Long steps overshoot where the curve flattens.
            let scale = (0.5 / length.max(1e-12)).min(1.0);
            for (weight, step) in self.mean.iter_mut().zip(&step) {
                *weight += scale * step;
            }
            if length < 1e-8 {
                break;
            }
        }
        // The prior keeps the curvature positive, so there is a factor.
        if let Some(factor) = Cholesky::factor(&hessian, size) {
            self.covariance = factor.inverse();
        }
    }

    /// φ from the pairs' residuals.
    fn measured_dispersion(&self) -> f64 {
        let (mut residuals, mut variances) = (PRIOR_DISPERSION, PRIOR_DISPERSION);
        for pair in self.games.chunks_exact(2) {
            let mut residual = 0.0;
            for game in pair {
                let p = sigmoid(dot(&game.features, &self.mean));
                residual += game.score - p;
                variances += p * (1.0 - p);
            }
            residuals += residual * residual;
        }
        (residuals / variances).clamp(0.05, 4.0)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn multiply(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix
        .chunks_exact(vector.len())
        .map(|row| dot(row, vector))
        .collect()
}

/// A standard normal number (Box and Muller 1958).
fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}
