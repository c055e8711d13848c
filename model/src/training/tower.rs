//! The tower of a net, ready to be trained on the CPU.

use std::sync::Arc;

use super::bf16::Pair;
use super::buffers::Buffers;
use super::gradient_kernel::INPUT_GROUP;
use super::heads::Outputs;
use super::norm::BatchStatistics;
use super::parameters::ParameterPlan;
use super::precision::TrainingPrecision;
use super::tape::{Backwards, Tape};
use crate::board::{GRID, GRID_SQUARES};
use crate::compiled::conv::{BLOCK, Grid};
use crate::compiled::kernel::SimdLevel;
use crate::compiled::winograd::WinogradScratch;
use crate::encoding::BOARD_PLANE;
use crate::net::{NetConfig, NetShape};

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
    pub(super) buffers: Buffers,
}

/// Numbers that belong to someone else.
pub type SharedFloats = Box<dyn AsRef<[f32]> + Send + Sync>;

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
    ) -> (Outputs<Vec<f32>>, Vec<BatchStatistics>, Box<dyn Backwards>) {
        match self.precision {
            TrainingPrecision::F32 => Tape::<f32>::record(self, planes, parameters),
            TrainingPrecision::Bf16 => Tape::<Pair>::record(self, planes, parameters),
        }
    }

    /// Blocks of channels.
    pub(super) fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Planes, filled up for the kernels.
    pub(super) fn stem_inputs(&self) -> usize {
        self.planes.next_multiple_of(INPUT_GROUP)
    }

    /// Memory for its convolutions, of which the stem's has the most inputs or all have the same.
    pub(super) fn winograd_scratch(&self) -> WinogradScratch {
        WinogradScratch::new(self.stem_inputs().max(self.channels))
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
