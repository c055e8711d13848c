//! The claim court: each published claim against what has been measured.
//!
//! A claim about a number names a region; it is supported when the whole 95% interval lies inside, rejected when the whole interval lies
//! outside, and undecided otherwise (the rule of J. K. Kruschke, *Rejecting or accepting parameter values in Bayesian estimation*,
//! 2018, with confidence intervals). Matches are judged by a sequential test, endgames by tablebases.

mod trial;

pub use trial::claimed_matches;

use super::claims::{Claim, Claims, Test};
use super::estimate::{Interval, Men, RoleValue, Sampled, percentile_interval};
use super::first_moves::{FirstMove, playable};
use super::odds::{Handicap, OddsMatch};
use super::phase::Slice;
use super::reconcile::{Combined, combine_values};
use crate::arena::elo::elo_of_score;
use crate::arena::normal::Z_95;
use crate::arena::sprt::{Sprt, Verdict as SprtVerdict};
use rules::Variant;
use rules::tablebase::{MaterialKey, Tablebases};
use serde::{Deserialize, Serialize};

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
pub fn judge(
    variant: &std::sync::Arc<Variant>,
    claims: &Claims,
    findings: &Findings,
) -> Vec<Ruling> {
    let rule = |claim: &Claim| {
        let source = claims.source(&claim.source);
        let heard = claim
            .test
            .as_ref()
            .and_then(|test| hear(variant, test, findings));
        let (verdict, evidence) = heard.unwrap_or_else(|| {
            let why = match claim.test {
                Some(_) => "nothing measured yet bears on it",
                None => "no test is defined for it",
            };
            (Verdict::Untested, why.to_owned())
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

/// Verdict and evidence; `None` if nothing bears on the test.
fn hear(
    variant: &std::sync::Arc<Variant>,
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
            Some((
                within(combined.interval, *low, *high),
                format!(
                    "{man} in {unit}s: {}, claimed {low} to {high}",
                    in_words(&combined)
                ),
            ))
        }
        Test::Greater { man, than, part } => {
            let wholes: Vec<Sampled> = match part {
                None => findings.wholes.clone(),
                Some(part) => in_slice(findings, *part),
            };
            let combined = worth(variant, &wholes, man, than)?;
            let place = part.map_or("all positions", Slice::title);
            Some((
                within(combined.interval, 1.0, f64::INFINITY),
                format!("{man} in {than}s, {place}: {}", in_words(&combined)),
            ))
        }
        Test::Less {
            man,
            unit,
            part,
            than,
        } => {
            let combined = change(variant, findings, (man, unit), *part, *than)?;
            Some((
                within(combined.interval, f64::NEG_INFINITY, 1.0),
                format!(
                    "{man} in {unit}s, {} over {}: {}",
                    part.title(),
                    than.title(),
                    in_words(&combined)
                ),
            ))
        }
        Test::BishopPair { low, high } => {
            let mut pairs = findings
                .wholes
                .iter()
                .filter_map(|whole| whole.estimate.bishop_pair);
            let pair = pairs.next()?;
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
            matched(&handicap, *score, trials)
                .or_else(|| matched(&handicap, *score, &findings.matches))
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

/// The sequential test of one half against the claimed score.
fn matched(handicap: &Handicap, score: f64, matches: &[OddsMatch]) -> Option<(Verdict, String)> {
    let (pentanomial, shown) = matches.iter().find_map(|known| {
        let reversed = Handicap {
            first_lacks: known.handicap.second_lacks.clone(),
            second_lacks: known.handicap.first_lacks.clone(),
        };
        if known.handicap == *handicap {
            Some((known.pentanomial, handicap))
        } else {
            (reversed == *handicap).then(|| (known.pentanomial.reversed(), handicap))
        }
    })?;
    let state = Sprt::new(0.0, elo_of_score(score)?)
        .ok()?
        .state(&pentanomial);
    let verdict = match state.verdict() {
        Some(SprtVerdict::Second) => Verdict::Supported,
        Some(SprtVerdict::First) => Verdict::Rejected,
        None => Verdict::Undecided,
    };
    let moments = pentanomial.moments();
    let evidence = format!(
        "{shown}: {:.1}% ± {:.1}% in {} games, claimed {:.1}%; log likelihood ratio {:+.2} of ±{:.2}",
        100.0 * pentanomial.score()?,
        100.0 * Z_95 * moments.standard_error(),
        2 * pentanomial.pairs(),
        100.0 * score,
        state.llr,
        state.bound
    );
    Some((verdict, evidence))
}

fn proved(
    variant: &std::sync::Arc<Variant>,
    material: &str,
    at_least: Option<f64>,
    at_most: Option<f64>,
) -> Option<(Verdict, String)> {
    let mut tables = Tablebases::new(variant);
    let key = MaterialKey::parse(variant, material).ok()?;
    tables.build(&key, &mut |_| {}).ok()?;
    let statistics = tables.get(&key)?.statistics(&tables);
    let white = &statistics.white;
    let share = white.won as f64 / (white.won + white.drawn + white.lost).max(1) as f64;
    let holds =
        at_least.is_none_or(|least| share >= least) && at_most.is_none_or(|most| share <= most);
    let longest = white
        .longest_win
        .as_ref()
        .map_or(0, |longest| longest.plies);
    Some((
        if holds {
            Verdict::Supported
        } else {
            Verdict::Rejected
        },
        format!(
            "tablebase {material}: White to move wins {} of {} positions ({:.2}%), in {longest} plies at most",
            white.won,
            white.won + white.drawn + white.lost,
            100.0 * share
        ),
    ))
}

/// The share of draws with Wilson's interval (1927).
fn drawn(results: Results, at_most: f64) -> Option<(Verdict, String)> {
    let games = (results.white + results.drawn + results.black) as f64;
    if games == 0.0 {
        return None;
    }
    let p = results.drawn as f64 / games;
    let z2 = Z_95 * Z_95;
    let center = (p + z2 / (2.0 * games)) / (1.0 + z2 / games);
    let half =
        Z_95 * (p * (1.0 - p) / games + z2 / (4.0 * games * games)).sqrt() / (1.0 + z2 / games);
    let interval = Interval {
        value: p,
        low: center - half,
        high: center + half,
    };
    let evidence = format!(
        "{:.1}% ({:.1} … {:.1}) of {games} games from the array are drawn, claimed at most {:.0}%",
        100.0 * p,
        100.0 * interval.low,
        100.0 * interval.high,
        100.0 * at_most
    );
    Some((within(interval, f64::NEG_INFINITY, at_most), evidence))
}

fn opened(files: &str, moves: &[FirstMove]) -> Option<(Verdict, String)> {
    let good: Vec<&FirstMove> = playable(moves).collect();
    let best = good.first()?;
    let opens = |file: char| {
        good.iter()
            .any(|mv| mv.is_pawn && mv.text.starts_with(file))
    };
    let closed: String = files.chars().filter(|&file| !opens(file)).collect();
    let verdict = match closed.is_empty() {
        true => Verdict::Supported,
        false => Verdict::Rejected,
    };
    let except = match closed.is_empty() {
        true => format!("a pawn of each of the files {files} among them"),
        false => format!("no pawn of the files {closed} among them"),
    };
    Some((
        verdict,
        format!(
            "to the net {} of {} first moves are as good as the best ({}) to within {} of q, {except}",
            good.len(),
            moves.len(),
            best.text,
            super::first_moves::PLAYABLE
        ),
    ))
}

#[cfg(test)]
mod tests;
