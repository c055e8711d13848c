//! Lines to the client.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A writer of whole lines that survives a client which reads no more.
#[derive(Clone)]
pub(super) struct Outbox {
    writer: Arc<Mutex<dyn Write + Send>>,
    closed: Arc<AtomicBool>,
}

impl Outbox {
    /// Lines to `writer`, each flushed at once.
    pub fn new(writer: impl Write + Send + 'static) -> Outbox {
        Outbox {
            writer: Arc::new(Mutex::new(writer)),
            closed: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Writes a line, or notes that nobody reads any more.
    pub fn line(&self, text: Arguments) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // One write for the whole line, so that a client never sees a half.
        let line = format!("{text}\n");
        let written = writer
            .write_all(line.as_bytes())
            .and_then(|()| writer.flush());
        if written.is_err() {
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a line could not be written.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}
