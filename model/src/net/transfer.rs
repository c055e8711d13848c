//! Weights out of a burn module and into one.
//!
//! Records would do as well; walking the module ourselves gives plain names, works the same for
//! parameters and running statistics, and reports every mismatch as an error.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};

use super::Net;
use crate::{ModelError, NamedTensor, Weights};

/// Copies all float tensors out of `net`.
pub fn collect(net: &Net) -> Weights {
    // `valid` merges what each training thread has added to the running statistics.
    let net = net.valid();
    let mut collector = Collector::default();
    net.visit(&mut collector);
    collector.weights
}

/// Puts `weights` into `net`.
pub fn fill(net: Net, weights: &Weights) -> Result<Net, ModelError> {
    let mut filler = Filler {
        path: Vec::new(),
        weights,
        used: 0,
        error: None,
    };
    let net = net.map(&mut filler);
    if let Some(error) = filler.error {
        return Err(error);
    }
    let given = weights.iter().count();
    if given != filler.used {
        return Err(ModelError::Weights {
            origin: "the net".into(),
            reason: format!("{given} tensors given, {} needed", filler.used),
        });
    }
    Ok(net)
}

#[derive(Default)]
struct Collector {
    path: Vec<String>,
    weights: Weights,
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let data = tensor
            .try_into_vec_as::<f32>()
            .expect("the device hands back its weights");
        self.weights
            .insert(self.path.join("."), NamedTensor { shape, data });
    }
}

struct Filler<'a> {
    path: Vec<String>,
    weights: &'a Weights,
    used: usize,
    error: Option<ModelError>,
}

impl ModuleMapper for Filler<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.used += 1;
        param.map(|old| {
            let shape = old.dims();
            match self.weights.expect(&self.path.join("."), &shape) {
                Ok(data) => {
                    let data = TensorData::new(data.to_vec(), shape);
                    let new = Tensor::from_data(data, &old.device());
                    new.set_require_grad(old.is_require_grad())
                }
                Err(error) => {
                    self.error.get_or_insert(error);
                    old
                }
            }
        })
    }
}
