//! The compiled net as an evaluator.

use std::sync::Arc;

use rules::Variant;

use super::kernel::SimdLevel;
use super::precision::Precision;
use super::program::{Program, Scratch};
use crate::evaluator::{EvalRequest, Evaluation, Evaluator};
use crate::net::NetConfig;
use crate::{ModelError, Weights};

/// A net on the CPU through our own kernels: several times as fast as burn, on one thread.
///
/// Clones share the compiled weights, so a clone for each thread costs only its buffers.
pub struct CompiledEvaluator {
    program: Arc<Program>,
    scratch: Scratch,
}

impl CompiledEvaluator {
    /// Compiles a net in single precision with the fastest kernels that this machine can run.
    ///
    /// # Errors
    /// [`ModelError::Config`] for a bad size, [`ModelError::Weights`] if the weights do not fit it.
    pub fn new(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
    ) -> Result<CompiledEvaluator, ModelError> {
        CompiledEvaluator::with_level(weights, config, variant, SimdLevel::best())
    }

    /// Compiles a net in single precision for one level of kernels.
    ///
    /// # Errors
    /// As [`with_precision`](CompiledEvaluator::with_precision).
    pub fn with_level(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
        level: SimdLevel,
    ) -> Result<CompiledEvaluator, ModelError> {
        CompiledEvaluator::with_precision(weights, config, variant, level, Precision::F32)
    }

    /// Compiles a net for one level of kernels and one kind of numbers.
    ///
    /// # Errors
    /// As [`new`](CompiledEvaluator::new), and [`ModelError::Device`] if this machine cannot run
    /// the level or has no kernel for the precision there.
    pub fn with_precision(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
        level: SimdLevel,
        precision: Precision,
    ) -> Result<CompiledEvaluator, ModelError> {
        let refuse = |device: String, reason: String| Err(ModelError::Device { device, reason });
        let levels = SimdLevel::available();
        if !levels.contains(&level) {
            return refuse(
                format!("cpu with {level:?}"),
                format!("this machine can run {levels:?}"),
            );
        }
        let precisions = Precision::available(level);
        if !precisions.contains(&precision) {
            return refuse(
                format!("cpu with {level:?}"),
                format!(
                    "this machine can compute with {precisions:?} there, not with {precision:?}"
                ),
            );
        }
        let program = Program::new(weights, config, variant, (level, precision))?;
        Ok(CompiledEvaluator {
            scratch: program.scratch(),
            program: Arc::new(program),
        })
    }
}

impl CompiledEvaluator {
    /// Multiplications in the convolutions of one position as they are computed: by definition,
    /// with what lies beyond the board left out, or between the transforms of minimal filtering.
    /// The first convolution is none: it only adds up the weights of the men that are there.
    pub fn multiplications(&self) -> usize {
        self.program.multiplications()
    }
}

impl Clone for CompiledEvaluator {
    fn clone(&self) -> CompiledEvaluator {
        CompiledEvaluator {
            program: Arc::clone(&self.program),
            scratch: self.program.scratch(),
        }
    }
}

impl Evaluator for CompiledEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        requests
            .iter()
            .map(|request| self.program.run(request, &mut self.scratch))
            .collect()
    }
}
