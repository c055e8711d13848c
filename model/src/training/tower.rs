//! The tower's forward pass in training, and what it keeps for the backward pass.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::buffers::{Buffer, Buffers};
use super::convolution::{Packing, TowerConv, TrainingPrecision};
use super::elementwise::{Addend, add_moments, normalize_relu};
use super::gradient_kernel::INPUT_GROUP;
use super::heads::Outputs;
use super::norm::{BatchStatistics, Moments, Norm};
use super::parameters::ParameterPlan;
use super::pooling::PoolingLayer;
use crate::board::{GRID, GRID_SQUARES};
use crate::compiled::conv::{BLOCK, Grid};
use crate::compiled::kernel::SimdLevel;
use crate::encoding::BOARD_PLANE;
use crate::net::{NetConfig, NetShape};

/// Parts that a batch is cut into, whatever the number of threads: sums over a batch are made in
/// each part, then over the parts in order, so that they never depend on the threads by a bit.
const PARTS: usize = 16;

/// The tower of a net, ready to be trained on the CPU.
#[derive(Clone, Debug)]
pub struct Tower {
    pub(super) level: SimdLevel,
    pub(super) precision: TrainingPrecision,
    pub(super) grid: Grid,
    pub(super) plan: ParameterPlan,
    pub(super) planes: usize,
    pub(super) channels: usize,
    pub(super) has_hands: bool,
    /// Squares that the board has.
    pub(super) squares: usize,
    /// The mask for pooling if the board is a full rectangle.
    full_mask: Option<Arc<[f32]>>,
    buffers: Buffers,
}

/// Numbers that belong to someone else.
pub type SharedFloats = Box<dyn AsRef<[f32]> + Send + Sync>;

/// What the backward pass needs of a forward pass.
pub struct Tape {
    pub(super) tower: Tower,
    pub(super) batch: usize,
    pub(super) parameters: Vec<f32>,
    /// `[batch][planes][10][10]`
    planes: SharedFloats,
    /// Outputs of the convolutions, before their normalisation.
    pub(super) sums: Vec<Buffer>,
    /// The normalisation of each convolution.
    pub(super) norms: Vec<Norm>,
    /// Inputs of the blocks, and the output of the last.
    pub(super) features: Vec<Buffer>,
    /// For each block with pooling what its linear layer saw, `[batch][2 · channels]`, and gave,
    /// `[batch][whole blocks of channels]`.
    pub(super) pooled: Vec<Option<(Vec<f32>, Vec<f32>)>>,
}

/// Where the inputs of a convolution go.
enum Input<'a> {
    /// Into a buffer for the whole batch.
    Kept(&'a mut [f32]),
    /// Nowhere; they have this many channels.
    Scratch(usize),
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tape of {} samples", self.batch)
    }
}

impl Tower {
    /// The tower of a net of this size.
    pub fn new(
        config: &NetConfig,
        shape: &NetShape,
        (level, precision): (SimdLevel, TrainingPrecision),
        buffers: Buffers,
    ) -> Tower {
        let (files, ranks) = (shape.files, shape.ranks);
        Tower {
            level,
            precision: precision.available(),
            grid: Grid { files, ranks },
            plan: ParameterPlan::new(config, shape),
            planes: shape.planes,
            channels: config.channels,
            has_hands: shape.hand_rows > 0,
            squares: shape.squares,
            full_mask: (!shape.has_holes()).then(|| vec![1.0; shape.cells() * BLOCK].into()),
            buffers,
        }
    }

    /// Runs a batch: `planes` `[batch][planes][10][10]`, `parameters` in the plan's order. The
    /// answers are the outputs, the statistics of each convolution's output, and the tape.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn forward(
        self,
        planes: SharedFloats,
        parameters: Vec<f32>,
    ) -> (Outputs<Vec<f32>>, Vec<BatchStatistics>, Tape) {
        let given = (*planes).as_ref().len();
        let batch = given / (self.planes * GRID_SQUARES);
        assert_eq!(parameters.len(), self.plan.len, "parameters of the tower");
        assert_eq!(given, batch * self.planes * GRID_SQUARES, "planes");
        let mut tape = Tape {
            tower: self,
            batch,
            parameters,
            planes,
            sums: Vec::new(),
            norms: Vec::new(),
            features: Vec::new(),
            pooled: Vec::new(),
        };
        let mut statistics = Vec::new();
        tape.stem(&mut statistics);
        for block in 0..tape.tower.plan.pooling.len() {
            tape.first_half(block, &mut statistics);
            tape.second_half(block, &mut statistics);
        }
        let last = tape.last_features();
        let outputs = tape.run_heads(&last);
        tape.features.push(last);
        for statistics in &mut statistics {
            statistics.mean.truncate(tape.tower.channels);
            statistics.variance.truncate(tape.tower.channels);
        }
        (outputs, statistics, tape)
    }

    /// Floats of a sample's activations.
    pub(super) fn sample_floats(&self) -> usize {
        self.blocks() * self.grid.block_floats()
    }

    /// What the 3×3 convolutions are computed with.
    pub(super) fn kernels(&self) -> (SimdLevel, TrainingPrecision) {
        (self.level, self.precision)
    }

    /// Blocks of channels.
    pub(super) fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Planes, filled up for the kernels.
    pub(super) fn stem_inputs(&self) -> usize {
        self.planes.next_multiple_of(INPUT_GROUP)
    }

    /// Lays out a sample's planes as activations.
    pub(super) fn lay_out_planes(&self, planes: &[f32], out: &mut [f32]) {
        for (plane, values) in planes.chunks_exact(GRID_SQUARES).enumerate() {
            let out = &mut out[plane / BLOCK * self.grid.block_floats() + plane % BLOCK..];
            for rank in 0..self.grid.ranks {
                let first = ((rank + 1) * (self.grid.files + 2) + 1) * BLOCK;
                let row = &values[rank * GRID..][..self.grid.files];
                for (file, &value) in row.iter().enumerate() {
                    out[first + file * BLOCK] = value;
                }
            }
        }
    }

    /// For pooling: 1 on the squares that a sample's board has, else 0, `[ranks][files][BLOCK]`.
    pub(super) fn mask(&self, planes: &[f32]) -> Arc<[f32]> {
        if let Some(mask) = &self.full_mask {
            return Arc::clone(mask);
        }
        let board = &planes[BOARD_PLANE * GRID_SQUARES..][..GRID_SQUARES];
        let square = |cell: usize| board[cell / self.grid.files * GRID + cell % self.grid.files];
        let cells = (0..self.grid.cells()).map(square);
        cells.flat_map(|square| [square; BLOCK]).collect()
    }
}

impl Tape {
    /// Samples in each part of the batch.
    pub(super) fn part(&self) -> usize {
        self.batch.div_ceil(PARTS).max(1)
    }

    /// The planes of a sample.
    pub(super) fn sample_planes(&self, sample: usize) -> &[f32] {
        let len = self.tower.planes * GRID_SQUARES;
        &(*self.planes).as_ref()[sample * len..][..len]
    }

    /// The part of a batch's activations that belongs to a sample.
    pub(super) fn of<'a>(&self, values: &'a [f32], sample: usize) -> &'a [f32] {
        let len = self.tower.sample_floats();
        &values[sample * len..][..len]
    }

    /// Instructions and layout for work on one sample.
    pub(super) fn how(&self) -> (SimdLevel, Grid) {
        (self.tower.level, self.tower.grid)
    }

    /// Room for a batch's activations: zero borders, anything within.
    pub(super) fn activations(&self) -> Buffer {
        let len = self.batch * self.tower.sample_floats();
        self.tower.buffers.take(len)
    }

    /// The normalised and rectified output of convolution `conv` with what is added to it, for one
    /// sample.
    pub(super) fn activate(&self, conv: usize, sample: usize, addend: Addend, out: &mut [f32]) {
        let z = self.of(&self.sums[conv], sample);
        normalize_relu(self.how(), z, &self.norms[conv], addend, out);
    }

    fn stem(&mut self, statistics: &mut Vec<BatchStatistics>) {
        let inputs = self.tower.stem_inputs();
        let conv = self.conv(0, inputs);
        let prepare = |sample, input: &mut [f32]| {
            self.tower.lay_out_planes(self.sample_planes(sample), input);
        };
        let (sums, moments) = self.convolve(&conv, Input::Scratch(inputs), prepare);
        self.push(0, sums, moments, statistics);
    }

    /// Computes the input of block `block`, keeps it, and convolves it.
    fn first_half(&mut self, block: usize, statistics: &mut Vec<BatchStatistics>) {
        let index = 2 * block + 1;
        let conv = self.conv(index, self.tower.channels);
        let mut features = self.activations();
        let prepare = |sample, input: &mut [f32]| {
            self.activate(2 * block, sample, self.bypass(block, sample), input);
        };
        let (sums, moments) = self.convolve(&conv, Input::Kept(&mut features), prepare);
        self.features.push(features);
        self.push(index, sums, moments, statistics);
    }

    fn second_half(&mut self, block: usize, statistics: &mut Vec<BatchStatistics>) {
        let first = 2 * block + 1;
        let pooled = self.pool(block);
        self.pooled.push(pooled);
        let conv = self.conv(first + 1, self.tower.channels);
        let prepare = |sample, input: &mut [f32]| {
            self.activate(first, sample, self.bias(block, sample), input);
        };
        let (sums, moments) = self.convolve(&conv, Input::Scratch(self.tower.channels), prepare);
        self.push(first + 1, sums, moments, statistics);
    }

    /// The bias that pooling gave a sample in block `block`.
    pub(super) fn bias(&self, block: usize, sample: usize) -> Addend<'_> {
        match &self.pooled[block] {
            None => Addend::Nothing,
            Some((_, biases)) => {
                let len = self.tower.blocks() * BLOCK;
                Addend::Bias(&biases[sample * len..][..len])
            }
        }
    }

    fn conv(&self, index: usize, inputs: usize) -> TowerConv {
        let place = &self.tower.plan.convs[index];
        TowerConv::forward(self.tower.kernels(), place, &self.parameters, inputs)
    }

    /// What comes past the block before block `block`.
    fn bypass(&self, block: usize, sample: usize) -> Addend<'_> {
        match block.checked_sub(1) {
            None => Addend::Nothing,
            Some(before) => Addend::Activations(self.of(&self.features[before], sample)),
        }
    }

    /// The output of the last block.
    fn last_features(&self) -> Buffer {
        let mut out = self.activations();
        let last = self.tower.plan.pooling.len();
        let samples = out.par_chunks_mut(self.tower.sample_floats()).enumerate();
        samples.for_each(|(sample, out)| {
            self.activate(2 * last, sample, self.bypass(last, sample), out);
        });
        out
    }

    fn pool(&self, block: usize) -> Option<(Vec<f32>, Vec<f32>)> {
        let place = self.tower.plan.pooling[block].as_ref()?;
        let layer = PoolingLayer::new(place, &self.parameters);
        let (inputs, outputs) = (2 * self.tower.channels, self.tower.blocks() * BLOCK);
        let mut pooled = vec![0.0; self.batch * inputs];
        let mut biases = vec![0.0; self.batch * outputs];
        let conv = 2 * block + 1;
        let samples = pooled
            .par_chunks_mut(inputs)
            .zip(biases.par_chunks_mut(outputs));
        samples.enumerate().for_each(|(sample, (pooled, bias))| {
            let mask = self.tower.mask(self.sample_planes(sample));
            let z = self.of(&self.sums[conv], sample);
            self.tower.level.vectorize(
                #[inline(always)]
                || {
                    self.pooled(&mask, z, &self.norms[conv]).pool(pooled);
                    layer.apply(pooled, bias);
                },
            );
        });
        Some((pooled, biases))
    }

    /// Convolves the batch part by part; `prepare` computes a sample's input.
    fn convolve(
        &self,
        conv: &TowerConv,
        inputs: Input,
        prepare: impl Fn(usize, &mut [f32]) + Sync,
    ) -> (Buffer, Vec<Moments>) {
        let mut out = self.activations();
        let (grid, len, part) = (self.tower.grid, self.tower.sample_floats(), self.part());
        let (kept, channels) = match inputs {
            Input::Kept(kept) => (kept, 0),
            Input::Scratch(channels) => (&mut [][..], channels),
        };
        let mut kept = kept.chunks_mut(part * len);
        let parts: Vec<_> = (out.chunks_mut(part * len))
            .map(|out| (out, kept.next()))
            .collect();
        let moments = parts
            .into_par_iter()
            .enumerate()
            .map(|(index, (out, mut kept))| {
                let mut moments = Moments::new(self.tower.blocks() * BLOCK);
                let mut scratch = grid.activations(channels);
                let mut packing = Packing::default();
                for (i, out) in out.chunks_exact_mut(len).enumerate() {
                    let input = match &mut kept {
                        Some(kept) => &mut kept[i * len..][..len],
                        None => &mut scratch,
                    };
                    prepare(index * part + i, input);
                    conv.run(grid, input, &mut packing, out);
                    add_moments(self.how(), out, &mut moments);
                }
                moments
            });
        let moments = moments.collect();
        (out, moments)
    }

    fn push(
        &mut self,
        conv: usize,
        sums: Buffer,
        moments: Vec<Moments>,
        statistics: &mut Vec<BatchStatistics>,
    ) {
        let place = &self.tower.plan.convs[conv];
        let batch = Moments::join(moments);
        let gamma = &self.parameters[place.gamma.clone()];
        let beta = &self.parameters[place.beta.clone()];
        self.norms.push(Norm::new(&batch, gamma, beta));
        self.sums.push(sums);
        statistics.push(batch);
    }
}
