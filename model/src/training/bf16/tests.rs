//! The kernels for pairs against those for floats.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::compiled::aligned::AlignedFloats;
use crate::compiled::conv::{After, Conv};
use crate::training::elementwise::{add_moments, keep_activations, load_activations};
use crate::training::gradient_kernel;
use crate::training::parameters::ConvPlace;
use crate::training::reduction::unpack;

/// Numbers of so few bits that they and those transformed for minimal filtering have 16 bits as they
/// are, and rounding changes nothing.
fn short(rng: &mut ChaCha8Rng) -> f32 {
    f32::from(rng.random_range(-8..=8_i8)) / 8.0
}

fn activations(grid: Grid, channels: usize, rng: &mut ChaCha8Rng) -> AlignedFloats {
    let mut values = grid.activations(channels);
    for channel in 0..channels {
        let block = channel / BLOCK * grid.block_floats() + channel % BLOCK;
        for cell in 0..grid.cells() {
            values[block + grid.at(cell)] = short(rng);
        }
    }
    values
}

fn assert_close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-3, "{a} and {b}");
    }
}

fn job<'a, W>(
    (grid, inputs, out_blocks): (Grid, usize, usize),
    (input, output_gradient): (&'a [W], &'a [W]),
) -> GradientJob<'a, W> {
    GradientJob {
        grid,
        inputs,
        out_blocks,
        input,
        output_gradient,
    }
}

fn kept(grid: Grid, values: &[f32]) -> Vec<u32> {
    let mut pairs = vec![0; values.len() / 2];
    keep_activations((SimdLevel::best(), grid), values, &mut pairs);
    pairs
}

/// The output is `plain`, rounded, and its moments are those of `plain`.
fn check_conv(how: (SimdLevel, Grid), conv: &PairConv, input: &[Pair], plain: &[f32]) {
    let channels = plain.len() / how.1.bordered_cells();
    let scratch = &mut WinogradScratch::new(64);
    let (mut ours, mut theirs) = (Moments::new(channels), Moments::new(channels));
    let (mut out, mut same) = (vec![0; plain.len() / 2], vec![0; plain.len() / 2]);
    conv.run(how.1, input, (&mut out, Some(&mut ours)), scratch);
    conv.run(how.1, input, (&mut same, None), scratch);
    assert_eq!(out, same);
    let mut loaded = vec![0.0; plain.len()];
    load_activations(how, &out, &mut loaded);
    for (a, b) in loaded.iter().zip(plain) {
        assert!((a - b).abs() < 1e-3 + b.abs() / 128.0, "{a} and {b}");
    }
    add_moments(how, plain, &mut theirs);
    let [ours, theirs] = [ours, theirs].map(|moments| Moments::join(vec![moments]));
    assert_close(&ours.mean, &theirs.mean);
    assert_close(&ours.variance, &theirs.variance);
}

#[test]
fn kernels_agree_with_32_bits_where_there_is_nothing_to_round() {
    if !supported() {
        return;
    }
    let (level, mut rng) = (SimdLevel::best(), ChaCha8Rng::seed_from_u64(1));
    for (files, ranks) in [(1, 1), (3, 5), (8, 8), (9, 10), (10, 8)] {
        let grid = Grid { files, ranks };
        for (inputs, outputs) in [(40, 48), (32, 32), (16, 64)] {
            let weights = outputs * inputs * 9;
            let parameters: Vec<f32> = (0..weights).map(|_| short(&mut rng)).collect();
            let place = ConvPlace {
                inputs,
                outputs,
                weight: 0..weights,
                gamma: 0..0,
                beta: 0..0,
            };
            let input = activations(grid, inputs, &mut rng);
            let gradient = activations(grid, outputs, &mut rng);
            let both = [
                (place.forward(&parameters, inputs), &input),
                (place.transposed(&parameters), &gradient),
            ];
            for (part, input) in both {
                let mut plain = grid.activations(part.outputs);
                let conv = Conv::pack(level, std::slice::from_ref(&part));
                conv.run(grid, input, &mut plain, After::Keep);
                let input = kept(grid, input);
                let direct = PairConv::Direct(Bf16Conv::new(&part));
                check_conv((level, grid), &direct, &input, &plain);
                let conv = WinogradConv::pack(WinogradKernel::Bf16, &part);
                check_conv((level, grid), &PairConv::Winograd(conv), &input, &plain);
            }
            let out_blocks = outputs.div_ceil(BLOCK);
            let form = Pair::gradient_form(grid, inputs, out_blocks);
            let mut a = vec![0.0; GradientForm::Taps.sums_len(inputs, out_blocks)];
            let mut b = vec![0.0; form.sums_len(inputs, out_blocks)];
            let pairs = (kept(grid, &input), kept(grid, &gradient));
            let room = &mut GradientPairs::default();
            for _ in 0..3 {
                let job = self::job((grid, inputs, out_blocks), (&input, &gradient));
                gradient_kernel::add_weight_gradient(level, job, 3, &mut a);
                let job = self::job((grid, inputs, out_blocks), (&pairs.0, &pairs.1));
                Pair::add_weight_gradient(level, job, &mut b, room);
            }
            Pair::finish_weight_gradient(&mut b, room);
            let [a, b] = [(a, GradientForm::Taps), (b, form)].map(|(sums, form)| {
                let mut gradient = vec![0.0; weights];
                unpack(&sums, form, (0, inputs), inputs, &mut gradient);
                gradient
            });
            assert_close(&a, &b);
        }
    }
}
