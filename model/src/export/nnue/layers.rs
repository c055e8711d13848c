//! The layers behind the feature transformer, in floats, on burn.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{Rng, RngExt};

use super::{
    ACTIVATION_ONE, BUCKETS, Dense, HALF, HIDDEN, OUTPUT_SCALE, Stack, UNITS_PER_ONE, WEIGHT_BITS,
};

/// Integers for a float 1 in the weights of hidden layers.
const HIDDEN_ONE: f32 = (1 << WEIGHT_BITS) as f32;
/// Integers for a float 1 in the sums of the output layer.
const OUTPUT_ONE: f32 = (UNITS_PER_ONE * OUTPUT_SCALE) as f32;
/// Largest weight of a hidden layer. Four of them times four activations fit 16 bits with their sign, so that the vector instructions
/// of any build of Fairy-Stockfish, some of which saturate there, give the exact sum.
const HIDDEN_LIMIT: f32 = 1.0;
/// Largest weight of the output layer, which 8 bits hold.
const OUTPUT_LIMIT: f32 = 127.0 * ACTIVATION_ONE as f32 / OUTPUT_ONE;

/// A stack of layers for each bucket: 2 · [`HALF`] → [`HIDDEN`] → 1, activations clipped to [0, 1].
///
/// The first layer is the sum of one that all buckets share and one of its own, so that what few positions teach one bucket
/// the others learn as well.
#[derive(Module, Debug)]
pub struct LayerStacks {
    shared: Linear,
    first: Vec<Linear>,
    second: Vec<Linear>,
    output: Vec<Linear>,
}

impl LayerStacks {
    /// Stacks that are all alike, with random weights.
    pub fn new(rng: &mut impl Rng, device: &Device) -> LayerStacks {
        let shared = random(2 * HALF, HIDDEN[0], rng, device);
        let second = random(HIDDEN[0], HIDDEN[1], rng, device);
        let output = random(HIDDEN[1], 1, rng, device);
        let all = |layer: Linear| vec![layer; BUCKETS];
        LayerStacks {
            shared,
            first: all(zero(2 * HALF, HIDDEN[0], device)),
            second: all(second),
            output: all(output),
        }
    }

    /// The largest weight that the parameter `name` of this module may have, so that the integers hold it; `None` for biases.
    pub fn limit(name: &str) -> Option<f32> {
        let layer = name.strip_suffix(".weight")?;
        Some(match layer.split('.').next() {
            Some("second") => HIDDEN_LIMIT,
            Some("output") => OUTPUT_LIMIT,
            // The shared layer and the bucket's own are added.
            _ => 0.5 * HIDDEN_LIMIT,
        })
    }

    /// The values of positions that are sorted by bucket, `counts` in each.
    ///
    /// `accumulators`, `[positions, 2, HALF + BUCKETS]`: the transformer's outputs and piece–square sums as the side to move and
    /// the other side see the position. The answer is `[positions, 1]`; 1 is [`UNITS_PER_ONE`] of Fairy-Stockfish's units.
    pub fn forward(&self, accumulators: Tensor<3>, counts: &[usize; BUCKETS]) -> Tensor<2> {
        let mut parts = Vec::new();
        let mut begin = 0;
        for (bucket, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let rows = begin..begin + count;
            begin = rows.end;
            let inputs = accumulators
                .clone()
                .slice([rows.clone(), 0..2, 0..HALF])
                .clamp(0.0, 1.0)
                .reshape([count, 2 * HALF]);
            let first = self.first[bucket].forward(inputs.clone()) + self.shared.forward(inputs);
            let second = self.second[bucket].forward(first.clamp(0.0, 1.0));
            let positional = self.output[bucket].forward(second.clamp(0.0, 1.0));
            let column = HALF + bucket..HALF + bucket + 1;
            let psqt = |side: usize| {
                let sums = accumulators.clone();
                sums.slice([rows.clone(), side..side + 1, column.clone()])
                    .reshape([count, 1])
            };
            parts.push(positional + (psqt(0) - psqt(1)).mul_scalar(0.5));
        }
        Tensor::cat(parts, 0)
    }

    /// The nearest integers.
    pub fn quantise(&self) -> Vec<Stack> {
        let shared = floats(self.shared.weight.val());
        let hidden_bias = HIDDEN_ONE * ACTIVATION_ONE as f32;
        let dense = |layer: &Linear, shared: &[f32], scale: (f32, f32), limit: f32| {
            let [inputs, outputs] = layer.weight.val().dims();
            let own = floats(layer.weight.val());
            let weight = |input: usize, output: usize| {
                let place = input * outputs + output;
                let sum = own[place] + shared.get(place).copied().unwrap_or(0.0);
                (sum.clamp(-limit, limit) * scale.0).round() as i8
            };
            let bias = layer.bias.as_ref().map(|bias| floats(bias.val()));
            let biases = bias.unwrap_or_else(|| vec![0.0; outputs]);
            Dense {
                biases: biases
                    .iter()
                    .map(|bias| (bias * scale.1).round() as i32)
                    .collect(),
                weights: (0..outputs)
                    .flat_map(|output| (0..inputs).map(move |input| (input, output)))
                    .map(|(input, output)| weight(input, output))
                    .collect(),
            }
        };
        let hidden = (HIDDEN_ONE, hidden_bias);
        let output = (OUTPUT_ONE / ACTIVATION_ONE as f32, OUTPUT_ONE);
        (0..BUCKETS)
            .map(|bucket| Stack {
                hidden: [
                    dense(&self.first[bucket], &shared, hidden, HIDDEN_LIMIT),
                    dense(&self.second[bucket], &[], hidden, HIDDEN_LIMIT),
                ],
                output: dense(&self.output[bucket], &[], output, OUTPUT_LIMIT),
            })
            .collect()
    }
}

/// Uniform weights within one over the root of the inputs, and no bias.
fn random(inputs: usize, outputs: usize, rng: &mut impl Rng, device: &Device) -> Linear {
    let bound = 1.0 / (inputs as f32).sqrt();
    let weights = (0..inputs * outputs).map(|_| rng.random_range(-bound..bound));
    linear(weights.collect(), [inputs, outputs], device)
}

fn zero(inputs: usize, outputs: usize, device: &Device) -> Linear {
    linear(vec![0.0; inputs * outputs], [inputs, outputs], device)
}

/// `weights`: `[inputs, outputs]`
fn linear(weights: Vec<f32>, shape: [usize; 2], device: &Device) -> Linear {
    let weight = Tensor::<2>::from_data(TensorData::new(weights, shape), device);
    Linear {
        weight: Param::from_tensor(weight),
        bias: Some(Param::from_tensor(Tensor::zeros([shape[1]], device))),
    }
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .without_autodiff()
        .try_into_vec_as()
        .expect("the device hands back what it was given")
}
