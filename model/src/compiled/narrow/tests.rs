//! Each kernel against the convolution as it is defined, on boards and channels of all sizes.
//!
//! The portable kernel and that for AVX2 can be run under valgrind, which does not know AVX-512 and
//! hides it from the program: see docs/performance.md.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::compiled::precision::Precision;

/// A convolution to be tested, with activations to read and to add to.
struct Case {
    grid: Grid,
    part: ConvWeights,
    tops: Vec<f32>,
    next_tops: Vec<f32>,
    input: AlignedFloats,
    residual: AlignedFloats,
}

/// What came out, in single precision and rounded, channel by channel and cell by cell.
#[derive(Debug, PartialEq)]
struct Results {
    wide: Vec<f32>,
    narrow: Vec<u32>,
}

impl Case {
    fn random(rng: &mut ChaCha8Rng) -> Case {
        let grid = Grid {
            files: rng.random_range(1..=10),
            ranks: rng.random_range(1..=10),
        };
        let channels = |rng: &mut ChaCha8Rng| 16 * rng.random_range(1..=8);
        let (inputs, outputs) = (channels(rng), channels(rng));
        let taps = if rng.random_bool(0.7) { 3 } else { 1 };
        let mut floats = |n: usize, low: f32| -> Vec<f32> {
            (0..n).map(|_| rng.random_range(low..1.0)).collect()
        };
        let part = ConvWeights {
            taps,
            inputs,
            outputs,
            weights: floats(outputs * inputs * taps * taps, -1.0),
            bias: floats(outputs, -1.0),
        };
        // Some activations exceed the ranges, and some channels are never active.
        let tops = floats(inputs, -0.1)
            .into_iter()
            .map(|x| 2.0 * x.max(0.0))
            .collect();
        let next_tops = floats(outputs, 0.2).into_iter().map(|x| 20.0 * x).collect();
        let (input, residual) = (filled(grid, inputs, rng), filled(grid, outputs, rng));
        Case {
            grid,
            part,
            tops,
            next_tops,
            input,
            residual,
        }
    }

    fn run(&self, kernel: NarrowKernel, level: SimdLevel, after: After) -> Results {
        self.run_as(kernel, level, after, false)
    }

    /// By minimal filtering or by definition.
    fn run_as(
        &self,
        kernel: NarrowKernel,
        level: SimdLevel,
        after: After,
        filtered: bool,
    ) -> Results {
        let grid = self.grid;
        let rounding = Rounding::new(kernel, &self.tops);
        let next = Rounding::new(kernel, &self.next_tops);
        let conv = NarrowConv::pack(&rounding, filtered, &self.part);
        let mut activations = grid.activations(self.part.inputs);
        activations.copy_from_slice(&self.input);
        let mut narrow = rounding.activations(grid);
        rounding.bias_relu_round(level, grid, &mut activations, &[], &mut narrow);
        let mut wide = grid.activations(self.part.outputs);
        wide.copy_from_slice(&self.residual);
        let mut rounded = next.activations(grid);
        let outputs = Outputs {
            wide: Some(&mut wide),
            narrow: (after != After::Keep).then_some((&mut rounded[..], &next)),
        };
        let mut scratch = WinogradScratch::new(self.part.inputs);
        conv.run(grid, &narrow, after, outputs, &mut scratch);
        let border: f32 = wide[..(grid.files + 2) * BLOCK]
            .iter()
            .map(|x| x.abs())
            .sum();
        assert_eq!(border, 0.0, "{kernel:?} writes into the border");
        let places = (0..self.part.outputs)
            .flat_map(|channel| (0..grid.cells()).map(move |cell| place(grid, channel, cell)));
        Results {
            wide: places.clone().map(|at| wide[at]).collect(),
            narrow: places.map(|at| unpacked(kernel, &rounded, at)).collect(),
        }
    }

    /// The results by definition, from inputs and weights rounded by `round`.
    fn expected(&self, kernel: NarrowKernel, after: After) -> Vec<f64> {
        let Case { grid, part, .. } = self;
        let mut row = vec![0; part.inputs * part.taps * part.taps];
        let rounding = Rounding::new(kernel, &self.tops);
        let mut results = Vec::new();
        for output in 0..part.outputs {
            let weights = &part.weights[output * row.len()..][..row.len()];
            let unit = f64::from(round_row(
                &rounding,
                weights,
                part.taps * part.taps,
                &mut row,
            ));
            for cell in 0..grid.cells() {
                let mut sum = 0.0;
                for (tap, neighbour) in neighbours(*grid, part.taps, cell) {
                    for input in 0..part.inputs {
                        let x = self.input[place(*grid, input, neighbour)].max(0.0);
                        let w = row[input * part.taps * part.taps + tap];
                        sum += match kernel {
                            NarrowKernel::Bf16 => widened(bfloat16(x)) * widened(w as u16),
                            _ => f64::from(byte(x * rounding.factors[input])) * signed(kernel, w),
                        };
                    }
                }
                let sum = sum * unit + f64::from(part.bias[output]);
                let residual = f64::from(self.residual[place(*grid, output, cell)]);
                results.push(match after {
                    After::Keep => sum,
                    After::Relu => sum.max(0.0),
                    After::AddRelu => (sum + residual).max(0.0),
                });
            }
        }
        results
    }
}

/// Random activations of this many channels, the border zero.
pub fn filled(grid: Grid, channels: usize, rng: &mut ChaCha8Rng) -> AlignedFloats {
    let mut activations = grid.activations(channels);
    for channel in 0..channels {
        for cell in 0..grid.cells() {
            activations[place(grid, channel, cell)] = rng.random_range(-1.0..2.0);
        }
    }
    activations
}

pub fn place(grid: Grid, channel: usize, cell: usize) -> usize {
    channel / BLOCK * grid.block_floats() + grid.at(cell) + channel % BLOCK
}

/// The taps that lie on the board, each with its cell.
pub fn neighbours(grid: Grid, taps: usize, cell: usize) -> impl Iterator<Item = (usize, usize)> {
    let (rank, file) = (cell / grid.files, cell % grid.files);
    (0..taps * taps).filter_map(move |tap| {
        let (y, x) = (rank + tap / taps, file + tap % taps);
        let (y, x) = (y.checked_sub(taps / 2)?, x.checked_sub(taps / 2)?);
        (y < grid.ranks && x < grid.files).then_some((tap, y * grid.files + x))
    })
}

pub fn widened(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

fn signed(kernel: NarrowKernel, weight: u32) -> f64 {
    match kernel {
        NarrowKernel::Int8Vnni => f64::from(weight as u8 as i8),
        _ => f64::from(weight as u16 as i16),
    }
}

/// The rounded activation of a channel and cell.
fn unpacked(kernel: NarrowKernel, words: &[u32], at: usize) -> u32 {
    let per_word = kernel.inputs_per_word();
    let bits = 32 / per_word;
    words[at / per_word] >> (at % per_word * bits) & ((1 << bits) - 1)
}

fn kernels(precision: Precision) -> Vec<(NarrowKernel, SimdLevel)> {
    let kernel = |level| Some((NarrowKernel::choose(precision, level)?, level));
    SimdLevel::available()
        .into_iter()
        .filter_map(kernel)
        .collect()
}

pub const AFTERS: [After; 3] = [After::Keep, After::Relu, After::AddRelu];

#[test]
fn every_kernel_for_8_bits_computes_the_convolution_to_the_same_bit() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for number in 0..30 {
        let case = Case::random(&mut rng);
        let after = AFTERS[number % 3];
        let mut first = None;
        for (kernel, level) in kernels(Precision::Int8) {
            let results = case.run(kernel, level, after);
            if number < 12 {
                for (got, want) in results.wide.iter().zip(case.expected(kernel, after)) {
                    let close = (f64::from(*got) - want).abs() <= 1e-4 * want.abs().max(1.0);
                    assert!(close, "{kernel:?} {:?} {after:?}: {got} {want}", case.grid);
                }
            }
            let first = first.get_or_insert_with(|| case.run(kernel, level, after));
            assert_eq!(*first, results, "{kernel:?} {:?}", case.grid);
        }
    }
}

#[test]
fn minimal_filtering_gives_the_same_bits_as_the_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let cases =
        std::iter::repeat_with(|| Case::random(&mut rng)).filter(|case| case.part.taps == 3);
    for (number, case) in cases.take(30).enumerate() {
        let after = AFTERS[number % 3];
        for (kernel, level) in kernels(Precision::Int8) {
            if integer::serves(kernel) {
                let filtered = case.run_as(kernel, level, after, true);
                let defined = case.run(kernel, level, after);
                assert_eq!(filtered, defined, "{kernel:?} {:?}", case.grid);
            }
        }
    }
}

#[test]
fn the_kernel_for_bfloat16_computes_the_convolution() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for number in 0..12 {
        let case = Case::random(&mut rng);
        let after = AFTERS[number % 3];
        for (kernel, level) in kernels(Precision::Bf16) {
            let results = case.run(kernel, level, after);
            let rounded = results.wide.iter().map(|&x| u32::from(bfloat16(x)));
            if after != After::Keep {
                assert_eq!(results.narrow, rounded.collect::<Vec<u32>>());
            }
            for (got, want) in results.wide.iter().zip(case.expected(kernel, after)) {
                let close = (f64::from(*got) - want).abs() <= 1e-4 * want.abs().max(1.0);
                assert!(close, "{:?} {after:?}: {got} {want}", case.grid);
            }
        }
    }
}

#[test]
fn numbers_are_rounded_to_the_nearest_byte() {
    let cases = [
        (-3.0, 0),
        (0.5, 0),
        (1.5, 2),
        (2.49, 2),
        (254.5, 254),
        (1e9, 255),
        (f32::INFINITY, 255),
    ];
    for (x, expected) in cases {
        assert_eq!(byte(x), expected, "{x}");
    }
}
