//! The optimizer: AdamW (Loshchilov and Hutter 2019, <https://arxiv.org/abs/1711.05101>, algorithm 2) on flat vectors, with clipping by
//! the norm of the whole gradient; matrices may be moved by [`muon`] instead.

use crate::config::{OptimizerConfig, OptimizerKind};
use crate::learn::muon;
use crate::learn::params::Slot;
use rayon::prelude::*;
use std::collections::HashMap;

/// State of the optimizer: the two running means, in the parameters' flat order.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    config: OptimizerConfig,
    /// Steps taken, for the correction of the means' bias towards their start at zero.
    pub steps: u64,
    /// Running mean of the gradients; Muon's momentum.
    pub mean: Vec<f32>,
    /// Running mean of the squared gradients; zeros where Muon is at work.
    pub mean_square: Vec<f32>,
}

impl Optimizer {
    /// An optimizer that has seen no gradient yet, for `length` parameters.
    pub fn new(config: OptimizerConfig, length: usize) -> Optimizer {
        Optimizer {
            config,
            steps: 0,
            mean: vec![0.0; length],
            mean_square: vec![0.0; length],
        }
    }

    /// Takes one step of size `learning_rate` along `gradients` and returns the norm that they had before clipping.
    ///
    /// A gradient that is not finite leaves everything as it was; the returned norm says so.
    pub fn step(
        &mut self,
        slots: &[Slot],
        values: &mut [f32],
        gradients: &[f32],
        learning_rate: f32,
    ) -> f32 {
        assert_eq!(
            values.len(),
            gradients.len(),
            "a gradient for each parameter"
        );
        assert_eq!(
            values.len(),
            self.mean.len(),
            "optimizer state for each parameter"
        );
        let norm = gradients
            .iter()
            .map(|&g| f64::from(g) * f64::from(g))
            .sum::<f64>()
            .sqrt() as f32;
        if !norm.is_finite() {
            return norm;
        }
        let scale = if norm > self.config.clip_norm {
            self.config.clip_norm / norm
        } else {
            1.0
        };
        self.steps += 1;
        let mut orthogonal = self.orthogonal_directions(slots, gradients, scale);
        for slot in slots.iter().filter(|slot| slot.trained) {
            let decay = if slot.decayed() {
                1.0 - learning_rate * self.config.weight_decay
            } else {
                1.0
            };
            let step = Step {
                learning_rate,
                scale,
                decay,
            };
            match orthogonal.remove(&slot.range.start) {
                Some(direction) => {
                    let values = &mut values[slot.range.clone()];
                    for (value, direction) in values.iter_mut().zip(direction) {
                        *value = *value * decay - learning_rate * direction;
                    }
                }
                None => self.step_slot(slot, values, gradients, step),
            }
        }
        norm
    }

    /// The directions of the matrices that are Muon's, by where they begin.
    fn orthogonal_directions(
        &mut self,
        slots: &[Slot],
        gradients: &[f32],
        scale: f32,
    ) -> HashMap<usize, Vec<f32>> {
        if self.config.kind != OptimizerKind::Muon {
            return HashMap::new();
        }
        let mut rest = self.mean.as_mut_slice();
        let mut jobs = Vec::new();
        for slot in slots {
            let (momentum, later) = rest.split_at_mut(slot.range.len());
            rest = later;
            jobs.extend(muon::matrix_of(slot).map(|shape| (slot, shape, momentum)));
        }
        jobs.into_par_iter()
            .map(|(slot, shape, momentum)| {
                let gradient = &gradients[slot.range.clone()];
                let direction = muon::direction(gradient, scale, momentum, shape);
                (slot.range.start, direction)
            })
            .collect()
    }

    fn step_slot(&mut self, slot: &Slot, values: &mut [f32], gradients: &[f32], step: Step) {
        let OptimizerConfig {
            beta_1,
            beta_2,
            epsilon,
            ..
        } = self.config;
        let exponent = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let correction_1 = 1.0 - beta_1.powi(exponent);
        let correction_2 = 1.0 - beta_2.powi(exponent);
        let range = slot.range.clone();
        let mean = &mut self.mean[range.clone()];
        let mean_square = &mut self.mean_square[range.clone()];
        let values = &mut values[range.clone()];
        for (((value, m), v), g) in values
            .iter_mut()
            .zip(mean)
            .zip(mean_square)
            .zip(&gradients[range])
        {
            let gradient = g * step.scale;
            *m = beta_1 * *m + (1.0 - beta_1) * gradient;
            *v = beta_2 * *v + (1.0 - beta_2) * gradient * gradient;
            let direction = (*m / correction_1) / ((*v / correction_2).sqrt() + epsilon);
            *value = *value * step.decay - step.learning_rate * direction;
        }
    }
}

/// What is the same for all numbers of a slot in one step.
#[derive(Clone, Copy)]
struct Step {
    learning_rate: f32,
    scale: f32,
    decay: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(shape: Vec<usize>, trained: bool) -> Slot {
        let count = shape.iter().product();
        Slot {
            name: "p".into(),
            shape,
            range: 0..count,
            trained,
        }
    }

    fn config() -> OptimizerConfig {
        OptimizerConfig {
            kind: OptimizerKind::AdamW,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            clip_norm: f32::INFINITY,
        }
    }

    /// The first step of Adam has the size of the learning rate whatever the gradient, by construction.
    #[test]
    fn first_step_has_the_size_of_the_learning_rate() {
        let mut optimizer = Optimizer::new(config(), 2);
        let mut values = vec![1.0, 1.0];
        optimizer.step(&[slot(vec![2], true)], &mut values, &[1000.0, -0.001], 0.01);
        assert!(
            (values[0] - 0.99).abs() < 1e-5 && (values[1] - 1.01).abs() < 1e-5,
            "{values:?}"
        );
    }

    /// Clipping scales the whole gradient, so the directions of its parts keep their proportion in the running mean.
    #[test]
    fn clipping_is_by_the_whole_norm() {
        let mut optimizer = Optimizer::new(
            OptimizerConfig {
                clip_norm: 1.0,
                ..config()
            },
            2,
        );
        let norm = optimizer.step(&[slot(vec![2], true)], &mut [0.0, 0.0], &[3.0, 4.0], 0.01);
        assert_eq!(norm, 5.0);
        assert!((optimizer.mean[0] - 0.06).abs() < 1e-6 && (optimizer.mean[1] - 0.08).abs() < 1e-6);
    }

    /// Decay acts on matrices only, and running statistics are left alone.
    #[test]
    fn decay_spares_vectors_and_statistics() {
        let decaying = OptimizerConfig {
            weight_decay: 0.5,
            ..config()
        };
        for (shape, trained, expected) in [
            (vec![1, 1], true, 0.95),
            (vec![1], true, 1.0),
            (vec![1], false, 1.0),
        ] {
            let mut values = [1.0];
            Optimizer::new(decaying, 1).step(
                &[slot(shape.clone(), trained)],
                &mut values,
                &[0.0],
                0.1,
            );
            assert!(
                (values[0] - expected).abs() < 1e-6,
                "{shape:?} {trained}: {values:?}"
            );
        }
    }

    /// One bad batch must not destroy the weights.
    #[test]
    fn a_gradient_that_is_not_finite_changes_nothing() {
        let mut optimizer = Optimizer::new(config(), 1);
        let mut values = [1.0];
        let norm = optimizer.step(&[slot(vec![1], true)], &mut values, &[f32::NAN], 0.1);
        assert!(!norm.is_finite());
        assert_eq!((values, optimizer), ([1.0], Optimizer::new(config(), 1)));
    }
}
