//! A net's layers as inference needs them: batch normalisation folded into the convolutions.

use super::conv::ConvWeights;
use super::heads::Dense;
use crate::net::{NORM_EPSILON, NetConfig};
use crate::{ModelError, Weights};

/// The residual tower and the value head's convolution.
pub struct FoldedTower {
    pub blocks: Vec<FoldedBlock>,
    /// 1×1, on the tower's output.
    pub value: ConvWeights,
}

/// A residual block.
pub struct FoldedBlock {
    pub first: ConvWeights,
    /// From means and maxima of the first convolution's output to a bias for it.
    pub pooling: Option<Dense>,
    pub second: ConvWeights,
}

impl FoldedTower {
    /// Reads the tower of a net.
    pub fn new(weights: &Weights, config: &NetConfig) -> Result<FoldedTower, ModelError> {
        let channels = config.channels;
        let block = |index: usize| {
            let name = format!("blocks.{index}");
            let conv =
                |half: &str| conv_norm(weights, &format!("{name}.{half}"), channels, channels);
            let dense = || Dense::new(weights, &format!("{name}.pooling"), 2 * channels, channels);
            Ok(FoldedBlock {
                first: conv("first")?,
                pooling: config.pools(index).then(dense).transpose()?,
                second: conv("second")?,
            })
        };
        Ok(FoldedTower {
            blocks: (0..config.blocks)
                .map(block)
                .collect::<Result<_, ModelError>>()?,
            value: conv1(weights, "value.conv", channels, config.value_channels)?,
        })
    }
}

/// A 3×3 convolution with its batch normalisation folded in.
pub fn conv_norm(
    weights: &Weights,
    name: &str,
    inputs: usize,
    outputs: usize,
) -> Result<ConvWeights, ModelError> {
    let kernel = weights.expect(&format!("{name}.conv.weight"), &[outputs, inputs, 3, 3])?;
    let norm = |part: &str| weights.expect(&format!("{name}.norm.{part}"), &[outputs]);
    let (gamma, beta) = (norm("gamma")?, norm("beta")?);
    let (mean, variance) = (norm("running_mean")?, norm("running_var")?);
    let scale: Vec<f32> = gamma
        .iter()
        .zip(variance)
        .map(|(gamma, variance)| gamma / (variance + NORM_EPSILON as f32).sqrt())
        .collect();
    let scaled = |(kernel, scale): (&[f32], &f32)| -> Vec<f32> {
        kernel.iter().map(|w| w * scale).collect()
    };
    Ok(ConvWeights {
        taps: 3,
        inputs,
        outputs,
        weights: kernel
            .chunks_exact(inputs * 9)
            .zip(&scale)
            .flat_map(scaled)
            .collect(),
        bias: (0..outputs).map(|o| beta[o] - mean[o] * scale[o]).collect(),
    })
}

/// A 1×1 convolution.
pub fn conv1(
    weights: &Weights,
    name: &str,
    inputs: usize,
    outputs: usize,
) -> Result<ConvWeights, ModelError> {
    Ok(ConvWeights {
        taps: 1,
        inputs,
        outputs,
        weights: weights
            .expect(&format!("{name}.weight"), &[outputs, inputs, 1, 1])?
            .to_vec(),
        bias: weights
            .expect(&format!("{name}.bias"), &[outputs])?
            .to_vec(),
    })
}
