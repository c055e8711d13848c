//! How fast an evaluator is, and how fast training is.

use std::time::{Duration, Instant};

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Status, Variant};

use crate::{
    Encoding, EvalRequest, Evaluator, Net, NetOutput, PolicyGather, PolicyLayout, TrainingPrecision,
};

/// Positions per second at one batch size.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Requests in each call.
    pub batch: usize,
    /// Positions evaluated per second of wall time, by one thread that calls.
    pub positions_per_second: f64,
}

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
    let start = Instant::now();
    let mut positions = 0;
    while start.elapsed() < time {
        for chunk in requests.chunks_exact(batch) {
            std::hint::black_box(evaluator.evaluate(chunk));
            positions += batch;
            if start.elapsed() >= time {
                break;
            }
        }
    }
    Throughput {
        batch,
        positions_per_second: positions as f64 / start.elapsed().as_secs_f64(),
    }
}

/// Training steps on one device and net, forwards and backwards without an optimizer.
#[derive(Clone, Copy, Debug)]
pub struct TrainingThroughput {
    /// Samples in each step.
    pub batch: usize,
    /// Samples per second of wall time with kernels of our own in 32 bits.
    pub f32: f64,
    /// The same with 16 bits, if the CPU has instructions for it; else as in 32.
    pub bf16: f64,
    /// Samples per second of wall time by burn's operations alone.
    pub burn: f64,
}

/// Measures training steps of `net`, which must be in training mode on the CPU, on positions of
/// `variant`: by turns one step with each of our kernels and one by burn's operations, for about `time`
/// after one of each to warm up, so that whatever else the machine does slows down both. The best
/// step of each counts.
///
/// # Panics
/// If the net is of another variant.
pub fn training_throughput(
    net: &Net,
    variant: &Variant,
    batch: usize,
    time: Duration,
) -> TrainingThroughput {
    let requests = sample_requests(variant, batch, 1);
    let encoding = Encoding::new(variant);
    let planes = encoding.encode_batch(requests.iter().map(|r| (&r.position, r.repetitions)));
    let data = TensorData::new(planes, [batch, encoding.planes(), 10, 10]);
    let planes = Tensor::from_data(data, &net.device());
    let layout = PolicyLayout::new(variant);
    let moves: Vec<Vec<_>> = (requests.iter())
        .map(|request| {
            let turn = request.position.turn();
            let index = |&mv| layout.index(turn, mv);
            request.moves.iter().map(index).collect()
        })
        .collect();
    let gather = PolicyGather::new(net.shape(), &moves, &net.device());
    let step = |forward: &dyn Fn(Tensor<4>) -> NetOutput| {
        let start = Instant::now();
        let output = forward(planes.clone());
        let policy = log_softmax(output.legal_logits(&gather), 1).narrow(1, 0, 1);
        let wdl = log_softmax(output.wdl_logits, 1).narrow(1, 0, 1);
        let loss = output.moves_left.mean() - policy.mean() - wdl.mean();
        std::hint::black_box(loss.backward());
        start.elapsed().as_secs_f64()
    };
    let net = |precision| net.clone().with_training_precision(precision);
    let (long, short) = (net(TrainingPrecision::F32), net(TrainingPrecision::Bf16));
    let mut best = [f64::INFINITY; 3];
    let start = Instant::now();
    let mut steps = 0;
    while steps < 2 || start.elapsed() < time {
        let times = [
            step(&|planes| long.forward(planes)),
            step(&|planes| short.forward(planes)),
            step(&|planes| long.forward_burn(planes)),
        ];
        if steps > 0 {
            for (best, time) in best.iter_mut().zip(times) {
                *best = time.min(*best);
            }
        }
        steps += 1;
    }
    TrainingThroughput {
        batch,
        f32: batch as f64 / best[0],
        bf16: batch as f64 / best[1],
        burn: batch as f64 / best[2],
    }
}
