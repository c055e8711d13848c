//! One value from several estimators, with their disagreement in plain sight.
//!
//! Random-effects meta-analysis (DerSimonian and Laird, *Meta-analysis in clinical trials*, 1986) of the logarithms of the values: the estimators
//! measure one thing with errors of their own kind, so their results scatter by more than their intervals say. The
//! variance between them, τ², is added to each one's own. With two or three methods τ² is itself uncertain; the combined interval therefore never gets narrower than
//! the best single one, and a test of equality (Cochran's Q) says when they contradict each other.

use super::estimate::{Estimate, Interval, RoleValue};
use crate::arena::normal::{Z_95, two_sided_p};
use serde::{Deserialize, Serialize};

/// Methods contradict each other when so great a scatter has at most this probability.
const CONTRADICTION: f64 = 0.05;

/// A value on which several methods have been heard.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Combined {
    /// The combined value.
    pub interval: Interval,
    /// Methods that measured it.
    pub methods: u32,
    /// Lowest and highest single value.
    pub range: [f64; 2],
    /// Spread between methods beyond their own errors, as a factor: 1.1 is ten per cent either way.
    pub between: f64,
    /// Probability of such a scatter if all methods measured the same; `None` with one method.
    pub p_value: Option<f64>,
}

impl Combined {
    /// Whether the methods disagree by more than their intervals allow.
    pub fn is_contradicted(&self) -> bool {
        self.p_value.is_some_and(|p| p < CONTRADICTION)
    }
}

/// The combined values of one man.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CombinedValue {
    /// The man's letter.
    pub letter: char,
    /// The man's name.
    pub name: String,
    /// In pawns; `None` where no method bounds it.
    pub pawns: Option<Combined>,
    /// In knights.
    pub knights: Option<Combined>,
}

/// Combines the estimates man by man, in the order of the first.
pub fn combine(estimates: &[Estimate]) -> Vec<CombinedValue> {
    let Some(first) = estimates.first() else {
        return Vec::new();
    };
    let of = |letter: char, unit: fn(&RoleValue) -> Option<Interval>| {
        let values = estimates.iter().filter_map(|estimate| estimate.of(letter));
        combine_values(&values.filter_map(unit).collect::<Vec<Interval>>())
    };
    let man = |value: &RoleValue| CombinedValue {
        letter: value.letter,
        name: value.name.clone(),
        pawns: of(value.letter, |value| value.pawns),
        knights: of(value.letter, |value| value.knights),
    };
    first.values.iter().map(man).collect()
}

/// Combines intervals of one quantity. Those that reach down to 0 are on no logarithmic scale and are left out, unless there is nothing else.
pub fn combine_values(intervals: &[Interval]) -> Option<Combined> {
    let positive: Vec<Interval> = intervals
        .iter()
        .copied()
        .filter(|one| one.low > 0.0)
        .collect();
    let values = intervals.iter().map(|one| one.value);
    let range = [
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    ];
    let alone = |interval: Interval| Combined {
        interval,
        methods: 1,
        range: [interval.value; 2],
        between: 1.0,
        p_value: None,
    };
    match (&positive[..], intervals) {
        ([], []) => return None,
        ([], [first, ..]) => return Some(alone(*first)),
        ([only], _) if intervals.len() == 1 => return Some(alone(*only)),
        _ => {}
    }
    if positive.iter().all(|one| one.low == one.high) {
        // The unit itself: 1 by definition.
        return Some(Combined {
            methods: positive.len() as u32,
            ..alone(positive[0])
        });
    }
    let errors: Vec<f64> = positive
        .iter()
        .map(|one| ((one.high / one.low).ln() / (2.0 * Z_95)).max(1e-4))
        .collect();
    let logs: Vec<f64> = positive.iter().map(|one| one.value.ln()).collect();
    let mean_with = |tau2: f64| {
        let weights: Vec<f64> = errors
            .iter()
            .map(|error| 1.0 / (error * error + tau2))
            .collect();
        let total: f64 = weights.iter().sum();
        let mean = weights.iter().zip(&logs).map(|(w, y)| w * y).sum::<f64>() / total;
        (mean, total, weights)
    };
    let (fixed, total, weights) = mean_with(0.0);
    let q: f64 = weights
        .iter()
        .zip(&logs)
        .map(|(w, y)| w * (y - fixed).powi(2))
        .sum();
    let freedom = logs.len() - 1;
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let tau2 = match freedom {
        0 => 0.0,
        freedom => ((q - freedom as f64) / (total - squares / total)).max(0.0),
    };
    let (mean, total, _) = mean_with(tau2);
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let error = (1.0 / total).sqrt().max(least);
    Some(Combined {
        interval: Interval {
            value: mean.exp(),
            low: (mean - Z_95 * error).exp(),
            high: (mean + Z_95 * error).exp(),
        },
        methods: positive.len() as u32,
        range,
        between: tau2.sqrt().exp(),
        p_value: chance_of(q, freedom),
    })
}

/// Probability that a χ² of this many degrees of freedom exceeds `q`; exact up to two, Wilson and Hilferty (1931) beyond.
fn chance_of(q: f64, freedom: usize) -> Option<f64> {
    match freedom {
        0 => None,
        1 => Some(two_sided_p(q.sqrt())),
        2 => Some((-q / 2.0).exp()),
        more => {
            let n = more as f64;
            let spread = 2.0 / (9.0 * n);
            let z = ((q / n).cbrt() - (1.0 - spread)) / spread.sqrt();
            Some(1.0 - crate::arena::normal::cumulative(z))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64, factor: f64) -> Interval {
        Interval {
            value,
            low: value / factor,
            high: value * factor,
        }
    }

    #[test]
    fn agreeing_methods_meet_and_contradictions_widen() {
        let agree = combine_values(&[around(4.0, 1.2), around(4.2, 1.2)]).expect("values");
        assert!(!agree.is_contradicted(), "{agree:?}");
        assert!((agree.interval.value - 4.1).abs() < 0.01 && agree.between == 1.0);
        let contradict = combine_values(&[around(4.0, 1.1), around(7.0, 1.1)]).expect("values");
        assert!(
            contradict.is_contradicted() && contradict.between > 1.3,
            "{contradict:?}"
        );
        assert_eq!(contradict.range, [4.0, 7.0]);
        assert!(
            contradict.interval.low < 4.0 && contradict.interval.high > 7.0,
            "{contradict:?}"
        );
    }

    /// By hand: variances 0.01 and 0.04, logs 0 and 0.4: Q = 0.16/0.05 = 3.2, τ² = 2.2/(125 − 10625/125) = 0.055.
    #[test]
    fn the_formula_is_that_of_dersimonian_and_laird() {
        let of = |log: f64, error: f64| Interval {
            value: log.exp(),
            low: (log - Z_95 * error).exp(),
            high: (log + Z_95 * error).exp(),
        };
        let combined = combine_values(&[of(0.0, 0.1), of(0.4, 0.2)]).expect("values");
        let tau2: f64 = 0.055;
        let (w1, w2) = (1.0 / (0.01 + tau2), 1.0 / (0.04 + tau2));
        let mean = 0.4 * w2 / (w1 + w2);
        assert!(
            (combined.interval.value.ln() - mean).abs() < 1e-9,
            "{combined:?}"
        );
        assert!((combined.between.ln().powi(2) - tau2).abs() < 1e-9);
        assert!(
            (combined.p_value.expect("two") - 0.073_638).abs() < 1e-5,
            "{combined:?}"
        );
    }

    #[test]
    fn odd_cases_are_told_as_they_are() {
        assert_eq!(combine_values(&[]), None);
        let one = around(3.0, 1.5);
        let alone = combine_values(&[one]).expect("a value");
        assert_eq!(
            (alone.interval, alone.p_value, alone.methods),
            (one, None, 1)
        );
        let unit = Interval {
            value: 1.0,
            low: 1.0,
            high: 1.0,
        };
        let units = combine_values(&[unit, unit]).expect("values");
        assert_eq!((units.interval, units.p_value), (unit, None));
        let below = Interval {
            value: 0.5,
            low: -0.5,
            high: 1.5,
        };
        assert_eq!(
            combine_values(&[below]).map(|one| one.interval),
            Some(below)
        );
    }
}
