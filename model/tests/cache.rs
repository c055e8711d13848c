//! The cache answers as its inner evaluator would, stays bounded, and counts.

use model::{
    CachedEvaluator, EvalRequest, Evaluation, Evaluator, UniformEvaluator, sample_requests,
};
use rules::{Position, Variant};

/// Answers with something that depends on the position, the square that a pawn has passed over included.
struct KeyEvaluator;

impl Evaluator for KeyEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let mut answers = UniformEvaluator.evaluate(requests);
        for (answer, request) in answers.iter_mut().zip(requests) {
            let passed = request.position.ep_square().map_or(0.0, |_| 0.5);
            answer.moves_left = (request.position.key() % 1000) as f32 + passed;
        }
        answers
    }
}

#[test]
fn a_cache_changes_no_answer_and_asks_once() {
    let variant = Variant::by_name("falcon").expect("builtin");
    let requests = sample_requests(&variant, 60, 1);
    let expected = KeyEvaluator.evaluate(&requests);
    let mut cached = CachedEvaluator::new(KeyEvaluator, 10_000);
    assert_eq!(cached.evaluate(&requests), expected);
    let asked = cached.misses();
    assert_eq!(cached.evaluate(&requests), expected);
    assert_eq!(
        cached.misses(),
        asked,
        "the second time all come from memory"
    );
    assert_eq!(cached.hits() + cached.misses(), 120);
}

/// A pawn that has just come two steps is seen by a net even if it cannot be captured in passing.
#[test]
fn a_passed_square_makes_another_position() {
    let variant = Variant::by_name("chess").expect("builtin");
    let mut cached = CachedEvaluator::new(KeyEvaluator, 10);
    for passed in ["-", "e3"] {
        let fen = format!("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq {passed} 0 1");
        let position = Position::from_fen(&variant, &fen).expect("a legal position");
        let request = EvalRequest {
            moves: position.legal_moves(&variant),
            position,
            repetitions: 1,
        };
        let request = std::slice::from_ref(&request);
        assert_eq!(
            cached.evaluate(request),
            KeyEvaluator.evaluate(request),
            "{passed}"
        );
    }
}

#[test]
fn a_full_cache_forgets() {
    let variant = Variant::by_name("falcon").expect("builtin");
    let mut cached = CachedEvaluator::new(KeyEvaluator, 8);
    let requests = sample_requests(&variant, 60, 2);
    for request in &requests {
        let answer = cached.evaluate(std::slice::from_ref(request));
        assert_eq!(answer, KeyEvaluator.evaluate(std::slice::from_ref(request)));
    }
    let before = cached.misses();
    cached.evaluate(&requests[..1]);
    assert_eq!(
        cached.misses(),
        before + 1,
        "the first of sixty has been forgotten"
    );
    cached.set_capacity(200);
    cached.evaluate(&requests);
    let before = cached.misses();
    cached.evaluate(&requests);
    assert_eq!(cached.misses(), before, "now all sixty have room");
}
