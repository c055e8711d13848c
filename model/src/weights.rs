//! A net's numbers outside any device: what is averaged, stored and compiled.

use std::collections::BTreeMap;

use crate::ModelError;

/// One tensor with its shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Extent of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, last dimension fastest.
    pub data: Vec<f32>,
}

/// All parameters and running statistics of a net, by dotted path (`blocks.0.first.conv.weight`).
///
/// Names and shapes are burn's: convolutions are `[out, in, height, width]`, linear layers
/// `[in, out]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    tensors: BTreeMap<String, NamedTensor>,
}

impl Weights {
    /// Adds or replaces a tensor.
    ///
    /// # Panics
    /// If the shape and the number of floats disagree.
    pub fn insert(&mut self, name: impl Into<String>, tensor: NamedTensor) {
        let name = name.into();
        let expected: usize = tensor.shape.iter().product();
        assert_eq!(
            tensor.data.len(),
            expected,
            "floats of {name} {:?}",
            tensor.shape
        );
        self.tensors.insert(name, tensor);
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Option<&NamedTensor> {
        self.tensors.get(name)
    }

    /// All tensors in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &NamedTensor)> {
        self.tensors
            .iter()
            .map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// Moves every number the fraction `step` of the way towards `target`: an exponential moving
    /// average with decay `1 − step`.
    ///
    /// # Panics
    /// If `target` is of another net.
    pub fn lerp(&mut self, target: &Weights, step: f32) {
        assert_eq!(
            self.tensors.len(),
            target.tensors.len(),
            "tensors of the two nets"
        );
        for ((name, mine), (other_name, theirs)) in self.tensors.iter_mut().zip(&target.tensors) {
            assert_eq!(
                (name, &mine.shape),
                (other_name, &theirs.shape),
                "averaged tensors"
            );
            for (a, b) in mine.data.iter_mut().zip(&theirs.data) {
                *a += (b - *a) * step;
            }
        }
    }

    /// The numbers of tensor `name`, which must have this shape.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if it is missing or of another shape.
    pub fn expect(&self, name: &str, shape: &[usize]) -> Result<&[f32], ModelError> {
        let reason = match self.get(name) {
            Some(tensor) if tensor.shape == shape => return Ok(&tensor.data),
            Some(tensor) => format!("tensor {name} is {:?}, not {shape:?}", tensor.shape),
            None => format!("tensor {name} {shape:?} is missing"),
        };
        Err(ModelError::Weights {
            origin: "the net".into(),
            reason,
        })
    }
}
