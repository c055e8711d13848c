//! Training a fresh net on the games that a run has: one setting of learning against another on the same games.

use crate::config::RunConfig;
use crate::learn::Learner;
use crate::learn::batch::Batcher;
use crate::learn::holdout::{self, HoldoutReport};
use crate::learn::sample::Sample;
use crate::replay::Replay;
use crate::run::Run;
use anyhow::ensure;
use model::{Net, NetShape};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use selfplay::games::GameStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to train, besides what the recipe says.
#[derive(Clone, Copy, Debug)]
pub struct FitConfig {
    /// Training steps, at least 1.
    pub steps: u64,
    /// Steps from one measurement on the held-out games to the next, at least 1.
    pub every: u64,
}

/// A measurement on the held-out games.
#[derive(Clone, Copy, Debug)]
pub struct FitPoint {
    /// Training steps so far.
    pub step: u64,
    /// Time spent on training so far, without measurements.
    pub time: Duration,
    /// Means over the steps since the last measurement, in nats.
    pub policy_loss: f32,
    /// The same for the value.
    pub value_loss: f32,
    /// How good the averaged net is on the held-out games.
    pub holdout: HoldoutReport,
}

/// Trains a net by the recipe `config` on the games of `run` that its replay window would hold at the end, and hands each
/// measurement to `on_point`. The answer is the averaged net. The learning rate ends its decay with the last step. Training
/// ends early, with a measurement, once `stop` is raised.
///
/// # Errors
/// If the run has no games to train or to measure on, or the recipe's net cannot be made.
pub fn fit(
    run: &Run,
    config: &RunConfig,
    fit: FitConfig,
    stop: &AtomicBool,
    on_point: &mut dyn FnMut(FitPoint),
) -> anyhow::Result<Net> {
    let replay = read_games(run, config)?;
    let held_out: Vec<&Sample> = replay.holdout().collect();
    ensure!(
        !replay.is_empty() && !held_out.is_empty(),
        "the run has {} games, too few to train on most of them and to measure on one in {}; let it play more first",
        replay.games(),
        config.learn.holdout_every
    );
    let shape = NetShape::new(&run.variant);
    let device = config.device.device()?;
    let mut learner = Learner::new(&config.learn, config.net, shape, config.run.seed, &device)?;
    let batcher = Batcher::new(run.variant.clone(), config.learn.value_from_search);
    let outcomes = Batcher::new(run.variant.clone(), 0.0);
    let mut rng = ChaCha8Rng::seed_from_u64(config.run.seed);
    let mut sums = (0.0, 0.0, 0u32);
    let (mut time, mut begun) = (Duration::ZERO, Instant::now());
    for step in 1..=fit.steps {
        let batch = batcher.batch(
            &replay.draw(config.learn.batch_size, &mut rng),
            &learner.device(),
        );
        let report = learner.step(&batch, (step - 1) as f64 / fit.steps as f64);
        sums = (
            sums.0 + report.policy_loss,
            sums.1 + report.value_loss,
            sums.2 + 1,
        );
        let is_last = step == fit.steps || stop.load(Ordering::Relaxed);
        if step % fit.every == 0 || is_last {
            time += begun.elapsed();
            let count = sums.2 as f32;
            on_point(FitPoint {
                step,
                time,
                policy_loss: sums.0 / count,
                value_loss: sums.1 / count,
                holdout: holdout::evaluate(&learner.averaged_net(), &outcomes, &held_out),
            });
            (sums, begun) = ((0.0, 0.0, 0), Instant::now());
        }
        if is_last {
            break;
        }
    }
    Ok(learner.averaged_net())
}

fn read_games(run: &Run, config: &RunConfig) -> anyhow::Result<Replay> {
    let mut replay = Replay::new(run.variant.clone(), &config.learn, run.tablebases()?);
    let mut stream = GameStream::new(&run.storage);
    loop {
        let scan = stream.scan()?;
        for record in &scan.games {
            if let Err(error) = replay.add(record) {
                tracing::warn!("game {} is left out: {error}", record.game_id);
            }
        }
        if !scan.more {
            return Ok(replay);
        }
    }
}
