//! Convolutions over the padded board.

use super::aligned::AlignedFloats;
use super::kernel::{self, Job, SimdLevel};

/// Channels that lie side by side in memory.
pub const BLOCK: usize = 32;

/// The channels of one block that start at `at`.
#[inline(always)]
pub fn lanes(values: &[f32], at: usize) -> &[f32; BLOCK] {
    values[at..]
        .first_chunk()
        .expect("a whole block of channels")
}

/// The channels of one block that start at `at`, to be changed.
#[inline(always)]
pub fn lanes_mut(values: &mut [f32], at: usize) -> &mut [f32; BLOCK] {
    values[at..]
        .first_chunk_mut()
        .expect("a whole block of channels")
}

/// What happens to a convolution's sums, bias added, before they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Nothing.
    Keep,
    /// Negative ones become 0.
    Relu,
    /// What the output held is added, then negative ones become 0.
    AddRelu,
}

/// The board's bounding rectangle and the layout of activations on it: blocks of [`BLOCK`]
/// channels, each `[ranks + 2][files + 2][BLOCK]` with a border of zeros.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub files: usize,
    pub ranks: usize,
}

impl Grid {
    /// Cells of the rectangle.
    #[inline]
    pub fn cells(self) -> usize {
        self.files * self.ranks
    }

    /// Pairs of a cell and one of the 3×3 cells around it, without those beyond the rectangle.
    pub fn taps(self) -> usize {
        (3 * self.files - 2) * (3 * self.ranks - 2)
    }

    /// Squares of 2×2 cells that cover the rectangle.
    pub fn tiles(self) -> usize {
        self.files.div_ceil(2) * self.ranks.div_ceil(2)
    }

    /// Cells with the border.
    #[inline]
    pub fn bordered_cells(self) -> usize {
        (self.files + 2) * (self.ranks + 2)
    }

    /// Floats in a block of channels, border included.
    #[inline]
    pub fn block_floats(self) -> usize {
        self.bordered_cells() * BLOCK
    }

    /// Place of a cell's first channel within a block.
    #[inline]
    pub fn at(self, cell: usize) -> usize {
        let (rank, file) = (cell / self.files, cell % self.files);
        ((rank + 1) * (self.files + 2) + file + 1) * BLOCK
    }

    /// Zeroed activations of this many channels.
    pub fn activations(self, channels: usize) -> AlignedFloats {
        AlignedFloats::zeros(channels.div_ceil(BLOCK) * self.block_floats())
    }
}

/// A convolution with packed weights.
pub struct Conv {
    level: SimdLevel,
    taps: usize,
    inputs: usize,
    out_blocks: usize,
    weights: AlignedFloats,
    bias: AlignedFloats,
}

/// A convolution as the net has it.
pub struct ConvWeights {
    /// 1 or 3.
    pub taps: usize,
    pub inputs: usize,
    pub outputs: usize,
    /// `[outputs][inputs][taps][taps]`
    pub weights: Vec<f32>,
    /// One for each output.
    pub bias: Vec<f32>,
}

impl Conv {
    /// Packs a list of convolutions of the same input into one. The outputs of each start with a
    /// new block of channels.
    pub fn pack(level: SimdLevel, parts: &[ConvWeights]) -> Conv {
        let (taps, inputs) = (parts[0].taps, parts[0].inputs);
        let out_blocks = parts.iter().map(|part| part.outputs.div_ceil(BLOCK)).sum();
        let squared = taps * taps;
        let strip = level.strip();
        let mut weights = AlignedFloats::zeros(out_blocks * BLOCK * squared * inputs);
        let mut bias = AlignedFloats::zeros(out_blocks * BLOCK);
        let mut first = 0;
        for part in parts {
            assert_eq!(
                (part.taps, part.inputs),
                (taps, inputs),
                "convolutions to be joined"
            );
            for output in 0..part.outputs {
                let place = first + output;
                bias[place] = part.bias[output];
                for input in 0..inputs {
                    for tap in 0..squared {
                        let group = (place / strip * squared + tap) * inputs + input;
                        weights[group * strip + place % strip] =
                            part.weights[(output * inputs + input) * squared + tap];
                    }
                }
            }
            first += part.outputs.next_multiple_of(BLOCK);
        }
        Conv {
            level,
            taps,
            inputs,
            out_blocks,
            weights,
            bias,
        }
    }

    /// Convolves `input` into `out`. The border of `out` stays as it is.
    pub fn run(&self, grid: Grid, input: &[f32], out: &mut [f32], after: After) {
        let job = Job {
            files: grid.files,
            ranks: grid.ranks,
            inputs: self.inputs,
            out_blocks: self.out_blocks,
            taps: self.taps,
            input,
            weights: &self.weights,
            bias: &self.bias,
            out,
            after,
        };
        kernel::run(self.level, job);
    }

    /// Channels of the output, whole blocks.
    pub fn outputs(&self) -> usize {
        self.out_blocks * BLOCK
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A convolution in the order of its definition.
    fn reference(grid: Grid, part: &ConvWeights, input: &[f32], cell: usize, output: usize) -> f32 {
        let (rank, file) = ((cell / grid.files) as isize, (cell % grid.files) as isize);
        let reach = (part.taps / 2) as isize;
        let mut sum = part.bias[output];
        for i in 0..part.inputs {
            for dy in -reach..=reach {
                for dx in -reach..=reach {
                    let (y, x) = (rank + dy, file + dx);
                    let inside = (0..grid.ranks as isize).contains(&y)
                        && (0..grid.files as isize).contains(&x);
                    if inside {
                        let cell = y as usize * grid.files + x as usize;
                        let value =
                            input[i / BLOCK * grid.block_floats() + grid.at(cell) + i % BLOCK];
                        let tap = (dy + reach) as usize * part.taps + (dx + reach) as usize;
                        let weight = (output * part.inputs + i) * part.taps * part.taps + tap;
                        sum += value * part.weights[weight];
                    }
                }
            }
        }
        sum
    }

    fn random_part(
        taps: usize,
        inputs: usize,
        outputs: usize,
        rng: &mut ChaCha8Rng,
    ) -> ConvWeights {
        let mut floats = |n: usize| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        ConvWeights {
            taps,
            inputs,
            outputs,
            weights: floats(outputs * inputs * taps * taps),
            bias: floats(outputs),
        }
    }

    #[test]
    fn every_kernel_computes_the_convolution() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (files, ranks) in [
            (1, 1),
            (3, 5),
            (5, 4),
            (7, 2),
            (8, 8),
            (9, 10),
            (10, 8),
            (10, 10),
        ] {
            let grid = Grid { files, ranks };
            for (taps, inputs) in [(3, 16), (1, 48), (3, 64)] {
                let parts = [
                    random_part(taps, inputs, 40, &mut rng),
                    random_part(taps, inputs, 16, &mut rng),
                ];
                let mut input = grid.activations(inputs);
                for cell in 0..grid.cells() {
                    for i in 0..inputs {
                        input[i / BLOCK * grid.block_floats() + grid.at(cell) + i % BLOCK] =
                            rng.random_range(-1.0..1.0);
                    }
                }
                for level in SimdLevel::available() {
                    let conv = Conv::pack(level, &parts);
                    let mut out = grid.activations(conv.outputs());
                    conv.run(grid, &input, &mut out, After::Keep);
                    for cell in 0..grid.cells() {
                        for (part, first) in [(&parts[0], 0), (&parts[1], 64)] {
                            for output in 0..part.outputs {
                                let o = first + output;
                                let got = out
                                    [o / BLOCK * grid.block_floats() + grid.at(cell) + o % BLOCK];
                                let want = reference(grid, part, &input, cell, output);
                                assert!(
                                    (got - want).abs() < 1e-3,
                                    "{level:?} {grid:?} {got} {want}"
                                );
                            }
                        }
                    }
                    let border: f32 = out[..(files + 2) * BLOCK].iter().map(|x| x.abs()).sum();
                    assert_eq!(border, 0.0, "{level:?} writes into the border");
                }
            }
        }
    }

    #[test]
    fn residual_and_relu_are_applied() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let grid = Grid { files: 6, ranks: 3 };
        let part = random_part(3, 32, 32, &mut rng);
        let mut input = grid.activations(32);
        for cell in 0..grid.cells() {
            for i in 0..BLOCK {
                input[grid.at(cell) + i] = rng.random_range(-1.0..1.0);
            }
        }
        for level in SimdLevel::available() {
            let conv = Conv::pack(level, std::slice::from_ref(&part));
            let run = |after, start: f32| {
                let mut out = grid.activations(32);
                out.fill(start);
                conv.run(grid, &input, &mut out, after);
                out
            };
            let (keep, relu) = (run(After::Keep, 0.0), run(After::Relu, 0.0));
            let add = run(After::AddRelu, 0.5);
            for at in (0..grid.cells()).map(|cell| grid.at(cell)) {
                for i in at..at + BLOCK {
                    assert_eq!(relu[i], keep[i].max(0.0), "{level:?}");
                    assert_eq!(add[i], (keep[i] + 0.5).max(0.0), "{level:?}");
                }
            }
        }
    }
}
