//! A net as a list of operations, and its run over one position.

use rules::{Color, Position, Variant};

use super::calibration::{self, Ranges};
use super::conv::{BLOCK, Grid};
use super::folded::{FoldedTower, conv_norm, conv1};
use super::heads::{Dense, Pooling, softplus};
use super::kernel::SimdLevel;
use super::narrow_kernel::NarrowKernel;
use super::policy_head::{PolicyHead, PolicyScratch};
use super::precision::Precision;
use super::stem::{Stem, StemScratch};
use super::tower::{Frame, NarrowTower, Tower, TowerScratch, WideTower};
use super::winograd::{self, WinogradKernel};
use crate::board::{GRID, seen_by};
use crate::evaluator::{EvalRequest, Evaluation};
use crate::net::{MOVES_LEFT_UNIT, NetConfig, NetShape};
use crate::{Encoding, ModelError, PolicyLayout, Wdl, Weights};

/// A compiled net. It holds no state of a run and can be shared.
pub struct Program {
    config: NetConfig,
    shape: NetShape,
    grid: Grid,
    level: SimdLevel,
    encoding: Encoding,
    layout: PolicyLayout,
    stem: Stem,
    tower: Tower,
    /// Whether the tower's convolutions are computed by minimal filtering.
    filtered: bool,
    pooling: Pooling,
    policy: PolicyHead,
    value_hidden: Dense,
    wdl: Dense,
    moves_left: Dense,
}

/// Buffers of a run, reused from one to the next.
pub struct Scratch {
    stem: StemScratch,
    tower: TowerScratch,
    policy: PolicyScratch,
    pooled: Vec<f32>,
    dense: Vec<f32>,
    hidden: Vec<f32>,
}

impl Program {
    /// Compiles the net with these weights for a machine of this level.
    pub fn new(
        weights: &Weights,
        config: &NetConfig,
        variant: &Variant,
        (level, precision): (SimdLevel, Precision),
    ) -> Result<Program, ModelError> {
        config.validate()?;
        let shape = NetShape::new(variant);
        let (files, ranks) = (shape.files, shape.ranks);
        let grid = Grid { files, ranks };
        let encoding = Encoding::new(variant);
        let (channels, dim) = (config.channels, config.policy_dim);
        let conv1 = |name: &str, outputs| conv1(weights, name, channels, outputs);
        let dense = |name: &str, inputs, outputs| Dense::new(weights, name, inputs, outputs);
        let stem = conv_norm(weights, "stem", shape.planes, channels)?;
        let folded = FoldedTower::new(weights, config)?;
        let hand = (shape.hand_rows > 0)
            .then(|| dense("policy.hand", 2 * channels, shape.hand_rows * dim))
            .transpose()?;
        let policy = PolicyHead::new(
            &conv1("policy.query", dim)?,
            &conv1("policy.key", dim)?,
            &conv1("policy.kind", shape.kinds)?,
            hand,
        );
        let pays = winograd::pays(grid, channels, channels);
        let winograd = WinogradKernel::choose(precision, level).filter(|_| pays);
        let mut program = Program {
            config: *config,
            shape,
            grid,
            level,
            stem: Stem::new(&stem, &encoding, variant, grid),
            layout: PolicyLayout::new(variant),
            encoding,
            tower: Tower::Wide(WideTower::new(&folded, level, winograd)),
            filtered: winograd.is_some(),
            pooling: Pooling::new(grid, cells_of(variant)),
            policy,
            value_hidden: dense(
                "value.hidden",
                2 * config.value_channels,
                config.value_hidden,
            )?,
            wdl: dense("value.wdl", config.value_hidden, 3)?,
            moves_left: dense("value.moves_left", config.value_hidden, 1)?,
        };
        if winograd.is_none()
            && let Some(kernel) = NarrowKernel::choose(precision, level)
        {
            let tops = program.ranges(variant, precision);
            program.filtered = pays && winograd::integer::serves(kernel);
            let kind = (kernel, program.filtered);
            program.tower = Tower::Narrow(NarrowTower::new(&folded, kind, &tops));
        }
        Ok(program)
    }

    /// How far the activations of each layer reach, by channel.
    fn ranges(&self, variant: &Variant, precision: Precision) -> Vec<Vec<f32>> {
        let layers = 2 * self.config.blocks + 1;
        let mut ranges = Ranges::new(layers, self.config.channels);
        if let (Precision::Int8, Tower::Wide(tower)) = (precision, &self.tower) {
            let mut scratch = self.scratch();
            for position in calibration::positions(variant) {
                self.run_stem(&position, 1, &mut scratch);
                let block = self.grid.block_floats();
                tower.run(
                    self.frame(&position),
                    &mut scratch.tower,
                    &mut |layer, x| {
                        ranges.see::<BLOCK>(layer, x, block);
                    },
                );
            }
        }
        ranges.tops()
    }

    /// Multiplications in the convolutions of one position, as they are computed.
    pub fn multiplications(&self) -> usize {
        let NetConfig {
            channels,
            blocks,
            value_channels,
            ..
        } = self.config;
        let NetShape { files, ranks, .. } = self.shape;
        let pairs = match self.filtered {
            false => self.grid.taps(),
            true => winograd::multiplications(self.grid),
        };
        2 * blocks * pairs * channels * channels + files * ranks * channels * value_channels
    }

    /// Buffers for runs of this program.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            stem: StemScratch::default(),
            tower: self.tower.scratch(self.grid, self.config.channels),
            policy: PolicyScratch::default(),
            pooled: Vec::new(),
            dense: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Evaluates one position.
    pub fn run(&self, request: &EvalRequest, scratch: &mut Scratch) -> Evaluation {
        let position = &request.position;
        let frame = self.frame(position);
        self.run_stem(position, request.repetitions, scratch);
        self.tower.run(frame, &mut scratch.tower);
        let (wdl, moves_left) = self.value(frame, scratch);
        Evaluation {
            wdl,
            moves_left,
            policy_logits: self.policy_logits(frame, request, scratch),
        }
    }

    fn frame(&self, position: &Position) -> Frame<'_> {
        Frame {
            level: self.level,
            grid: self.grid,
            pooling: &self.pooling,
            view: usize::from(position.turn() == Color::Black),
        }
    }

    fn run_stem(&self, position: &Position, repetitions: u8, scratch: &mut Scratch) {
        let (stem, features) = (&mut scratch.stem, &mut scratch.tower.features);
        let position = (position, repetitions);
        self.stem
            .run(self.level, &self.encoding, position, stem, features);
    }

    /// Outcome chances and plies left.
    fn value(&self, frame: Frame, scratch: &mut Scratch) -> (Wdl, f32) {
        let Scratch {
            tower,
            pooled,
            dense,
            hidden,
            ..
        } = scratch;
        let channels = self.config.value_channels;
        self.pooling
            .run(self.level, frame.view, &tower.value, channels, pooled);
        self.value_hidden.run(self.level, pooled, hidden);
        for value in hidden.iter_mut() {
            *value = value.max(0.0);
        }
        self.wdl.run(self.level, hidden, dense);
        let wdl = Wdl::from_logits([dense[0], dense[1], dense[2]]);
        self.moves_left.run(self.level, hidden, dense);
        (wdl, softplus(dense[0]) * MOVES_LEFT_UNIT)
    }

    fn policy_logits(
        &self,
        frame: Frame,
        request: &EvalRequest,
        scratch: &mut Scratch,
    ) -> Vec<f32> {
        let features = &scratch.tower.features;
        if let Some(hand) = &self.policy.hand {
            let channels = self.config.channels;
            self.pooling.run(
                self.level,
                frame.view,
                features,
                channels,
                &mut scratch.pooled,
            );
            hand.run(self.level, &scratch.pooled, &mut scratch.policy.hand);
        }
        let turn = request.position.turn();
        let place = |&mv| self.shape.place(self.layout.index(turn, mv));
        let moves = request.moves.iter().map(place);
        let board = (self.grid, &self.shape);
        self.policy
            .logits(self.level, board, features, moves, &mut scratch.policy)
    }
}

/// The cells of the bounding rectangle that exist, in White's and in Black's view.
fn cells_of(variant: &Variant) -> [Vec<usize>; 2] {
    [Color::White, Color::Black].map(|turn| {
        let cell = |square| {
            let seen = seen_by(square, turn, variant.ranks());
            seen / GRID * usize::from(variant.files()) + seen % GRID
        };
        variant.board().into_iter().map(cell).collect()
    })
}
