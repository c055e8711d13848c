//! The section `learn`: replay window, losses, optimizer, publishing.

use model::TrainingPrecision;
use selfplay::config_error::{ConfigError, require};
use selfplay::pace::PaceConfig;
use serde::{Deserialize, Serialize};

/// Replay and learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// Samples in a training step, 1 to 65536. Default 128.
    pub batch_size: usize,
    /// Precision of a training step on the CPU, `f32` or `bf16`: 16 bits for activations and factors are faster where
    /// the CPU has instructions for them, elsewhere it is `f32` anyway. Default `bf16`.
    pub precision: TrainingPrecision,
    /// How often each position is learnt from, on average, above 0. The trainer waits for the workers when it has used
    /// up what they made, and the workers wait for it when they are far ahead. Default 4.
    pub samples_per_position: f32,
    /// Positions there must be before learning begins, at least 1. Default 2000.
    pub min_positions: u64,
    /// How many positions the workers may be ahead of the trainer before they wait. Default 2000.
    pub ahead_positions: u64,
    /// Every how many games one is kept out of training, to measure losses on; at least 2. Default 20.
    pub holdout_every: u64,
    /// The replay window.
    pub window: WindowConfig,
    /// Whether plies that a cheap search played teach value and moves left; the policy is taught by full searches
    /// alone. Default false: the plies of one game share its outcome, so that its full searches teach nearly as much.
    pub value_on_cheap: bool,
    /// Share of the search's value in the value target, 0 to 1; the rest is the game's outcome. Default 0.8.
    pub value_from_search: f32,
    /// How far the search's value looks ahead, 0 to 1: at each ply 1 − λ of its own search and λ of what is said of the
    /// next ply, in the end the outcome. 0 takes the ply's own search alone. Default 0.9.
    pub value_lambda: f32,
    /// Weight of the policy loss, 0 or more. Default 1.
    pub policy_weight: f32,
    /// Weight of the value loss, 0 or more. Default 1.
    pub value_weight: f32,
    /// Weight of the moves-left loss, 0 or more. Default 0.1.
    pub moves_left_weight: f32,
    /// Learning rate after the warm-up, above 0. Default 0.002.
    pub learning_rate: f32,
    /// Steps over which the learning rate grows from nothing. Default 100.
    pub warmup_steps: u32,
    /// What is left of the learning rate at the end of the run's time, 0 to 1; a cosine leads there. Default 0.1.
    pub final_learning_rate_share: f32,
    /// Which optimizer, and its constants.
    pub optimizer: OptimizerConfig,
    /// Memory of the averaged weights, which are the ones published: the average keeps this share at each step, 0 to
    /// below 1; early on less, so that it is not held back by the random start. Default 0.995.
    pub ema_decay: f32,
    /// Training steps from one published net to the next, at least 1. Default 50.
    pub publish_every: u64,
    /// Longest time between checkpoints in seconds, 0 or more. A checkpoint is also written with every published net,
    /// and after every step if that costs less than a fiftieth of the time. Default 20.
    pub checkpoint_seconds: f64,
}

/// Size of the replay window: `c · (1 + beta · ((N/c)^alpha − 1) / alpha)` of the newest samples when N have been made
/// (KataGo, Wu 2019, appendix D), but all of them until there are c.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowConfig {
    /// c, in samples, at least 1. Default 25000.
    pub start: f64,
    /// Exponent, above 0 to 1: 1 keeps a fixed share of all samples, less forgets faster. Default 0.75.
    pub alpha: f64,
    /// Growth of the window per sample when it starts to grow, 0 to 1. Default 0.4.
    pub beta: f64,
    /// Most samples in memory, at least `start`; about a kilobyte each. Default 2000000.
    pub most: f64,
}

/// How matrices and kernels are moved; everything else is moved by AdamW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// By AdamW too.
    #[default]
    AdamW,
    /// Along their orthogonalised momentum.
    Muon,
}

/// Which optimizer, and the constants of AdamW.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerConfig {
    /// What moves matrices and kernels. Default AdamW.
    pub kind: OptimizerKind,
    /// Decay of the mean of the gradients, 0 to below 1. Default 0.9.
    pub beta_1: f32,
    /// Decay of the mean of the squared gradients, 0 to below 1. Default 0.99.
    pub beta_2: f32,
    /// Added to the root of the mean square so that tiny gradients do not become full steps, above 0. Default 1e-8.
    pub epsilon: f32,
    /// Share of a weight lost in a step, in units of the learning rate, 0 or more; biases and normalisation are
    /// spared. Default 0.02.
    pub weight_decay: f32,
    /// Longest gradient (Euclidean norm over all weights), above 0; longer ones are scaled down to it. Default 2.
    pub clip_norm: f32,
}

impl Default for LearnConfig {
    fn default() -> LearnConfig {
        LearnConfig {
            batch_size: 128,
            precision: TrainingPrecision::Bf16,
            samples_per_position: 4.0,
            min_positions: 2000,
            ahead_positions: 2000,
            holdout_every: 20,
            window: WindowConfig::default(),
            value_on_cheap: false,
            value_from_search: 0.8,
            value_lambda: 0.9,
            policy_weight: 1.0,
            value_weight: 1.0,
            moves_left_weight: 0.1,
            learning_rate: 0.002,
            warmup_steps: 100,
            final_learning_rate_share: 0.1,
            optimizer: OptimizerConfig::default(),
            ema_decay: 0.995,
            publish_every: 50,
            checkpoint_seconds: 20.0,
        }
    }
}

impl Default for WindowConfig {
    fn default() -> WindowConfig {
        WindowConfig {
            start: 25_000.0,
            alpha: 0.75,
            beta: 0.4,
            most: 2_000_000.0,
        }
    }
}

impl Default for OptimizerConfig {
    fn default() -> OptimizerConfig {
        OptimizerConfig {
            kind: OptimizerKind::default(),
            beta_1: 0.9,
            beta_2: 0.99,
            epsilon: 1e-8,
            weight_decay: 0.02,
            clip_norm: 2.0,
        }
    }
}

impl LearnConfig {
    /// What decides who waits for whom.
    pub fn pace(&self) -> PaceConfig {
        PaceConfig {
            samples_per_position: f64::from(self.samples_per_position),
            min_positions: self.min_positions,
            batch_size: self.batch_size as u64,
            ahead_positions: self.ahead_positions,
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        require(
            (1..=MOST_BATCH).contains(&self.batch_size),
            "learn.batch_size",
            self.batch_size,
            "from 1 to 65536",
        )?;
        require(
            self.min_positions >= 1,
            "learn.min_positions",
            self.min_positions,
            "at least 1",
        )?;
        require(
            self.holdout_every >= 2,
            "learn.holdout_every",
            self.holdout_every,
            "at least 2",
        )?;
        require(
            self.publish_every >= 1,
            "learn.publish_every",
            self.publish_every,
            "at least 1",
        )?;
        above_0(
            "learn.samples_per_position",
            f64::from(self.samples_per_position),
        )?;
        require(
            self.learning_rate > 0.0 && self.learning_rate <= 1.0,
            "learn.learning_rate",
            self.learning_rate,
            "above 0, at most 1",
        )?;
        share("learn.value_from_search", f64::from(self.value_from_search))?;
        share("learn.value_lambda", f64::from(self.value_lambda))?;
        share(
            "learn.final_learning_rate_share",
            f64::from(self.final_learning_rate_share),
        )?;
        decay("learn.ema_decay", self.ema_decay)?;
        for (field, value) in [
            ("learn.policy_weight", self.policy_weight),
            ("learn.value_weight", self.value_weight),
            ("learn.moves_left_weight", self.moves_left_weight),
            ("learn.checkpoint_seconds", self.checkpoint_seconds as f32),
            ("learn.optimizer.weight_decay", self.optimizer.weight_decay),
        ] {
            require(value.is_finite() && value >= 0.0, field, value, "0 or more")?;
        }
        decay("learn.optimizer.beta_1", self.optimizer.beta_1)?;
        decay("learn.optimizer.beta_2", self.optimizer.beta_2)?;
        above_0("learn.optimizer.epsilon", f64::from(self.optimizer.epsilon))?;
        above_0(
            "learn.optimizer.clip_norm",
            f64::from(self.optimizer.clip_norm),
        )?;
        self.window.validate()
    }
}

impl WindowConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        require(
            self.start >= 1.0,
            "learn.window.start",
            self.start,
            "at least 1",
        )?;
        require(
            self.most >= self.start,
            "learn.window.most",
            self.most,
            "at least learn.window.start",
        )?;
        require(
            self.alpha > 0.0 && self.alpha <= 1.0,
            "learn.window.alpha",
            self.alpha,
            "above 0 and at most 1",
        )?;
        share("learn.window.beta", self.beta)
    }

    /// The window's size in samples when `made` samples have been made.
    pub fn size(&self, made: u64) -> usize {
        let WindowConfig {
            start,
            alpha,
            beta,
            most,
        } = *self;
        let growth = (made as f64 / start).max(1.0);
        let size = start * (1.0 + beta * (growth.powf(alpha) - 1.0) / alpha);
        size.min(most) as usize
    }
}

/// The largest batch of samples; the planes of more would not fit into most memories.
const MOST_BATCH: usize = 1 << 16;

fn above_0(field: &'static str, value: f64) -> Result<(), ConfigError> {
    require(value.is_finite() && value > 0.0, field, value, "above 0")
}

fn share(field: &'static str, value: f64) -> Result<(), ConfigError> {
    require((0.0..=1.0).contains(&value), field, value, "from 0 to 1")
}

fn decay(field: &'static str, value: f32) -> Result<(), ConfigError> {
    require(
        (0.0..1.0).contains(&value),
        field,
        value,
        "at least 0 and below 1",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window starts at c, grows by beta samples a sample there, and never shrinks.
    #[test]
    fn window_grows_as_stated() {
        let window = WindowConfig {
            start: 1000.0,
            alpha: 0.75,
            beta: 0.4,
            most: 5000.0,
        };
        assert_eq!(window.size(0), 1000);
        assert_eq!(window.size(1000), 1000);
        let slope = window.size(1100) as f64 - window.size(1000) as f64;
        assert!((38.0..=40.0).contains(&slope), "{slope}");
        assert_eq!(window.size(u64::MAX), 5000);
    }
}
