//! The tower's parameters as one flat list of numbers, which is what autodiff sees of them.

use std::ops::Range;

use crate::compiled::conv::{Conv, ConvWeights};
use crate::compiled::kernel::SimdLevel;
use crate::net::{NetConfig, NetShape};

/// Where a convolution and its normalisation are.
#[derive(Clone, Debug)]
pub struct ConvPlace {
    pub inputs: usize,
    pub outputs: usize,
    /// `[outputs][inputs][3][3]`
    pub weight: Range<usize>,
    pub gamma: Range<usize>,
    pub beta: Range<usize>,
}

/// Where the linear layer of a block's global pooling is.
#[derive(Clone, Debug)]
pub struct PoolingPlace {
    /// `[2 · channels][channels]`
    pub weight: Range<usize>,
    pub bias: Range<usize>,
}

/// The order of the parameters: stem; for each block its first convolution, its pooling if it has
/// one, its second convolution.
#[derive(Clone, Debug)]
pub struct ParameterPlan {
    /// Stem, then two for each block.
    pub convs: Vec<ConvPlace>,
    /// One for each block.
    pub pooling: Vec<Option<PoolingPlace>>,
    /// Numbers in all.
    pub len: usize,
}

impl ParameterPlan {
    /// The plan of a net's tower.
    pub fn new(config: &NetConfig, shape: &NetShape) -> ParameterPlan {
        let channels = config.channels;
        let mut plan = ParameterPlan {
            convs: Vec::new(),
            pooling: Vec::new(),
            len: 0,
        };
        plan.conv(shape.planes, channels);
        for block in 0..config.blocks {
            plan.conv(channels, channels);
            let pooling = config.pools(block).then(|| PoolingPlace {
                weight: plan.take(2 * channels * channels),
                bias: plan.take(channels),
            });
            plan.pooling.push(pooling);
            plan.conv(channels, channels);
        }
        plan
    }

    fn conv(&mut self, inputs: usize, outputs: usize) {
        let place = ConvPlace {
            inputs,
            outputs,
            weight: self.take(outputs * inputs * 9),
            gamma: self.take(outputs),
            beta: self.take(outputs),
        };
        self.convs.push(place);
    }

    fn take(&mut self, len: usize) -> Range<usize> {
        let start = self.len;
        self.len += len;
        start..self.len
    }
}

impl ConvPlace {
    /// The convolution for a kernel; channels of its input may be filled up with zeros to
    /// `inputs`.
    pub fn forward(&self, level: SimdLevel, parameters: &[f32], inputs: usize) -> Conv {
        let weight = &parameters[self.weight.clone()];
        let mut weights = Vec::with_capacity(self.outputs * inputs * 9);
        for output in weight.chunks_exact(self.inputs * 9) {
            weights.extend_from_slice(output);
            weights.resize(weights.len() + (inputs - self.inputs) * 9, 0.0);
        }
        let part = ConvWeights {
            taps: 3,
            inputs,
            outputs: self.outputs,
            weights,
            bias: vec![0.0; self.outputs],
        };
        Conv::pack(level, &[part])
    }

    /// The convolution that takes the gradient of the output to that of the input: inputs and
    /// outputs change places, taps are mirrored.
    pub fn transposed(&self, level: SimdLevel, parameters: &[f32]) -> Conv {
        let weight = &parameters[self.weight.clone()];
        let mut weights = vec![0.0; weight.len()];
        for (at, &value) in weight.iter().enumerate() {
            let (output, input, tap) = (at / 9 / self.inputs, at / 9 % self.inputs, at % 9);
            weights[(input * self.outputs + output) * 9 + 8 - tap] = value;
        }
        let part = ConvWeights {
            taps: 3,
            inputs: self.outputs,
            outputs: self.inputs,
            weights,
            bias: vec![0.0; self.inputs],
        };
        Conv::pack(level, &[part])
    }
}
