//! A net's parameters as one flat vector of numbers, in the order in which the module lists them.
//!
//! Optimizer, weight averaging and checkpoints work on flat vectors, so they are plain loops over numbers that can be
//! checked by hand and stored without surprises. It also keeps averaged weights apart from the trained ones: cloning a
//! burn module shares the running statistics of its batch normalisation, copying numbers does not.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use std::ops::Range;

/// Where one parameter lies in the flat vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Path of the parameter in the module, for instance `trunk.0.conv1.weight`.
    pub name: String,
    /// Shape of the parameter's tensor.
    pub shape: Vec<usize>,
    /// Its numbers in the flat vectors.
    pub range: Range<usize>,
    /// Whether the optimizer moves it; running statistics of batch normalisation are not moved.
    pub trained: bool,
}

impl Slot {
    /// Whether weight decay applies: to matrices and kernels, not to biases and normalisation scales, whose size says
    /// nothing about the complexity of the function.
    pub fn decayed(&self) -> bool {
        self.trained && self.shape.len() >= 2
    }
}

/// The parameters of `module`, which lives on an autodiff device, in flat order.
pub fn slots<M: Module>(module: &M) -> Vec<Slot> {
    let mut visitor = SlotVisitor::default();
    module.visit(&mut visitor);
    visitor.slots
}

/// The values of all parameters, running statistics included: `[sum of the slots' lengths]`.
pub fn values<M: Module>(module: &M) -> Vec<f32> {
    // A running statistic holds back its last update until somebody asks for it in training; `valid` makes it settle.
    let _settled = module.valid();
    let mut visitor = ValueVisitor::default();
    module.visit(&mut visitor);
    visitor.read()
}

/// The gradients in flat order, zeros where a parameter has none.
pub fn gradients<M: Module>(module: &M, gradients: &mut Gradients) -> Vec<f32> {
    let mut visitor = GradientVisitor {
        gradients,
        found: Vec::new(),
    };
    module.visit(&mut visitor);
    read_flat(visitor.found)
}

/// `module` with its trained parameters replaced by `values`; running statistics stay as they are.
pub fn with_trained<M: Module>(module: M, slots: &[Slot], values: &[f32]) -> M {
    replace(module, slots, values, false)
}

/// `module` with all parameters replaced by `values`, running statistics included.
///
/// The statistics are shared with every clone of `module`, so give it one that nothing else uses.
pub fn with_all<M: Module>(module: M, slots: &[Slot], values: &[f32]) -> M {
    let _settled = module.valid();
    replace(module, slots, values, true)
}

fn replace<M: Module>(module: M, slots: &[Slot], values: &[f32], statistics: bool) -> M {
    let mut mapper = ReplaceMapper {
        slots: slots.iter(),
        values,
        statistics,
    };
    module.map(&mut mapper)
}

#[derive(Default)]
struct SlotVisitor {
    path: Vec<String>,
    slots: Vec<Slot>,
    length: usize,
}

impl ModuleVisitor for SlotVisitor {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let shape = param.val().dims().to_vec();
        let count = shape.iter().product::<usize>();
        self.slots.push(Slot {
            name: self.path.join("."),
            shape,
            range: self.length..self.length + count,
            trained: param.is_require_grad(),
        });
        self.length += count;
    }
}

#[derive(Default)]
struct ValueVisitor {
    found: Vec<Tensor<1>>,
}

impl ValueVisitor {
    fn read(self) -> Vec<f32> {
        read_flat(self.found)
    }
}

impl ModuleVisitor for ValueVisitor {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push(flat(param.val().without_autodiff()));
    }
}

struct GradientVisitor<'a> {
    gradients: &'a mut Gradients,
    found: Vec<Tensor<1>>,
}

impl ModuleVisitor for GradientVisitor<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let gradient = param
            .is_require_grad()
            .then(|| value.grad_remove(self.gradients))
            .flatten()
            .unwrap_or_else(|| value.without_autodiff().zeros_like());
        self.found.push(flat(gradient));
    }
}

struct ReplaceMapper<'a> {
    slots: std::slice::Iter<'a, Slot>,
    values: &'a [f32],
    statistics: bool,
}

impl ModuleMapper for ReplaceMapper<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let slot = self
            .slots
            .next()
            .expect("the module has as many parameters as it has slots");
        if !slot.trained && !self.statistics {
            return param;
        }
        let data = TensorData::new(self.values[slot.range.clone()].to_vec(), slot.shape.clone());
        param.map(|old| {
            let new = Tensor::from_data(data, &old.device());
            if slot.trained {
                new.require_grad()
            } else {
                new
            }
        })
    }
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count = tensor.dims().iter().product::<usize>();
    tensor.reshape([count])
}

/// Reads many tensors in one transfer from the device.
fn read_flat(tensors: Vec<Tensor<1>>) -> Vec<f32> {
    Tensor::cat(tensors, 0)
        .try_into_vec_as()
        .expect("the device hands back its numbers")
}
