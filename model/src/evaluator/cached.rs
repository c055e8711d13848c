//! An evaluator that remembers.

use std::collections::HashMap;

use rules::{Move, Square};

use super::{EvalRequest, Evaluation, Evaluator};

/// Remembers the evaluations of another evaluator by all that an encoded position depends on:
/// its key, the square that a pawn has just passed over (which the key leaves out where no pawn
/// can capture there), its repetitions and its halfmove clock.
///
/// The memory is two generations of at most `capacity / 2` entries: a full young generation
/// becomes the old one, whose entries are forgotten unless they are asked for again. What is in
/// memory never changes an answer as long as the inner evaluator does not depend on its batches.
pub struct CachedEvaluator<E> {
    inner: E,
    half: usize,
    young: HashMap<Key, Entry>,
    old: HashMap<Key, Entry>,
    hits: u64,
    misses: u64,
}

type Key = (u64, Option<Square>, u8, u16);

/// An evaluation with the moves that it is about, because equal keys do not promise equal order.
#[derive(Clone)]
struct Entry {
    moves: Vec<Move>,
    evaluation: Evaluation,
}

impl<E: Evaluator> CachedEvaluator<E> {
    /// Wraps `inner` with a memory of at most `capacity` positions.
    pub fn new(inner: E, capacity: usize) -> CachedEvaluator<E> {
        CachedEvaluator {
            inner,
            half: half_of(capacity),
            young: HashMap::new(),
            old: HashMap::new(),
            hits: 0,
            misses: 0,
        }
    }

    /// Requests answered from memory so far.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Requests handed on to the inner evaluator so far.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    /// Remembers at most `capacity` positions from now on.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.half = half_of(capacity);
        self.old.clear();
        if self.young.len() > self.half {
            self.young.clear();
        }
    }

    /// Forgets everything, as must be done when the inner evaluator changes.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    fn recall(&mut self, request: &EvalRequest) -> Option<Evaluation> {
        let key = key_of(request);
        if let Some(entry) = self.young.get(&key) {
            return entry.answer(request);
        }
        let entry = self.old.remove(&key)?;
        let answer = entry.answer(request);
        self.remember(key, entry);
        answer
    }

    fn remember(&mut self, key: Key, entry: Entry) {
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }
}

/// Positions of each of the two halves.
fn half_of(capacity: usize) -> usize {
    (capacity / 2).max(1)
}

impl Entry {
    fn answer(&self, request: &EvalRequest) -> Option<Evaluation> {
        (self.moves == request.moves).then(|| self.evaluation.clone())
    }
}

fn key_of(request: &EvalRequest) -> Key {
    let position = &request.position;
    (
        position.key(),
        position.ep_square(),
        request.repetitions,
        position.halfmove_clock(),
    )
}

impl<E: Evaluator> Evaluator for CachedEvaluator<E> {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let mut answers: Vec<Option<Evaluation>> = requests
            .iter()
            .map(|request| self.recall(request))
            .collect();
        let missing: Vec<EvalRequest> = requests
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| answer.is_none())
            .map(|(request, _)| request.clone())
            .collect();
        self.misses += missing.len() as u64;
        self.hits += (requests.len() - missing.len()) as u64;
        if !missing.is_empty() {
            let evaluations = self.inner.evaluate(&missing);
            let gaps = answers.iter_mut().filter(|answer| answer.is_none());
            for ((gap, evaluation), request) in gaps.zip(evaluations).zip(missing) {
                *gap = Some(evaluation.clone());
                let key = key_of(&request);
                let moves = request.moves;
                self.remember(key, Entry { moves, evaluation });
            }
        }
        let answer = |answer: Option<Evaluation>| answer.expect("every gap has been filled");
        answers.into_iter().map(answer).collect()
    }
}
