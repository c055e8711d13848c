//! What several tests need.

use model::{Device, Net, NetConfig, NetShape, Weights};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rules::Variant;

pub fn variant(name: &str) -> std::sync::Arc<Variant> {
    Variant::by_name(name).expect("builtin")
}

/// The weights of a fresh net, each replaced by what `value` makes of its tensor's name and itself.
pub fn random_weights(
    config: NetConfig,
    shape: NetShape,
    seed: u64,
    value: impl Fn(&str, f32, &mut ChaCha8Rng) -> f32,
) -> Weights {
    let fresh = Net::new(config, shape, seed, &Device::flex())
        .expect("a net")
        .weights();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut weights = Weights::default();
    for (name, tensor) in fresh.iter() {
        let mut tensor = tensor.clone();
        for number in &mut tensor.data {
            *number = value(name, *number, &mut rng);
        }
        weights.insert(name, tensor);
    }
    weights
}
