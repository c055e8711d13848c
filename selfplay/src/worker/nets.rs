//! The net that a worker plays with, and newer ones as they appear.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{CachedEvaluator, EvalRequest, Evaluation, Evaluator, ModelError};

use super::WorkerError;
use crate::layout::{CurrentNet, RunPaths};
use crate::storage::{Fetched, ObjectVersion, Storage, StorageError};

/// Time between two looks at the pointer.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two looks while there is no net at all.
const FIRST_LOOK_EVERY: Duration = Duration::from_millis(200);

/// Turns a net file's bytes into an evaluator; the text names the file in errors.
pub type LoadNet<'a> = dyn FnMut(&[u8], &str) -> Result<Box<dyn Evaluator>, ModelError> + 'a;

/// The current net and the pointer it came from.
pub(super) struct Nets<'a> {
    storage: &'a Storage,
    load: &'a mut LoadNet<'a>,
    evaluator: CachedEvaluator<Box<dyn Evaluator>>,
    /// Positions whose evaluations are remembered.
    memory: usize,
    id: String,
    pointer: ObjectVersion,
    looked: Instant,
}

impl<'a> Nets<'a> {
    /// Waits for the run's first net and loads it; `None` when `stop` came first. The evaluations of `memory` positions are
    /// remembered: a search meets again what the one before it has seen below the move that was played.
    ///
    /// # Errors
    /// [`WorkerError::NoNet`] after `patience`; otherwise whatever is wrong with the net, for
    /// there is no older one to go on with.
    pub fn first(
        storage: &'a Storage,
        load: &'a mut LoadNet<'a>,
        memory: usize,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, WorkerError> {
        let begun = Instant::now();
        let mut told = false;
        while !stop.load(Ordering::Relaxed) {
            match look(storage, None)? {
                Some((current, pointer)) => {
                    let evaluator = fetch(storage, &current.id, load)?;
                    tracing::info!("playing with net {}", current.id);
                    return Ok(Some(Self {
                        storage,
                        load,
                        evaluator: CachedEvaluator::new(evaluator, memory),
                        memory,
                        id: current.id,
                        pointer,
                        looked: Instant::now(),
                    }));
                }
                None if begun.elapsed() > patience => {
                    return Err(WorkerError::NoNet {
                        object: storage.object_url(RunPaths::CURRENT_NET),
                        seconds: patience.as_secs(),
                    });
                }
                None => {}
            }
            if !told {
                told = true;
                let pointer = storage.object_url(RunPaths::CURRENT_NET);
                tracing::info!("waiting for the run's first net, {pointer}");
            }
            std::thread::sleep(FIRST_LOOK_EVERY);
        }
        Ok(None)
    }

    /// The net's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Evaluates positions; the number says how many of them the net has seen, the others were remembered.
    pub fn evaluate(&mut self, requests: &[EvalRequest]) -> (Vec<Evaluation>, u64) {
        let before = self.evaluator.misses();
        let evaluations = self.evaluator.evaluate(requests);
        (evaluations, self.evaluator.misses() - before)
    }

    /// Changes to a newer net if there is one. One that does not load is warned about once, and
    /// the old one is kept. Looks at the store at most once a second.
    pub fn refresh(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let (current, pointer) = match look(self.storage, Some(&self.pointer)) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(
                    "cannot look for a newer net, going on with {}: {error}",
                    self.id
                );
                return;
            }
        };
        if current.id == self.id {
            self.pointer = pointer;
            return;
        }
        match fetch(self.storage, &current.id, self.load) {
            Ok(evaluator) => {
                tracing::info!("net {} takes over from {}", current.id, self.id);
                self.evaluator = CachedEvaluator::new(evaluator, self.memory);
                self.id = current.id;
                self.pointer = pointer;
            }
            Err(WorkerError::Storage(error)) => {
                // The pointer stays unread, so that the next look tries again.
                tracing::warn!(
                    "cannot read net {}, going on with {}: {error}",
                    current.id,
                    self.id
                );
            }
            Err(error) => {
                tracing::warn!(
                    "cannot use net {}, going on with {}: {error}",
                    current.id,
                    self.id
                );
                self.pointer = pointer;
            }
        }
    }
}

/// The pointer, if there is one and it is another than `known`.
fn look(
    storage: &Storage,
    known: Option<&ObjectVersion>,
) -> Result<Option<(CurrentNet, ObjectVersion)>, StorageError> {
    match storage.get_if_changed(RunPaths::CURRENT_NET, known)? {
        Fetched::Missing | Fetched::Unchanged => Ok(None),
        Fetched::Changed(bytes, version) => match serde_json::from_slice(&bytes) {
            Ok(current) => Ok(Some((current, version))),
            Err(error) => Err(StorageError::Malformed {
                object: storage.object_url(RunPaths::CURRENT_NET),
                reason: error.to_string(),
            }),
        },
    }
}

fn fetch(
    storage: &Storage,
    id: &str,
    load: &mut LoadNet<'_>,
) -> Result<Box<dyn Evaluator>, WorkerError> {
    let name = RunPaths::net(id);
    let bytes = storage.get(&name)?;
    Ok(load(&bytes, &storage.object_url(&name))?)
}
