//! The CPU's own inference path.

use rules::Variant;

use crate::evaluator::{EvalRequest, Evaluation, Evaluator, NetEvaluator};
use crate::net::{Net, NetConfig, NetShape};
use crate::{Device, ModelError, Weights};

/// Instruction sets that there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// Plain Rust.
    Portable,
}

/// A net compiled for the CPU.
pub struct CompiledEvaluator {
    inner: NetEvaluator,
}

impl CompiledEvaluator {
    /// Compiles a net.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if the weights do not fit the configuration.
    pub fn new(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
    ) -> Result<CompiledEvaluator, ModelError> {
        let net = Net::from_weights(weights, *config, NetShape::new(variant), &Device::flex())?;
        Ok(CompiledEvaluator {
            inner: NetEvaluator::new(&net, variant),
        })
    }
}

impl Evaluator for CompiledEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        self.inner.evaluate(requests)
    }
}
