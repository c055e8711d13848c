//! What the tower's features say: moves, outcome, plies left.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::{relu, softplus};
use burn::tensor::{Device, Tensor};

use super::block::{BoardPooling, zero_conv1, zero_linear};
use super::output::{Policy, PolicyVectors};
use super::{NetConfig, NetShape};
use crate::training::Outputs;

/// Source–destination policy: a logit is the product of the query of where a man comes from and the
/// key of where it goes, plus a term of the kind of move at its goal. Attention-like heads of this
/// form are used by Leela Chess Zero; here the query of a man in hand comes from the whole board.
#[derive(Module, Debug)]
pub struct PolicyHead {
    query: Conv2d,
    key: Conv2d,
    kind: Conv2d,
    hand: Option<Linear>,
}

impl PolicyHead {
    pub fn new(config: &NetConfig, shape: &NetShape, device: &Device) -> PolicyHead {
        let (channels, dim) = (config.channels, config.policy_dim);
        PolicyHead {
            query: zero_conv1(channels, dim, device),
            key: zero_conv1(channels, dim, device),
            kind: zero_conv1(channels, shape.kinds, device),
            hand: (shape.hand_rows > 0)
                .then(|| zero_linear(2 * channels, shape.hand_rows * dim, device)),
        }
    }

    /// Features `[batch, channels, ranks, files]` → all products and terms
    pub fn forward(&self, x: Tensor<4>, board: &BoardPooling) -> Policy {
        let [batch, _, ranks, files] = x.dims();
        let cells = ranks * files;
        let key = self.key.forward(x.clone());
        let [_, dim, _, _] = key.dims();
        let key = key.reshape([batch, dim, cells]);
        let query = self.query.forward(x.clone()).reshape([batch, dim, cells]);
        let mut query = query.swap_dims(1, 2);
        if self.hand.is_some() {
            let hand = self.hand_queries(board.pool(x.clone()), dim);
            query = Tensor::cat([query].into_iter().chain(hand).collect(), 1);
        }
        let scaled = query.mul_scalar(1.0 / (dim as f32).sqrt());
        let kind = self.kind.forward(x);
        let [_, kinds, _, _] = kind.dims();
        Policy::Matrix {
            qk: scaled.matmul(key),
            kind: kind.reshape([batch, kinds, cells]),
        }
    }

    /// Pooled features `[batch, 2 · channels]` → queries of men in hand
    /// `[batch, hand rows, policy_dim]`, none without hands
    fn hand_queries(&self, pooled: Tensor<2>, dim: usize) -> Option<Tensor<3>> {
        let rows = self.hand.as_ref()?.forward(pooled);
        let [batch, width] = rows.dims();
        Some(rows.reshape([batch, width / dim, dim]))
    }

    /// What the convolutions and the pooling of our own kernels give → the policy
    pub fn finish(&self, outputs: &Outputs<Tensor<3>>) -> Policy {
        let [_, _, dim] = outputs.query.dims();
        let pooled = outputs.pooled.clone();
        Policy::Vectors(PolicyVectors {
            query: outputs.query.clone(),
            key: outputs.key.clone(),
            kind: outputs.kind.clone(),
            hand: (self.hand.is_some())
                .then(|| pooled.squeeze_dim(1))
                .and_then(|pooled| self.hand_queries(pooled, dim)),
        })
    }

    /// Appends the convolutions' parameters in the order of the tower's plan.
    pub fn collect_parameters(&self, out: &mut Vec<Tensor<1>>) {
        for conv in [&self.query, &self.key, &self.kind] {
            collect_conv(conv, out);
        }
    }
}

/// Outcome and plies left, from a few channels pooled over the board.
#[derive(Module, Debug)]
pub struct ValueHead {
    conv: Conv2d,
    hidden: Linear,
    wdl: Linear,
    moves_left: Linear,
}

impl ValueHead {
    pub fn new(config: &NetConfig, device: &Device) -> ValueHead {
        let (channels, hidden) = (config.value_channels, config.value_hidden);
        ValueHead {
            conv: zero_conv1(config.channels, channels, device),
            hidden: zero_linear(2 * channels, hidden, device),
            wdl: zero_linear(hidden, 3, device),
            moves_left: zero_linear(hidden, 1, device),
        }
    }

    /// Features `[batch, channels, ranks, files]` → WDL logits `[batch, 3]` and moves left
    /// `[batch, 1]`
    pub fn forward(&self, x: Tensor<4>, board: &BoardPooling) -> (Tensor<2>, Tensor<2>) {
        self.finish(board.pool(relu(self.conv.forward(x))))
    }

    /// Pooled channels `[batch, 2 · value_channels]` → the same
    pub fn finish(&self, pooled: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let hidden = relu(self.hidden.forward(pooled));
        let moves_left = self.moves_left.forward(hidden.clone());
        (self.wdl.forward(hidden), softplus(moves_left, 1.0))
    }
    /// Appends the convolution's parameters in the order of the tower's plan.
    pub fn collect_parameters(&self, out: &mut Vec<Tensor<1>>) {
        collect_conv(&self.conv, out);
    }
}

fn collect_conv(conv: &Conv2d, out: &mut Vec<Tensor<1>>) {
    out.push(conv.weight.val().flatten(0, 3));
    out.extend(conv.bias.as_ref().map(|bias| bias.val()));
}
