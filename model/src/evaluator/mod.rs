//! Judges of positions: a small trait, implementations and wrappers.

mod cached;
mod load;
mod network;
mod request;
mod uniform;

pub use cached::CachedEvaluator;
pub use load::load_evaluator;
pub use network::NetEvaluator;
pub use request::{EvalRequest, Evaluation};
pub use uniform::UniformEvaluator;

/// Anything that can judge positions.
pub trait Evaluator: Send {
    /// One evaluation for each request, in the same order.
    ///
    /// What a request is batched with does not change its evaluation, so that a game's course
    /// depends on the game alone. [`CompiledEvaluator`](crate::CompiledEvaluator) and
    /// [`UniformEvaluator`] keep this promise to the last bit; [`NetEvaluator`] does as far as
    /// burn's kernels do, which may sum in another order for another batch.
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation>;
}

impl<E: Evaluator + ?Sized> Evaluator for Box<E> {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        (**self).evaluate(requests)
    }
}
