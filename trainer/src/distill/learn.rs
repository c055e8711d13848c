//! Fitting the small net.
//!
//! The input layer is a sum of a few rows of many, which plain loops form and differentiate faster than tensors do; all behind it is burn's.

use super::{DistillConfig, DistillStage};
use crate::config::{OptimizerConfig, OptimizerKind};
use crate::distill::lessons::Lesson;
use crate::learn::optimizer::Optimizer;
use crate::learn::params::{self, Slot};
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor, TensorData};
use model::export::nnue::{
    BUCKETS, Features, FloatNnue, InputRows, LayerStacks, NnueNet, UNITS_PER_ONE,
};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Fairy-Stockfish's units for which the odds are e to 1: the expected score is 1 / (1 + exp(−value / this)), as in the trainer of its nets.
pub const UNITS_PER_NAT: f32 = 361.0;
/// Step size of the layers for that of the input rows. A thousand inputs of the first layer, none negative, move together: with Adam's steps of
/// equal size a neuron would be thrown out of its range, and stay there, in a few of them.
const LAYERS_RATE: f32 = 0.2;
/// Steps over which the step sizes rise from 0.
const WARMUP_STEPS: usize = 100;
/// Positions that floats are measured on at a time.
const MEASURED_AT_ONCE: usize = 4096;

/// Where the student learns.
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// A net that learns.
pub struct Student {
    /// The net.
    pub net: FloatNnue,
    slots: Vec<Slot>,
    /// The layers' parameters in flat order.
    values: Vec<f32>,
    for_input: Optimizer,
    for_layers: Optimizer,
}

/// A lesson as the net sees it.
struct Item {
    rows: [InputRows; 2],
    bucket: usize,
    score: f32,
}

impl Student {
    /// A student that begins with `net`, which is on [`device`].
    pub fn new(net: FloatNnue) -> Student {
        let config = OptimizerConfig {
            kind: OptimizerKind::AdamW,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-7,
            weight_decay: 0.0,
            clip_norm: f32::INFINITY,
        };
        let (slots, values) = (params::slots(&net.layers), params::values(&net.layers));
        Student {
            for_input: Optimizer::new(config, net.input.len()),
            for_layers: Optimizer::new(config, values.len()),
            net,
            slots,
            values,
        }
    }

    /// Learns from all lessons, each `config.epochs` times.
    pub fn learn(
        &mut self,
        lessons: &[Lesson],
        config: DistillConfig,
        on_progress: &mut dyn FnMut(DistillStage, usize, usize),
    ) {
        let item = |lesson: &Lesson| Item {
            rows: self.net.position_rows(&lesson.position),
            bucket: self.net.features().bucket(&lesson.position),
            score: lesson.score,
        };
        let items: Vec<Item> = lessons.par_iter().map(item).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
        let mut order: Vec<usize> = (0..items.len()).collect();
        let batches = items.len().div_ceil(config.batch_size);
        let steps = batches * config.epochs as usize;
        for step in 0..steps {
            if step % batches == 0 {
                order.shuffle(&mut rng);
            }
            on_progress(DistillStage::Learning, step, steps);
            let begin = step % batches * config.batch_size;
            let end = (begin + config.batch_size).min(order.len());
            let batch = order[begin..end].iter().map(|&index| &items[index]);
            let left = 1.0 - step as f32 / steps as f32;
            let warm = ((step + 1) as f32 / WARMUP_STEPS as f32).min(1.0);
            self.step(batch.collect(), config.learning_rate * left.min(warm));
        }
    }

    /// Learns from one batch, in any order.
    fn step(&mut self, mut batch: Vec<&Item>, learning_rate: f32) {
        batch.sort_by_key(|item| item.bucket);
        let mut counts = [0; BUCKETS];
        batch.iter().for_each(|item| counts[item.bucket] += 1);
        let rows: Vec<&[InputRows; 2]> = batch.iter().map(|item| &item.rows).collect();
        let scores = batch.iter().map(|item| item.score).collect();
        let (count, device) = (batch.len(), device());
        let sums = TensorData::new(self.net.accumulate(&rows), [count, 2, FloatNnue::WIDTH]);
        let sums = Tensor::<3>::from_data(sums, &device).require_grad();
        let values = self.net.layers.forward(sums.clone(), &counts);
        let logits = values.mul_scalar(UNITS_PER_ONE as f32 / UNITS_PER_NAT);
        let scores = Tensor::<2>::from_data(TensorData::new(scores, [count, 1]), &device);
        // Cross-entropy: log(1 + e^x) − score · x.
        let loss = (softplus(logits.clone(), 1.0) - logits * scores).mean();
        let mut gradients = loss.backward();
        let of_layers = params::gradients(&self.net.layers, &mut gradients);
        let of_sums: Vec<f32> = sums
            .grad(&gradients)
            .and_then(|gradient| gradient.try_into_vec_as().ok())
            .expect("the loss depends on the sums");
        let of_input = self.net.input_gradient(&rows, &of_sums);
        let input = [Slot {
            name: "input".to_owned(),
            shape: vec![of_input.len()],
            range: 0..of_input.len(),
            trained: true,
        }];
        self.for_input
            .step(&input, &mut self.net.input, &of_input, learning_rate);
        self.for_layers.step(
            &self.slots,
            &mut self.values,
            &of_layers,
            LAYERS_RATE * learning_rate,
        );
        self.limit();
        let layers = self.net.layers.clone();
        self.net.layers = params::with_trained(layers, &self.slots, &self.values);
    }

    /// Keeps weights where the integers can hold them.
    fn limit(&mut self) {
        for slot in &self.slots {
            let Some(limit) = LayerStacks::limit(&slot.name) else {
                continue;
            };
            for value in &mut self.values[slot.range.clone()] {
                *value = value.clamp(-limit, limit);
            }
        }
    }
}

/// How near values are to the scores that they should predict.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Mean cross-entropy in nats above the least possible, which is that of the scores themselves.
    pub divergence: f64,
    /// Mean distance between predicted and expected score.
    pub error: f64,
}

impl Fit {
    /// Of a net in floats.
    pub fn of_floats(net: &FloatNnue, lessons: &[Lesson]) -> Fit {
        let chunks = lessons.chunks(MEASURED_AT_ONCE);
        let values = chunks.flat_map(|lessons| {
            let positions: Vec<_> = lessons.iter().map(|lesson| lesson.position).collect();
            net.evaluate(&positions, &device())
        });
        Fit::new(values.map(f64::from), lessons)
    }

    /// Of a net in integers.
    pub fn of_integers(net: &NnueNet, features: &Features, lessons: &[Lesson]) -> Fit {
        let value = |lesson: &Lesson| net.evaluate(features, &lesson.position).value();
        let values: Vec<i32> = lessons.par_iter().map(value).collect();
        Fit::new(values.into_iter().map(f64::from), lessons)
    }

    /// `values` in Fairy-Stockfish's units, one a lesson.
    fn new(values: impl Iterator<Item = f64>, lessons: &[Lesson]) -> Fit {
        let mut fit = Fit::default();
        for (value, lesson) in values.zip(lessons) {
            let odds = value / f64::from(UNITS_PER_NAT);
            let score = f64::from(lesson.score);
            let predicted = 1.0 / (1.0 + (-odds).exp());
            fit.divergence += divergence(score, predicted);
            fit.error += (predicted - score).abs();
        }
        let count = lessons.len().max(1) as f64;
        Fit {
            divergence: fit.divergence / count,
            error: fit.error / count,
        }
    }
}

/// Kullback–Leibler divergence of two expected scores, in nats.
fn divergence(score: f64, predicted: f64) -> f64 {
    const LEAST: f64 = 1e-9;
    let part = |p: f64, q: f64| match p > 0.0 {
        true => p * (p / q.max(LEAST)).ln(),
        false => 0.0,
    };
    part(score, predicted) + part(1.0 - score, 1.0 - predicted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distill::material_net;
    use model::sample_requests;
    use rules::Variant;

    /// What material says of positions can be learnt from them, in floats and in the integers made of them.
    #[test]
    fn a_student_learns_what_it_is_told() {
        let chess = Variant::by_name("chess").expect("built in");
        let features = Features::new(&chess).expect("expressible");
        let teacher = material_net(&chess).expect("expressible");
        let score = |value: i32| 1.0 / (1.0 + (-value as f32 / UNITS_PER_NAT).exp());
        let lessons: Vec<Lesson> = sample_requests(&chess, 1024, 5)
            .into_iter()
            .map(|request| Lesson {
                score: score(teacher.evaluate(&features, &request.position).value()),
                position: request.position,
            })
            .collect();
        let net = FloatNnue::new(features.clone(), &|_| 0, 1, &device());
        let mut student = Student::new(net);
        let before = Fit::of_floats(&student.net, &lessons);
        let config = DistillConfig {
            epochs: 10,
            batch_size: 128,
            learning_rate: 3e-3,
            ..DistillConfig::default()
        };
        student.learn(&lessons, config, &mut |_, _, _| {});
        let after = Fit::of_floats(&student.net, &lessons);
        assert!(
            after.divergence < 0.2 * before.divergence,
            "{before:?} {after:?}"
        );
        let integers = Fit::of_integers(&student.net.quantise(""), &features, &lessons);
        assert!(
            (integers.error - after.error).abs() < 0.01,
            "{after:?} {integers:?}"
        );
    }
}
