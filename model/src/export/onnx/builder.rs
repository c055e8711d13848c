//! Operators and constants of a graph, one after the other.

use std::ops::Range;

use super::proto::{Attribute, Constant, Data, Node};
use crate::compiled::folded_conv_norm;
use crate::{ModelError, Weights};

/// The name of a value in the graph.
#[derive(Debug, Clone)]
pub struct Value(String);

impl From<&str> for Value {
    fn from(name: &str) -> Value {
        Value(name.to_owned())
    }
}

/// Builds a graph from a net's weights. Values are named as they are given; the layers' are called as their weights, with `/`.
pub struct Builder<'a> {
    weights: &'a Weights,
    nodes: Vec<Node>,
    constants: Vec<Constant>,
}

impl<'a> Builder<'a> {
    /// An empty graph.
    pub fn new(weights: &'a Weights) -> Builder<'a> {
        Builder {
            weights,
            nodes: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// All operators in order, and all constants.
    pub fn finish(self) -> (Vec<Node>, Vec<Constant>) {
        (self.nodes, self.constants)
    }

    /// An operator without attributes.
    pub fn node(&mut self, op: &'static str, name: &str, inputs: &[&Value]) -> Value {
        self.operator(op, name, inputs, Vec::new())
    }

    /// max(x, 0)
    pub fn relu(&mut self, name: &str, x: &Value) -> Value {
        self.node("Relu", name, &[x])
    }

    /// A 3×3 convolution with its batch normalisation, `[batch, inputs, ranks, files]` → `[batch, outputs, ranks, files]`
    pub fn conv_norm(
        &mut self,
        layer: &str,
        x: &Value,
        inputs: usize,
        outputs: usize,
    ) -> Result<Value, ModelError> {
        let part = folded_conv_norm(self.weights, layer, inputs, outputs)?;
        let shape = [outputs, inputs, 3, 3];
        Ok(self.conv(layer, x, shape, part.weights, part.bias))
    }

    /// A 1×1 convolution, its outputs times `scale`.
    pub fn conv1(
        &mut self,
        layer: &str,
        x: &Value,
        inputs: usize,
        outputs: usize,
        scale: f32,
    ) -> Result<Value, ModelError> {
        let shape = [outputs, inputs, 1, 1];
        let (kernel, bias) = self.scaled(layer, &shape, outputs, scale)?;
        Ok(self.conv(layer, x, shape, kernel, bias))
    }

    /// A linear layer, its outputs times `scale`: `[batch, inputs]` → `[batch, outputs]`
    pub fn linear(
        &mut self,
        layer: &str,
        x: &Value,
        inputs: usize,
        outputs: usize,
        scale: f32,
    ) -> Result<Value, ModelError> {
        let (matrix, bias) = self.scaled(layer, &[inputs, outputs], outputs, scale)?;
        let matrix = self.floats(&format!("{layer}.weight"), &[inputs, outputs], matrix);
        let bias = self.floats(&format!("{layer}.bias"), &[outputs], bias);
        Ok(self.node("Gemm", &path(layer), &[x, &matrix, &bias]))
    }

    /// Parts of a tensor, by axis.
    pub fn slice(&mut self, name: &str, x: &Value, parts: &[(i64, Range<usize>)]) -> Value {
        let ranges = || parts.iter().map(|(_, range)| range);
        let starts = ranges().map(|range| range.start as i64).collect();
        let ends = ranges().map(|range| range.end as i64).collect();
        let starts = self.ints(&format!("{name}/starts"), starts);
        let ends = self.ints(&format!("{name}/ends"), ends);
        let axes = parts.iter().map(|(axis, _)| *axis).collect();
        let axes = self.ints(&format!("{name}/axes"), axes);
        self.node("Slice", name, &[x, &starts, &ends, &axes])
    }

    /// Another shape; 0 keeps an extent.
    pub fn reshape(&mut self, name: &str, x: &Value, shape: &[i64]) -> Value {
        let shape = self.ints(&format!("{name}/shape"), shape.to_vec());
        self.node("Reshape", name, &[x, &shape])
    }

    /// One more dimension, of extent 1.
    pub fn unsqueeze(&mut self, name: &str, x: &Value, axis: i64) -> Value {
        let axes = self.ints(&format!("{name}/axes"), vec![axis]);
        self.node("Unsqueeze", name, &[x, &axes])
    }

    /// `[batch, a, b]` → `[batch, b, a]`
    pub fn swap(&mut self, name: &str, x: &Value) -> Value {
        let order = Attribute::Ints(vec![0, 2, 1]);
        self.operator("Transpose", name, &[x], vec![("perm", order)])
    }

    /// One after the other along the dimension after the batch.
    pub fn concat(&mut self, name: &str, parts: &[&Value]) -> Value {
        self.operator("Concat", name, parts, vec![("axis", Attribute::Int(1))])
    }

    /// Probabilities from logits `[batch, n]`.
    pub fn softmax(&mut self, name: &str, x: &Value) -> Value {
        self.operator("Softmax", name, &[x], vec![("axis", Attribute::Int(1))])
    }

    /// `[batch, channels, ranks, files]` → sums over `squares` divided by their number, `[batch, channels]`
    pub fn mean(&mut self, name: &str, x: &Value, squares: usize) -> Value {
        let axes = self.ints(&format!("{name}/axes"), vec![2, 3]);
        let flat = vec![("keepdims", Attribute::Int(0))];
        let sum = self.operator("ReduceSum", &format!("{name}/sum"), &[x, &axes], flat);
        let share = self.scalar(&format!("{name}/share"), 1.0 / squares as f32);
        self.node("Mul", &format!("{name}/mean"), &[&sum, &share])
    }

    /// `[batch, channels, ranks, files]` → `[batch, channels]`
    pub fn maximum(&mut self, name: &str, x: &Value) -> Value {
        let attributes = vec![
            ("axes", Attribute::Ints(vec![2, 3])),
            ("keepdims", Attribute::Int(0)),
        ];
        self.operator("ReduceMax", name, &[x], attributes)
    }

    /// A single number.
    pub fn scalar(&mut self, name: &str, value: f32) -> Value {
        self.floats(name, &[], vec![value])
    }

    fn conv(
        &mut self,
        layer: &str,
        x: &Value,
        shape: [usize; 4],
        kernel: Vec<f32>,
        bias: Vec<f32>,
    ) -> Value {
        let [outputs, _, taps, _] = shape;
        let kernel = self.floats(&format!("{layer}.weight"), &shape, kernel);
        let bias = self.floats(&format!("{layer}.bias"), &[outputs], bias);
        let (taps, border) = (taps as i64, taps as i64 / 2);
        let attributes = vec![
            ("kernel_shape", Attribute::Ints(vec![taps; 2])),
            ("pads", Attribute::Ints(vec![border; 4])),
        ];
        self.operator("Conv", &path(layer), &[x, &kernel, &bias], attributes)
    }

    fn scaled(
        &self,
        layer: &str,
        shape: &[usize],
        outputs: usize,
        scale: f32,
    ) -> Result<(Vec<f32>, Vec<f32>), ModelError> {
        let scaled = |part: &str, shape: &[usize]| {
            let data = self.weights.expect(&format!("{layer}.{part}"), shape)?;
            Ok::<_, ModelError>(data.iter().map(|x| x * scale).collect())
        };
        Ok((scaled("weight", shape)?, scaled("bias", &[outputs])?))
    }

    fn operator(
        &mut self,
        op: &'static str,
        name: &str,
        inputs: &[&Value],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Value {
        self.nodes.push(Node {
            op,
            inputs: inputs.iter().map(|value| value.0.clone()).collect(),
            output: name.to_owned(),
            attributes,
        });
        Value(name.to_owned())
    }

    fn floats(&mut self, name: &str, shape: &[usize], data: Vec<f32>) -> Value {
        self.constant(name, shape, Data::Floats(data))
    }

    fn ints(&mut self, name: &str, data: Vec<i64>) -> Value {
        self.constant(name, &[data.len()], Data::Ints(data))
    }

    fn constant(&mut self, name: &str, shape: &[usize], data: Data) -> Value {
        self.constants.push(Constant {
            name: name.to_owned(),
            shape: shape.to_vec(),
            data,
        });
        Value(name.to_owned())
    }
}

/// The value's name of a layer.
fn path(layer: &str) -> String {
    format!("/{}", layer.replace('.', "/"))
}
