//! Logistic regression by Newton's method (iteratively reweighted least squares).
//!
//! The model is E[score] = 1/(1 + e^(−x·w)). Scores may be fractions: a draw counts as half a win, which maximises the
//! quasi-likelihood of Papke and Wooldridge (1996), whose maximum is consistent for the mean whatever the draw rate.

use crate::cholesky::Cholesky;

/// The ridge penalty ½·RIDGE·|w|²: a normal prior with a standard deviation of 10 logits, which only keeps the fit finite
/// where a man is ahead in won games alone.
pub const RIDGE: f64 = 0.01;

/// The data of a regression.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Design {
    /// Number of features of a row.
    pub columns: usize,
    /// Row-major `[rows][columns]`.
    pub features: Vec<f64>,
    /// Score of each row's game for White: 1, ½ or 0.
    pub scores: Vec<f64>,
    /// Ridge of each column, the inverse variance of a normal prior around 0; [`RIDGE`] for all if empty.
    pub ridge: Vec<f64>,
}

impl Design {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.scores.len()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.columns..][..self.columns]
    }

    /// The weights w that maximise the penalised likelihood, by Newton steps from `start`, with rows counted `weights`
    /// times.
    ///
    /// # Panics
    /// If `weights` has another length than there are rows, or `start` than there are columns.
    pub fn fit(&self, weights: &[f64], start: &[f64]) -> Vec<f64> {
        assert_eq!(weights.len(), self.rows(), "one weight a row was expected");
        assert_eq!(
            start.len(),
            self.columns,
            "one number a column was expected"
        );
        let mut w = start.to_vec();
        let (mut gradient, mut hessian, mut best) = self.derivatives(weights, &w);
        for _ in 0..50 {
            let Some(step) =
                Cholesky::factor(&hessian, self.columns).map(|factor| factor.solve(&gradient))
            else {
                break;
            };
            let decrement: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            if decrement < 1e-9 {
                break;
            }
            let mut scale = 1.0;
            let moved = loop {
                let candidate: Vec<f64> = w.iter().zip(&step).map(|(w, s)| w + scale * s).collect();
                let derivatives = self.derivatives(weights, &candidate);
                if derivatives.2 >= best {
                    break Some((candidate, derivatives));
                }
                scale /= 2.0;
                if scale < 1e-6 {
                    break None;
                }
            };
            let Some((candidate, derivatives)) = moved else {
                break;
            };
            w = candidate;
            (gradient, hessian, best) = derivatives;
        }
        w
    }

    /// Gradient, negative Hessian (row-major, lower triangle) and value of the penalised log-likelihood.
    fn derivatives(&self, weights: &[f64], w: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let columns = self.columns;
        let ridge = |column: usize| self.ridge.get(column).copied().unwrap_or(RIDGE);
        let weighted = |(column, w): (usize, &f64)| ridge(column) * w;
        let mut gradient: Vec<f64> = w.iter().enumerate().map(|one| -weighted(one)).collect();
        let mut hessian = vec![0.0; columns * columns];
        let penalties = w
            .iter()
            .enumerate()
            .map(|(column, w)| weighted((column, w)) * w);
        let mut value = -0.5 * penalties.sum::<f64>();
        for (row, (&score, &weight)) in self.scores.iter().zip(weights).enumerate() {
            if weight == 0.0 {
                continue;
            }
            let x = self.row(row);
            let logit: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            let p = 1.0 / (1.0 + (-logit).exp());
            // ln p = −softplus(−logit) and ln(1 − p) = −softplus(logit).
            value += weight * (score * logit - softplus(logit));
            let curvature = weight * p * (1.0 - p);
            for i in 0..columns {
                gradient[i] += weight * (score - p) * x[i];
                for j in 0..=i {
                    hessian[i * columns + j] += curvature * x[i] * x[j];
                }
            }
        }
        for i in 0..columns {
            hessian[i * columns + i] += ridge(i);
        }
        (gradient, hessian, value)
    }
}

/// ln(1 + eˣ) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one binary feature, the fit is the log-odds of the mean score (up to the tiny ridge).
    #[test]
    fn one_feature_gives_the_log_odds() {
        let design = Design {
            columns: 1,
            features: vec![1.0; 4],
            scores: vec![1.0, 0.0, 0.5, 1.0],
            ridge: Vec::new(),
        };
        let w = design.fit(&[300.0, 100.0, 200.0, 400.0], &[0.0]);
        assert!((w[0] - 4f64.ln()).abs() < 1e-3, "{w:?}");
    }

    #[test]
    fn separable_data_stay_finite() {
        let design = Design {
            columns: 2,
            features: vec![1.0, 0.0, -1.0, 0.0],
            scores: vec![1.0, 0.0],
            ridge: Vec::new(),
        };
        let w = design.fit(&[1.0, 1.0], &[0.0, 0.0]);
        assert!(w[0] > 2.0 && w[0] < 20.0, "{w:?}");
        assert!(w[1].abs() < 1e-9);
    }

    #[test]
    fn the_start_does_not_matter() {
        let features = vec![1.0, 2.0, -1.0, 1.0, 2.0, 0.0, 0.0, -3.0, 1.0, 1.0];
        let design = Design {
            columns: 2,
            features,
            scores: vec![1.0, 0.5, 0.0, 0.0, 1.0],
            ridge: Vec::new(),
        };
        let one = design.fit(&[1.0; 5], &[0.0, 0.0]);
        let other = design.fit(&[1.0; 5], &[5.0, -7.0]);
        for (a, b) in one.iter().zip(&other) {
            assert!((a - b).abs() < 1e-4, "{one:?} {other:?}");
        }
    }
}
