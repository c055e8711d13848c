//! How fast training is.

use std::time::{Duration, Instant};

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use rules::Variant;

use super::sample_requests;
use crate::{Encoding, Net, PolicyGather, PolicyLayout, TrainingPrecision};

/// What computes a training step's tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainingWay {
    /// Kernels of our own.
    Own(TrainingPrecision),
    /// burn's operations.
    Burn,
}

impl TrainingWay {
    /// All that this machine has.
    pub fn available() -> Vec<TrainingWay> {
        let both = [TrainingPrecision::F32, TrainingPrecision::Bf16];
        let own = both.into_iter().filter(|way| way.available() == *way);
        own.map(TrainingWay::Own)
            .chain([TrainingWay::Burn])
            .collect()
    }
}

/// Samples per second of wall time that each way forwards and backwards through `net`, which must be in
/// training mode on the CPU, without an optimizer, on positions of `variant`. The ways take
/// turns, a step each, for about `time` after a step each to warm up, so that whatever else the machine
/// does slows down all of them; the median step of each counts.
///
/// # Panics
/// If the net is of another variant.
pub fn training_throughput(
    net: &Net,
    variant: &Variant,
    batch: usize,
    ways: &[TrainingWay],
    time: Duration,
) -> Vec<f64> {
    let step = training_step(net, variant, batch);
    let mut times = vec![Vec::new(); ways.len()];
    for &way in ways {
        step(way);
    }
    let start = Instant::now();
    while times.iter().any(|times| times.len() < 3) || start.elapsed() < time {
        for (times, &way) in times.iter_mut().zip(ways) {
            times.push(step(way));
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    let rate = |times| batch as f64 / median(times);
    times.into_iter().map(rate).collect()
}

/// A function that runs one step and answers how long it took.
fn training_step(net: &Net, variant: &Variant, batch: usize) -> impl Fn(TrainingWay) -> Duration {
    let requests = sample_requests(variant, batch, 1);
    let encoding = Encoding::new(variant);
    let planes = encoding.encode_batch(requests.iter().map(|r| (&r.position, r.repetitions)));
    let data = TensorData::new(planes, [batch, encoding.planes(), 10, 10]);
    let planes = Tensor::<4>::from_data(data, &net.device());
    let layout = PolicyLayout::new(variant);
    let moves: Vec<Vec<_>> = (requests.iter())
        .map(|request| {
            let turn = request.position.turn();
            let index = |&mv| layout.index(turn, mv);
            request.moves.iter().map(index).collect()
        })
        .collect();
    let gather = PolicyGather::new(net.shape(), &moves, &net.device());
    let net = |precision| net.clone().with_training_precision(precision);
    let (long, short) = (net(TrainingPrecision::F32), net(TrainingPrecision::Bf16));
    move |way| {
        let start = Instant::now();
        let planes = planes.clone();
        let output = match way {
            TrainingWay::Own(TrainingPrecision::F32) => long.forward(planes),
            TrainingWay::Own(TrainingPrecision::Bf16) => short.forward(planes),
            TrainingWay::Burn => long.forward_burn(planes),
        };
        let policy = log_softmax(output.legal_logits(&gather), 1).narrow(1, 0, 1);
        let wdl = log_softmax(output.wdl_logits, 1).narrow(1, 0, 1);
        let loss = output.moves_left.mean() - policy.mean() - wdl.mean();
        std::hint::black_box(loss.backward());
        start.elapsed()
    }
}
