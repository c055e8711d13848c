//! From a net file to the fastest evaluator for it.

use rules::Variant;

use super::{Evaluator, NetEvaluator};
use crate::compiled::CompiledEvaluator;
use crate::net::{Net, NetShape};
use crate::net_file::load_weights;
use crate::{DeviceChoice, ModelError};

/// An evaluator for the net in `bytes`: kernels of our own on a CPU, burn on a GPU.
///
/// `origin` is the name that errors give to the bytes: a file name or URL.
///
/// # Errors
/// As [`load_net`](crate::load_net), and [`ModelError::Device`] for a device that is not there.
pub fn load_evaluator(
    bytes: &[u8],
    origin: &str,
    variant: &Variant,
    device: DeviceChoice,
) -> Result<Box<dyn Evaluator>, ModelError> {
    let (weights, meta) = load_weights(bytes, origin, variant)?;
    let Some(device) = device.gpu()? else {
        let evaluator = CompiledEvaluator::new(&weights, &meta.net, variant)
            .map_err(|error| error.at_origin(origin))?;
        return Ok(Box::new(evaluator));
    };
    let net = Net::from_weights(&weights, meta.net, NetShape::new(variant), &device)
        .map_err(|error| error.at_origin(origin))?;
    Ok(Box::new(NetEvaluator::new(&net, variant)))
}
