//! What goes into an evaluator and what comes out.

use rules::{Move, Position, Variant};

use crate::Wdl;

/// A position to be judged.
#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// The position; the game in it is not over.
    pub position: Position,
    /// How often the position has occurred in the game, this time included: 1 is the first time.
    pub repetitions: u8,
    /// The moves to get a logit for: all legal ones.
    pub moves: Vec<Move>,
}

impl EvalRequest {
    /// A request for all legal moves of `position`.
    pub fn new(variant: &Variant, position: Position, repetitions: u8) -> EvalRequest {
        EvalRequest {
            moves: position.legal_moves(variant),
            position,
            repetitions,
        }
    }
}

/// A judgement of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Chances of the side to move.
    pub wdl: Wdl,
    /// Expected plies until the game ends.
    pub moves_left: f32,
    /// One logit for each of the request's moves, in the same order; the prior is their softmax.
    pub policy_logits: Vec<f32>,
}

impl Evaluation {
    /// Whether all its numbers are finite, without which a search can do nothing with it.
    pub fn is_finite(&self) -> bool {
        self.wdl.q().is_finite()
            && self.wdl.draw.is_finite()
            && self.moves_left.is_finite()
            && self.policy_logits.iter().all(|logit| logit.is_finite())
    }
}
