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

use super::bootstrap::Bootstrap;
use super::estimate::{Estimate, Evidence, Men, Method, Scales, ratio};
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

/// Probes all positions with a net; `on_progress` hears how many are done.
///
/// `None` if no position is fit for it.
pub fn probe(
    variant: &Variant,
    evaluator: &mut dyn Evaluator,
    positions: &[ProbePosition],
    config: &ProbeConfig,
    on_progress: &mut dyn FnMut(usize),
) -> Option<Estimate> {
    let men = Men::new(variant);
    let mut games: std::collections::BTreeMap<usize, GameSums> = std::collections::BTreeMap::new();
    let mut used = 0;
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
        for (game, drops) in drops(evaluator, men, &trials, config.max_abs_q) {
            games
                .entry(game)
                .or_insert_with(|| GameSums::new(men))
                .add(men, &drops);
            used += 1;
        }
        on_progress((batch * per_batch + chunk.len()).min(positions.len()));
    }
    let games: Vec<GameSums> = games.into_values().collect();
    (!games.is_empty()).then(|| estimate(men, &games, used, config.bootstrap))
}

/// The net's drop of value for each man of a position, in logits; `None` for men that it lacks or that cannot go.
type Drops = Vec<Option<f64>>;

/// One position and its copies with a man less.
struct Trial {
    game: usize,
    /// The position as it is, then the copies.
    requests: Vec<EvalRequest>,
    /// Place of the man among the roles, and its colour, one a copy.
    removed: Vec<(usize, Color)>,
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
                    trial.removed.push((man, color));
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

/// Evaluates the trials in one batch. Drops of a man that both sides have are averaged.
fn drops(
    evaluator: &mut dyn Evaluator,
    men: Men<'_>,
    trials: &[Trial],
    max_abs_q: f32,
) -> Vec<(usize, Drops)> {
    let requests: Vec<EvalRequest> = trials
        .iter()
        .flat_map(|trial| trial.requests.iter().cloned())
        .collect();
    let mut evaluations = evaluator.evaluate(&requests).into_iter();
    let mut result = Vec::new();
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
        let mut sums = vec![(0.0, 0u32); men.roles().count()];
        for (&(man, owner), &after) in trial.removed.iter().zip(&values[1..]) {
            sums[man].0 += logit_for(owner, before) - logit_for(owner, after);
            sums[man].1 += 1;
        }
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        result.push((trial.game, sums.into_iter().map(mean).collect()));
    }
    result
}

/// Log-odds of a side's expected score, from a value for the side to move.
fn logit_for(side: Color, (turn, wdl): (Color, Wdl)) -> f64 {
    let score = ((1.0 + f64::from(wdl.q())) / 2.0).clamp(CLIP, 1.0 - CLIP);
    let logit = (score / (1.0 - score)).ln();
    if side == turn { logit } else { -logit }
}

/// Sums over the positions of one game, for means and paired ratios.
#[derive(Debug, Clone)]
struct GameSums {
    /// Drop of each man, and the number of positions.
    alone: Vec<(f64, f64)>,
    /// Drop of each man and of the pawn, over positions with both.
    with_pawn: Vec<(f64, f64)>,
    /// Drop of each man and of the knight, over positions with both.
    with_knight: Vec<(f64, f64)>,
}

impl GameSums {
    fn new(men: Men<'_>) -> GameSums {
        let zeros = vec![(0.0, 0.0); men.roles().count()];
        GameSums {
            alone: zeros.clone(),
            with_pawn: zeros.clone(),
            with_knight: zeros,
        }
    }

    fn add(&mut self, men: Men<'_>, drops: &Drops) {
        let drop_of = |man: Option<usize>| man.and_then(|man| drops[man]);
        let (pawn, knight) = (drop_of(men.pawn()), drop_of(men.knight()));
        for (man, drop) in drops.iter().enumerate() {
            let Some(drop) = *drop else { continue };
            for (sums, unit) in [
                (&mut self.alone, Some(1.0)),
                (&mut self.with_pawn, pawn),
                (&mut self.with_knight, knight),
            ] {
                if let Some(unit) = unit {
                    sums[man].0 += drop;
                    sums[man].1 += unit;
                }
            }
        }
    }
}

fn estimate(men: Men<'_>, games: &[GameSums], positions: u64, bootstrap: Bootstrap) -> Estimate {
    let once = vec![1.0; games.len()];
    let draws = bootstrap.over_games(games.len(), |multiplicities| {
        scales(men, games, multiplicities)
    });
    let count = |man: usize| games.iter().map(|sums| sums.alone[man].1).sum::<f64>() as u64;
    let evidence = Evidence {
        games: games.len() as u64,
        positions,
        of_men: (0..men.roles().count()).map(count).collect(),
    };
    Estimate::assemble(
        Method::CounterfactualProbe,
        men,
        &evidence,
        &scales(men, games, &once),
        &draws,
    )
}

fn scales(men: Men<'_>, games: &[GameSums], multiplicities: &[f64]) -> Scales {
    let ratios = |part: fn(&GameSums) -> &Vec<(f64, f64)>| -> Vec<Option<f64>> {
        (0..men.roles().count())
            .map(|man| {
                let weighted = games
                    .iter()
                    .zip(multiplicities)
                    .map(|(sums, m)| (m * part(sums)[man].0, m * part(sums)[man].1));
                let (drop, unit) =
                    weighted.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
                ratio(Some(drop), Some(unit))
            })
            .collect()
    };
    Scales {
        logits: ratios(|sums| &sums.alone),
        pawns: ratios(|sums| &sums.with_pawn),
        knights: ratios(|sums| &sums.with_knight),
    }
}

#[cfg(test)]
mod tests;
