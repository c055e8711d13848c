//! A net as a list of convolutions, and its run over one position.

use rules::{Color, Position, Variant};

use super::aligned::AlignedFloats;
use super::conv::{After, BLOCK, Conv, ConvWeights, Grid, lanes_mut};
use super::heads::{Dense, Pooling, dot, softplus};
use super::kernel::SimdLevel;
use super::stem::Stem;
use crate::board::{GRID, seen_by};
use crate::net::{MOVES_LEFT_UNIT, MovePlace, NetConfig, NetShape};
use crate::{Encoding, ModelError, PolicyIndex, Wdl, Weights};

/// burn's default for batch normalisation.
const NORM_EPSILON: f32 = 1e-5;

/// A compiled net. It holds no state of a run and can be shared.
pub struct Program {
    config: NetConfig,
    shape: NetShape,
    grid: Grid,
    encoding: Encoding,
    stem: Stem,
    blocks: Vec<CompiledBlock>,
    pooling: Pooling,
    /// Queries, keys and the value head's channels, each from a new block on.
    heads: Conv,
    /// `[kinds][channels]` and one bias a kind.
    kind: ConvWeights,
    hand: Option<Dense>,
    value_hidden: Dense,
    wdl: Dense,
    moves_left: Dense,
}

struct CompiledBlock {
    first: Conv,
    pooling: Option<Dense>,
    second: Conv,
}

/// Buffers of a run, reused from one to the next.
pub struct Scratch {
    features: AlignedFloats,
    inner: AlignedFloats,
    heads: AlignedFloats,
    pooled: Vec<f32>,
    dense: Vec<f32>,
    hidden: Vec<f32>,
    hand: Vec<f32>,
}

impl Program {
    /// Compiles the net with these weights for a machine of this level.
    pub fn new(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
        level: SimdLevel,
    ) -> Result<Program, ModelError> {
        config.validate()?;
        let shape = NetShape::new(variant);
        let (files, ranks) = (shape.files, shape.ranks);
        let grid = Grid { files, ranks };
        let encoding = Encoding::new(variant);
        let (channels, dim) = (config.channels, config.policy_dim);
        let conv1 = |name: &str, outputs| conv1(weights, name, channels, outputs);
        let stem = conv_norm(weights, "stem", shape.planes, channels)?;
        let blocks = (0..config.blocks)
            .map(|i| CompiledBlock::new(weights, config, i, level))
            .collect::<Result<_, _>>()?;
        let heads = [
            conv1("policy.query", dim)?,
            conv1("policy.key", dim)?,
            conv1("value.conv", config.value_channels)?,
        ];
        let hand = match shape.hand_rows {
            0 => None,
            rows => Some(Dense::new(
                weights,
                "policy.hand",
                2 * channels,
                rows * dim,
            )?),
        };
        let hidden = config.value_hidden;
        let pooled = 2 * config.value_channels;
        let cells = [Color::White, Color::Black].map(|turn| {
            let cell = |square| {
                let seen = seen_by(square, turn, variant.ranks());
                seen / GRID * files + seen % GRID
            };
            variant.board().into_iter().map(cell).collect()
        });
        Ok(Program {
            config: *config,
            shape,
            grid,
            stem: Stem::new(&stem, &encoding, variant, grid),
            encoding,
            blocks,
            pooling: Pooling::new(grid, cells),
            heads: Conv::pack(level, &heads),
            kind: conv1("policy.kind", shape.kinds)?,
            hand,
            value_hidden: Dense::new(weights, "value.hidden", pooled, hidden)?,
            wdl: Dense::new(weights, "value.wdl", hidden, 3)?,
            moves_left: Dense::new(weights, "value.moves_left", hidden, 1)?,
        })
    }

    /// Buffers for runs of this program.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            features: self.grid.activations(self.config.channels),
            inner: self.grid.activations(self.config.channels),
            heads: self.grid.activations(self.heads.outputs()),
            pooled: Vec::new(),
            dense: Vec::new(),
            hidden: Vec::new(),
            hand: Vec::new(),
        }
    }

    /// Evaluates one position; the answers are outcome chances and plies left. The policy can then
    /// be read with [`policy_logit`](Program::policy_logit).
    pub fn run(&self, position: &Position, repetitions: u8, scratch: &mut Scratch) -> (Wdl, f32) {
        let view = usize::from(position.turn() == Color::Black);
        self.stem
            .run(&self.encoding, position, repetitions, &mut scratch.features);
        for block in &self.blocks {
            self.run_block(block, view, scratch);
        }
        self.heads.run(
            self.grid,
            &scratch.features,
            &mut scratch.heads,
            After::Keep,
        );
        if let Some(hand) = &self.hand {
            let channels = self.config.channels;
            self.pooling
                .run(view, &scratch.features, 0, channels, &mut scratch.pooled);
            hand.run(&scratch.pooled, &mut scratch.hand);
        }
        let first = 2 * self.config.policy_dim.div_ceil(BLOCK);
        let channels = self.config.value_channels;
        self.pooling
            .run(view, &scratch.heads, first, channels, &mut scratch.pooled);
        self.value_hidden.run(&scratch.pooled, &mut scratch.hidden);
        relu(&mut scratch.hidden);
        self.wdl.run(&scratch.hidden, &mut scratch.dense);
        let wdl = Wdl::from_logits([scratch.dense[0], scratch.dense[1], scratch.dense[2]]);
        self.moves_left.run(&scratch.hidden, &mut scratch.dense);
        (wdl, softplus(scratch.dense[0]) * MOVES_LEFT_UNIT)
    }

    fn run_block(&self, block: &CompiledBlock, view: usize, scratch: &mut Scratch) {
        let Scratch {
            features, inner, ..
        } = scratch;
        match &block.pooling {
            None => block.first.run(self.grid, features, inner, After::Relu),
            Some(dense) => {
                block.first.run(self.grid, features, inner, After::Keep);
                let channels = self.config.channels;
                self.pooling
                    .run(view, inner, 0, channels, &mut scratch.pooled);
                dense.run(&scratch.pooled, &mut scratch.dense);
                self.add_relu(&scratch.dense, inner);
            }
        }
        block.second.run(self.grid, inner, features, After::AddRelu);
    }

    /// relu(activations + a bias for each channel), on all cells.
    fn add_relu(&self, bias: &[f32], activations: &mut [f32]) {
        let blocks = activations.chunks_exact_mut(self.grid.block_floats());
        for (activations, bias) in blocks.zip(bias.chunks(BLOCK)) {
            let mut full = [0f32; BLOCK];
            full[..bias.len()].copy_from_slice(bias);
            for cell in 0..self.grid.cells() {
                let values = lanes_mut(activations, self.grid.at(cell));
                for (i, value) in values.iter_mut().enumerate() {
                    *value = (*value + full[i]).max(0.0);
                }
            }
        }
    }

    /// The logit of a move in the position of the last run with `scratch`.
    pub fn policy_logit(&self, index: PolicyIndex, scratch: &Scratch) -> f32 {
        let dim = self.config.policy_dim;
        let MovePlace { row, to, kind } = self.shape.place(index);
        let block_floats = self.grid.block_floats();
        let to_place = self.grid.at(to);
        let mut product = 0.0;
        for (part, start) in (0..dim).step_by(BLOCK).enumerate() {
            let width = (dim - start).min(BLOCK);
            let query = match row.checked_sub(self.grid.cells()) {
                None => &scratch.heads[part * block_floats + self.grid.at(row)..][..width],
                Some(hand) => &scratch.hand[hand * dim + start..][..width],
            };
            let key_block = dim.div_ceil(BLOCK) + part;
            let key = &scratch.heads[key_block * block_floats + to_place..][..width];
            product += dot(query, key);
        }
        let mut kind_term = self.kind.bias[kind];
        let weights = &self.kind.weights[kind * self.kind.inputs..][..self.kind.inputs];
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            let values = &scratch.features[block * block_floats + to_place..][..weights.len()];
            kind_term += dot(weights, values);
        }
        product / (dim as f32).sqrt() + kind_term
    }
}

impl CompiledBlock {
    fn new(
        weights: &Weights,
        config: &NetConfig,
        index: usize,
        level: SimdLevel,
    ) -> Result<CompiledBlock, ModelError> {
        let name = format!("blocks.{index}");
        let channels = config.channels;
        let conv = |half: &str| {
            let part = conv_norm(weights, &format!("{name}.{half}"), channels, channels)?;
            Ok::<_, ModelError>(Conv::pack(level, &[part]))
        };
        let pooling = match config.pools(index) {
            true => Some(Dense::new(
                weights,
                &format!("{name}.pooling"),
                2 * channels,
                channels,
            )?),
            false => None,
        };
        Ok(CompiledBlock {
            first: conv("first")?,
            pooling,
            second: conv("second")?,
        })
    }
}

/// A 3×3 convolution with its batch normalisation folded in.
fn conv_norm(
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
        .map(|(gamma, variance)| gamma / (variance + NORM_EPSILON).sqrt())
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
fn conv1(
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

fn relu(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}
