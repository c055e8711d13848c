//! Many searches, one batch of evaluations at a time.

use model::Evaluator;

use super::Search;

/// Drives all searches to their end: each round gathers one leaf from every unfinished search and evaluates them
/// together.
///
/// # Panics
/// If the evaluator does not return one evaluation a request.
pub fn run_lockstep(searches: &mut [Search], evaluator: &mut dyn Evaluator) {
    loop {
        let mut waiting = Vec::with_capacity(searches.len());
        let mut requests = Vec::with_capacity(searches.len());
        for search in searches.iter_mut() {
            if let Some(request) = search.gather() {
                requests.push(request);
                waiting.push(search);
            }
        }
        if requests.is_empty() {
            return;
        }
        let evaluations = evaluator.evaluate(&requests);
        assert_eq!(
            evaluations.len(),
            requests.len(),
            "one evaluation a request"
        );
        for (search, evaluation) in waiting.into_iter().zip(evaluations) {
            search.respond(evaluation);
        }
    }
}
