//! What an estimator says: each man's value with its 95% interval, in pawns and in knights.
//!
//! Estimators measure strengths on scales of their own (log-odds). Only ratios mean anything to a player, so each
//! strength is divided by the pawn's, and by the knight's, in the estimate and in every bootstrap resample alike: the
//! interval then carries the uncertainty of the unit as well.

use rules::{Role, RoleInfo, Variant};
use serde::{Deserialize, Serialize};

/// A value with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate itself.
    pub value: f64,
    /// Lower end of the 95% interval.
    pub low: f64,
    /// Upper end of the 95% interval.
    pub high: f64,
}

impl Interval {
    /// Whether the interval contains `value`.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl std::fmt::Display for Interval {
    /// `4.71 (4.40 … 5.02)`, or the value alone if it is one by definition.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Interval { value, low, high } = self;
        if low == high {
            return write!(f, "{value:.2}");
        }
        write!(f, "{value:.2} ({low:.2} … {high:.2})")
    }
}

/// Games without which no interval is given: resampling so few of them does not show how little they say, and of one
/// game it shows certainty.
pub const LEAST_GAMES: u64 = 20;

/// The way in which values were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Logistic regression of game outcomes on material differences.
    OutcomeRegression,
    /// Change of the net's value when a man is taken off the board.
    CounterfactualProbe,
    /// Matches from the start array without some men.
    MaterialOdds,
}

impl Method {
    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Method::OutcomeRegression => "outcome regression",
            Method::CounterfactualProbe => "counterfactual probe",
            Method::MaterialOdds => "material odds",
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
    /// How the values were found.
    pub method: Method,
    /// Games the positions come from; the unit that the bootstrap resamples.
    pub games: u64,
    /// Positions used.
    pub positions: u64,
    /// One a man, kings left out, in the variant's order.
    pub values: Vec<RoleValue>,
    /// Worth of a pair of bishops beyond twice a bishop, in pawns; `None` where it is not measured.
    #[serde(default)]
    pub bishop_pair: Option<Interval>,
}

impl Estimate {
    /// The value of the man with this letter.
    pub fn of(&self, letter: char) -> Option<&RoleValue> {
        self.values.iter().find(|value| value.letter == letter)
    }
}

/// Every man's value by one weighting of the games, on each of the scales. `None` where the games do not tell.
///
/// Men are the variant's roles without kings, in the variant's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Scales {
    /// On the estimator's own scale, log-odds of the expected score.
    pub logits: Vec<Option<f64>>,
    /// In pawns.
    pub pawns: Vec<Option<f64>>,
    /// In knights.
    pub knights: Vec<Option<f64>>,
    /// What two bishops on both colours of squares are worth beyond twice a bishop, in pawns; only outcomes tell.
    pub bishop_pair: Option<f64>,
}

/// A strength in units of another; `None` unless the unit is worth something.
pub fn ratio(strength: Option<f64>, unit: Option<f64>) -> Option<f64> {
    let (strength, unit) = (strength?, unit?);
    (unit > 0.0).then(|| strength / unit)
}

/// The men that have a value: all but kings.
#[derive(Debug, Clone, Copy)]
pub struct Men<'a> {
    variant: &'a Variant,
}

impl<'a> Men<'a> {
    /// The men of a variant.
    pub fn new(variant: &'a Variant) -> Men<'a> {
        Men { variant }
    }

    /// The roles that have a value, in the variant's order.
    pub fn roles(self) -> impl Iterator<Item = (Role, &'a RoleInfo)> {
        let roles = self.variant.roles().iter().enumerate();
        roles
            .filter(|(_, info)| !info.is_royal)
            .filter_map(|(index, info)| Some((Role::from_index(index)?, info)))
    }

    /// The place of the pawn among the roles.
    pub fn pawn(self) -> Option<usize> {
        self.roles().position(|(_, info)| info.is_pawn)
    }

    /// The place of the knight among the roles.
    pub fn knight(self) -> Option<usize> {
        self.roles().position(|(_, info)| info.name == "knight")
    }
}

/// An estimate together with the draws that its intervals are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// What is reported.
    pub estimate: Estimate,
    /// The values themselves.
    pub point: Scales,
    /// Bootstrap resamples, or draws from a posterior.
    pub draws: Vec<Scales>,
}

impl Sampled {
    /// Makes the estimate of a method from its values and draws. With fewer than [`LEAST_GAMES`] nothing is bounded.
    pub fn new(
        method: Method,
        men: Men<'_>,
        evidence: &Evidence,
        point: Scales,
        draws: Vec<Scales>,
    ) -> Sampled {
        let draws = match evidence.games >= LEAST_GAMES {
            true => draws,
            false => Vec::new(),
        };
        Sampled {
            estimate: Estimate::assemble(method, men, evidence, &point, &draws),
            point,
            draws,
        }
    }

    /// What a man is worth in units of another, by their places among the men.
    pub fn ratio(&self, man: usize, unit: usize) -> Option<Interval> {
        let of = |scales: &Scales| ratio(scales.logits[man], scales.logits[unit]);
        percentile_interval(of(&self.point), self.draws.iter().map(of))
    }
}

/// What a man is worth on each square, from the counterfactual probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// The man's letter.
    pub letter: char,
    /// The man's name.
    pub name: String,
    /// Squares with enough removals, as White sees them.
    pub squares: Vec<HeatSquare>,
}

/// One square of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatSquare {
    /// The square's name.
    pub square: String,
    /// Mean worth of the man there, in pawns.
    pub pawns: f64,
    /// Removals that it was measured by.
    pub positions: u64,
}

/// What an estimate was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Games the positions come from.
    pub games: u64,
    /// Positions used.
    pub positions: u64,
    /// Positions that bear on each man.
    pub of_men: Vec<u64>,
}

impl Estimate {
    /// Puts the values together from the weighting in which each game counts once and from bootstrap resamples.
    pub fn assemble(
        method: Method,
        men: Men<'_>,
        evidence: &Evidence,
        point: &Scales,
        draws: &[Scales],
    ) -> Estimate {
        let interval = |scale: fn(&Scales) -> &Vec<Option<f64>>, man: usize| {
            percentile_interval(scale(point)[man], draws.iter().map(|draw| scale(draw)[man]))
        };
        let value = |(man, (_, info)): (usize, (Role, &RoleInfo))| RoleValue {
            letter: info.letter,
            name: info.name.clone(),
            pawns: interval(|scales| &scales.pawns, man),
            knights: interval(|scales| &scales.knights, man),
            logits: interval(|scales| &scales.logits, man),
            positions: evidence.of_men[man],
        };
        Estimate {
            method,
            games: evidence.games,
            positions: evidence.positions,
            values: men.roles().enumerate().map(value).collect(),
            bishop_pair: percentile_interval(
                point.bishop_pair,
                draws.iter().map(|draw| draw.bishop_pair),
            ),
        }
    }
}

/// The percentile bootstrap's 95% interval (Efron 1979); `None` if the estimate there is no draw, or more than
/// 2.5% of the draws failed, since the interval is then unbounded.
pub fn percentile_interval(
    value: Option<f64>,
    draws: impl Iterator<Item = Option<f64>>,
) -> Option<Interval> {
    let value = value?;
    let draws: Vec<Option<f64>> = draws.collect();
    let mut good: Vec<f64> = draws.iter().copied().flatten().collect();
    let failed = draws.len() - good.len();
    if good.is_empty() || failed as f64 > 0.025 * draws.len() as f64 {
        return None;
    }
    good.sort_by(f64::total_cmp);
    Some(Interval {
        value,
        low: quantile(&good, 0.025),
        high: quantile(&good, 0.975),
    })
}

/// The quantile of sorted numbers at the place p·(n + 1), counted from 1 and interpolated linearly: the definition that
/// leaves the stated share of a further draw outside whatever the number of draws (Hyndman and Fan 1996, type 6).
///
/// # Panics
/// If there are no numbers.
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    assert!(!sorted.is_empty(), "a quantile needs numbers");
    let last = sorted.len() - 1;
    let place = (probability * (sorted.len() + 1) as f64 - 1.0).clamp(0.0, last as f64);
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_come_from_the_draws() {
        let draws = (0..=118).map(|i| Some(f64::from(i)));
        let interval = percentile_interval(Some(40.0), draws).expect("bounded");
        assert_eq!(interval.value, 40.0);
        assert!(
            (interval.low - 2.0).abs() < 1e-9 && (interval.high - 116.0).abs() < 1e-9,
            "{interval:?}"
        );
        assert!(interval.contains(115.0) && !interval.contains(117.0));
    }

    #[test]
    fn a_unit_that_may_be_worthless_gives_no_interval() {
        let draws = |bad: i32| {
            (0..100).map(move |i| ratio(Some(3.0), Some(if i < bad { -0.1 } else { 1.0 })))
        };
        assert!(percentile_interval(Some(3.0), draws(2)).is_some());
        assert_eq!(percentile_interval(Some(3.0), draws(4)), None);
        assert_eq!(percentile_interval(None, draws(0)), None);
    }

    #[test]
    fn quantiles_interpolate() {
        let numbers = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&numbers, 0.0), 1.0);
        assert_eq!(quantile(&numbers, 0.5), 2.5);
        assert_eq!(quantile(&numbers, 1.0), 4.0);
    }
}
