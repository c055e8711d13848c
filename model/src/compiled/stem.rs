//! The first convolution, computed from the few squares that are not zero.

use rules::{Color, Position, Variant};

use super::aligned::AlignedFloats;
use super::conv::{BLOCK, ConvWeights, Grid, lanes, lanes_mut};
use super::kernel::SimdLevel;
use crate::Encoding;
use crate::board::{GRID, seen_by};
use crate::encoding::{BOARD_PLANE, PlaneSink};

/// A 3×3 convolution of an encoded position. A man adds its weights to the nine cells around it;
/// a plane that is the same all over the board adds a map that was computed in advance.
pub struct Stem {
    grid: Grid,
    blocks: usize,
    /// `[planes][9 offsets][channels]`: what a one in a plane adds to the cell at an offset.
    stamps: AlignedFloats,
    /// For White's and Black's view (they differ where the board is not symmetric), by plane:
    /// what the plane adds if it is one all over the board, laid out as activations are. The map of
    /// the board's own plane, which always is, has the bias in it.
    maps: [Vec<AlignedFloats>; 2],
}

/// What is not zero in the planes of a position.
#[derive(Default)]
pub struct StemScratch {
    /// Planes and squares.
    ones: Vec<(usize, usize)>,
    /// Planes that have a value all over the board, but for the board's own.
    fills: Vec<(usize, f32)>,
}

impl Stem {
    /// Compiles the convolution `part` for the planes of `encoding`.
    pub fn new(part: &ConvWeights, encoding: &Encoding, variant: &Variant, grid: Grid) -> Stem {
        let blocks = part.outputs.div_ceil(BLOCK);
        let channels = blocks * BLOCK;
        let mut stamps = AlignedFloats::zeros(part.inputs * 9 * channels);
        for plane in 0..part.inputs {
            for tap in 0..9 {
                for output in 0..part.outputs {
                    // The cell at offset (dy, dx) from a man sees it at offset (−dy, −dx).
                    stamps[(plane * 9 + 8 - tap) * channels + output] =
                        part.weights[(output * part.inputs + plane) * 9 + tap];
                }
            }
        }
        let mut stem = Stem {
            grid,
            blocks,
            stamps,
            maps: [Vec::new(), Vec::new()],
        };
        stem.maps = [Color::White, Color::Black].map(|turn| {
            let map = |plane| stem.map(plane, encoding, variant, turn);
            let mut maps: Vec<AlignedFloats> = (0..part.inputs).map(map).collect();
            stem.add_bias(&part.bias, &mut maps[BOARD_PLANE]);
            maps
        });
        stem
    }

    fn add_bias(&self, bias: &[f32], map: &mut AlignedFloats) {
        for (channel, bias) in bias.iter().enumerate() {
            for cell in 0..self.grid.cells() {
                let block = channel / BLOCK * self.grid.block_floats();
                map[block + self.grid.at(cell) + channel % BLOCK] += bias;
            }
        }
    }

    /// What a plane of ones adds; empty for planes that are never one all over the board.
    fn map(
        &self,
        plane: usize,
        encoding: &Encoding,
        variant: &Variant,
        turn: Color,
    ) -> AlignedFloats {
        if !encoding.fills(plane) {
            return AlignedFloats::zeros(0);
        }
        let mut map = AlignedFloats::zeros(self.grid.block_floats() * self.blocks);
        for square in variant.board() {
            let square = seen_by(square, turn, variant.ranks());
            self.stamp(plane, square, &mut map);
        }
        map
    }

    /// Writes the convolution into `out`.
    pub fn run(
        &self,
        level: SimdLevel,
        encoding: &Encoding,
        (position, repetitions): (&Position, u8),
        scratch: &mut StemScratch,
        out: &mut [f32],
    ) {
        let maps = &self.maps[usize::from(position.turn() == Color::Black)];
        scratch.ones.clear();
        scratch.fills.clear();
        encoding.visit(position, repetitions, scratch);
        out.copy_from_slice(&maps[BOARD_PLANE]);
        level.vectorize(
            #[inline(always)]
            || {
                for &(plane, value) in &scratch.fills {
                    for (o, m) in out.iter_mut().zip(maps[plane].iter()) {
                        *o += value * m;
                    }
                }
                for &(plane, square) in &scratch.ones {
                    self.stamp(plane, square, out);
                }
            },
        );
    }

    /// Adds the stamp of a one in `plane` on `square` to the cells around it.
    #[inline(always)]
    fn stamp(&self, plane: usize, square: usize, out: &mut [f32]) {
        let (rank, file) = (square / GRID, square % GRID);
        let Grid { files, ranks } = self.grid;
        for dy in 0..3 {
            for dx in 0..3 {
                // Counted with the border, which gets nothing.
                let (y, x) = (rank + dy, file + dx);
                if y == 0 || y > ranks || x == 0 || x > files {
                    continue;
                }
                let at = (y * (files + 2) + x) * BLOCK;
                let stamp = (plane * 9 + dy * 3 + dx) * self.blocks * BLOCK;
                for block in 0..self.blocks {
                    let stamp = lanes(&self.stamps, stamp + block * BLOCK);
                    let out = lanes_mut(out, block * self.grid.block_floats() + at);
                    // By value, so that the compiler need not fear that they overlap.
                    let (stamp, mut sums) = (*stamp, *out);
                    for i in 0..BLOCK {
                        sums[i] += stamp[i];
                    }
                    *out = sums;
                }
            }
        }
    }
}

impl PlaneSink for StemScratch {
    fn square(&mut self, plane: usize, square: usize) {
        self.ones.push((plane, square));
    }

    fn fill(&mut self, plane: usize, value: f32) {
        if plane != BOARD_PLANE {
            self.fills.push((plane, value));
        }
    }
}
