//! The compiled net as an evaluator.

use std::sync::Arc;

use rules::Variant;

use super::kernel::SimdLevel;
use super::program::{Program, Scratch};
use crate::evaluator::{EvalRequest, Evaluation, Evaluator};
use crate::net::NetConfig;
use crate::{ModelError, PolicyLayout, Weights};

/// A net on the CPU through our own kernels: several times as fast as burn, on one thread.
///
/// Clones share the compiled weights, so a clone for each thread costs only its buffers.
pub struct CompiledEvaluator {
    program: Arc<Program>,
    layout: PolicyLayout,
    scratch: Scratch,
}

impl CompiledEvaluator {
    /// Compiles a net with the fastest kernels that this machine can run.
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

    /// Compiles a net for one level of kernels.
    ///
    /// # Errors
    /// As [`new`](CompiledEvaluator::new), and [`ModelError::Device`] if this machine cannot run
    /// the level.
    pub fn with_level(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
        level: SimdLevel,
    ) -> Result<CompiledEvaluator, ModelError> {
        if !SimdLevel::available().contains(&level) {
            return Err(ModelError::Device {
                device: format!("cpu with {level:?}"),
                reason: format!("this machine can run {:?}", SimdLevel::available()),
            });
        }
        let program = Arc::new(Program::new(weights, config, variant, level)?);
        Ok(CompiledEvaluator {
            scratch: program.scratch(),
            program,
            layout: PolicyLayout::new(variant),
        })
    }

    fn evaluate_one(&mut self, request: &EvalRequest) -> Evaluation {
        let turn = request.position.turn();
        let (wdl, moves_left) =
            self.program
                .run(&request.position, request.repetitions, &mut self.scratch);
        let logit = |&mv| {
            self.program
                .policy_logit(self.layout.index(turn, mv), &self.scratch)
        };
        Evaluation {
            wdl,
            moves_left,
            policy_logits: request.moves.iter().map(logit).collect(),
        }
    }
}

impl Clone for CompiledEvaluator {
    fn clone(&self) -> CompiledEvaluator {
        CompiledEvaluator {
            program: Arc::clone(&self.program),
            layout: self.layout.clone(),
            scratch: self.program.scratch(),
        }
    }
}

impl Evaluator for CompiledEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        requests
            .iter()
            .map(|request| self.evaluate_one(request))
            .collect()
    }
}
