//! Learning on the GPU gives the losses of learning on the CPU. Runs where the program has a GPU backend and the machine a
//! device for it; Mesa's software Vulkan will do.

#![cfg(any(feature = "wgpu", feature = "cuda"))]

use model::{Device, DeviceChoice, NetConfig, NetShape, Wdl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Game, Status, Variant};
use std::sync::Arc;
use trainer::config::LearnConfig;
use trainer::learn::batch::Batcher;
use trainer::learn::sample::Sample;
use trainer::learn::{Learner, StepReport};

/// Difference of the losses that other orders of summation may bring about within [`STEPS`]: about 1e-7 in the first step,
/// and each step multiplies it.
const TOLERANCE: f32 = 5e-3;
const STEPS: usize = 10;

/// Positions of random games with random targets.
fn samples(variant: &Arc<Variant>, count: usize) -> Vec<Sample> {
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let mut game = Game::new(Arc::clone(variant), variant.start());
    let mut samples = Vec::new();
    while samples.len() < count {
        if game.status() != Status::Ongoing {
            game = Game::new(Arc::clone(variant), variant.start());
        }
        let moves = game.position().legal_moves(variant);
        let chosen = rng.random_range(0..moves.len());
        let mut target = vec![0.0; moves.len()];
        target[chosen] = 1.0;
        let win = rng.random_range(0.0..1.0);
        let chances = Wdl {
            win,
            draw: 0.0,
            loss: 1.0 - win,
        };
        samples.push(Sample {
            position: *game.position(),
            repetitions: 1,
            policy_target: Some(target.into()),
            outcome: chances,
            searched: chances,
            moves_left: Some(rng.random_range(1.0..100.0)),
        });
        game.play(moves[chosen]);
    }
    samples
}

fn learn(variant: &Arc<Variant>, samples: &[Sample], device: &Device) -> Vec<StepReport> {
    let config = LearnConfig {
        warmup_steps: 5,
        ..LearnConfig::default()
    };
    let net = NetConfig::preset("small").expect("a preset");
    let mut learner =
        Learner::new(&config, net, NetShape::new(variant), 1, device).expect("a valid size");
    let batcher = Batcher::new(Arc::clone(variant), config.value_from_search);
    let samples: Vec<&Sample> = samples.iter().collect();
    let batch = batcher.batch(&samples, &learner.device());
    (0..STEPS).map(|_| learner.step(&batch, 0.0)).collect()
}

#[test]
fn losses_on_the_gpu_are_those_on_the_cpu() {
    let variant = Variant::by_name("falcon").expect("a built-in variant");
    let samples = samples(&variant, 64);
    let device = |choice: DeviceChoice| choice.device();
    let cpu = device(DeviceChoice::Cpu).expect("every machine has a CPU");
    let gpu = match device(DeviceChoice::Gpu(0)) {
        Ok(gpu) => gpu,
        Err(error) => return eprintln!("no GPU here, nothing to compare: {error}"),
    };
    let (cpu, gpu) = (
        learn(&variant, &samples, &cpu),
        learn(&variant, &samples, &gpu),
    );
    for (step, (cpu, gpu)) in cpu.iter().zip(&gpu).enumerate() {
        eprintln!("step {step}: CPU {cpu:?}\n        GPU {gpu:?}");
        for (cpu, gpu) in [
            (cpu.policy_loss, gpu.policy_loss),
            (cpu.value_loss, gpu.value_loss),
            (cpu.moves_left_loss, gpu.moves_left_loss),
        ] {
            assert!(
                (cpu - gpu).abs() <= TOLERANCE * cpu.max(1.0),
                "step {step}: {cpu} and {gpu}"
            );
        }
    }
}
