//! Compiled nets with narrow numbers: how far they are from single precision, and that they do not
//! depend on batch or machine.

mod common;

use common::variant;
use model::{
    CompiledEvaluator, Device, DeviceChoice, EvalRequest, Evaluation, Evaluator, Inference, Net,
    NetConfig, NetMeta, NetShape, Precision, SimdLevel, Weights, load_evaluator, sample_requests,
    save_net,
};
use rand::RngExt;

/// Weights as after training: none is 0 or 1 by construction, and channels differ in how large
/// their activations are, by a factor of ten and more.
fn uneven_weights(config: NetConfig, shape: NetShape, seed: u64) -> Weights {
    common::random_weights(config, shape, seed, |name, value, rng| {
        match name.rsplit('.').next() {
            Some("gamma") => rng.random_range(-2f32..0.5).exp2(),
            Some("running_var") => rng.random_range(0.5..1.5),
            Some("weight") if name.starts_with("policy") => value * 0.3,
            Some("weight") if name.starts_with("value") => value,
            Some("weight") => value * 2.0,
            _ => rng.random_range(-0.3..0.3),
        }
    })
}

/// How far apart two lists of evaluations are.
#[derive(Debug)]
struct Distance {
    /// Root mean square of the logits' differences, as a part of that of the logits around their
    /// position's mean.
    logits: f32,
    /// Largest total variation distance between the priors of a position.
    priors: f32,
    /// Largest difference between chances.
    chances: f32,
}

fn distance(exact: &[Evaluation], other: &[Evaluation]) -> Distance {
    let (mut error, mut spread) = (0f32, 0f32);
    let (mut priors, mut chances) = (0f32, 0f32);
    for (a, b) in exact.iter().zip(other) {
        let mean = a.policy_logits.iter().sum::<f32>() / a.policy_logits.len() as f32;
        for (x, y) in a.policy_logits.iter().zip(&b.policy_logits) {
            error += (x - y).powi(2);
            spread += (x - mean).powi(2);
        }
        let (p, q) = (softmax(&a.policy_logits), softmax(&b.policy_logits));
        let variation: f32 = p.iter().zip(&q).map(|(p, q)| (p - q).abs() / 2.0).sum();
        priors = priors.max(variation);
        for (x, y) in [(a.wdl.win, b.wdl.win), (a.wdl.loss, b.wdl.loss)] {
            chances = chances.max((x - y).abs());
        }
    }
    Distance {
        logits: (error / spread).sqrt(),
        priors,
        chances,
    }
}

fn softmax(logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().fold(f32::MIN, |a, &b| a.max(b));
    let powers: Vec<f32> = logits.iter().map(|x| (x - top).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|x| x / sum).collect()
}

#[test]
fn narrow_numbers_are_as_exact_as_promised() {
    let sizes = [
        NetConfig::preset("small").expect("a preset"),
        NetConfig {
            policy_dim: 40,
            value_channels: 48,
            ..NetConfig::new(48, 3)
        },
    ];
    for (name, seed) in [("falcon", 1), ("chess", 2)] {
        let variant = variant(name);
        // Not the positions that ranges are measured on.
        let requests = sample_requests(&variant, 60, 77);
        for config in sizes {
            let weights = uneven_weights(config, NetShape::new(&variant), seed);
            let evaluate = |precision| {
                let level = SimdLevel::best();
                CompiledEvaluator::with_precision(&weights, &config, &variant, level, precision)
                    .expect("an evaluator")
                    .evaluate(&requests)
            };
            let exact = evaluate(Precision::F32);
            for precision in Precision::available(SimdLevel::best()) {
                let bound = match precision {
                    Precision::F32 => [0.0; 3],
                    Precision::Bf16 => [0.03, 0.05, 0.02],
                    Precision::Int8 => [0.1, 0.2, 0.05],
                };
                let found = distance(&exact, &evaluate(precision));
                let pairs = [found.logits, found.priors, found.chances]
                    .into_iter()
                    .zip(bound);
                for (found, bound) in pairs {
                    assert!(
                        found <= bound,
                        "{name} {config:?} {precision}: {found:?} > {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn narrow_results_do_not_depend_on_the_batch() {
    let variant = variant("falcon");
    let requests = sample_requests(&variant, 40, 8);
    // Convolutions of 16 channels are computed by definition, others by minimal filtering.
    let sizes = [16, 48].map(|channels| NetConfig::new(channels, 2));
    let precisions = Precision::available(SimdLevel::best());
    let cases = sizes
        .iter()
        .flat_map(|size| precisions.iter().map(move |p| (size, p)));
    for (config, &precision) in cases {
        let weights = uneven_weights(*config, NetShape::new(&variant), 7);
        let level = SimdLevel::best();
        let mut evaluator =
            CompiledEvaluator::with_precision(&weights, config, &variant, level, precision)
                .expect("an evaluator");
        let together = evaluator.evaluate(&requests);
        let mut reversed: Vec<EvalRequest> = requests.clone();
        reversed.reverse();
        let mut backwards = evaluator.clone().evaluate(&reversed);
        backwards.reverse();
        assert_eq!(together, backwards, "{precision}");
        for (request, expected) in requests.iter().zip(&together) {
            let alone = evaluator.evaluate(std::slice::from_ref(request));
            assert_eq!(&alone[0], expected, "{precision}");
        }
    }
}

/// Ranges are measured in single precision, whose sums differ in their last bits between portable
/// and other code; levels with the same ranges give the same bits.
#[test]
fn all_machines_with_vectors_give_the_same_bits_with_8_bits() {
    let variant = variant("falcon");
    for config in [
        NetConfig::new(48, 2),
        NetConfig::preset("tiny").expect("a preset"),
    ] {
        let weights = uneven_weights(config, NetShape::new(&variant), 9);
        let requests = sample_requests(&variant, 10, 10);
        let evaluate = |level| {
            let precision = Precision::Int8;
            CompiledEvaluator::with_precision(&weights, &config, &variant, level, precision)
                .expect("an evaluator")
                .evaluate(&requests)
        };
        let levels = SimdLevel::available();
        let mut fast = levels.iter().filter(|&&level| level != SimdLevel::Portable);
        let Some(first) = fast.next().map(|&level| evaluate(level)) else {
            return;
        };
        for &level in fast {
            assert_eq!(evaluate(level), first, "{level:?}");
        }
    }
}

#[test]
fn every_kind_of_inference_loads_from_a_file_or_says_what_is_missing() {
    let variant = variant("chess");
    let config = NetConfig::preset("tiny").expect("a preset");
    let net = Net::new(config, NetShape::new(&variant), 1, &Device::flex()).expect("a net");
    let bytes = save_net(&net, &NetMeta::new(&variant, config, "test", 0)).expect("bytes");
    let requests = sample_requests(&variant, 4, 1);
    let load = |inference| load_evaluator(&bytes, "net", &variant, DeviceChoice::Cpu, inference);
    let exact = load(Inference::Burn).expect("burn").evaluate(&requests);
    for inference in [
        Inference::Auto,
        Inference::Int8,
        Inference::Bf16,
        Inference::F32,
    ] {
        match load(inference) {
            Ok(mut evaluator) => {
                let found = distance(&exact, &evaluator.evaluate(&requests));
                assert!(
                    found.priors < 0.05 && found.chances < 0.05,
                    "{inference}: {found:?}"
                );
            }
            Err(error) => {
                assert_eq!(inference, Inference::Bf16);
                assert!(error.to_string().contains("AVX-512 BF16"), "{error}");
            }
        }
    }
}
