//! The learner on made-up batches: it can learn by heart, and it resumes as if never stopped.

use super::*;
use burn::tensor::TensorData;
use model::{PolicyGather, PolicyIndex};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SHAPE: NetShape = NetShape {
    planes: 6,
    files: 10,
    ranks: 8,
    squares: 80,
    hand_rows: 0,
    kinds: 2,
};
const MOVES: usize = 12;

/// Random positions with random best moves, results and lengths: nothing to understand, only to remember.
fn batch(samples: usize, seed: u64) -> Batch {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let device = Device::flex().autodiff();
    let square = |rng: &mut ChaCha8Rng| rng.random_range(0..8u8) * 10 + rng.random_range(0..10u8);
    let moves = |rng: &mut ChaCha8Rng| {
        let index = |_| PolicyIndex {
            row: square(rng),
            to: square(rng),
            kind: rng.random_range(0..2),
        };
        (0..MOVES).map(index).collect::<Vec<_>>()
    };
    let lists: Vec<Vec<PolicyIndex>> = (0..samples).map(|_| moves(rng)).collect();
    let moves = PolicyGather::new(&SHAPE, &lists, &device);
    let width = moves.width();
    let one_hot = |rng: &mut ChaCha8Rng, count: usize, width: usize| {
        let mut flat = vec![0.0f32; samples * width];
        flat.chunks_exact_mut(width)
            .for_each(|row| row[rng.random_range(0..count)] = 1.0);
        Tensor::from_data(TensorData::new(flat, [samples, width]), &device)
    };
    let planes: Vec<f32> = (0..samples * 600)
        .map(|_| f32::from(u8::from(rng.random_bool(0.1))))
        .collect();
    let lengths: Vec<f32> = (0..samples).map(|_| rng.random_range(1.0..60.0)).collect();
    Batch {
        planes: Tensor::from_data(TensorData::new(planes, [samples, 6, 10, 10]), &device),
        policy_target: one_hot(rng, MOVES, width),
        moves,
        value_target: one_hot(rng, 3, 3),
        moves_left_target: Tensor::from_data(TensorData::new(lengths, [samples, 1]), &device),
        moves_left_mask: Tensor::ones([samples, 1], &device),
        policy_samples: samples,
        policy_target_entropy: 0.0,
    }
}

fn learner(seed: u64) -> Learner {
    let config = LearnConfig {
        warmup_steps: 5,
        learning_rate: 0.01,
        ..LearnConfig::default()
    };
    let net = NetConfig::preset("tiny").unwrap();
    Learner::new(&config, net, SHAPE, seed, &Device::flex()).unwrap()
}

/// A batch can be learnt by heart: every head gets its gradients, and none of the losses has a floor.
#[test]
fn overfits_one_batch() {
    let batch = batch(16, 1);
    let mut learner = learner(1);
    let first = learner.step(&batch, 0.0);
    let last = (0..300).map(|_| learner.step(&batch, 0.0)).last().unwrap();
    assert!(
        first.policy_loss > 1.5 && first.value_loss > 0.8,
        "a fresh net guesses: {first:?}"
    );
    assert!(
        last.policy_loss < 0.05 && last.value_loss < 0.05 && last.moves_left_loss < 0.05,
        "{last:?}"
    );
}

/// n steps are the same bits as k steps, a checkpoint, another process's learner, and n − k steps.
#[test]
fn resuming_changes_nothing() {
    let batches: Vec<Batch> = (0..6).map(|seed| batch(8, seed)).collect();
    let mut straight = learner(1);
    for batch in &batches {
        straight.step(batch, 0.5);
    }
    let mut first_half = learner(1);
    for batch in &batches[..3] {
        first_half.step(batch, 0.5);
    }
    let mut second_half = learner(2);
    second_half
        .resume(&first_half.checkpoint().unwrap(), "test")
        .unwrap();
    for batch in &batches[3..] {
        second_half.step(batch, 0.5);
    }
    assert!(
        straight.checkpoint().unwrap() == second_half.checkpoint().unwrap(),
        "the checkpoints differ"
    );
}

/// What is not finite leaves no trace in weights, averages and running statistics.
#[test]
fn a_batch_that_is_not_finite_is_skipped() {
    let mut learner = learner(1);
    for seed in 0..3 {
        learner.step(&batch(8, seed), 0.5);
    }
    let (weights, average) = (learner.weights.clone(), learner.averaged_net().weights());
    let mut wrong = batch(8, 3);
    wrong.planes = wrong.planes * f32::NAN;
    for skipped in 1..=2 {
        let report = learner.step(&wrong, 0.5);
        assert!(!report.gradient_norm.is_finite());
        assert_eq!(learner.skipped_in_a_row(), skipped);
    }
    assert!(learner.weights == weights && params::values(&learner.net) == weights);
    assert!(learner.averaged_net().weights() == average);
    assert!(learner.step(&batch(8, 4), 0.5).gradient_norm.is_finite());
    assert_eq!((learner.skipped_in_a_row(), learner.counters.steps), (0, 6));
    assert!(learner.checkpoint().is_ok());
}

/// A learner that begins from a net publishes that net first, and learns from there with its warm-up.
#[test]
fn beginning_from_a_net_takes_all_of_it() {
    let mut teacher = learner(1);
    for seed in 0..20 {
        teacher.step(&batch(8, seed), 0.0);
    }
    let net = teacher.averaged_net().weights();
    let mut pupil = learner(2);
    pupil.begin_from(&net, 20).unwrap();
    assert!(pupil.averaged_net().weights() == net);
    let report = pupil.step(&batch(8, 99), 0.0);
    assert_eq!(pupil.counters.steps, 21);
    assert!(
        (report.learning_rate - 0.01 / 5.0).abs() < 1e-6,
        "{report:?}"
    );
    let other = Net::new(
        NetConfig::preset("small").unwrap(),
        SHAPE,
        1,
        &Device::flex(),
    );
    let before = pupil.checkpoint().unwrap();
    assert!(pupil.begin_from(&other.unwrap().weights(), 5).is_err());
    assert!(pupil.checkpoint().unwrap() == before);
}

/// The published weights are averages, running statistics included, and training on does not change them.
#[test]
fn the_published_net_is_a_copy() {
    let mut learner = learner(1);
    learner.step(&batch(8, 1), 0.0);
    let published = learner.averaged_net();
    let before = published.weights();
    assert_eq!(params::values(&published), learner.average);
    learner.step(&batch(8, 2), 0.0);
    assert!(
        before == published.weights(),
        "training changed a published net"
    );
}
