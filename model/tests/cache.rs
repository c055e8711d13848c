//! The cache answers as its inner evaluator would, stays bounded, and counts.

use model::{
    CachedEvaluator, EvalRequest, Evaluation, Evaluator, UniformEvaluator, sample_requests,
};
use rules::Variant;

/// Answers with something that depends on the position.
struct KeyEvaluator;

impl Evaluator for KeyEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let mut answers = UniformEvaluator.evaluate(requests);
        for (answer, request) in answers.iter_mut().zip(requests) {
            answer.moves_left = (request.position.key() % 1000) as f32;
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
}
