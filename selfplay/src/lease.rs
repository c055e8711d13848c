//! Who trains: one trainer a run, on any machine, with nothing but objects to go by.
//!
//! A trainer holds the run's [`Lease`] by rewriting `trainer.json` about once a second with a
//! beat that counts up. A second trainer finds the file, watches it for a few seconds, and is
//! refused if it beats. If it does not, its trainer was killed, and the run is taken over. Clocks
//! are never compared, so machines may disagree about the time.
//!
//! Between two trainers that take over a dead run in the same moment the last to write wins, and
//! the other finds out before it begins. A trainer that was only asleep finds out at its next
//! beat, through [`Lease::check`].
//!
//! The same file tells workers and displays how far the trainer is: [`TrainerStatus::read`].

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::layout::RunPaths;
use crate::storage::{Storage, StorageError};

/// `trainer.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainerStatus {
    /// Another for every start of a trainer.
    pub instance: String,
    /// Process id on `host`.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// Counts up while the trainer lives.
    pub beat: u64,
    /// The trainer has ended in good order; anyone may take the run.
    pub released: bool,
    /// How far it is.
    pub counters: TrainerCounters,
}

/// How far a trainer is. Totals of the run, those before a resumption included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainerCounters {
    /// Training steps.
    pub steps: u64,
    /// Samples used in them, each as often as it was used.
    pub samples_used: u64,
    /// Positions for training in the games that the trainer has read.
    pub positions: u64,
    /// Games that the trainer has read.
    pub games: u64,
}

impl TrainerStatus {
    /// The trainer's last word, or `None` before the first trainer.
    ///
    /// # Errors
    /// [`StorageError::Malformed`] when the file is not what it should be.
    pub fn read(storage: &Storage) -> Result<Option<Self>, StorageError> {
        storage.find_json(RunPaths::TRAINER)
    }
}

/// The times of a lease.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTiming {
    /// Time between two beats.
    pub beat: Duration,
    /// A beat that has not moved for so long is a dead trainer's. Several beats, so that a slow
    /// disk or a busy machine is not taken for death.
    pub patience: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self {
            beat: Duration::from_secs(1),
            patience: Duration::from_secs(6),
        }
    }
}

/// Why a run cannot be trained, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// A trainer is at work.
    #[error(
        "another trainer is at work in {run} (process {pid} on {host}); stop it first, or begin \
         another run"
    )]
    InUse {
        /// The run's URL.
        run: String,
        /// Its process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Another trainer has taken the run over.
    #[error(
        "{run} has been taken over by another trainer (process {pid} on {host}), because this one \
         did not answer for a while; this one stops, the other goes on from the last checkpoint"
    )]
    Lost {
        /// The run's URL.
        run: String,
        /// The other's process.
        pid: u32,
        /// The other's machine.
        host: String,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The right to train a run, held until [`Lease::release`] or drop.
#[derive(Debug)]
pub struct Lease {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Lease {
    /// Takes the run, which may need a few seconds if its last trainer was killed.
    ///
    /// # Errors
    /// [`LeaseError::InUse`] if a trainer is at work, otherwise whatever the storage says.
    pub fn acquire(storage: &Storage) -> Result<Self, LeaseError> {
        Self::acquire_with(storage, LeaseTiming::default())
    }

    /// [`Lease::acquire`] with other times than the usual ones; all trainers of a run must agree
    /// on them.
    ///
    /// # Errors
    /// As [`Lease::acquire`].
    pub fn acquire_with(storage: &Storage, timing: LeaseTiming) -> Result<Self, LeaseError> {
        let mine = TrainerStatus {
            instance: format!("{:016x}", rand::random::<u64>()),
            pid: std::process::id(),
            host: host_name(),
            beat: 0,
            released: false,
            counters: TrainerCounters::default(),
        };
        let is_first =
            storage.put_if_absent(RunPaths::TRAINER, crate::storage::json_bytes(&mine))?;
        let counters = match is_first {
            true => TrainerCounters::default(),
            false => take_over(storage, &mine, timing)?,
        };
        let shared = Arc::new(Shared {
            storage: storage.clone(),
            timing,
            state: Mutex::new(State {
                status: TrainerStatus { counters, ..mine },
                taken_by: None,
                ends: false,
            }),
            wake: Condvar::new(),
        });
        let beating = shared.clone();
        let thread = std::thread::spawn(move || beating.beat_until_the_end());
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// What the next beat will report.
    pub fn set_counters(&self, counters: TrainerCounters) {
        self.shared.lock().status.counters = counters;
    }

    /// What the last beat reported; after a take-over the previous trainer's.
    pub fn counters(&self) -> TrainerCounters {
        self.shared.lock().status.counters
    }

    /// Whether the run is still this trainer's. Call it before anything is published.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] once another trainer has taken over.
    pub fn check(&self) -> Result<(), LeaseError> {
        match &self.shared.lock().taken_by {
            None => Ok(()),
            Some(other) => Err(LeaseError::Lost {
                run: self.shared.storage.url().to_owned(),
                pid: other.pid,
                host: other.host.clone(),
            }),
        }
    }

    /// Gives the run back, so that the next trainer need not wait.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] if it was taken over meanwhile; whatever kept the file from being
    /// written.
    pub fn release(mut self) -> Result<(), LeaseError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LeaseError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.shared.lock().ends = true;
        self.shared.wake.notify_all();
        if thread.join().is_err() {
            tracing::warn!("the heartbeat had stopped before its time");
        }
        self.check()?;
        let mut status = self.shared.lock().status.clone();
        status.beat += 1;
        status.released = true;
        self.shared.storage.put_json(RunPaths::TRAINER, &status)?;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("the run was not given back: {error}");
        }
    }
}

#[derive(Debug)]
struct Shared {
    storage: Storage,
    timing: LeaseTiming,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug)]
struct State {
    status: TrainerStatus,
    taken_by: Option<TrainerStatus>,
    ends: bool,
}

impl Shared {
    fn beat_until_the_end(&self) {
        let mut fails = false;
        loop {
            let state = self.lock();
            let (mut state, _) = self
                .wake
                .wait_timeout_while(state, self.timing.beat, |state| !state.ends)
                .unwrap_or_else(PoisonError::into_inner);
            if state.ends {
                return;
            }
            state.status.beat += 1;
            let status = state.status.clone();
            drop(state);
            match self.beat(&status) {
                Ok(None) => fails = false,
                Ok(Some(other)) => {
                    self.lock().taken_by = Some(other);
                    return;
                }
                Err(error) => {
                    // Once is enough; it is tried at every beat.
                    if !std::mem::replace(&mut fails, true) {
                        tracing::warn!("the trainer's heartbeat failed: {error}");
                    }
                }
            }
        }
    }

    /// Beats once, unless another trainer has the run.
    fn beat(&self, status: &TrainerStatus) -> Result<Option<TrainerStatus>, StorageError> {
        if let Some(found) = TrainerStatus::read(&self.storage)?
            && found.instance != status.instance
        {
            return Ok(Some(found));
        }
        self.storage.put_json(RunPaths::TRAINER, status)?;
        Ok(None)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, and its data are plain values.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the trainer that holds the run is known to be dead and takes its place; returns
/// its counters.
fn take_over(
    storage: &Storage,
    mine: &TrainerStatus,
    timing: LeaseTiming,
) -> Result<TrainerCounters, LeaseError> {
    let in_use = |other: &TrainerStatus| LeaseError::InUse {
        run: storage.url().to_owned(),
        pid: other.pid,
        host: other.host.clone(),
    };
    let last = watch(storage, timing).map_err(|watched| match watched {
        Watched::Alive(other) => in_use(&other),
        Watched::Failed(error) => LeaseError::Storage(error),
    })?;
    let counters = last.map(|last| last.counters).unwrap_or_default();
    let mine = TrainerStatus {
        counters,
        ..mine.clone()
    };
    storage.put_json(RunPaths::TRAINER, &mine)?;
    // Another that took over in the same moment has written by then.
    std::thread::sleep(timing.patience / 4);
    match TrainerStatus::read(storage)? {
        Some(found) if found.instance != mine.instance => Err(in_use(&found)),
        Some(_) | None => Ok(counters),
    }
}

enum Watched {
    Alive(TrainerStatus),
    Failed(StorageError),
}

/// Watches the heartbeat until it is sure that it stands still; returns the last one.
fn watch(storage: &Storage, timing: LeaseTiming) -> Result<Option<TrainerStatus>, Watched> {
    // A heartbeat that cannot be read (half a JSON from a foreign hand) is nobody's.
    let read = || match TrainerStatus::read(storage) {
        Err(StorageError::Malformed { object, reason }) => {
            tracing::warn!("{object} is damaged and counts as a dead trainer's: {reason}");
            Ok(None)
        }
        other => other.map_err(Watched::Failed),
    };
    let first = read()?;
    let begun = Instant::now();
    if let Some(first) = &first
        && !first.released
    {
        tracing::info!(
            "a trainer (process {} on {}) has been at work in {}; looking whether it still is",
            first.pid,
            first.host,
            storage.url()
        );
        while begun.elapsed() < timing.patience {
            std::thread::sleep(timing.beat / 2);
            match read()? {
                Some(now) if now.released => return Ok(Some(now)),
                Some(now) if now != *first => return Err(Watched::Alive(now)),
                Some(_) | None => {}
            }
        }
    }
    Ok(first)
}

/// This machine's name, for messages and worker ids.
pub(crate) fn host_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
