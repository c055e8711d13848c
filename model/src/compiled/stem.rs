//! The first convolution, computed from the few squares that are not zero.

use rules::{Color, Variant};

use super::aligned::AlignedFloats;
use super::conv::{BLOCK, ConvWeights, Grid, lanes, lanes_mut};
use crate::Encoding;
use crate::board::{GRID, seen_by};
use crate::encoding::PlaneSink;

/// A 3×3 convolution of an encoded position. A man adds its weights to the nine cells around it;
/// a plane that is the same all over the board adds a map that was computed in advance.
pub struct Stem {
    grid: Grid,
    blocks: usize,
    /// `[planes][9 offsets][channels]`: what a one in a plane adds to the cell at an offset.
    stamps: AlignedFloats,
    /// One for each channel.
    bias: AlignedFloats,
    /// For White's and Black's view (they differ where the board is not symmetric), by plane:
    /// what the plane adds if it is one all over the board, laid out as activations are.
    maps: [Vec<AlignedFloats>; 2],
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
        let mut bias = AlignedFloats::zeros(channels);
        bias[..part.outputs].copy_from_slice(&part.bias);
        let mut stem = Stem {
            grid,
            blocks,
            stamps,
            bias,
            maps: [Vec::new(), Vec::new()],
        };
        stem.maps = [Color::White, Color::Black].map(|turn| {
            let map = |plane| stem.map(plane, encoding, variant, turn);
            (0..part.inputs).map(map).collect()
        });
        stem
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

    /// Writes the relu of the convolution into `out`.
    pub fn run(
        &self,
        encoding: &Encoding,
        position: &rules::Position,
        repetitions: u8,
        out: &mut [f32],
    ) {
        let block_floats = self.grid.block_floats();
        for (block, out) in out.chunks_exact_mut(block_floats).enumerate() {
            let bias = &self.bias[block * BLOCK..][..BLOCK];
            for cell in 0..self.grid.cells() {
                out[self.grid.at(cell)..][..BLOCK].copy_from_slice(bias);
            }
        }
        let view = usize::from(position.turn() == Color::Black);
        let mut sink = StemSink {
            stem: self,
            view,
            out,
        };
        encoding.visit(position, repetitions, &mut sink);
        let out = sink.out;
        for value in out.iter_mut() {
            *value = value.max(0.0);
        }
    }

    /// Adds the stamp of a one in `plane` on `square` to the cells around it.
    fn stamp(&self, plane: usize, square: usize, out: &mut [f32]) {
        let (rank, file) = (square / GRID, square % GRID);
        let Grid { files, ranks } = self.grid;
        for dy in 0..3 {
            for dx in 0..3 {
                // One less than the cell's rank and file plus one; the border gets nothing.
                let (y, x) = ((rank + dy).wrapping_sub(1), (file + dx).wrapping_sub(1));
                if y >= ranks || x >= files {
                    continue;
                }
                let at = self.grid.at(y * files + x);
                let stamp = (plane * 9 + dy * 3 + dx) * self.blocks * BLOCK;
                for block in 0..self.blocks {
                    let stamp = lanes(&self.stamps, stamp + block * BLOCK);
                    let out = lanes_mut(out, block * self.grid.block_floats() + at);
                    for (i, o) in out.iter_mut().enumerate() {
                        *o += stamp[i];
                    }
                }
            }
        }
    }
}

struct StemSink<'a> {
    stem: &'a Stem,
    view: usize,
    out: &'a mut [f32],
}

impl PlaneSink for StemSink<'_> {
    fn square(&mut self, plane: usize, square: usize) {
        self.stem.stamp(plane, square, self.out);
    }

    fn fill(&mut self, plane: usize, value: f32) {
        let map = &self.stem.maps[self.view][plane];
        for (o, m) in self.out.iter_mut().zip(map.iter()) {
            *o += value * m;
        }
    }
}
