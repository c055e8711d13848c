//! From a net file to an evaluator for it.

use rules::Variant;

use super::{Evaluation, Evaluator, NetEvaluator};
use crate::bench::sample_requests;
use crate::compiled::CompiledEvaluator;
use crate::inference::Backend;
use crate::net::{Net, NetShape};
use crate::net_file::load_weights;
use crate::{DeviceChoice, Inference, ModelError};
use burn::tensor::Device;

/// Positions that a net is tried on.
const TRIED: usize = 8;

/// An evaluator for the net in `bytes`.
///
/// `origin` is the name that errors give to the bytes: a file name or URL. With
/// [`Inference::Auto`] it is the fastest that the device has; what that is, and why, says
/// [`Inference::choose`].
///
/// # Errors
/// As [`load_net`](crate::load_net), and [`ModelError::Device`] for a device that is not there or
/// cannot do what is asked of it.
pub fn load_evaluator(
    bytes: &[u8],
    origin: &str,
    variant: &Variant,
    device: DeviceChoice,
    inference: Inference,
) -> Result<Box<dyn Evaluator>, ModelError> {
    let (weights, meta) = load_weights(bytes, origin, variant)?;
    let device = match inference.choose(device)?.backend {
        Backend::Compiled(level, precision) => {
            let (net, compile) = (&meta.net, CompiledEvaluator::with_precision);
            let evaluator = compile(&weights, net, variant, level, precision);
            let evaluator = evaluator.map_err(|error| error.at_origin(origin))?;
            return tried(evaluator, variant, origin);
        }
        Backend::BurnCpu => Device::flex(),
        Backend::BurnGpu(device) => device,
    };
    let net = Net::from_weights(&weights, meta.net, NetShape::new(variant), &device)
        .map_err(|error| error.at_origin(origin))?;
    tried(NetEvaluator::new(&net, variant), variant, origin)
}

/// The evaluator, if what it says of some positions is finite: a net of finite weights may still be of no use.
fn tried<E: Evaluator + 'static>(
    mut evaluator: E,
    variant: &Variant,
    origin: &str,
) -> Result<Box<dyn Evaluator>, ModelError> {
    let requests = sample_requests(variant, TRIED, 0);
    let evaluations = evaluator.evaluate(&requests);
    match evaluations.iter().all(Evaluation::is_finite) {
        true => Ok(Box::new(evaluator)),
        false => Err(ModelError::Diverged {
            origin: origin.into(),
        }),
    }
}
