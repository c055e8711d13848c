//! The tower with the heads' convolutions as an operation of burn's autodiff.
//!
//! An operation of burn has one output, the tower has several. So the operation's own output is a
//! single zero, on which one further operation for each true output depends: in the backward pass
//! these come first and leave their gradients in the tower's tape.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex, FlexDevice, GradientCheckpointingStrategy};
use burn::tensor::{Device, Tensor, TensorData};

use super::heads::Outputs;
use super::norm::BatchStatistics;
use super::tape::Backwards;
use super::tower::Tower;

/// A tensor that autodiff on the CPU works on.
pub type Tracked = FloatTensor<Autodiff<Flex>>;

/// Whether tensors of `device` can go through [`run`]: the CPU with autodiff that keeps what the
/// backward pass needs.
pub fn serves(device: &Device) -> bool {
    let strategy = device.gradient_checkpointing_strategy();
    strategy == Some(GradientCheckpointingStrategy::Disabled)
        && device.clone().without_autodiff() == Device::flex()
}

/// The outputs for `planes`, `[batch, planes, 10, 10]`, and the statistics of each normalisation.
/// Outputs have three dimensions, those that do not depend on a cell a first one of one.
/// `parameters` are in the order of the tower's plan; gradients flow to them alone.
///
/// # Panics
/// If the tensors are on a device that [`serves`] refuses.
pub fn run(
    tower: Tower,
    planes: Tensor<4>,
    parameters: Tensor<1>,
) -> (Outputs<Tensor<3>>, Vec<BatchStatistics>) {
    let [batch, ..] = planes.dims();
    let widths = tower.output_widths();
    let cells = tower.grid.cells();
    let planes = Box::new(Floats::new(primitive(planes).into_primitive()));
    let (parameters, node) = primitive(parameters).into_parts();
    let parameters = Floats::new(parameters).as_ref().to_vec();
    let (outputs, statistics, tape) = tower.forward(planes, parameters);
    let tape = Arc::new(Recording {
        tape,
        gradients: Mutex::default(),
    });
    let operation = TowerBackward.prepare::<NoCheckpointing>([node]);
    let zero = tensor(vec![0.0], vec![1]);
    let root = match operation.compute_bound().stateful() {
        OpsKind::Tracked(operation) => operation.finish(Arc::clone(&tape), zero),
        OpsKind::UnTracked(operation) => operation.finish(zero),
    };
    let wrap = |values: Vec<f32>, rows: usize, width: usize, slot: Slot| {
        let values = tensor(values, vec![batch, rows, width / rows]);
        let operation = OutputBackward.prepare::<NoCheckpointing>([root.node()]);
        let output: Tracked = match operation.compute_bound().stateful() {
            OpsKind::Tracked(operation) => operation.finish((Arc::clone(&tape), slot), values),
            OpsKind::UnTracked(operation) => operation.finish(values),
        };
        Tensor::from_primitive::<Autodiff<Flex>>(output)
    };
    let outputs = Outputs {
        query: wrap(outputs.query, cells, widths.query, |all| &mut all.query),
        key: wrap(outputs.key, cells, widths.key, |all| &mut all.key),
        kind: wrap(outputs.kind, cells, widths.kind, |all| &mut all.kind),
        value: wrap(outputs.value, 1, widths.value, |all| &mut all.value),
        pooled: wrap(outputs.pooled, 1, widths.pooled, |all| &mut all.pooled),
    };
    (outputs, statistics)
}

/// Picks the gradient of one output.
type Slot = fn(&mut Outputs<Option<Floats>>) -> &mut Option<Floats>;

/// A forward pass and what is known of the gradients of its outputs.
#[derive(Debug)]
struct Recording {
    tape: Box<dyn Backwards>,
    gradients: Mutex<Outputs<Option<Floats>>>,
}

#[derive(Debug)]
struct TowerBackward;

impl Backward<Flex, 1> for TowerBackward {
    type State = Arc<Recording>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        grads.consume::<Flex>(&ops.node);
        if let [Some(parameters)] = ops.parents {
            let gradients = &ops.state.gradients;
            let gradients =
                std::mem::take(&mut *gradients.lock().unwrap_or_else(PoisonError::into_inner));
            let slices = gradients
                .as_ref()
                .map(|given| given.as_ref().map(Floats::as_ref));
            let gradient = ops.state.tape.backward(&slices);
            let len = gradient.len();
            grads.register::<Flex>(parameters.id, tensor(gradient, vec![len]));
        }
    }
}

#[derive(Debug)]
struct OutputBackward;

impl Backward<Flex, 1> for OutputBackward {
    type State = (Arc<Recording>, Slot);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = Floats::new(grads.consume::<Flex>(&ops.node));
        let (recording, slot) = ops.state;
        let gradients = &recording.gradients;
        *slot(&mut gradients.lock().unwrap_or_else(PoisonError::into_inner)) = Some(gradient);
        if let [Some(root)] = ops.parents {
            grads.register::<Flex>(root.id, tensor(vec![0.0], vec![1]));
        }
    }
}

/// The tensor for operations of our own.
///
/// # Panics
/// If the tensor is on a device that [`serves`] refuses.
pub fn primitive<const D: usize>(tensor: Tensor<D>) -> Tracked {
    tensor
        .try_into_primitive::<Autodiff<Flex>>()
        .expect("the tensor is on the CPU with autodiff")
}

/// A new tensor on the CPU.
pub fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(values, shape), &FlexDevice)
}

/// The numbers of a tensor in order, without a copy where they are in order already.
#[derive(Clone, Debug)]
pub struct Floats(FloatTensor<Flex>);

impl Floats {
    pub fn new(tensor: FloatTensor<Flex>) -> Floats {
        Floats(tensor.to_contiguous())
    }
}

impl AsRef<[f32]> for Floats {
    fn as_ref(&self) -> &[f32] {
        self.0.as_slice::<f32>().expect("nets are made of f32")
    }
}
