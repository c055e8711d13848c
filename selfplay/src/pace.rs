//! Who waits for whom.
//!
//! Learning uses every position about `samples_per_position` times: more would teach the games by
//! heart, less would waste them. So the trainer waits when it has used up what the workers made,
//! and the workers wait when they are far ahead of it. Both go by the trainer's own counters
//! ([`TrainerCounters`]), which workers read from its heartbeat. [`PaceConfig::workers_wait`] and
//! [`PaceConfig::trainer_waits`] are never true at once, so nobody waits for ever.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::layout::RunPaths;
use crate::lease::{TrainerCounters, TrainerStatus};
use crate::storage::{Storage, StorageError};

/// What decides who waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaceConfig {
    /// How often each position is used on average; above 0.
    pub samples_per_position: f64,
    /// Positions there must be before the first training step.
    pub min_positions: u64,
    /// Samples in a training step; at least 1.
    pub batch_size: u64,
    /// How many positions the workers may be ahead of the trainer. Counts as no less than the
    /// positions of one training step.
    pub ahead_positions: u64,
}

impl PaceConfig {
    /// Whether the trainer must not take another step yet.
    pub fn trainer_waits(&self, counters: &TrainerCounters) -> bool {
        let wanted = counters.samples_used as f64 + self.batch_size as f64;
        counters.positions < self.min_positions || wanted > self.allowed(counters)
    }

    /// Whether the workers must not play on yet.
    pub fn workers_wait(&self, counters: &TrainerCounters) -> bool {
        let unused = self.allowed(counters) - counters.samples_used as f64;
        let most = self.ahead_positions as f64 * self.samples_per_position;
        counters.positions >= self.min_positions && unused > most.max(self.batch_size as f64)
    }

    /// Samples that the positions so far are good for.
    fn allowed(&self, counters: &TrainerCounters) -> f64 {
        counters.positions as f64 * self.samples_per_position
    }
}

/// `progress/<worker>-<start>.json`: what a worker has done since it was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerProgress {
    /// Who.
    pub worker_id: String,
    /// Finished games that are in storage.
    pub games: u64,
    /// Their plies with a full search.
    pub samples: u64,
    /// All their plies.
    pub plies: u64,
    /// Positions evaluated by the net, unfinished games included.
    pub positions_evaluated: u64,
    /// Simulations of their searches.
    pub simulations: u64,
    /// Seconds spent in the net.
    pub net_seconds: f64,
    /// Seconds spent waiting for the trainer.
    pub waiting_seconds: f64,
    /// Seconds since the worker was started.
    pub total_seconds: f64,
    /// Whether it waits for the trainer right now.
    pub is_waiting: bool,
    /// The net it plays with.
    pub net_id: String,
    /// When this was written, in milliseconds since 1970 by the worker's clock.
    pub updated_ms: u64,
    /// The worker has ended in good order.
    pub ended: bool,
}

impl WorkerProgress {
    /// The counters of all workers that ever played for the run, one entry for each start of one.
    /// Files that cannot be read are left out with a warning: they are for display alone.
    ///
    /// # Errors
    /// Whatever kept the store from listing them.
    pub fn read_all(storage: &Storage) -> Result<Vec<Self>, StorageError> {
        let mut all = Vec::new();
        for info in storage.list(RunPaths::PROGRESS)? {
            match storage.find_json(&info.name) {
                Ok(progress) => all.extend(progress),
                Err(error) => tracing::warn!("a worker's counters are left out: {error}"),
            }
        }
        Ok(all)
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}

/// A worker's view of the trainer: reads the heartbeat now and then and says whether to wait.
#[derive(Debug)]
pub struct TrainerWatch {
    storage: Storage,
    pace: Option<PaceConfig>,
    every: Duration,
    patience: Duration,
    last: Option<TrainerStatus>,
    looked: Option<Instant>,
    moved: Instant,
}

/// Why a worker waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The workers are far enough ahead.
    Ahead,
    /// There was a trainer, but it has ended or died.
    NoTrainer,
}

impl TrainerWatch {
    /// Watches the run's trainer; without `pace` the worker never waits.
    pub fn new(storage: &Storage, pace: Option<PaceConfig>) -> Self {
        Self {
            storage: storage.clone(),
            pace,
            every: Duration::from_secs(1),
            patience: Duration::from_secs(60),
            last: None,
            looked: None,
            moved: Instant::now(),
        }
    }

    /// Whether the worker has to wait, and why. Looks at the heartbeat at most once a second.
    /// Before a run's first trainer nobody waits.
    ///
    /// # Errors
    /// Whatever kept the heartbeat from being read.
    pub fn wait(&mut self) -> Result<Option<Wait>, StorageError> {
        let Some(pace) = self.pace else {
            return Ok(None);
        };
        if self.looked.is_none_or(|at| at.elapsed() >= self.every) {
            self.looked = Some(Instant::now());
            let now = TrainerStatus::read(&self.storage)?;
            if now != self.last {
                self.moved = Instant::now();
                self.last = now;
            }
        }
        Ok(match &self.last {
            None => None,
            Some(status) if status.released => Some(Wait::NoTrainer),
            Some(_) if self.moved.elapsed() > self.patience => Some(Wait::NoTrainer),
            Some(status) if pace.workers_wait(&status.counters) => Some(Wait::Ahead),
            Some(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: PaceConfig = PaceConfig {
        samples_per_position: 4.0,
        min_positions: 1000,
        batch_size: 128,
        ahead_positions: 500,
    };

    fn counters(positions: u64, samples_used: u64) -> TrainerCounters {
        TrainerCounters {
            positions,
            samples_used,
            ..TrainerCounters::default()
        }
    }

    #[test]
    fn the_trainer_waits_for_the_first_positions_and_when_they_are_used_up() {
        assert!(PACE.trainer_waits(&counters(999, 0)));
        assert!(!PACE.trainer_waits(&counters(1000, 0)));
        assert!(!PACE.trainer_waits(&counters(1000, 4000 - 128)));
        assert!(PACE.trainer_waits(&counters(1000, 4000 - 127)));
    }

    #[test]
    fn workers_wait_when_they_are_far_ahead_but_never_before_the_first_step() {
        assert!(!PACE.workers_wait(&counters(999, 0)));
        assert!(PACE.workers_wait(&counters(1000, 0)));
        assert!(!PACE.workers_wait(&counters(1000, 2000)));
        assert!(PACE.workers_wait(&counters(1000, 1999)));
    }

    #[test]
    fn never_do_both_wait() {
        for samples_per_position in [0.1, 1.0, 7.5] {
            for batch_size in [1, 128, 4096] {
                for ahead_positions in [0, 3, 1000] {
                    let pace = PaceConfig {
                        samples_per_position,
                        batch_size,
                        ahead_positions,
                        ..PACE
                    };
                    for positions in (0..8000).step_by(37) {
                        for used in (0..20_000).step_by(313) {
                            let at = counters(positions, used);
                            let both = pace.trainer_waits(&at) && pace.workers_wait(&at);
                            assert!(!both, "{pace:?} {at:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_worker_waits_for_a_trainer_that_has_ended_but_not_before_the_first() {
        let storage = Storage::in_memory();
        let look = |pace| TrainerWatch::new(&storage, pace).wait().unwrap();
        assert_eq!(look(Some(PACE)), None);
        let mut status = TrainerStatus {
            instance: "a".to_owned(),
            pid: 1,
            host: "h".to_owned(),
            beat: 1,
            released: false,
            counters: counters(0, 0),
        };
        storage.put_json(RunPaths::TRAINER, &status).unwrap();
        assert_eq!(look(Some(PACE)), None);
        status.counters = counters(5000, 0);
        storage.put_json(RunPaths::TRAINER, &status).unwrap();
        assert_eq!(look(Some(PACE)), Some(Wait::Ahead));
        status.released = true;
        storage.put_json(RunPaths::TRAINER, &status).unwrap();
        assert_eq!(look(Some(PACE)), Some(Wait::NoTrainer));
        assert_eq!(look(None), None);
    }
}
