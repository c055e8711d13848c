//! The claim court: each published claim against what has been measured.
//!
//! A claim about a number names a region; it is supported when the whole 95% interval lies inside, rejected when the whole interval lies
//! outside, and undecided otherwise (the rule of J. K. Kruschke, *Rejecting or accepting parameter values in Bayesian estimation*,
//! 2018, with confidence intervals). Matches are judged by a sequential test, endgames by tablebases.

mod evidence;
mod trial;

pub use trial::claimed_matches;

use evidence::{Claimed, drawn, matched, opened, proved};

use super::claims::{Claim, Claims, Test};
use super::estimate::{Interval, Men, RoleValue, Sampled, percentile_interval};
use super::first_moves::FirstMove;
use super::odds::{Handicap, OddsMatch};
use super::phase::Slice;
use super::reconcile::{Combined, combine_values};
use rules::Variant;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the court says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The evidence bears the claim out.
    Supported,
    /// The evidence contradicts the claim.
    Rejected,
    /// There is evidence, but not enough.
    Undecided,
    /// Nothing has been measured that bears on the claim.
    Untested,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Supported => "supported",
            Verdict::Rejected => "rejected",
            Verdict::Undecided => "undecided",
            Verdict::Untested => "untested",
        })
    }
}

/// A claim and what has become of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ruling {
    /// The claim's id.
    pub id: String,
    /// The claim.
    pub text: String,
    /// Who claims it.
    pub source: String,
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// Why.
    pub evidence: String,
}

/// Games from the array by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// White has won.
    pub white: u64,
    /// Nobody has won.
    pub drawn: u64,
    /// Black has won.
    pub black: u64,
}

/// All that may be brought before the court.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Each estimator's values over all positions.
    pub wholes: Vec<Sampled>,
    /// The values in parts of the games, by estimators that know parts.
    pub slices: Vec<(Slice, Sampled)>,
    /// Matches with unequal armies, chosen for what they tell.
    pub matches: Vec<OddsMatch>,
    /// Matches that claims are about, played until their tests ended.
    pub trials: Vec<OddsMatch>,
    /// Results of self-play from the array.
    pub results: Results,
    /// First moves, best first.
    pub first_moves: Vec<FirstMove>,
}

/// Judges all claims about a variant. Small tablebases that a claim needs are built.
pub fn judge(variant: &Arc<Variant>, claims: &Claims, findings: &Findings) -> Vec<Ruling> {
    let rule = |claim: &Claim| {
        let source = claims.source(&claim.source);
        let heard = claim
            .test
            .as_ref()
            .and_then(|test| hear(variant, claim, test, findings));
        let (verdict, evidence) = heard.unwrap_or_else(|| {
            let why = claim.untested.clone();
            let why = why.unwrap_or_else(|| "nothing measured yet bears on it".to_owned());
            (Verdict::Untested, why)
        });
        Ruling {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: source.map_or_else(|| claim.source.clone(), |source| source.label.clone()),
            verdict,
            evidence,
        }
    };
    claims.claims.iter().map(rule).collect()
}

/// Verdict and evidence; `None` if nothing bears on the claim's test.
fn hear(
    variant: &Arc<Variant>,
    claim: &Claim,
    test: &Test,
    findings: &Findings,
) -> Option<(Verdict, String)> {
    match test {
        Test::Within {
            man,
            unit,
            low,
            high,
        } => {
            let combined = worth(variant, &findings.wholes, man, unit)?;
            let words = in_words(&combined);
            Some((
                within(combined.interval, *low, *high),
                format!("{man} in {unit}s: {words}, claimed {low} to {high}"),
            ))
        }
        Test::Greater { man, than, part } => greater(variant, findings, (man, than), *part),
        Test::Less {
            man,
            unit,
            part,
            than,
        } => less(variant, findings, (man, unit), (*part, *than)),
        Test::BishopPair { low, high } => {
            let mut wholes = findings.wholes.iter();
            let pair = wholes.find_map(|whole| whole.estimate.bishop_pair)?;
            Some((
                within(pair, *low, *high),
                format!("{pair} pawns, claimed {low} to {high}"),
            ))
        }
        Test::Match {
            first_lacks,
            second_lacks,
            score,
        } => {
            let handicap = Handicap {
                first_lacks: first_lacks.clone(),
                second_lacks: second_lacks.clone(),
            };
            let trials = &findings.trials;
            let claimed = Claimed {
                score: *score,
                games: claim.games,
            };
            matched(&handicap, claimed, trials)
                .or_else(|| matched(&handicap, claimed, &findings.matches))
        }
        Test::Tablebase {
            material,
            at_least,
            at_most,
        } => proved(variant, material, *at_least, *at_most),
        Test::Draws { at_most } => drawn(findings.results, *at_most),
        Test::FirstMoves { files } => opened(files, &findings.first_moves),
    }
}

/// Whether a man is worth more than another, in all positions or in a part of them.
fn greater(
    variant: &Arc<Variant>,
    findings: &Findings,
    (man, than): (&str, &str),
    part: Option<Slice>,
) -> Option<(Verdict, String)> {
    let wholes: Vec<Sampled> = match part {
        None => findings.wholes.clone(),
        Some(part) => in_slice(findings, part),
    };
    let combined = worth(variant, &wholes, man, than)?;
    let place = part.map_or("all positions", Slice::title);
    Some((
        within(combined.interval, 1.0, f64::INFINITY),
        format!("{man} in {than}s, {place}: {}", in_words(&combined)),
    ))
}

/// Whether a man is worth less in one part of the positions than in another.
fn less(
    variant: &Arc<Variant>,
    findings: &Findings,
    (man, unit): (&str, &str),
    (part, than): (Slice, Slice),
) -> Option<(Verdict, String)> {
    let combined = change(variant, findings, (man, unit), part, than)?;
    let (part, than, words) = (part.title(), than.title(), in_words(&combined));
    Some((
        within(combined.interval, f64::NEG_INFINITY, 1.0),
        format!("{man} in {unit}s, {part} over {than}: {words}"),
    ))
}

fn within(interval: Interval, low: f64, high: f64) -> Verdict {
    if interval.low >= low && interval.high <= high {
        Verdict::Supported
    } else if interval.high < low || interval.low > high {
        Verdict::Rejected
    } else {
        Verdict::Undecided
    }
}

fn in_words(combined: &Combined) -> String {
    let methods = match combined.methods {
        1 => "one method".to_owned(),
        many => format!(
            "{many} methods, {:.2} to {:.2}",
            combined.range[0], combined.range[1]
        ),
    };
    let warning = if combined.is_contradicted() {
        ", which contradict each other"
    } else {
        ""
    };
    format!("{} ({methods}{warning})", combined.interval)
}

/// The place of a man among those that have a value.
fn place(variant: &Variant, name: &str) -> Option<usize> {
    Men::new(variant)
        .roles()
        .position(|(_, info)| info.name == name)
}

fn worth(variant: &Variant, wholes: &[Sampled], man: &str, unit: &str) -> Option<Combined> {
    let (man, at) = (place(variant, man)?, place(variant, unit)?);
    let paired: Option<fn(&RoleValue) -> Option<Interval>> = match unit {
        "pawn" => Some(|value| value.pawns),
        "knight" => Some(|value| value.knights),
        _ => None,
    };
    let of = |sampled: &Sampled| match paired {
        Some(unit) => unit(&sampled.estimate.values[man]),
        None => sampled.ratio(man, at),
    };
    combine_values(&wholes.iter().filter_map(of).collect::<Vec<Interval>>())
}

fn in_slice(findings: &Findings, slice: Slice) -> Vec<Sampled> {
    let slices = findings.slices.iter();
    slices
        .filter(|(known, _)| *known == slice)
        .map(|(_, sampled)| sampled.clone())
        .collect()
}

/// The factor between a man's worth in two parts of the games, by methods that know both, draw by draw.
fn change(
    variant: &Variant,
    findings: &Findings,
    (man, unit): (&str, &str),
    part: Slice,
    than: Slice,
) -> Option<Combined> {
    let (man, unit) = (place(variant, man)?, place(variant, unit)?);
    let others = in_slice(findings, than);
    let factors = in_slice(findings, part).into_iter().filter_map(|one| {
        let method = one.estimate.method;
        let other = others
            .iter()
            .find(|other| other.estimate.method == method)?;
        let ratio = |scales: &super::estimate::Scales| {
            super::estimate::ratio(scales.logits[man], scales.logits[unit])
        };
        let factor = |a: Option<f64>, b: Option<f64>| super::estimate::ratio(a, b);
        let draws = one.draws.iter().zip(&other.draws);
        percentile_interval(
            factor(ratio(&one.point), ratio(&other.point)),
            draws.map(|(a, b)| factor(ratio(a), ratio(b))),
        )
    });
    combine_values(&factors.collect::<Vec<Interval>>())
}

#[cfg(test)]
mod tests;
