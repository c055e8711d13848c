//! The line from the protocol to a search that is under way.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Stops a search, or tells it that the expected move has come.
#[derive(Debug)]
pub(super) struct Control {
    state: Mutex<State>,
    changed: Condvar,
}

/// What the search has been told.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// To stop at once.
    pub stop: bool,
    /// To think on the opponent's time.
    pub ponder: bool,
    /// When the engine's own time began to run.
    pub start: Instant,
}

impl Control {
    /// For a search that starts now.
    pub fn new(ponder: bool) -> Control {
        Control {
            state: Mutex::new(State {
                stop: false,
                ponder,
                start: Instant::now(),
            }),
            changed: Condvar::new(),
        }
    }

    /// The search is to end.
    pub fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    /// The expected move has come: from now on the clock runs.
    pub fn ponder_hit(&self) {
        let mut state = self.lock();
        if state.ponder {
            state.ponder = false;
            state.start = Instant::now();
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What the search has been told so far.
    pub fn state(&self) -> State {
        *self.lock()
    }

    /// Waits until the search may answer: at once, or if it is `infinite` or pondering not before it is told so.
    pub fn wait_for_leave(&self, infinite: bool) {
        let mut state = self.lock();
        while !state.stop && (infinite || state.ponder) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
