//! The whole net.

use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::block::{Block, BoardPooling, ConvNorm};
use super::heads::{PolicyHead, ValueHead};
use super::init::initial_weights;
use super::{NetConfig, NetOutput, NetShape};
use crate::board::GRID;
use crate::encoding::BOARD_PLANE;
use crate::training::{self, Buffers, Tower, TrainingPrecision};
use crate::{ModelError, SimdLevel, Weights};

/// A network for one variant: encoded positions in, [`NetOutput`] out.
///
/// The tower works on the bounding rectangle of the variant's board, so a small board costs less
/// than the 10×10 of the planes, and its border is the zero padding of the convolutions.
///
/// Cloning shares the running statistics of batch normalisation, so training a clone changes the
/// original; [`snapshot`](Net::snapshot) and [`weights`](Net::weights) make true copies.
#[derive(Module, Debug)]
pub struct Net {
    stem: ConvNorm,
    blocks: Vec<Block>,
    policy: PolicyHead,
    value: ValueHead,
    #[module(skip)]
    config: NetConfig,
    #[module(skip)]
    shape: NetShape,
    #[module(skip)]
    buffers: Buffers,
    #[module(skip)]
    precision: TrainingPrecision,
}

impl Net {
    /// A fresh net, close to uniform in its judgements. The same seed gives the same net on every
    /// device. On a device with autodiff the net is in training mode, on others in inference mode.
    ///
    /// # Errors
    /// [`ModelError::Config`] if the configuration is out of range.
    pub fn new(
        config: NetConfig,
        shape: NetShape,
        seed: u64,
        device: &Device,
    ) -> Result<Net, ModelError> {
        config.validate()?;
        let zero = Net::zeroed(config, shape, device);
        let weights = initial_weights(&zero.weights(), seed);
        Net::from_weights(&weights, config, shape, device)
    }

    /// The structure with all layers zero.
    pub(super) fn zeroed(config: NetConfig, shape: NetShape, device: &Device) -> Net {
        let block = |i| Block::new(config.channels, config.pools(i), device);
        Net {
            stem: ConvNorm::new(shape.planes, config.channels, device),
            blocks: (0..config.blocks).map(block).collect(),
            policy: PolicyHead::new(&config, &shape, device),
            value: ValueHead::new(&config, device),
            config,
            shape,
            buffers: Buffers::default(),
            precision: TrainingPrecision::default(),
        }
    }

    /// Planes `[batch, planes, 10, 10]` as [`Encoding`](crate::Encoding) makes them → logits.
    ///
    /// # Panics
    /// If the number of planes is another variant's.
    pub fn forward(&self, planes: Tensor<4>) -> NetOutput {
        let [_, count, ..] = planes.dims();
        assert_eq!(count, self.shape.planes, "planes of the net's variant");
        let own_kernels = training::serves(&planes.device())
            && !planes.is_require_grad()
            && self.conv_norms().all(ConvNorm::trains);
        match own_kernels {
            true => self.forward_own(planes, (SimdLevel::best(), self.precision)),
            false => self.forward_burn(planes),
        }
    }

    /// [`forward`](Net::forward) by burn's operations alone, on any device.
    ///
    /// # Panics
    /// If the number of planes is another variant's.
    pub fn forward_burn(&self, planes: Tensor<4>) -> NetOutput {
        let planes = self.crop(planes);
        let board = self.board(&planes);
        let stem = relu(self.stem.forward(planes));
        let features = (self.blocks.iter()).fold(stem, |x, block| block.forward(x, &board));
        self.heads(features, &board)
    }

    /// [`forward`](Net::forward) in training mode with kernels of our own.
    pub(crate) fn forward_own(
        &self,
        planes: Tensor<4>,
        kernels: (SimdLevel, TrainingPrecision),
    ) -> NetOutput {
        let mut parameters = Vec::new();
        self.stem.collect_parameters(&mut parameters);
        for block in &self.blocks {
            block.collect_parameters(&mut parameters);
        }
        self.policy.collect_parameters(&mut parameters);
        self.value.collect_parameters(&mut parameters);
        let tower = Tower::new(&self.config, &self.shape, kernels, self.buffers.clone());
        let (outputs, statistics) = training::run(tower, planes, Tensor::cat(parameters, 0));
        for (norm, statistics) in self.conv_norms().zip(statistics) {
            norm.update_running(statistics);
        }
        let policy = self.policy.finish(&outputs);
        let (wdl_logits, moves_left) = self.value.finish(outputs.value.squeeze_dim(1));
        NetOutput {
            policy,
            wdl_logits,
            moves_left,
        }
    }

    fn conv_norms(&self) -> impl Iterator<Item = &ConvNorm> {
        std::iter::once(&self.stem).chain(self.blocks.iter().flat_map(Block::halves))
    }

    /// The planes within the board's bounding rectangle.
    fn crop(&self, planes: Tensor<4>) -> Tensor<4> {
        let [batch, count, ..] = planes.dims();
        let NetShape { files, ranks, .. } = self.shape;
        match files == GRID && ranks == GRID {
            true => planes,
            false => planes.slice([0..batch, 0..count, 0..ranks, 0..files]),
        }
    }

    fn board(&self, cropped: &Tensor<4>) -> BoardPooling {
        BoardPooling {
            squares: self.shape.squares,
            mask: (self.shape.has_holes()).then(|| cropped.clone().narrow(1, BOARD_PLANE, 1)),
        }
    }

    fn heads(&self, features: Tensor<4>, board: &BoardPooling) -> NetOutput {
        let policy = self.policy.forward(features.clone(), board);
        let (wdl_logits, moves_left) = self.value.forward(features, board);
        NetOutput {
            policy,
            wdl_logits,
            moves_left,
        }
    }

    /// The size that the net was made with.
    pub fn config(&self) -> &NetConfig {
        &self.config
    }

    /// The variant's measures that the net was made for.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// The same net, trained in this precision on the CPU. Inference and GPUs are not affected.
    #[must_use]
    pub fn with_training_precision(mut self, precision: TrainingPrecision) -> Net {
        self.precision = precision;
        self
    }

    /// The device that the weights are on.
    pub fn device(&self) -> Device {
        self.devices()
            .into_iter()
            .next()
            .expect("a net has weights")
    }

    /// A copy for inference that shares nothing with the original.
    #[must_use]
    pub fn snapshot(&self) -> Net {
        let device = self.device().without_autodiff();
        Net::from_weights(&self.weights(), self.config, self.shape, &device)
            .expect("a net's own weights fit it")
    }

    /// All weights and running statistics, copied from the device.
    pub fn weights(&self) -> Weights {
        super::transfer::collect(self)
    }

    /// A net with the given weights.
    ///
    /// # Errors
    /// [`ModelError::Config`] for a bad size, [`ModelError::Weights`] if a tensor is missing, of
    /// another shape, or too many.
    pub fn from_weights(
        weights: &Weights,
        config: NetConfig,
        shape: NetShape,
        device: &Device,
    ) -> Result<Net, ModelError> {
        config.validate()?;
        super::transfer::fill(Net::zeroed(config, shape, device), weights)
    }
}
