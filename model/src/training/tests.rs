//! Our tower against burn's graph, against finite differences, and against itself on other
//! numbers of threads.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::Variant;

use super::{Buffers, Outputs, Tower, TrainingPrecision};
use crate::net::{Net, NetConfig, NetOutput, NetShape, PolicyGather};
use crate::{
    Encoding, EvalRequest, NamedTensor, PolicyIndex, PolicyLayout, SimdLevel, Weights,
    sample_requests,
};

/// Weights as after training: nothing is 0 or 1 by construction.
fn random_weights(config: NetConfig, shape: NetShape, seed: u64) -> Weights {
    let fresh = Net::new(config, shape, seed, &Device::flex()).expect("a net");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut weights = Weights::default();
    for (name, tensor) in fresh.weights().iter() {
        let mut tensor = tensor.clone();
        for value in &mut tensor.data {
            *value = match name.rsplit('.').next() {
                Some("gamma" | "running_var") => rng.random_range(0.5..1.5),
                Some("weight") => *value * 2.0,
                _ => rng.random_range(-0.3..0.3),
            };
        }
        weights.insert(name, tensor);
    }
    weights
}

/// Planes and legal moves of positions from random games.
fn samples(variant: &Variant, batch: usize) -> (Vec<f32>, Vec<Vec<PolicyIndex>>) {
    let requests = sample_requests(variant, batch, 5);
    let layout = PolicyLayout::new(variant);
    let moves = |request: &EvalRequest| {
        let index = |&mv| layout.index(request.position.turn(), mv);
        request.moves.iter().map(index).collect()
    };
    let moves = requests.iter().map(moves).collect();
    let planes =
        Encoding::new(variant).encode_batch(requests.iter().map(|r| (&r.position, r.repetitions)));
    (planes, moves)
}

/// A sum of all outputs with random signs and sizes.
fn loss(output: NetOutput, gather: &PolicyGather, device: &Device) -> Tensor<1> {
    fn weighted<const D: usize>(
        tensor: Tensor<D>,
        rng: &mut ChaCha8Rng,
        device: &Device,
    ) -> Tensor<1> {
        let factors: Vec<f32> = (0..tensor.shape().num_elements())
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        (tensor.clone() * Tensor::from_data(TensorData::new(factors, tensor.dims()), device)).sum()
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    let policy = output.legal_logits(gather).mask_fill(gather.padding(), 0.0);
    weighted(policy, rng, device)
        + weighted(output.wdl_logits, rng, device).mul_scalar(10.0)
        + weighted(output.moves_left, rng, device).mul_scalar(10.0)
}

/// Gradients by name.
struct Collector<'a> {
    path: Vec<String>,
    gradients: &'a Gradients,
    found: Weights,
}

impl ModuleVisitor for Collector<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let shape = gradient.dims().to_vec();
            let data = gradient.try_into_vec_as::<f32>().expect("floats");
            self.found
                .insert(self.path.join("."), NamedTensor { shape, data });
        }
    }
}

/// Loss, gradients and what the running statistics have become.
fn step(
    net: &Net,
    planes: &Tensor<4>,
    gather: &PolicyGather,
    kernels: Option<(SimdLevel, TrainingPrecision)>,
) -> (f32, Weights, Weights) {
    let output = match kernels {
        Some(kernels) => net.forward_own(planes.clone(), kernels),
        None => net.forward_burn(planes.clone()),
    };
    let loss = loss(output, gather, &planes.device());
    let mut collector = Collector {
        path: Vec::new(),
        gradients: &loss.backward(),
        found: Weights::default(),
    };
    net.visit(&mut collector);
    (loss.into_scalar(), collector.found, net.weights())
}

fn assert_close(what: &str, expected: &Weights, found: &Weights) {
    assert_eq!(expected.iter().count(), found.iter().count(), "{what}");
    for ((name, a), (_, b)) in expected.iter().zip(found.iter()) {
        assert_eq!(a.shape, b.shape, "{what} {name}");
        let size = a.data.iter().fold(0f32, |size, x| size.max(x.abs()));
        for (a, b) in a.data.iter().zip(&b.data) {
            assert!(
                (a - b).abs() <= 1e-4 * size.max(1e-3),
                "{what} {name}: {a} and {b}, the largest {size}"
            );
        }
    }
}

#[test]
fn gradients_and_statistics_are_those_of_burn() {
    let device = Device::flex().autodiff();
    let tiny = NetConfig::preset("tiny").expect("a preset");
    let odd = NetConfig::new(48, 3);
    for name in ["falcon", "chess", "falcon-hunter-66"] {
        let variant = Variant::by_name(name).expect("builtin");
        let (shape, batch) = (NetShape::new(&variant), 9);
        let (planes, moves) = samples(&variant, batch);
        let gather = PolicyGather::new(&shape, &moves, &device);
        let data = TensorData::new(planes, [batch, shape.planes, 10, 10]);
        let planes = Tensor::from_data(data, &device);
        for (config, seed) in [(tiny, 1), (NetConfig::new(32, 4), 2), (odd, 3)] {
            let weights = random_weights(config, shape, seed);
            let net = || Net::from_weights(&weights, config, shape, &device).expect("a net");
            let expected = step(&net(), &planes, &gather, None);
            assert!(expected.1.iter().count() > 20, "gradients reach the tower");
            for level in SimdLevel::available() {
                let what = format!("{name} {config:?} {level:?}");
                let found = step(
                    &net(),
                    &planes,
                    &gather,
                    Some((level, TrainingPrecision::F32)),
                );
                let error = (expected.0 - found.0).abs();
                assert!(error <= 1e-4 * expected.0.abs().max(1.0), "{what}: {error}");
                assert_close(&what, &expected.1, &found.1);
                assert_close(&what, &expected.2, &found.2);
            }
        }
    }
}

/// A tower, planes, random parameters, and random gradients of its outputs.
fn random_tower() -> (Tower, Vec<f32>, Vec<f32>, Outputs<Vec<f32>>) {
    let variant = Variant::by_name("falcon").expect("builtin");
    let (config, shape) = (NetConfig::new(16, 2), NetShape::new(&variant));
    let kernels = (SimdLevel::best(), TrainingPrecision::F32);
    let tower = Tower::new(&config, &shape, kernels, Buffers::default());
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut random =
        |len: usize| -> Vec<f32> { (0..len).map(|_| rng.random_range(-0.3..0.3)).collect() };
    let (parameters, batch) = (random(tower.plan.len), 37);
    let factors = tower.output_widths().map(|width| random(batch * width));
    (tower, samples(&variant, batch).0, parameters, factors)
}

fn slices(factors: &Outputs<Vec<f32>>) -> Outputs<Option<&[f32]>> {
    factors.as_ref().map(|factors| Some(&factors[..]))
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (tower, planes, parameters, factors) = random_tower();
    let value = |parameters: Vec<f32>| -> f64 {
        let (outputs, ..) = tower.clone().forward(Box::new(planes.clone()), parameters);
        let pairs = [
            (outputs.query, &factors.query),
            (outputs.key, &factors.key),
            (outputs.kind, &factors.kind),
            (outputs.value, &factors.value),
            (outputs.pooled, &factors.pooled),
        ];
        let product = |(a, b): (Vec<f32>, &Vec<f32>)| -> f64 {
            let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
            products.sum()
        };
        pairs.into_iter().map(product).sum()
    };
    let (_, _, tape) = (tower.clone()).forward(Box::new(planes.clone()), parameters.clone());
    let gradient = tape.backward(&slices(&factors));
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let convs = tower.plan.convs.iter();
    let heads = tower.plan.heads.iter();
    let pooling = tower.plan.pooling.iter().flatten();
    let ranges = (convs.flat_map(|conv| [&conv.weight, &conv.gamma, &conv.beta]))
        .chain(heads.flat_map(|head| [&head.weight, &head.bias]))
        .chain(pooling.flat_map(|pooling| [&pooling.weight, &pooling.bias]));
    for range in ranges {
        let mut direction = vec![0f32; parameters.len()];
        for (at, direction) in direction[range.clone()].iter_mut().enumerate() {
            // Along the gradient, so that the change is far above rounding, and off it.
            *direction = gradient[range.start + at].signum() * rng.random_range(0.0..1.0);
        }
        let moved = |by: f32| {
            let pairs = parameters.iter().zip(&direction);
            value(pairs.map(|(p, d)| p + by * d).collect())
        };
        let by = 2e-4;
        let slope = (moved(by) - moved(-by)) / (2.0 * f64::from(by));
        let expected: f64 = (direction.iter().zip(&gradient))
            .map(|(d, g)| f64::from(*d) * f64::from(*g))
            .sum();
        assert!(
            (slope - expected).abs() < 0.02 * expected.abs(),
            "{range:?}: {slope} and {expected}"
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (tower, planes, parameters, factors) = random_tower();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| {
            let (outputs, statistics, tape) = tower
                .clone()
                .forward(Box::new(planes.clone()), parameters.clone());
            (outputs, statistics, tape.backward(&slices(&factors)))
        })
    };
    assert!(run(1) == run(3));
}

#[test]
fn gradients_in_bfloat16_are_close() {
    let precision = TrainingPrecision::Bf16;
    if precision.available() != precision {
        return;
    }
    let device = Device::flex().autodiff();
    for (name, config) in [
        ("falcon", NetConfig::new(48, 2)),
        ("falcon-9x10", NetConfig::new(32, 4)),
    ] {
        let variant = Variant::by_name(name).expect("builtin");
        let (shape, batch) = (NetShape::new(&variant), 64);
        let (planes, moves) = samples(&variant, batch);
        let gather = PolicyGather::new(&shape, &moves, &device);
        let data = TensorData::new(planes, [batch, shape.planes, 10, 10]);
        let planes = Tensor::from_data(data, &device);
        let weights = random_weights(config, shape, 3);
        let run = |precision| {
            let net = Net::from_weights(&weights, config, shape, &device).expect("a net");
            step(&net, &planes, &gather, Some((SimdLevel::best(), precision)))
        };
        let (exact, rounded) = (run(TrainingPrecision::F32), run(precision));
        for (what, a, b) in [
            ("gradients", exact.1, rounded.1),
            ("statistics", exact.2, rounded.2),
        ] {
            let (mut error, mut size) = (0.0, 0.0);
            for ((_, a), (_, b)) in a.iter().zip(b.iter()) {
                let pairs = a.data.iter().zip(&b.data);
                error += pairs.map(|(a, b)| (a - b).powi(2)).sum::<f32>();
                size += a.data.iter().map(|a| a * a).sum::<f32>();
            }
            let error = (error / size).sqrt();
            // Where rounding tips a sum over the edge of a relu, a whole term of a gradient comes
            // or goes, which weighs more than rounding itself.
            assert!(
                error > 0.0 && error < 0.2,
                "{name}: {what} are off by {error}"
            );
        }
    }
}
