//! The parameters of all convolutions as one flat list of numbers, which is what autodiff sees of them.

use std::ops::Range;

use crate::compiled::conv::ConvWeights;
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

/// Where the 1×1 convolution of a head is.
#[derive(Clone, Debug)]
pub struct HeadPlace {
    pub outputs: usize,
    /// `[outputs][channels]`
    pub weight: Range<usize>,
    pub bias: Range<usize>,
}

/// The order of the parameters: stem; for each block its first convolution, its pooling if it has
/// one, its second convolution; the heads' convolutions.
#[derive(Clone, Debug)]
pub struct ParameterPlan {
    /// Stem, then two for each block.
    pub convs: Vec<ConvPlace>,
    /// One for each block.
    pub pooling: Vec<Option<PoolingPlace>>,
    /// Query, key, kind, value.
    pub heads: [HeadPlace; 4],
    /// Numbers in all.
    pub len: usize,
}

impl ParameterPlan {
    /// The plan of a net.
    pub fn new(config: &NetConfig, shape: &NetShape) -> ParameterPlan {
        let channels = config.channels;
        let mut taken = 0;
        let mut take = |len: usize| {
            taken += len;
            taken - len..taken
        };
        let conv = |inputs, take: &mut dyn FnMut(usize) -> Range<usize>| ConvPlace {
            inputs,
            outputs: channels,
            weight: take(channels * inputs * 9),
            gamma: take(channels),
            beta: take(channels),
        };
        let mut convs = vec![conv(shape.planes, &mut take)];
        let mut pooling = Vec::new();
        for block in 0..config.blocks {
            convs.push(conv(channels, &mut take));
            pooling.push(config.pools(block).then(|| PoolingPlace {
                weight: take(2 * channels * channels),
                bias: take(channels),
            }));
            convs.push(conv(channels, &mut take));
        }
        let dim = config.policy_dim;
        let heads = [dim, dim, shape.kinds, config.value_channels].map(|outputs| HeadPlace {
            outputs,
            weight: take(outputs * channels),
            bias: take(outputs),
        });
        ParameterPlan {
            convs,
            pooling,
            heads,
            len: taken,
        }
    }
}

impl ConvPlace {
    /// The convolution's weights; channels of its input may be filled up with zeros to `inputs`.
    pub fn forward(&self, parameters: &[f32], inputs: usize) -> ConvWeights {
        let weight = &parameters[self.weight.clone()];
        let mut weights = Vec::with_capacity(self.outputs * inputs * 9);
        for output in weight.chunks_exact(self.inputs * 9) {
            weights.extend_from_slice(output);
            weights.resize(weights.len() + (inputs - self.inputs) * 9, 0.0);
        }
        ConvWeights {
            taps: 3,
            inputs,
            outputs: self.outputs,
            weights,
            bias: vec![0.0; self.outputs],
        }
    }

    /// The weights of the convolution that takes the gradient of the output to that of the input:
    /// inputs and outputs change places, taps are mirrored.
    pub fn transposed(&self, parameters: &[f32]) -> ConvWeights {
        let weight = &parameters[self.weight.clone()];
        let mut weights = vec![0.0; weight.len()];
        for (at, &value) in weight.iter().enumerate() {
            let (output, input, tap) = (at / 9 / self.inputs, at / 9 % self.inputs, at % 9);
            weights[(input * self.outputs + output) * 9 + 8 - tap] = value;
        }
        ConvWeights {
            taps: 3,
            inputs: self.outputs,
            outputs: self.inputs,
            weights,
            bias: vec![0.0; self.inputs],
        }
    }
}
