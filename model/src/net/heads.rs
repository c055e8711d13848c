//! What the tower's features say: moves, outcome, plies left.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::{relu, softplus};
use burn::tensor::{Device, Tensor};

use super::block::{BoardPooling, zero_conv1, zero_linear};
use super::{NetConfig, NetShape};

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

    /// Features `[batch, channels, ranks, files]` → query·key `[batch, cells + hand rows, cells]`
    /// and kind terms `[batch, kinds, cells]`
    pub fn forward(&self, x: Tensor<4>, board: &BoardPooling) -> (Tensor<3>, Tensor<3>) {
        let [batch, _, ranks, files] = x.dims();
        let cells = ranks * files;
        let key = self.key.forward(x.clone());
        let [_, dim, _, _] = key.dims();
        let key = key.reshape([batch, dim, cells]);
        let query = self.query.forward(x.clone()).reshape([batch, dim, cells]);
        let mut query = query.swap_dims(1, 2);
        if let Some(hand) = &self.hand {
            let rows = hand.forward(board.pool(x.clone()));
            let [_, width] = rows.dims();
            query = Tensor::cat(vec![query, rows.reshape([batch, width / dim, dim])], 1);
        }
        let scaled = query.mul_scalar(1.0 / (dim as f32).sqrt());
        let kind = self.kind.forward(x);
        let [_, kinds, _, _] = kind.dims();
        (scaled.matmul(key), kind.reshape([batch, kinds, cells]))
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
        let pooled = board.pool(relu(self.conv.forward(x)));
        let hidden = relu(self.hidden.forward(pooled));
        let moves_left = self.moves_left.forward(hidden.clone());
        (self.wdl.forward(hidden), softplus(moves_left, 1.0))
    }
}
