//! The loop: choose the most telling match, play it, learn from it.

use super::play::{PairScores, Players};
use super::{Handicap, Posterior};
use crate::arena::material::MaterialTable;
use crate::arena::normal::Z_95;
use crate::arena::pentanomial::{GameScore, Pentanomial};
use crate::values::estimate::{Evidence, Men, Method, Sampled, Scales, ratio};
use anyhow::ensure;
use rules::Variant;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Logits a pawn of the conventional table, before anything is known: a pawn's odds score 56%.
const PRIOR_LOGITS_PER_PAWN: f64 = 0.25;
/// Handicaps expected to score further from one half than about this are hardly played: far off, the law need not hold.
const MOST_LOPSIDED: f64 = 0.3;
/// The gain of a handicap shrinks by this share for each man off the board: full boards are what the question is about.
const COST_OF_A_MAN: f64 = 0.03;

/// How to measure by matches.
#[derive(Debug, Clone, PartialEq)]
pub struct OddsConfig {
    /// Games in all, at least 2.
    pub games: usize,
    /// Games of one match, even and at least 2; after each the next handicap is chosen. Default 32.
    pub games_per_match: usize,
    /// Letters of the men whose value is wanted; empty for all.
    pub focus: String,
    /// Random draws from the posterior that intervals are made of, at least 40. Default 2000.
    pub draws: usize,
    /// Seed of all random choices. Default 1.
    pub seed: u64,
}

impl Default for OddsConfig {
    fn default() -> OddsConfig {
        OddsConfig {
            games: 640,
            games_per_match: 32,
            focus: String::new(),
            draws: 2000,
            seed: 1,
        }
    }
}

impl OddsConfig {
    /// Checks all fields.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn validate(&self, variant: &Variant) -> anyhow::Result<()> {
        ensure!(
            self.games_per_match >= 2 && self.games_per_match.is_multiple_of(2),
            "games_per_match is {}; games come in pairs, so it must be even and at least 2",
            self.games_per_match
        );
        ensure!(
            self.games >= 2,
            "games is {}; at least 2 are needed",
            self.games
        );
        ensure!(
            self.draws >= 40,
            "draws is {}; an interval needs at least 40",
            self.draws
        );
        for letter in self.focus.chars() {
            ensure!(
                Men::new(variant)
                    .roles()
                    .any(|(_, info)| info.letter == letter),
                "focus has `{letter}`, which is no man of {} that has a value",
                variant.name()
            );
        }
        Ok(())
    }
}

/// The result of all games with one handicap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddsMatch {
    /// Who lacked what.
    #[serde(flatten)]
    pub handicap: Handicap,
    /// Pairs from the first side's view.
    pub pentanomial: Pentanomial,
}

impl OddsMatch {
    /// The first side's mean score of a game.
    pub fn score(&self) -> Option<f64> {
        self.pentanomial.score()
    }
}

impl std::fmt::Display for OddsMatch {
    /// `without R v. without F: 54.7% ± 6.1% in 64 games`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {:.1}% ± {:.1}% in {} games",
            self.handicap,
            100.0 * self.score().unwrap_or(0.5),
            100.0 * Z_95 * self.pentanomial.moments().standard_error(),
            2 * self.pentanomial.pairs()
        )
    }
}

/// What is known after a match.
#[derive(Debug)]
pub struct OddsProgress<'a> {
    /// Games played so far.
    pub games: usize,
    /// The match that has just been played.
    pub last: &'a OddsMatch,
}

impl std::fmt::Display for OddsProgress<'_> {
    /// `without R v. without F: 54.7% of 64 games; 320 games in all`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OddsMatch {
            handicap,
            pentanomial,
        } = self.last;
        match pentanomial.score() {
            Some(score) => write!(
                f,
                "{handicap}: {:.1}% of {} games",
                100.0 * score,
                2 * pentanomial.pairs()
            )?,
            None => write!(f, "{handicap}: not played")?,
        }
        write!(f, "; {} games in all", self.games)
    }
}

/// All that the matches have shown.
#[derive(Debug, Clone)]
pub struct OddsResult {
    /// The values.
    pub values: Sampled,
    /// One a handicap, in the order of their first games.
    pub matches: Vec<OddsMatch>,
}

/// Plays matches until the games are used up, or `on_progress` breaks, or the players stop.
///
/// `None` without a pawn, without a handicap, or without a game.
pub fn measure(
    variant: &Variant,
    players: &mut dyn Players,
    config: &OddsConfig,
    on_progress: &mut dyn FnMut(&OddsProgress<'_>) -> ControlFlow<()>,
) -> Option<OddsResult> {
    let men = Men::new(variant);
    let unit = men.pawn()?;
    let targets = targets(&men, unit, &config.focus);
    let mut candidates: Vec<(Handicap, Vec<f64>)> = Handicap::all(variant)
        .into_iter()
        .filter_map(|handicap| Some((handicap.clone(), handicap.difference(variant)?)))
        .collect();
    let mut so_far = SoFar::new(variant, &men);
    while so_far.games < config.games && !candidates.is_empty() {
        let chosen = best(&so_far.posterior, &candidates, unit, &targets)?.clone();
        let games = so_far.games;
        let pairs = (config.games - games)
            .min(config.games_per_match)
            .div_ceil(2);
        let seed = config.seed.wrapping_add(games as u64 * 0x9e37_79b9);
        let scores = players.play(&chosen.0, pairs, seed);
        let not_played = OddsMatch {
            handicap: chosen.0.clone(),
            pentanomial: Pentanomial::default(),
        };
        let last = match scores.is_empty() {
            true => {
                // The rules forbid these arrays, or the players have stopped.
                candidates.retain(|(other, _)| *other != chosen.0);
                &not_played
            }
            false => so_far.learn(chosen, &scores),
        };
        let progress = OddsProgress {
            games: games + 2 * scores.len(),
            last,
        };
        if on_progress(&progress).is_break() {
            break;
        }
    }
    (so_far.games > 0).then(|| so_far.conclude(men, config))
}

/// Places of the men whose values are asked for.
fn targets(men: &Men, unit: usize, focus: &str) -> Vec<usize> {
    let places = men.roles().enumerate();
    places
        .filter(|&(place, (_, info))| place != unit && is_wanted(info.letter, focus))
        .map(|(place, _)| place)
        .collect()
}

/// What the games so far have shown.
struct SoFar {
    posterior: Posterior,
    matches: Vec<OddsMatch>,
    games: usize,
    /// Games in which the armies differ in a man.
    of_men: Vec<u64>,
}

impl SoFar {
    fn new(variant: &Variant, men: &Men) -> SoFar {
        let table = MaterialTable::new(variant);
        let prior: Vec<f64> = men
            .roles()
            .map(|(role, _)| PRIOR_LOGITS_PER_PAWN * table.value(role))
            .collect();
        SoFar {
            posterior: Posterior::new(&prior),
            matches: Vec::new(),
            games: 0,
            of_men: vec![0; prior.len()],
        }
    }

    /// Takes in the scores of pairs, and returns the handicap's match with them.
    fn learn(
        &mut self,
        (handicap, difference): (Handicap, Vec<f64>),
        scores: &[PairScores],
    ) -> &OddsMatch {
        self.posterior.learn(&difference, scores);
        self.games += 2 * scores.len();
        for (count, difference) in self.of_men.iter_mut().zip(&difference) {
            if *difference != 0.0 {
                *count += 2 * scores.len() as u64;
            }
        }
        let place = record(&mut self.matches, handicap, scores);
        &self.matches[place]
    }

    fn conclude(self, men: Men, config: &OddsConfig) -> OddsResult {
        let evidence = Evidence {
            games: self.games as u64,
            positions: self.games as u64,
            of_men: self.of_men,
        };
        conclude(men, &self.posterior, &evidence, self.matches, config)
    }
}

fn is_wanted(letter: char, focus: &str) -> bool {
    focus.is_empty() || focus.contains(letter)
}

/// The handicap that is worth most for its men off the board.
fn best<'a>(
    posterior: &Posterior,
    candidates: &'a [(Handicap, Vec<f64>)],
    unit: usize,
    targets: &[usize],
) -> Option<&'a (Handicap, Vec<f64>)> {
    let worth = |(handicap, difference): &(Handicap, Vec<f64>)| {
        let lopsided = (posterior.expected(difference) - 0.5).abs() / MOST_LOPSIDED;
        let gain = posterior.gain(difference, unit, targets);
        // Not cut off sharply: a man whose first match went far astray must get another.
        gain * (1.0 - COST_OF_A_MAN * handicap.men() as f64) * (-lopsided.powi(4)).exp()
    };
    let ranked = candidates
        .iter()
        .map(|candidate| (worth(candidate), candidate));
    let best = ranked.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, candidate)| candidate)
}

/// Adds a match to those with the same handicap; returns its place.
pub fn record(matches: &mut Vec<OddsMatch>, handicap: Handicap, scores: &[PairScores]) -> usize {
    let known = matches.iter().position(|known| known.handicap == handicap);
    let place = known.unwrap_or_else(|| {
        matches.push(OddsMatch {
            handicap,
            pentanomial: Pentanomial::default(),
        });
        matches.len() - 1
    });
    let result = |score: f64| match score {
        s if s > 0.75 => GameScore::Win,
        s if s > 0.25 => GameScore::Draw,
        _ => GameScore::Loss,
    };
    for pair in scores {
        matches[place]
            .pentanomial
            .record(result(pair.as_white), result(pair.as_black));
    }
    place
}

/// The values with their intervals.
fn conclude(
    men: Men<'_>,
    posterior: &Posterior,
    evidence: &Evidence,
    matches: Vec<OddsMatch>,
    config: &OddsConfig,
) -> OddsResult {
    let scales = |weights: &[f64]| {
        let known = |place: usize| (evidence.of_men[place] > 0).then(|| weights[place]);
        let logits: Vec<Option<f64>> = (0..weights.len()).map(known).collect();
        let in_units_of = |unit: Option<usize>| -> Vec<Option<f64>> {
            let unit = unit.and_then(|place| logits[place]);
            logits.iter().map(|&logits| ratio(logits, unit)).collect()
        };
        Scales {
            pawns: in_units_of(men.pawn()),
            knights: in_units_of(men.knight()),
            bishop_pair: None,
            logits,
        }
    };
    let point = scales(posterior.mean());
    let draws: Vec<Scales> = posterior
        .draws(config.draws, config.seed)
        .iter()
        .map(|weights| scales(weights))
        .collect();
    OddsResult {
        values: Sampled::new(Method::MaterialOdds, men, evidence, point, draws),
        matches,
    }
}
