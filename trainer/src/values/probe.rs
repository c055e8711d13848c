//! Piece values from the net: what it thinks of a position with one man less.
//!
//! In a position from self-play, one man is taken off the board. The difference of the net's value before and after, in
//! log-odds of its owner's expected score (1 + q)/2, is what the man was worth there. The comparison is paired, so the position's
//! own noise cancels, and thousands of positions cost seconds. Ratios use the same positions on both sides: a man's mean drop
//! in the positions that have a pawn (a knight) too, over the pawn's (the knight's) mean drop in those positions.
//!
//! It measures what the net believes. A net that has not learnt what a man can do has wrong beliefs with narrow
//! intervals: they show the spread over games, not the net's error. The idea is that of the piece values that
//! Fairy-Stockfish's and Stockfish's `eval` command print for its networks.

mod summary;
mod trial;

use super::bootstrap::Bootstrap;
use super::estimate::{HeatMap, Men, Sampled};
use super::phase::{Part, Slice};
use model::{EvalRequest, Evaluator, Wdl};
use rules::{Color, Position, Variant};
use serde::{Deserialize, Serialize};
use trial::{Measure, Trial};

/// Expected scores are kept this far from 0 and 1 before their log-odds are taken.
const CLIP: f64 = 1e-3;
/// Requests evaluated at once.
const BATCH: usize = 512;

/// A position to probe and the game it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePosition {
    /// Number of the game; the bootstrap resamples games.
    pub game: usize,
    /// The position as it was played.
    pub position: Position,
}

/// How to probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeConfig {
    /// Positions in which the net sees |q| above this are left out, 0 to 1: near certainty a man more or less changes
    /// little that can be seen.
    pub max_abs_q: f32,
    /// How to find the intervals.
    pub bootstrap: Bootstrap,
}

/// What the net says about the men.
#[derive(Debug, Clone)]
pub struct ProbeResult {
    /// Over all positions.
    pub whole: Sampled,
    /// Over parts of the games. The resamples are of the same games as those of the whole, draw by draw.
    pub slices: Vec<(Slice, Sampled)>,
    /// Over all positions, by the ways other than removal, which the rest goes by.
    pub ways: Vec<(Way, Sampled)>,
    /// Where each man is worth how much.
    pub heat: Vec<HeatMap>,
}

/// Probes all positions with a net; `on_progress` hears how many are done.
///
/// `None` if no position is fit for it.
pub fn probe(
    variant: &Variant,
    evaluator: &mut dyn Evaluator,
    positions: &[ProbePosition],
    config: &ProbeConfig,
    on_progress: &mut dyn FnMut(usize),
) -> Option<ProbeResult> {
    let men = Men::new(variant);
    let mut readings = Vec::new();
    let per_batch = (BATCH / (6 * men.roles().count() + 1)).max(1);
    for (batch, chunk) in positions.chunks(per_batch).enumerate() {
        let trials: Vec<Trial> = chunk
            .iter()
            .enumerate()
            .map(|(index, &probed)| {
                Trial::new(
                    variant,
                    men,
                    probed,
                    config.bootstrap.seed,
                    batch * per_batch + index,
                )
            })
            .collect();
        readings.extend(read(evaluator, &trials, config.max_abs_q));
        on_progress((batch * per_batch + chunk.len()).min(positions.len()));
    }
    summary::summarise(variant, men, &readings, config.bootstrap)
}

/// How a man is put on the board or taken off it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A man is taken off his square.
    Removal,
    /// A man takes the place of another of his side: of his worth the place is no part.
    Exchange,
    /// A man appears on a random empty square, which is mostly worse than one that he would have chosen.
    Addition,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 3] = [Way::Removal, Way::Exchange, Way::Addition];

    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Way::Removal => "removed",
            Way::Exchange => "in another's place",
            Way::Addition => "added",
        }
    }
}

/// What the net said about one position.
struct Reading {
    game: usize,
    part: Part,
    /// What each man was worth to his side, in logits.
    measures: Vec<(Measure, f64)>,
}

/// Evaluates the trials in one batch; each man comes with what he was worth to his side, in logits. Positions that the net
/// takes for decided are left out.
fn read(evaluator: &mut dyn Evaluator, trials: &[Trial], max_abs_q: f32) -> Vec<Reading> {
    let requests: Vec<EvalRequest> = trials
        .iter()
        .flat_map(|trial| trial.requests.iter().cloned())
        .collect();
    let mut evaluations = evaluator.evaluate(&requests).into_iter();
    let mut readings = Vec::new();
    for trial in trials {
        let values: Vec<(Color, Wdl)> = trial
            .requests
            .iter()
            .zip(evaluations.by_ref())
            .map(|(request, evaluation)| (request.position.turn(), evaluation.wdl))
            .collect();
        let before = values[0];
        if before.1.q().abs() > max_abs_q {
            continue;
        }
        let worth = |measure: &Measure| {
            let of = |request: usize| logit_for(measure.owner, values[request]);
            (*measure, of(measure.with) - of(measure.lacking))
        };
        readings.push(Reading {
            game: trial.game,
            part: trial.part,
            measures: trial.measures.iter().map(worth).collect(),
        });
    }
    readings
}

/// Log-odds of a side's expected score, from a value for the side to move.
fn logit_for(side: Color, (turn, wdl): (Color, Wdl)) -> f64 {
    let score = ((1.0 + f64::from(wdl.q())) / 2.0).clamp(CLIP, 1.0 - CLIP);
    let logit = (score / (1.0 - score)).ln();
    if side == turn { logit } else { -logit }
}

#[cfg(test)]
mod tests;
