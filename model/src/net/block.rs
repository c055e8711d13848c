//! Convolution with normalisation, the residual block, and global pooling.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Initializer, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};

use crate::training::BatchStatistics;

/// What is added to a variance in batch normalisation.
pub const NORM_EPSILON: f64 = 1e-5;

/// 3×3 convolution and batch normalisation.
#[derive(Module, Debug)]
pub struct ConvNorm {
    conv: Conv2d,
    norm: BatchNorm,
}

impl ConvNorm {
    pub fn new(channels_in: usize, channels_out: usize, device: &Device) -> ConvNorm {
        ConvNorm {
            conv: Conv2dConfig::new([channels_in, channels_out], [3, 3])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_bias(false)
                .with_initializer(Initializer::Zeros)
                .init(device),
            norm: BatchNormConfig::new(channels_out)
                .with_epsilon(NORM_EPSILON)
                .init(device),
        }
    }

    /// `[batch, in, ranks, files]` → `[batch, out, ranks, files]`
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.norm.forward(self.conv.forward(x))
    }

    /// Appends the parameters in the order of the tower's plan.
    pub fn collect_parameters(&self, out: &mut Vec<Tensor<1>>) {
        out.push(self.conv.weight.val().flatten(0, 3));
        out.push(self.norm.gamma.val());
        out.push(self.norm.beta.val());
    }

    /// Whether normalisation is by the batch's statistics.
    pub fn trains(&self) -> bool {
        self.norm.training.is_enabled()
    }

    /// Moves the running statistics towards a batch's, as [`BatchNorm`] does itself.
    pub fn update_running(&self, batch: BatchStatistics) {
        let momentum = self.norm.momentum;
        for (running, values) in [
            (&self.norm.running_mean, batch.mean),
            (&self.norm.running_var, batch.variance),
        ] {
            let old = running.value_sync();
            let channels = values.len();
            let new = Tensor::from_data(TensorData::new(values, [channels]), &old.device());
            let old = old.mul_scalar(1.0 - momentum);
            running.update(old.add(new.mul_scalar(momentum)).detach());
        }
    }
}

/// conv–norm–relu–conv–norm, plus the input, relu. With `pooling`, the means and maxima over the
/// board of the first half's output are mapped to a bias for each of its channels, as in KataGo
/// (Wu 2019, <https://arxiv.org/abs/1902.10565>, section 3.3).
#[derive(Module, Debug)]
pub struct Block {
    first: ConvNorm,
    pooling: Option<Linear>,
    second: ConvNorm,
}

impl Block {
    pub fn new(channels: usize, pools: bool, device: &Device) -> Block {
        Block {
            first: ConvNorm::new(channels, channels, device),
            pooling: pools.then(|| zero_linear(2 * channels, channels, device)),
            second: ConvNorm::new(channels, channels, device),
        }
    }

    /// Appends the parameters in the order of the tower's plan.
    pub fn collect_parameters(&self, out: &mut Vec<Tensor<1>>) {
        self.first.collect_parameters(out);
        if let Some(linear) = &self.pooling {
            out.push(linear.weight.val().flatten(0, 1));
            out.extend(linear.bias.as_ref().map(|bias| bias.val()));
        }
        self.second.collect_parameters(out);
    }

    /// First and second half.
    pub fn halves(&self) -> [&ConvNorm; 2] {
        [&self.first, &self.second]
    }

    /// `[batch, channels, ranks, files]` → the same
    pub fn forward(&self, x: Tensor<4>, board: &BoardPooling) -> Tensor<4> {
        let mut y = self.first.forward(x.clone());
        if let Some(linear) = &self.pooling {
            let bias = linear.forward(board.pool(relu(y.clone())));
            let [batch, channels] = bias.dims();
            y = y + bias.reshape([batch, channels, 1, 1]);
        }
        relu(self.second.forward(relu(y)) + x)
    }
}

/// A linear layer to be filled with weights.
pub fn zero_linear(inputs: usize, outputs: usize, device: &Device) -> Linear {
    LinearConfig::new(inputs, outputs)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

/// A 1×1 convolution to be filled with weights.
pub fn zero_conv1(inputs: usize, outputs: usize, device: &Device) -> Conv2d {
    Conv2dConfig::new([inputs, outputs], [1, 1])
        .with_initializer(Initializer::Zeros)
        .init(device)
}

/// Mean and maximum over the squares of the board.
pub struct BoardPooling {
    /// Squares that exist.
    pub squares: usize,
    /// `[batch, 1, ranks, files]`, 1 on squares that exist; none if all cells do.
    pub mask: Option<Tensor<4>>,
}

impl BoardPooling {
    /// `[batch, channels, ranks, files]`, nowhere negative → means then maxima
    /// `[batch, 2 · channels]`
    pub fn pool(&self, x: Tensor<4>) -> Tensor<2> {
        let x = match &self.mask {
            Some(mask) => x * mask.clone(),
            None => x,
        };
        let [batch, channels, ranks, files] = x.dims();
        let flat = x.reshape([batch, channels, ranks * files]);
        let mean = flat.clone().sum_dim(2).div_scalar(self.squares as f32);
        Tensor::cat(vec![mean, flat.max_dim(2)], 1).reshape([batch, 2 * channels])
    }
}
