//! How fast an evaluator is, and how fast training is.

mod training;

pub use training::{TrainingWay, training_throughput};

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Status, Variant};

use crate::compiled::peak;
use crate::{EvalRequest, Evaluator, Precision, SimdLevel};

/// Positions per second at one batch size.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Requests in each call.
    pub batch: usize,
    /// Positions evaluated per second of wall time, by one thread that calls.
    pub positions_per_second: f64,
    /// The same in the fastest of many short spans of time: what the evaluator can do where other
    /// programs take the processor away now and then.
    pub best_positions_per_second: f64,
}

/// Positions in a short span of time at least.
const SPAN: usize = 16;

/// Plies after which a random game is given up on average.
const MEAN_PLIES: u32 = 128;

/// Requests from random games of `variant`: `count` positions that are not over. Games end by the
/// rules or at a random ply, so that openings and late positions both occur.
pub fn sample_requests(variant: &Variant, count: usize, seed: u64) -> Vec<EvalRequest> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut requests = Vec::with_capacity(count);
    let mut position = variant.start();
    while requests.len() < count {
        let request = EvalRequest::new(variant, position, 1);
        let over = request.moves.is_empty() || position.status(variant) != Status::Ongoing;
        if over || rng.random_range(0..MEAN_PLIES) == 0 {
            position = variant.start();
            continue;
        }
        let choice = rng.random_range(0..request.moves.len());
        position = position.play(variant, request.moves[choice]);
        requests.push(request);
    }
    requests
}

/// Measures `evaluator` on `requests` in batches of `batch` for about `time`, after one batch to
/// warm up.
///
/// # Panics
/// If there are fewer requests than one batch takes.
pub fn throughput(
    evaluator: &mut dyn Evaluator,
    requests: &[EvalRequest],
    batch: usize,
    time: Duration,
) -> Throughput {
    assert!(
        batch > 0 && requests.len() >= batch,
        "a batch of {batch} from {}",
        requests.len()
    );
    evaluator.evaluate(&requests[..batch]);
    let mut batches = requests.chunks_exact(batch).cycle();
    let start = Instant::now();
    let (mut positions, mut best) = (0, 0f64);
    while positions == 0 || start.elapsed() < time {
        let span = Instant::now();
        let count = SPAN.div_ceil(batch);
        for chunk in batches.by_ref().take(count) {
            std::hint::black_box(evaluator.evaluate(chunk));
        }
        positions += count * batch;
        best = best.max((count * batch) as f64 / span.elapsed().as_secs_f64());
    }
    Throughput {
        batch,
        positions_per_second: positions as f64 / start.elapsed().as_secs_f64(),
        best_positions_per_second: best,
    }
}

/// Multiplications per second of one core with the instruction that the kernels for `precision` at
/// `level` are made of, on registers alone: what they could reach if nothing else took time. The
/// best of several short measurements; `None` if there is no such instruction.
///
/// # Panics
/// If this machine cannot run the level.
pub fn peak_multiplications(level: SimdLevel, precision: Precision) -> Option<f64> {
    assert!(SimdLevel::available().contains(&level), "{level:?}");
    const ROUNDS: u64 = 20_000;
    const TRIES: usize = 50;
    let rate = |_| {
        let start = Instant::now();
        let count = peak::multiply_add(level, precision, ROUNDS)?;
        Some(count as f64 / start.elapsed().as_secs_f64())
    };
    (0..TRIES).filter_map(rate).reduce(f64::max)
}
