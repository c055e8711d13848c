//! The learning rate over a run: a linear warm-up, then a cosine down to a small rest.

use crate::config::LearnConfig;
use std::f64::consts::PI;

/// The learning rate of a step.
///
/// `steps` counts the steps that the optimizer has taken before this one; `progress` is the share of the run's time budget that is used up, in
/// [0, 1]. The decay follows the time and not the steps, because how many steps fit into a budget is known only
/// afterwards.
pub fn learning_rate(config: &LearnConfig, steps: u64, progress: f64) -> f32 {
    let warmup = ((steps + 1) as f64 / f64::from(config.warmup_steps.max(1))).min(1.0);
    let rest = f64::from(config.final_learning_rate_share);
    let cosine = 0.5 * (1.0 + (PI * progress.clamp(0.0, 1.0)).cos());
    (f64::from(config.learning_rate) * warmup * (rest + (1.0 - rest) * cosine)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three corners of the schedule.
    #[test]
    fn warms_up_and_decays() {
        let config = LearnConfig {
            learning_rate: 1.0,
            warmup_steps: 10,
            final_learning_rate_share: 0.1,
            ..LearnConfig::default()
        };
        assert!((learning_rate(&config, 0, 0.0) - 0.1).abs() < 1e-6);
        assert!((learning_rate(&config, 9, 0.0) - 1.0).abs() < 1e-6);
        assert!((learning_rate(&config, 100, 1.0) - 0.1).abs() < 1e-6);
    }
}
