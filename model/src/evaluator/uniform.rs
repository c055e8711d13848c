//! The evaluator that knows nothing.

use super::{EvalRequest, Evaluation, Evaluator};
use crate::Wdl;

/// Calls every position even and every move equally good: the anchor that search alone must beat,
/// and a net for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformEvaluator;

impl UniformEvaluator {
    /// The game length that is claimed everywhere, in plies.
    const MOVES_LEFT: f32 = 100.0;
}

impl Evaluator for UniformEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let uniform = |request: &EvalRequest| Evaluation {
            wdl: Wdl::UNKNOWN,
            moves_left: Self::MOVES_LEFT,
            policy_logits: vec![0.0; request.moves.len()],
        };
        requests.iter().map(uniform).collect()
    }
}
