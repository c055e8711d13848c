//! The tower as an operation of burn's autodiff.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex, FlexDevice, GradientCheckpointingStrategy};
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::Arc;

use super::norm::BatchStatistics;
use super::tower::{Tape, Tower};

/// Whether tensors of `device` can go through [`run`]: the CPU with autodiff that keeps what the
/// backward pass needs.
pub fn serves(device: &Device) -> bool {
    let strategy = device.gradient_checkpointing_strategy();
    strategy == Some(GradientCheckpointingStrategy::Disabled)
        && device.clone().without_autodiff() == Device::flex()
}

/// The features, `[batch, channels, ranks, files]`, of `planes`, `[batch, planes, 10, 10]`, and
/// the statistics of each normalisation. `parameters` are in the order of the tower's plan;
/// gradients flow to them alone.
///
/// # Panics
/// If the tensors are on a device that [`serves`] refuses.
pub fn run(
    tower: Tower,
    planes: Tensor<4>,
    parameters: Tensor<1>,
) -> (Tensor<4>, Vec<BatchStatistics>) {
    let (ranks, files, channels) = (tower.grid.ranks, tower.grid.files, tower.channels);
    let [batch, ..] = planes.dims();
    let planes = floats(primitive(planes).into_primitive());
    let (parameters, node) = primitive(parameters).into_parts();
    let (features, statistics, tape) = tower.forward(planes, floats(parameters));
    let features = tensor(features, vec![batch, channels, ranks, files]);
    let operation = TowerBackward.prepare::<NoCheckpointing>([node]);
    let output = match operation.compute_bound().stateful() {
        OpsKind::Tracked(operation) => operation.finish(Arc::new(tape), features),
        OpsKind::UnTracked(operation) => operation.finish(features),
    };
    (Tensor::from_primitive::<Autodiff<Flex>>(output), statistics)
}

fn primitive<const D: usize>(tensor: Tensor<D>) -> FloatTensor<Autodiff<Flex>> {
    tensor
        .try_into_primitive::<Autodiff<Flex>>()
        .expect("the tensor is on the CPU with autodiff")
}

/// The numbers of a tensor, in order.
fn floats(tensor: FloatTensor<Flex>) -> Vec<f32> {
    let data = tensor.into_data();
    data.try_into_vec::<f32>().expect("nets are made of f32")
}

fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(values, shape), &FlexDevice)
}

#[derive(Debug)]
struct TowerBackward;

impl Backward<Flex, 1> for TowerBackward {
    type State = Arc<Tape>;

    fn backward(self, ops: Ops<Arc<Tape>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = floats(grads.consume::<Flex>(&ops.node));
        if let [Some(parameters)] = ops.parents {
            let gradient = ops.state.backward(&gradient);
            let len = gradient.len();
            grads.register::<Flex>(parameters.id, tensor(gradient, vec![len]));
        }
    }
}
