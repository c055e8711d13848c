//! A worker's counters, for displays and pacing.

use std::time::{Duration, Instant};

use super::outbox::Written;
use crate::layout::RunPaths;
use crate::pace::{WorkerProgress, unix_ms};
use crate::storage::Storage;

const REPORT_EVERY: Duration = Duration::from_secs(1);
const STORE_EVERY: Duration = Duration::from_secs(2);

/// Counts, reports and stores.
pub(super) struct Tally<'a> {
    storage: &'a Storage,
    object: String,
    progress: WorkerProgress,
    started: Instant,
    reported: Instant,
    stored: Instant,
}

impl<'a> Tally<'a> {
    pub fn start(storage: &'a Storage, worker_id: &str, first_chunk: u32) -> Self {
        let now = Instant::now();
        let mut tally = Self {
            storage,
            object: RunPaths::progress(worker_id, first_chunk),
            progress: WorkerProgress {
                worker_id: worker_id.to_owned(),
                ..WorkerProgress::default()
            },
            started: now,
            reported: now,
            stored: now,
        };
        tally.store();
        tally
    }

    pub fn add_round(&mut self, evaluated: u64, net_time: Duration) {
        self.progress.positions_evaluated += evaluated;
        self.progress.net_seconds += net_time.as_secs_f64();
        self.progress.is_waiting = false;
    }

    pub fn add_written(&mut self, written: Written) {
        self.progress.games += written.games;
        self.progress.samples += written.samples;
        self.progress.plies += written.plies;
        self.progress.simulations += written.simulations;
    }

    pub fn add_waiting(&mut self, time: Duration) {
        self.progress.waiting_seconds += time.as_secs_f64();
        self.progress.is_waiting = true;
    }

    /// Tells `on_progress` once a second and the run every two.
    pub fn report(&mut self, net_id: &str, on_progress: &mut dyn FnMut(&WorkerProgress)) {
        if self.reported.elapsed() < REPORT_EVERY {
            return;
        }
        self.reported = Instant::now();
        net_id.clone_into(&mut self.progress.net_id);
        self.progress.total_seconds = self.started.elapsed().as_secs_f64();
        on_progress(&self.progress);
        if self.stored.elapsed() >= STORE_EVERY {
            self.store();
        }
    }

    /// The last word.
    pub fn end(mut self, net_id: &str) -> WorkerProgress {
        net_id.clone_into(&mut self.progress.net_id);
        self.progress.total_seconds = self.started.elapsed().as_secs_f64();
        self.progress.is_waiting = false;
        self.progress.ended = true;
        self.store();
        self.progress
    }

    fn store(&mut self) {
        self.stored = Instant::now();
        self.progress.updated_ms = unix_ms();
        // Nothing but displays depends on it, and the games' own writes warn loudly enough.
        if let Err(error) = self.storage.put_json(&self.object, &self.progress) {
            tracing::debug!("the worker's counters were not written: {error}");
        }
    }
}
