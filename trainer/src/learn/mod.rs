//! From samples to better weights.
//!
//! [`sample`] turns game records into samples, [`batch`] samples into tensors, [`loss`] says how wrong the net is about
//! them, [`optimizer`] moves the weights, [`checkpoint`] keeps all of it, and [`Learner`] ties them together.

pub mod batch;
pub mod checkpoint;
pub mod holdout;
pub mod loss;
pub mod muon;
pub mod optimizer;
pub mod params;
pub mod sample;
pub mod schedule;

use crate::config::LearnConfig;
use batch::Batch;
use burn::tensor::{Device, Tensor};
use checkpoint::{Checkpoint, CheckpointError, Counters, NotFinite};
use loss::Losses;
use model::{ModelError, NamedTensor, Net, NetConfig, NetShape, Weights};
use optimizer::Optimizer;
use params::Slot;

/// A net in training.
pub struct Learner {
    config: LearnConfig,
    /// The net being trained, on an autodiff device.
    net: Net,
    slots: Vec<Slot>,
    weights: Vec<f32>,
    average: Vec<f32>,
    optimizer: Optimizer,
    /// Steps since the last one that the weights took part in.
    skipped: u32,
    /// Counters and random numbers, which a checkpoint keeps.
    pub counters: Counters,
}

/// What one training step saw; losses in nats, moves left in units of its loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Mean policy cross-entropy over samples that teach the policy.
    pub policy_loss: f32,
    /// The same less the targets' own entropy: the divergence of the net from the search.
    pub policy_kl: f32,
    /// Mean cross-entropy of the outcome.
    pub value_loss: f32,
    /// Mean Huber loss of the plies left.
    pub moves_left_loss: f32,
    /// Norm of the gradient before clipping; not finite if the step was skipped.
    pub gradient_norm: f32,
    /// The learning rate.
    pub learning_rate: f32,
}

impl Learner {
    /// A learner with a fresh net whose weights and batches come from `seed`; `device` is one for inference.
    ///
    /// # Errors
    /// If the net's size is out of range.
    pub fn new(
        config: &LearnConfig,
        net: NetConfig,
        shape: NetShape,
        seed: u64,
        device: &Device,
    ) -> Result<Learner, ModelError> {
        let net = Net::new(net, shape, seed, &device.clone().autodiff())?
            .with_training_precision(config.precision);
        let slots = params::slots(&net);
        let weights = params::values(&net);
        Ok(Learner {
            config: config.clone(),
            optimizer: Optimizer::new(config.optimizer, weights.len()),
            average: weights.clone(),
            net,
            slots,
            weights,
            skipped: 0,
            counters: Counters::new(seed),
        })
    }

    /// The device that batches must be on.
    pub fn device(&self) -> Device {
        self.net.device()
    }

    /// Learns from one batch; `progress` is the share of the run's time that is used up, in [0, 1].
    ///
    /// A step whose gradient or new weights are not finite is skipped: weights and running statistics stay as they were.
    pub fn step(&mut self, batch: &Batch, progress: f64) -> StepReport {
        let learning_rate = schedule::learning_rate(&self.config, self.optimizer.steps, progress);
        let losses = Losses::new(&self.net.forward(batch.planes.clone()), batch);
        let mut gradients = losses.total(&self.config).backward();
        let gradients = params::gradients(&self.net, &mut gradients);
        let before = self.weights.clone();
        let mut gradient_norm =
            self.optimizer
                .step(&self.slots, &mut self.weights, &gradients, learning_rate);
        self.net = params::with_trained(self.net.clone(), &self.slots, &self.weights);
        self.counters.steps += 1;
        self.counters.optimizer_steps = self.optimizer.steps;
        self.counters.samples_used += batch.value_target.dims()[0] as u64;
        let after = params::values(&self.net);
        if gradient_norm.is_finite() && after.iter().all(|x| x.is_finite()) {
            self.weights = after;
            self.update_average();
            self.skipped = 0;
        } else {
            self.net = params::with_all(self.net.clone(), &self.slots, &before);
            self.weights = before;
            self.skipped += 1;
            gradient_norm = f32::NAN;
        }
        let policy_loss = read(losses.policy);
        StepReport {
            policy_loss,
            policy_kl: policy_loss - batch.policy_target_entropy,
            value_loss: read(losses.value),
            moves_left_loss: read(losses.moves_left),
            gradient_norm,
            learning_rate,
        }
    }

    /// Moves the averaged weights towards the trained ones. The average of the first t steps remembers no more than
    /// t steps, else the random start would stay in it for long.
    fn update_average(&mut self) {
        let steps = self.counters.steps as f32;
        let decay = self.config.ema_decay.min((1.0 + steps) / (10.0 + steps));
        for (average, value) in self.average.iter_mut().zip(&self.weights) {
            *average += (1.0 - decay) * (value - *average);
        }
    }

    /// How many of the last steps were skipped, one after the other.
    pub fn skipped_in_a_row(&self) -> u32 {
        self.skipped
    }

    /// The net with the averaged weights, for inference: this is what gets published. It shares nothing with the one
    /// in training.
    pub fn averaged_net(&self) -> Net {
        let mut weights = Weights::default();
        for slot in &self.slots {
            let data = self.average[slot.range.clone()].to_vec();
            weights.insert(
                slot.name.clone(),
                NamedTensor {
                    shape: slot.shape.clone(),
                    data,
                },
            );
        }
        let device = self.net.device().without_autodiff();
        Net::from_weights(&weights, *self.net.config(), *self.net.shape(), &device)
            .expect("the averages of a net's weights fit it")
    }

    /// Begins with these weights, which `step` training steps have made, instead of the fresh net's; the optimizer
    /// knows nothing of those steps.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if they are of a net of another size; the learner is unchanged then.
    pub fn begin_from(&mut self, weights: &Weights, step: u64) -> Result<(), ModelError> {
        let mut values = self.weights.clone();
        for slot in &self.slots {
            let data = weights.expect(&slot.name, &slot.shape)?;
            values[slot.range.clone()].copy_from_slice(data);
        }
        self.net = params::with_all(self.net.clone(), &self.slots, &values);
        self.average.clone_from(&values);
        self.weights = values;
        self.counters.steps = step;
        Ok(())
    }

    /// All that is needed to go on later.
    ///
    /// # Errors
    /// [`NotFinite`] if there are numbers in it that nobody could go on with.
    pub fn checkpoint(&self) -> Result<Vec<u8>, NotFinite> {
        let checkpoint = Checkpoint {
            weights: self.weights.clone(),
            average: self.average.clone(),
            mean: self.optimizer.mean.clone(),
            mean_square: self.optimizer.mean_square.clone(),
            counters: self.counters.clone(),
        };
        checkpoint.to_bytes(&self.slots)
    }

    /// Goes on where the learner that wrote `bytes` was; `origin` names them in errors.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint of a net of this size; the learner is unchanged then.
    pub fn resume(&mut self, bytes: &[u8], origin: &str) -> Result<(), CheckpointError> {
        let checkpoint = Checkpoint::from_bytes(bytes, &self.slots, origin)?;
        self.net = params::with_all(self.net.clone(), &self.slots, &checkpoint.weights);
        self.weights = checkpoint.weights;
        self.average = checkpoint.average;
        self.optimizer.mean = checkpoint.mean;
        self.optimizer.mean_square = checkpoint.mean_square;
        self.optimizer.steps = checkpoint.counters.optimizer_steps;
        self.counters = checkpoint.counters;
        Ok(())
    }
}

/// Reads a single number from the device.
pub fn read(tensor: Tensor<1>) -> f32 {
    tensor.into_scalar()
}

#[cfg(test)]
mod tests;
