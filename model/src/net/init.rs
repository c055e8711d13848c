//! The weights of a fresh net.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{NamedTensor, Weights};

/// Fills a net's structure with fresh weights. `zero` is the net with every layer zero, and
/// normalisation as burn makes it (scale 1, shift 0, mean 0, variance 1), which is kept.
///
/// Weights are uniform with the variance 2 / fan-in that keeps the size of activations through
/// relu (He et al. 2015, <https://arxiv.org/abs/1502.01852>), times a gain that makes the last
/// layers small: a fresh net is nearly uniform over moves and outcomes, and global pooling starts
/// as a small correction.
pub fn initial_weights(zero: &Weights, seed: u64) -> Weights {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut weights = Weights::default();
    for (name, tensor) in zero.iter() {
        let mut tensor = tensor.clone();
        if name.ends_with(".weight") {
            fill(&mut tensor, gain(name), &mut rng);
        }
        weights.insert(name, tensor);
    }
    weights
}

fn gain(name: &str) -> f32 {
    match name {
        "policy.query.weight" | "policy.kind.weight" | "policy.hand.weight" => 0.1,
        "value.wdl.weight" | "value.moves_left.weight" => 0.1,
        _ if name.contains(".pooling.") => 0.1,
        _ => 1.0,
    }
}

fn fill(tensor: &mut NamedTensor, gain: f32, rng: &mut ChaCha8Rng) {
    let fan_in = match tensor.shape[..] {
        [_, inputs, height, width] => inputs * height * width,
        [inputs, _] => inputs,
        _ => unreachable!("no layer has weights of shape {:?}", tensor.shape),
    };
    // A uniform distribution on ±b has variance b² / 3.
    let bound = gain * (6.0 / fan_in as f32).sqrt();
    for value in &mut tensor.data {
        *value = rng.random_range(-bound..bound);
    }
}
