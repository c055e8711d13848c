//! The residual tower, with activations in single precision or with narrow numbers.

use super::aligned::{AlignedFloats, AlignedWords};
use super::conv::{After, BLOCK, Conv, Grid};
use super::folded::FoldedTower;
use super::heads::{Dense, Pooling};
use super::kernel::SimdLevel;
use super::narrow::{NarrowConv, Outputs, Rounding};
use super::narrow_kernel::NarrowKernel;
use super::wide::WideConv;
use super::winograd::{WinogradKernel, WinogradScratch};

/// What all parts of a run share.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub level: SimdLevel,
    pub grid: Grid,
    pub pooling: &'a Pooling,
    /// Whose view the position is in: 0 for White's.
    pub view: usize,
}

/// Activations of a run.
pub struct TowerScratch {
    /// The residual stream: the stem's sums at first, the tower's output in the end.
    pub features: AlignedFloats,
    /// The output of the value head's convolution.
    pub value: AlignedFloats,
    inner: AlignedFloats,
    narrow_features: AlignedWords,
    narrow_inner: AlignedWords,
    winograd: WinogradScratch,
    pooled: Vec<f32>,
    bias: Vec<f32>,
}

/// The tower and the value head's convolution.
pub enum Tower {
    Wide(WideTower),
    Narrow(NarrowTower),
}

impl Tower {
    /// Takes the stem's sums through the tower.
    pub fn run(&self, frame: Frame, scratch: &mut TowerScratch) {
        match self {
            Tower::Wide(tower) => tower.run(frame, scratch, &mut |_, _| {}),
            Tower::Narrow(tower) => tower.run(frame, scratch),
        }
    }

    /// Buffers for runs of this tower.
    pub fn scratch(&self, grid: Grid, channels: usize) -> TowerScratch {
        let narrow = |pick: fn(&NarrowTower) -> &Rounding| match self {
            Tower::Wide(_) => AlignedWords::zeros(0),
            Tower::Narrow(tower) => pick(tower).activations(grid),
        };
        TowerScratch {
            features: grid.activations(channels),
            value: match self {
                Tower::Wide(tower) => grid.activations(tower.value.outputs()),
                Tower::Narrow(tower) => grid.activations(tower.value.outputs()),
            },
            inner: grid.activations(channels),
            narrow_features: narrow(|tower| &tower.output),
            narrow_inner: narrow(|tower| &tower.output),
            winograd: WinogradScratch::new(channels),
            pooled: Vec::new(),
            bias: Vec::new(),
        }
    }
}

/// The tower with activations in single precision.
pub struct WideTower {
    blocks: Vec<WideBlock>,
    value: Conv,
}

struct WideBlock {
    first: WideConv,
    pooling: Option<Dense>,
    second: WideConv,
}

impl WideTower {
    /// Packs a tower; without a kernel for minimal filtering it is computed by definition.
    pub fn new(net: &FoldedTower, level: SimdLevel, winograd: Option<WinogradKernel>) -> WideTower {
        let conv = |part| WideConv::pack(level, winograd, part);
        let blocks = net.blocks.iter().map(|block| WideBlock {
            first: conv(&block.first),
            pooling: block.pooling.clone(),
            second: conv(&block.second),
        });
        WideTower {
            blocks: blocks.collect(),
            value: Conv::pack(level, std::slice::from_ref(&net.value)),
        }
    }

    /// As [`Tower::run`]. `observe` is shown what each convolution reads: number 2i the input of
    /// block i, 2i + 1 that of its second convolution, and after the last block the tower's output.
    pub fn run(
        &self,
        frame: Frame,
        scratch: &mut TowerScratch,
        observe: &mut impl FnMut(usize, &[f32]),
    ) {
        let Frame { level, grid, .. } = frame;
        let TowerScratch {
            features,
            inner,
            winograd,
            ..
        } = scratch;
        add_relu(level, grid, features, &[]);
        for (index, block) in self.blocks.iter().enumerate() {
            observe(2 * index, features);
            match &block.pooling {
                None => block
                    .first
                    .run(grid, features, inner, After::Relu, winograd),
                Some(dense) => {
                    block
                        .first
                        .run(grid, features, inner, After::Keep, winograd);
                    pool(frame, dense, inner, &mut scratch.pooled, &mut scratch.bias);
                    add_relu(level, grid, inner, &scratch.bias);
                }
            }
            observe(2 * index + 1, inner);
            block
                .second
                .run(grid, inner, features, After::AddRelu, winograd);
        }
        observe(2 * self.blocks.len(), features);
        self.value
            .run(grid, features, &mut scratch.value, After::Keep);
    }
}

/// The tower with narrow numbers: convolutions read rounded activations and add to a residual
/// stream in single precision.
pub struct NarrowTower {
    blocks: Vec<NarrowBlock>,
    /// How the tower's output is rounded.
    output: Rounding,
    value: NarrowConv,
}

struct NarrowBlock {
    input: Rounding,
    first: NarrowConv,
    pooling: Option<Dense>,
    inner: Rounding,
    second: NarrowConv,
}

impl NarrowTower {
    /// Packs a tower whose activations reach up to `tops`: those that
    /// [`WideTower::run`] shows to `observe`, by channel. Its 3×3 convolutions are computed by minimal
    /// filtering or by definition.
    pub fn new(
        net: &FoldedTower,
        (kernel, filtered): (NarrowKernel, bool),
        tops: &[Vec<f32>],
    ) -> NarrowTower {
        let blocks = net.blocks.iter().zip(tops.as_chunks::<2>().0);
        let blocks = blocks.map(|(block, [input, inner])| {
            let input = Rounding::new(kernel, input);
            let inner = Rounding::new(kernel, inner);
            NarrowBlock {
                first: NarrowConv::pack(&input, filtered, &block.first),
                pooling: block.pooling.clone(),
                second: NarrowConv::pack(&inner, filtered, &block.second),
                input,
                inner,
            }
        });
        let output = Rounding::new(kernel, &tops[2 * net.blocks.len()]);
        NarrowTower {
            blocks: blocks.collect(),
            value: NarrowConv::pack(&output, false, &net.value),
            output,
        }
    }

    fn run(&self, frame: Frame, scratch: &mut TowerScratch) {
        let Frame { level, grid, .. } = frame;
        let TowerScratch {
            features,
            inner,
            narrow_features,
            narrow_inner,
            winograd,
            ..
        } = scratch;
        let next = |index: usize| {
            self.blocks
                .get(index)
                .map_or(&self.output, |block| &block.input)
        };
        next(0).bias_relu_round(level, grid, features, &[], narrow_features);
        for (index, block) in self.blocks.iter().enumerate() {
            match &block.pooling {
                None => {
                    let outputs = Outputs {
                        wide: None,
                        narrow: Some((narrow_inner, &block.inner)),
                    };
                    let after = After::Relu;
                    (block.first).run(grid, narrow_features, after, outputs, winograd);
                }
                Some(dense) => {
                    let outputs = Outputs {
                        wide: Some(inner),
                        narrow: None,
                    };
                    let after = After::Keep;
                    (block.first).run(grid, narrow_features, after, outputs, winograd);
                    pool(frame, dense, inner, &mut scratch.pooled, &mut scratch.bias);
                    let bias = &scratch.bias;
                    block
                        .inner
                        .bias_relu_round(level, grid, inner, bias, narrow_inner);
                }
            }
            let outputs = Outputs {
                wide: Some(features),
                narrow: Some((narrow_features, next(index + 1))),
            };
            let after = After::AddRelu;
            (block.second).run(grid, narrow_inner, after, outputs, winograd);
        }
        let outputs = Outputs {
            wide: Some(&mut scratch.value),
            narrow: None,
        };
        let after = After::Keep;
        (self.value).run(grid, narrow_features, after, outputs, winograd);
    }
}

/// What global pooling adds to each channel of a block's inner activations.
fn pool(
    frame: Frame,
    dense: &Dense,
    inner: &AlignedFloats,
    pooled: &mut Vec<f32>,
    bias: &mut Vec<f32>,
) {
    let channels = dense.outputs();
    frame
        .pooling
        .run(frame.level, frame.view, inner, channels, pooled);
    dense.run(frame.level, pooled, bias);
}

/// relu(activations + a bias for each channel), on all cells; no bias is none.
fn add_relu(level: SimdLevel, grid: Grid, activations: &mut [f32], bias: &[f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            let blocks = activations.chunks_exact_mut(grid.block_floats());
            for (index, activations) in blocks.enumerate() {
                let full = block_of(bias, index);
                for rank in 0..grid.ranks {
                    let row = &mut activations[grid.at(rank * grid.files)..][..grid.files * BLOCK];
                    for values in row.as_chunks_mut::<BLOCK>().0 {
                        for i in 0..BLOCK {
                            values[i] = (values[i] + full[i]).max(0.0);
                        }
                    }
                }
            }
        },
    );
}

/// A block of `values`, with zeros beyond their end.
#[inline(always)]
pub fn block_of(values: &[f32], index: usize) -> [f32; BLOCK] {
    let mut full = [0f32; BLOCK];
    if let Some(part) = values.chunks(BLOCK).nth(index) {
        full[..part.len()].copy_from_slice(part);
    }
    full
}
