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

use super::bootstrap::Bootstrap;
use super::estimate::{HeatMap, Men, Sampled};
use super::phase::{Part, Slice, part_of};
use model::{EvalRequest, Evaluator, Wdl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Color, Piece, Position, Square, Status, Variant};

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
    let per_batch = (BATCH / (2 * men.roles().count() + 1)).max(1);
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

/// What the net said about one position.
struct Reading {
    game: usize,
    part: Part,
    removals: Vec<(Removal, f64)>,
}

/// A man that was taken off the board.
#[derive(Clone, Copy)]
struct Removal {
    /// Place of the man among the roles.
    man: usize,
    owner: Color,
    square: Square,
}

/// One position and its copies with a man less.
struct Trial {
    game: usize,
    part: Part,
    /// The position as it is, then the copies.
    requests: Vec<EvalRequest>,
    /// One a copy.
    removed: Vec<Removal>,
}

impl Trial {
    /// Takes off one man of each role and side, picked at random among those whose removal leaves a position that is
    /// legal, goes on, and has nobody in check.
    fn new(
        variant: &Variant,
        men: Men<'_>,
        probed: ProbePosition,
        seed: u64,
        index: usize,
    ) -> Trial {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index as u64);
        let mut trial = Trial {
            game: probed.game,
            part: part_of(variant, &probed.position),
            requests: vec![request(variant, probed.position)],
            removed: Vec::new(),
        };
        for color in Color::ALL {
            for (man, (role, _)) in men.roles().enumerate() {
                let squares: Vec<Square> =
                    probed.position.pieces(color, role).into_iter().collect();
                if squares.is_empty() {
                    continue;
                }
                let square = squares[rng.random_range(0..squares.len())];
                debug_assert_eq!(
                    probed.position.piece_at(square),
                    Some(Piece { color, role })
                );
                if let Some(without) = without(variant, &probed.position, square) {
                    trial.requests.push(request(variant, without));
                    trial.removed.push(Removal {
                        man,
                        owner: color,
                        square,
                    });
                }
            }
        }
        trial
    }
}

fn without(variant: &Variant, position: &Position, square: Square) -> Option<Position> {
    let without = position.with_piece(variant, square, None).ok()?;
    (!without.is_check(variant) && without.status(variant) == Status::Ongoing).then_some(without)
}

/// The value head alone is wanted, so the request names a single move.
fn request(variant: &Variant, position: Position) -> EvalRequest {
    let mut moves = position.legal_moves(variant);
    moves.truncate(1);
    EvalRequest {
        position,
        repetitions: 1,
        moves,
    }
}

/// Evaluates the trials in one batch; each removal comes with the drop of its owner's value in logits. Positions that the net
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
        let drop = |(&removal, &after): (&Removal, &(Color, Wdl))| {
            let owner = removal.owner;
            (removal, logit_for(owner, before) - logit_for(owner, after))
        };
        readings.push(Reading {
            game: trial.game,
            part: trial.part,
            removals: trial.removed.iter().zip(&values[1..]).map(drop).collect(),
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
