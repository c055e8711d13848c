//! Nets: gradients, files, and agreement of the two inference paths.

mod common;

use common::variant;
use model::burn::optim::{AdamWConfig, GradientsParams};
use model::burn::tensor::activation::log_softmax;
use model::burn::tensor::{Tensor, TensorData};
use model::{
    CompiledEvaluator, Device, DeviceChoice, Encoding, EvalRequest, Evaluation, Evaluator,
    Inference, ModelError, Net, NetConfig, NetEvaluator, NetMeta, NetShape, PolicyGather,
    PolicyLayout, SimdLevel, TrainingPrecision, Weights, load_evaluator, load_net, sample_requests,
    save_net,
};
use rand::RngExt;
use rules::Variant;

fn tiny() -> NetConfig {
    NetConfig::preset("tiny").expect("a preset")
}

/// Sizes whose convolutions are computed by definition and by minimal filtering.
fn both_kinds_of_convolutions() -> [NetConfig; 2] {
    [tiny(), NetConfig::new(48, 2)]
}

/// A net whose every number is random, as after training: nothing is 0 or 1 by construction.
fn random_weights(config: NetConfig, shape: NetShape, seed: u64) -> Weights {
    common::random_weights(config, shape, seed, |name, value, rng| {
        match name.rsplit('.').next() {
            Some("gamma" | "running_var") => rng.random_range(0.5..1.5),
            Some("weight") => value * 3.0,
            _ => rng.random_range(-0.3..0.3),
        }
    })
}

fn difference(a: &Evaluation, b: &Evaluation) -> f32 {
    let policy = a
        .policy_logits
        .iter()
        .zip(&b.policy_logits)
        .map(|(x, y)| (x - y).abs());
    policy
        .chain([
            (a.wdl.win - b.wdl.win).abs(),
            (a.wdl.draw - b.wdl.draw).abs(),
            (a.wdl.loss - b.wdl.loss).abs(),
            (a.moves_left - b.moves_left).abs() / 32.0,
        ])
        .fold(0.0, f32::max)
}

#[test]
fn both_inference_paths_agree_at_every_level() {
    let small = NetConfig::preset("small").expect("a preset");
    let odd = NetConfig {
        policy_dim: 40,
        value_channels: 48,
        ..NetConfig::new(48, 3)
    };
    for name in Variant::builtin_names() {
        let variant = variant(name);
        let shape = NetShape::new(&variant);
        let requests = sample_requests(&variant, 24, 5);
        for (config, seed) in [(tiny(), 1), (small, 2), (odd, 3)] {
            let weights = random_weights(config, shape, seed);
            let net = Net::from_weights(&weights, config, shape, &Device::flex()).expect("a net");
            let expected = NetEvaluator::new(&net, &variant).evaluate(&requests);
            let size = |evaluation: &Evaluation| {
                evaluation
                    .policy_logits
                    .iter()
                    .fold(0f32, |a, b| a.max(b.abs()))
            };
            assert!(
                expected.iter().map(size).fold(0.0, f32::max) > 0.1,
                "the net says something"
            );
            for level in SimdLevel::available() {
                let mut compiled =
                    CompiledEvaluator::with_level(&weights, &config, &variant, level)
                        .expect("an evaluator");
                for (a, b) in expected.iter().zip(compiled.evaluate(&requests)) {
                    let scale = size(a).max(1.0);
                    let error = difference(a, &b);
                    assert!(
                        error <= 1e-4 * scale,
                        "{name} {config:?} {level:?}: off by {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn compiled_results_do_not_depend_on_the_batch() {
    let variant = variant("falcon");
    let requests = sample_requests(&variant, 40, 8);
    for config in both_kinds_of_convolutions() {
        let weights = random_weights(config, NetShape::new(&variant), 7);
        let mut evaluator =
            CompiledEvaluator::new(&weights, &config, &variant).expect("an evaluator");
        let together = evaluator.evaluate(&requests);
        let mut reversed: Vec<EvalRequest> = requests.clone();
        reversed.reverse();
        let mut backwards = evaluator.clone().evaluate(&reversed);
        backwards.reverse();
        assert_eq!(together, backwards);
        for (request, expected) in requests.iter().zip(&together) {
            let alone = evaluator.evaluate(std::slice::from_ref(request));
            assert_eq!(&alone[0], expected);
        }
    }
}

#[test]
fn avx2_and_avx512_give_the_same_bits() {
    let available = SimdLevel::available();
    if !available.contains(&SimdLevel::Avx512) || !available.contains(&SimdLevel::Avx2) {
        return;
    }
    let variant = variant("falcon");
    let requests = sample_requests(&variant, 10, 10);
    for config in both_kinds_of_convolutions() {
        let weights = random_weights(config, NetShape::new(&variant), 9);
        let evaluate = |level| {
            CompiledEvaluator::with_level(&weights, &config, &variant, level)
                .expect("an evaluator")
                .evaluate(&requests)
        };
        assert_eq!(evaluate(SimdLevel::Avx2), evaluate(SimdLevel::Avx512));
    }
}

#[test]
fn burn_results_hardly_depend_on_the_batch() {
    let variant = variant("chess");
    let shape = NetShape::new(&variant);
    let weights = random_weights(tiny(), shape, 11);
    let net = Net::from_weights(&weights, tiny(), shape, &Device::flex()).expect("a net");
    let mut evaluator = NetEvaluator::new(&net, &variant);
    let requests = sample_requests(&variant, 33, 12);
    let together = evaluator.evaluate(&requests);
    for (request, expected) in requests.iter().zip(&together) {
        let alone = evaluator.evaluate(std::slice::from_ref(request));
        assert!(difference(&alone[0], expected) < 1e-5);
    }
}

#[test]
fn a_fresh_net_is_nearly_uniform_and_depends_on_its_seed_alone() {
    let variant = variant("falcon");
    let shape = NetShape::new(&variant);
    let config = NetConfig::preset("small").expect("a preset");
    let net = Net::new(config, shape, 1, &Device::flex()).expect("a net");
    let training = Net::new(config, shape, 1, &Device::flex().autodiff()).expect("a net");
    assert_eq!(net.weights(), training.weights());
    assert_ne!(
        net.weights(),
        Net::new(config, shape, 2, &Device::flex())
            .expect("a net")
            .weights()
    );
    for evaluation in NetEvaluator::new(&net, &variant).evaluate(&sample_requests(&variant, 20, 1))
    {
        assert!(evaluation.wdl.q().abs() < 0.3, "{evaluation:?}");
        let (low, high) = evaluation
            .policy_logits
            .iter()
            .fold((0f32, 0f32), |(low, high), &x| (low.min(x), high.max(x)));
        assert!(high - low < 3.0, "logits from {low} to {high}");
        assert!(evaluation.moves_left > 0.0);
    }
}

/// A few samples with made-up targets: always the first legal move, always a win.
struct Overfit {
    planes: Tensor<4>,
    gather: PolicyGather,
}

impl Overfit {
    fn new(variant: &Variant, shape: &NetShape, device: &Device) -> Overfit {
        let requests = sample_requests(variant, 16, 13);
        let (encoding, layout) = (Encoding::new(variant), PolicyLayout::new(variant));
        let planes = encoding.encode_batch(requests.iter().map(|r| (&r.position, r.repetitions)));
        let data = TensorData::new(planes, [requests.len(), encoding.planes(), 10, 10]);
        let moves: Vec<Vec<_>> = requests
            .iter()
            .map(|r| {
                r.moves
                    .iter()
                    .map(|&mv| layout.index(r.position.turn(), mv))
                    .collect()
            })
            .collect();
        Overfit {
            planes: Tensor::from_data(data, device),
            gather: PolicyGather::new(shape, &moves, device),
        }
    }

    fn loss(&self, net: &Net) -> Tensor<1> {
        let output = net.forward(self.planes.clone());
        let policy = log_softmax(output.legal_logits(&self.gather), 1);
        let wdl = log_softmax(output.wdl_logits, 1);
        let moves_left = (output.moves_left - 1.0).square().mean();
        -policy.narrow(1, 0, 1).mean() - wdl.narrow(1, 0, 1).mean() + moves_left
    }
}

#[test]
fn gradient_descent_overfits_a_batch_and_the_files_of_the_net_keep_every_bit() {
    let variant = variant("falcon");
    let (shape, device) = (NetShape::new(&variant), Device::flex().autodiff());
    let mut net = Net::new(tiny(), shape, 3, &device).expect("a net");
    let batch = Overfit::new(&variant, &shape, &device);
    let before = net.snapshot();
    let untouched = before.weights();
    let mut optimizer = AdamWConfig::new().init();
    let start: f32 = batch.loss(&net).into_scalar();
    for _ in 0..150 {
        let gradients = GradientsParams::from_grads(batch.loss(&net).backward(), &net);
        net = optimizer.step(0.01, net, gradients);
    }
    let end: f32 = batch.loss(&net).into_scalar();
    assert!(
        end < 0.1 && end < start / 10.0,
        "loss from {start} to {end}"
    );
    assert_eq!(
        before.weights(),
        untouched,
        "a snapshot does not change with the original"
    );

    let meta = NetMeta::new(&variant, tiny(), "test", 150);
    let bytes = save_net(&net, &meta).expect("bytes");
    assert_eq!(
        bytes,
        save_net(&net, &meta).expect("bytes"),
        "the same net, the same bytes"
    );
    let (loaded, loaded_meta) =
        load_net(&bytes, "test net", &variant, &Device::flex()).expect("a net");
    assert_eq!(loaded_meta, meta);
    assert_eq!(loaded.weights(), net.weights());
    let requests = sample_requests(&variant, 8, 14);
    let direct = NetEvaluator::new(&net, &variant).evaluate(&requests);
    assert_eq!(
        direct,
        NetEvaluator::new(&loaded, &variant).evaluate(&requests)
    );
    // What the overfitted net is sure of it stays sure of with numbers of any kind.
    for (inference, bound) in [(Inference::F32, 1e-4), (Inference::Int8, 0.1)] {
        let mut fast = load_evaluator(&bytes, "test net", &variant, DeviceChoice::Cpu, inference)
            .expect("an evaluator");
        for (a, b) in direct.iter().zip(fast.evaluate(&requests)) {
            let scale = a.policy_logits.iter().fold(1f32, |a, b| a.max(b.abs()));
            let found = difference(a, &b);
            assert!(found < bound * scale, "{inference}: {found} of {scale}");
        }
    }
}

#[test]
fn gradient_descent_with_16_bits_overfits_a_batch_too() {
    let variant = variant("falcon");
    let (shape, device) = (NetShape::new(&variant), Device::flex().autodiff());
    let net = Net::new(tiny(), shape, 3, &device).expect("a net");
    let mut net = net.with_training_precision(TrainingPrecision::Bf16);
    let batch = Overfit::new(&variant, &shape, &device);
    let mut optimizer = AdamWConfig::new().init();
    let start: f32 = batch.loss(&net).into_scalar();
    for _ in 0..150 {
        let gradients = GradientsParams::from_grads(batch.loss(&net).backward(), &net);
        net = optimizer.step(0.01, net, gradients);
    }
    let end: f32 = batch.loss(&net).into_scalar();
    assert!(end < start / 10.0, "loss from {start} to {end}");
}

#[test]
fn running_averages_move_towards_their_target() {
    let variant = variant("chess");
    let shape = NetShape::new(&variant);
    let (mut a, b) = (
        random_weights(tiny(), shape, 1),
        random_weights(tiny(), shape, 2),
    );
    let before = a.clone();
    a.lerp(&b, 0.25);
    for (((name, x), (_, y)), (_, z)) in before.iter().zip(b.iter()).zip(a.iter()) {
        let middle = x.data[0] + (y.data[0] - x.data[0]) * 0.25;
        assert_eq!(z.data[0], middle, "{name}");
    }
}

#[test]
fn unusable_files_are_refused_with_the_file_and_the_remedy() {
    let falcon = variant("falcon");
    let net = Net::new(tiny(), NetShape::new(&falcon), 1, &Device::flex()).expect("a net");
    let meta = NetMeta::new(&falcon, tiny(), "test", 0);
    let bytes = save_net(&net, &meta).expect("bytes");
    let load = |bytes: &[u8], variant: &Variant| {
        load_net(bytes, "runs/x/nets/7", variant, &Device::flex())
            .map(|_| ())
            .expect_err("an error")
    };
    let altered = |meta: &NetMeta| save_net(&net, meta).expect("bytes");

    for cut in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
        let error = load(&bytes[..cut], &falcon);
        assert!(
            matches!(error, ModelError::Corrupt { .. }),
            "{cut}: {error}"
        );
        assert!(error.to_string().contains("runs/x/nets/7"), "{error}");
    }
    let error = load(&bytes, &variant("chess"));
    assert!(
        matches!(&error, ModelError::Variant { found, .. } if found == "falcon"),
        "{error}"
    );

    let old = NetMeta {
        encoding_hash: "0123".into(),
        ..meta.clone()
    };
    assert!(matches!(
        load(&altered(&old), &falcon),
        ModelError::Encoding { .. }
    ));

    let larger = NetMeta {
        net: NetConfig::new(32, 2),
        ..meta.clone()
    };
    let error = load(&altered(&larger), &falcon);
    assert!(matches!(error, ModelError::Weights { .. }), "{error}");
    assert!(error.to_string().contains("runs/x/nets/7"), "{error}");

    let text = String::from_utf8_lossy(&bytes[8..2000]).into_owned();
    let at = 8 + text.find("format\\\":1").expect("the version") + "format\\\":".len();
    let mut newer = bytes.clone();
    newer[at] = b'9';
    assert!(matches!(load(&newer, &falcon), ModelError::Format { .. }));

    let mut flipped = bytes.clone();
    let middle = flipped.len() * 3 / 4;
    flipped[middle] ^= 1;
    let error = load(&flipped, &falcon).to_string();
    assert!(error.contains("checksum"), "{error}");

    let at = 8 + text.find("blocks\\\":2").expect("the blocks") + "blocks\\\":".len();
    let mut edited = bytes.clone();
    edited[at] = b'1';
    let error = load(&edited, &falcon).to_string();
    assert!(error.contains("checksum of its metadata"), "{error}");

    let mut poisoned = bytes.clone();
    let end = poisoned.len();
    poisoned[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(
        load(&poisoned, &falcon),
        ModelError::Corrupt { .. }
    ));
}
