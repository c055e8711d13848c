//! What an estimator says: each man's value with its 95% interval, in pawns and in knights.
//!
//! Estimators measure strengths on scales of their own (log-odds). Only ratios mean anything to a player, so each
//! strength is divided by the pawn's, and by the knight's, in the estimate and in every bootstrap resample alike: the
//! interval then carries the uncertainty of the unit as well.

use serde::{Deserialize, Serialize};

/// A value with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Whether the interval contains `value`.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl std::fmt::Display for Interval {
    /// `4.71 (4.40 … 5.02)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2} … {:.2})", self.value, self.low, self.high)
    }
}

/// The way in which values were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Logistic regression of game outcomes on material differences.
    OutcomeRegression,
    /// Change of the net's value when a man is taken off the board.
    CounterfactualProbe,
}

impl Method {
    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Method::OutcomeRegression => "outcome regression",
            Method::CounterfactualProbe => "counterfactual probe",
        }
    }
}

/// What one estimator says about one man.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleValue {
    /// The man's letter in FENs of the variant (upper case).
    pub letter: char,
    /// The man's name in the variant.
    pub name: String,
    /// Worth in pawns; `None` where the data do not bound it.
    pub pawns: Option<Interval>,
    /// Worth in knights; `None` where the data do not bound it or the variant has no knight.
    pub knights: Option<Interval>,
    /// The estimator's own scale: log-odds of the expected score a man.
    pub logits: Option<Interval>,
    /// Positions that bear on the man.
    pub positions: u64,
}

/// What one estimator says about all men of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub method: Method,
    /// Games the positions come from; the unit that the bootstrap resamples.
    pub games: u64,
    /// Positions used.
    pub positions: u64,
    /// One a man, kings left out, in the variant's order.
    pub values: Vec<RoleValue>,
}

impl Estimate {
    /// The value of the man with this letter.
    pub fn of(&self, letter: char) -> Option<&RoleValue> {
        self.values.iter().find(|value| value.letter == letter)
    }
}

/// Strengths of all men: the estimate and its bootstrap resamples. `None` where a man could not be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    /// One a man.
    pub point: Vec<Option<f64>>,
    /// `[resamples][men]`.
    pub resamples: Vec<Vec<Option<f64>>>,
}

impl Strengths {
    /// The strength of `man` in its own units.
    pub fn interval(&self, man: usize) -> Option<Interval> {
        let draws = self
            .resamples
            .iter()
            .filter_map(|strengths| strengths[man])
            .collect();
        percentile_interval(self.point[man]?, draws, self.resamples.len())
    }

    /// The strength of `man` divided by that of `unit`.
    ///
    /// `None` if the man or the unit could not be measured, or if more than 2.5% of the resamples have no positive
    /// strength for the unit: the ratio's interval would be unbounded.
    pub fn ratio(&self, man: usize, unit: usize) -> Option<Interval> {
        let ratio = |strengths: &[Option<f64>]| {
            let (strength, one) = (strengths[man]?, strengths[unit]?);
            (one > 0.0).then(|| strength / one)
        };
        let draws = self
            .resamples
            .iter()
            .filter_map(|strengths| ratio(strengths))
            .collect();
        percentile_interval(ratio(&self.point)?, draws, self.resamples.len())
    }
}

/// The percentile bootstrap's 95% interval (Efron 1979), unless more than 2.5% of the resamples failed.
fn percentile_interval(value: f64, mut draws: Vec<f64>, resamples: usize) -> Option<Interval> {
    let failed = resamples - draws.len();
    if draws.is_empty() || failed as f64 > 0.025 * resamples as f64 {
        return None;
    }
    draws.sort_by(f64::total_cmp);
    Some(Interval {
        value,
        low: quantile(&draws, 0.025),
        high: quantile(&draws, 0.975),
    })
}

/// The quantile of sorted numbers, interpolated linearly.
///
/// # Panics
/// If there are no numbers.
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    assert!(!sorted.is_empty(), "a quantile needs numbers");
    let place = probability * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_carry_the_uncertainty_of_the_unit() {
        let resamples = (0..=100)
            .map(|i| vec![Some(0.5 + f64::from(i) / 100.0), Some(3.0)])
            .collect();
        let strengths = Strengths {
            point: vec![Some(1.0), Some(3.0)],
            resamples,
        };
        let ratio = strengths.ratio(1, 0).expect("bounded");
        assert_eq!(ratio.value, 3.0);
        assert!(
            (ratio.low - 3.0 / 1.475).abs() < 1e-3 && (ratio.high - 3.0 / 0.525).abs() < 0.02,
            "{ratio}"
        );
        let unit = strengths.ratio(0, 0).expect("bounded");
        assert_eq!((unit.value, unit.low, unit.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_unit_that_may_be_worthless_gives_no_value() {
        let resamples = (0..100)
            .map(|i| vec![Some(if i < 4 { -0.1 } else { 1.0 }), Some(3.0)])
            .collect();
        let strengths = Strengths {
            point: vec![Some(1.0), Some(3.0)],
            resamples,
        };
        assert_eq!(strengths.ratio(1, 0), None);
        assert!(strengths.interval(1).is_some());
        let unmeasured = Strengths {
            point: vec![None],
            resamples: vec![vec![None]],
        };
        assert_eq!(unmeasured.interval(0), None);
    }

    #[test]
    fn quantiles_interpolate() {
        let numbers = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&numbers, 0.0), 1.0);
        assert_eq!(quantile(&numbers, 0.5), 2.5);
        assert_eq!(quantile(&numbers, 1.0), 4.0);
    }
}
