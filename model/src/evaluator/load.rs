//! From a net file to an evaluator for it.

use rules::Variant;

use super::{Evaluator, NetEvaluator};
use crate::compiled::CompiledEvaluator;
use crate::inference::Backend;
use crate::net::{Net, NetShape};
use crate::net_file::load_weights;
use crate::{DeviceChoice, Inference, ModelError};
use burn::tensor::Device;

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
            return Ok(Box::new(
                evaluator.map_err(|error| error.at_origin(origin))?,
            ));
        }
        Backend::BurnCpu => Device::flex(),
        Backend::BurnGpu(device) => device,
    };
    let net = Net::from_weights(&weights, meta.net, NetShape::new(variant), &device)
        .map_err(|error| error.at_origin(origin))?;
    Ok(Box::new(NetEvaluator::new(&net, variant)))
}
