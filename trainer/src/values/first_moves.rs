//! Which first moves a net finds playable.

use model::{EvalRequest, Evaluator};
use rules::{Status, Variant};
use serde::{Deserialize, Serialize};

/// A first move is playable if the net sees it at most this much below the best one, in q (−1 to 1).
pub const PLAYABLE: f64 = 0.1;

/// One first move of White.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstMove {
    /// As text.
    pub text: String,
    /// White's win less loss after it, by the net alone, −1 to 1.
    pub q: f64,
    /// Whether it is a pawn's.
    pub is_pawn: bool,
}

/// What the net thinks of all first moves, best first.
pub fn first_moves(variant: &Variant, evaluator: &mut dyn Evaluator) -> Vec<FirstMove> {
    let start = variant.start();
    let moves = start.legal_moves(variant);
    let after = moves.iter().map(|&mv| (mv, start.play(variant, mv)));
    let open: Vec<_> = after
        .filter(|(_, position)| position.status(variant) == Status::Ongoing)
        .collect();
    let requests: Vec<EvalRequest> = open
        .iter()
        .map(|(_, position)| EvalRequest {
            position: *position,
            repetitions: 1,
            moves: position.legal_moves(variant),
        })
        .collect();
    let evaluations = evaluator.evaluate(&requests);
    let mut found: Vec<FirstMove> = open
        .iter()
        .zip(evaluations)
        .map(|((mv, _), evaluation)| FirstMove {
            text: variant.move_text(&start, *mv),
            q: -f64::from(evaluation.wdl.q()),
            is_pawn: mv
                .from()
                .and_then(|from| start.piece_at(from))
                .is_some_and(|piece| variant.roles()[piece.role.index()].is_pawn),
        })
        .collect();
    found.sort_by(|one, other| other.q.total_cmp(&one.q));
    found
}

/// Those that are playable.
pub fn playable(moves: &[FirstMove]) -> impl Iterator<Item = &FirstMove> {
    let best = moves.first().map_or(0.0, |best| best.q);
    moves.iter().filter(move |mv| mv.q >= best - PLAYABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_opinions_everything_is_playable() {
        let falcon = Variant::by_name("falcon").expect("a shipped variant");
        let moves = first_moves(&falcon, &mut model::UniformEvaluator);
        assert_eq!(moves.len(), 24);
        assert_eq!(playable(&moves).count(), 24);
        assert_eq!(moves.iter().filter(|mv| mv.is_pawn).count(), 20);
    }
}
