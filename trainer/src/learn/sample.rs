//! One position to learn from, made from a ply of a game record.

use model::Wdl;
use rules::{Color, Move, Outcome, Position, Variant};
use selfplay::game::EndReason;
use selfplay::record::{GameRecord, PlyRecord};
use thiserror::Error;

/// A position with what the net should say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position, side to move at its own view.
    pub position: Position,
    /// How often the position has occurred in its game, this time included.
    pub repetitions: u8,
    /// Probability of each legal move, in the order of `Position::legal_moves`; none if the search was a cheap one,
    /// whose visits say too little to teach the policy.
    pub policy_target: Option<Box<[f32]>>,
    /// What came of the game, from the side to move.
    pub outcome: Wdl,
    /// What the search thought of the position, from the side to move.
    pub searched: Wdl,
    /// Plies to the end of the game; none if the game was cut short, so that its length says nothing.
    pub moves_left: Option<f32>,
}

/// Why a game record cannot be learnt from.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The record is of another variant.
    #[error(
        "game {game} is a game of '{found}', this run plays '{expected}'; move its file out of games/"
    )]
    Variant {
        /// The game's id.
        game: String,
        /// The variant of the record.
        found: String,
        /// The variant of the run.
        expected: String,
    },
    /// A ply does not hold a legal position or names a move that is not legal in it.
    #[error(
        "game {game}, ply {ply}: {reason}; the record was written under other rules, move its file out of games/"
    )]
    Ply {
        /// The game's id.
        game: String,
        /// Index of the ply in the record.
        ply: usize,
        /// What is wrong.
        reason: String,
    },
}

/// The samples of a game, one a ply, in order.
///
/// # Errors
/// If the record is of another variant or does not follow the rules.
pub fn samples(variant: &Variant, record: &GameRecord) -> Result<Vec<Sample>, SampleError> {
    if record.variant != variant.name() {
        return Err(SampleError::Variant {
            game: record.game_id.to_string(),
            found: record.variant.clone(),
            expected: variant.name().to_owned(),
        });
    }
    let count = record.plies.len();
    let plies = record.plies.iter().enumerate();
    plies
        .map(|(index, ply)| {
            let moves_left = ended_by_rule(record.end).then_some((count - index) as f32);
            sample(variant, ply, record.outcome, moves_left).map_err(|reason| SampleError::Ply {
                game: record.game_id.to_string(),
                ply: index,
                reason,
            })
        })
        .collect()
}

/// Whether the game was played to its end, so that its length means something.
fn ended_by_rule(end: EndReason) -> bool {
    match end {
        EndReason::Checkmate
        | EndReason::Stalemate
        | EndReason::FiftyMoves
        | EndReason::Repetition
        | EndReason::InsufficientMaterial => true,
        EndReason::Resignation | EndReason::MaxPlies | EndReason::Tablebase => false,
    }
}

fn sample(
    variant: &Variant,
    ply: &PlyRecord,
    outcome: Outcome,
    moves_left: Option<f32>,
) -> Result<Sample, String> {
    let position = Position::from_fen(variant, &ply.fen).map_err(|error| error.to_string())?;
    let policy_target = match ply.full_search {
        true => Some(policy_target(variant, &position, &ply.policy)?),
        false => None,
    };
    Ok(Sample {
        position,
        repetitions: ply.repetitions,
        policy_target,
        outcome: outcome_for(outcome, position.turn()),
        searched: wdl_of_search(ply.root_q, ply.raw_value),
        moves_left,
    })
}

/// The recorded probabilities in the order of the legal moves, scaled to sum to 1.
fn policy_target(
    variant: &Variant,
    position: &Position,
    recorded: &[(String, f32)],
) -> Result<Box<[f32]>, String> {
    let moves = position.legal_moves(variant);
    let texts: Vec<String> = moves
        .iter()
        .map(|&mv: &Move| variant.move_text(position, mv))
        .collect();
    let mut target = vec![0.0f32; moves.len()].into_boxed_slice();
    for (text, probability) in recorded {
        let index = texts.iter().position(|legal| legal == text);
        let index =
            index.ok_or_else(|| format!("the policy names '{text}', which is not a legal move"))?;
        if !(probability.is_finite() && *probability >= 0.0) {
            return Err(format!(
                "the policy gives '{text}' the probability {probability}"
            ));
        }
        target[index] += probability;
    }
    let sum: f32 = target.iter().sum();
    if sum <= 0.0 {
        return Err("the policy is empty".to_owned());
    }
    target.iter_mut().for_each(|p| *p /= sum);
    Ok(target)
}

/// The outcome as certainty, from `side`.
fn outcome_for(outcome: Outcome, side: Color) -> Wdl {
    let won = match outcome {
        Outcome::Draw => {
            return Wdl {
                win: 0.0,
                draw: 1.0,
                loss: 0.0,
            };
        }
        Outcome::WhiteWins => side == Color::White,
        Outcome::BlackWins => side == Color::Black,
    };
    let win = if won { 1.0 } else { 0.0 };
    Wdl {
        win,
        draw: 0.0,
        loss: 1.0 - win,
    }
}

/// The search's expected value as chances: as likely a draw as the net thought, unless the value leaves no room for it.
fn wdl_of_search(q: f32, raw_value: Wdl) -> Wdl {
    let q = q.clamp(-1.0, 1.0);
    let draw = raw_value.draw.clamp(0.0, 1.0 - q.abs());
    let win = 0.5 * (1.0 - draw + q);
    Wdl {
        win,
        draw,
        loss: 1.0 - draw - win,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chances keep the searched value exactly and stay chances.
    #[test]
    fn chances_of_a_search_keep_its_value() {
        for (q, draw) in [(0.0, 0.4), (0.9, 0.4), (-1.0, 1.0), (0.25, 0.0), (0.3, 0.7)] {
            let wdl = wdl_of_search(
                q,
                Wdl {
                    win: 0.0,
                    draw,
                    loss: 1.0 - draw,
                },
            );
            assert!(
                (wdl.win - wdl.loss - q).abs() < 1e-6,
                "q {q}, draw {draw}: {wdl:?}"
            );
            assert!(
                [wdl.win, wdl.draw, wdl.loss]
                    .iter()
                    .all(|p| (-1e-6..=1.0).contains(p)),
                "{wdl:?}"
            );
            assert!((wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-6);
        }
    }

    /// A win for White is a loss for Black.
    #[test]
    fn outcomes_are_seen_from_the_side_to_move() {
        assert_eq!(outcome_for(Outcome::WhiteWins, Color::White).win, 1.0);
        assert_eq!(outcome_for(Outcome::WhiteWins, Color::Black).loss, 1.0);
        assert_eq!(outcome_for(Outcome::Draw, Color::Black).draw, 1.0);
    }
}
