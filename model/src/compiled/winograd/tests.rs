//! Each kernel against the convolution as it is defined, on boards and channels of all sizes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::compiled::kernel::SimdLevel;
use crate::compiled::narrow::tests::{AFTERS, filled, neighbours, place, widened};
use crate::compiled::precision::Precision;

/// A convolution to be tested, with activations to read and to add to.
struct Case {
    grid: Grid,
    part: ConvWeights,
    input: AlignedFloats,
    residual: AlignedFloats,
}

impl Case {
    fn random(rng: &mut ChaCha8Rng) -> Case {
        let grid = Grid {
            files: rng.random_range(1..=10),
            ranks: rng.random_range(1..=10),
        };
        let channels = |rng: &mut ChaCha8Rng| 16 * rng.random_range(1..=8);
        let (inputs, outputs) = (channels(rng), channels(rng));
        let mut floats =
            |n: usize| -> Vec<f32> { (0..n).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let part = ConvWeights {
            taps: 3,
            inputs,
            outputs,
            weights: floats(outputs * inputs * 9),
            bias: floats(outputs),
        };
        Case {
            grid,
            input: filled(grid, inputs, rng),
            residual: filled(grid, outputs, rng),
            part,
        }
    }

    /// The output's channels, border included.
    fn run(&self, kernel: WinogradKernel, after: After) -> AlignedFloats {
        let conv = WinogradConv::pack(kernel, &self.part);
        let mut out = self.grid.activations(self.part.outputs);
        out.copy_from_slice(&self.residual);
        let mut scratch = WinogradScratch::new(self.part.inputs);
        conv.run(self.grid, &self.input, &mut out, after, &mut scratch);
        out
    }

    /// What `after` makes of the sum of an output in a cell.
    fn finished(&self, sum: f64, after: After, output: usize, cell: usize) -> f64 {
        let sum = sum + f64::from(self.part.bias[output]);
        match after {
            After::Keep => sum,
            After::Relu => sum.max(0.0),
            After::AddRelu => {
                (sum + f64::from(self.residual[place(self.grid, output, cell)])).max(0.0)
            }
        }
    }

    /// The sum of an output in a cell by definition.
    fn defined(&self, output: usize, cell: usize) -> f64 {
        let mut sum = 0.0;
        for (tap, neighbour) in neighbours(self.grid, 3, cell) {
            for input in 0..self.part.inputs {
                let x = self.input[place(self.grid, input, neighbour)];
                let w = self.part.weights[(output * self.part.inputs + input) * 9 + tap];
                sum += f64::from(x) * f64::from(w);
            }
        }
        sum
    }

    /// Bᵀ d B of a tile.
    fn transformed_input(&self, tile: (usize, usize), input: usize) -> [f32; ELEMENTS] {
        let Grid { files, ranks } = self.grid;
        let at = |y: usize, x: usize| {
            let (rank, file) = (2 * tile.0 + y, 2 * tile.1 + x);
            match (1..=ranks).contains(&rank) && (1..=files).contains(&file) {
                true => self.input[place(self.grid, input, (rank - 1) * files + file - 1)],
                false => 0.0,
            }
        };
        let times_b = |d: [f32; 4]| [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]];
        let columns = [0, 1, 2, 3].map(|x| times_b([0, 1, 2, 3].map(|y| at(y, x))));
        let rows = [0, 1, 2, 3].map(|y| times_b(columns.map(|column| column[y])));
        std::array::from_fn(|element| rows[element / 4][element % 4])
    }

    /// The sums of all outputs and cells from transformed numbers rounded to bfloat16.
    fn rounded_sums(&self) -> Vec<f64> {
        let Grid { files, ranks } = self.grid;
        let ConvWeights {
            inputs, outputs, ..
        } = self.part;
        let round = |elements: [f32; ELEMENTS]| elements.map(|x| widened(bfloat16(x)));
        let taps = self.part.weights.as_chunks::<9>().0;
        let weights: Vec<_> = taps.iter().map(|taps| round(transformed(taps))).collect();
        let mut sums = vec![0.0; outputs * self.grid.cells()];
        for tile in (0..ranks.div_ceil(2)).flat_map(|y| (0..files.div_ceil(2)).map(move |x| (y, x)))
        {
            let x: Vec<_> = (0..inputs)
                .map(|input| round(self.transformed_input(tile, input)))
                .collect();
            for output in 0..outputs {
                let mut m = [0.0; ELEMENTS];
                for (x, w) in x.iter().zip(&weights[output * inputs..]) {
                    for (m, (x, w)) in m.iter_mut().zip(x.iter().zip(w)) {
                        *m += x * w;
                    }
                }
                let times_a = |m: [f64; 4]| [m[0] + m[1] + m[2], m[1] - m[2] - m[3]];
                let columns = [0, 1, 2, 3].map(|x| times_a([m[x], m[4 + x], m[8 + x], m[12 + x]]));
                for y in 0..2 {
                    let row = times_a(columns.map(|column| column[y]));
                    for (x, sum) in row.into_iter().enumerate() {
                        let (rank, file) = (2 * tile.0 + y, 2 * tile.1 + x);
                        if rank < ranks && file < files {
                            sums[output * self.grid.cells() + rank * files + file] = sum;
                        }
                    }
                }
            }
        }
        sums
    }
}

fn kernels(precision: Precision) -> Vec<WinogradKernel> {
    SimdLevel::available()
        .into_iter()
        .filter_map(|level| WinogradKernel::choose(precision, level))
        .collect()
}

/// Compares all cells with what they should hold, and the border with zero.
fn check(case: &Case, after: After, kernel: WinogradKernel, sums: impl Fn(usize, usize) -> f64) {
    let mut out = case.run(kernel, after);
    for output in 0..case.part.outputs {
        for cell in 0..case.grid.cells() {
            let got = std::mem::take(&mut out[place(case.grid, output, cell)]);
            let want = case.finished(sums(output, cell), after, output, cell);
            let close = (f64::from(got) - want).abs() <= 1e-4 * want.abs().max(1.0);
            assert!(close, "{kernel:?} {:?} {after:?}: {got} {want}", case.grid);
        }
    }
    let border = out.iter().all(|&x| x == 0.0);
    assert!(
        border,
        "{kernel:?} {:?}: something beyond the board",
        case.grid
    );
}

#[test]
fn every_kernel_for_floats_computes_the_convolution() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for number in 0..24 {
        let case = Case::random(&mut rng);
        for kernel in kernels(Precision::F32) {
            check(&case, AFTERS[number % 3], kernel, |output, cell| {
                case.defined(output, cell)
            });
        }
    }
}

#[test]
fn the_kernel_for_bfloat16_rounds_transformed_numbers_and_nothing_else() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for number in 0..12 {
        let case = Case::random(&mut rng);
        let sums = case.rounded_sums();
        for kernel in kernels(Precision::Bf16) {
            check(&case, AFTERS[number % 3], kernel, |output, cell| {
                sums[output * case.grid.cells() + cell]
            });
        }
    }
}

#[test]
fn kernels_with_fused_multiply_add_give_the_same_bits() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for number in 0..30 {
        let case = Case::random(&mut rng);
        let after = AFTERS[number % 3];
        let fused = kernels(Precision::F32);
        let fused = fused.iter().filter(|&&k| k != WinogradKernel::Portable);
        let mut results = fused.map(|&kernel| case.run(kernel, after).to_vec());
        if let Some(first) = results.next() {
            assert!(results.all(|other| other == first), "{:?}", case.grid);
        }
    }
}

#[test]
fn it_is_chosen_where_it_saves_multiplications() {
    let pays = |files, ranks, channels| pays(Grid { files, ranks }, channels, channels);
    assert!(pays(10, 8, 32) && pays(8, 8, 64) && pays(9, 10, 128) && pays(4, 4, 32));
    assert!(!pays(10, 8, 16), "few channels");
    assert!(
        !pays(3, 3, 64) && !pays(5, 5, 64),
        "half of the tiles are beyond the board"
    );
    assert!(!pays(10, 1, 64), "most taps are beyond the board");
}
