//! Lines to the client.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A writer of whole lines that survives a client which reads no more.
#[derive(Clone)]
pub(super) struct Outbox {
    writer: Arc<Mutex<dyn Write + Send>>,
    failure: Arc<OnceLock<io::Error>>,
}

impl Outbox {
    /// Lines to `writer`, each flushed at once.
    pub fn new(writer: impl Write + Send + 'static) -> Outbox {
        Outbox {
            writer: Arc::new(Mutex::new(writer)),
            failure: Arc::default(),
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
        if let Err(error) = written {
            // The first failure is the one to tell of.
            let _ = self.failure.set(error);
        }
    }

    /// Whether a line could not be written.
    pub fn is_closed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// What a line could not be written for, unless it is that nobody reads any more, which is how clients go away.
    pub fn outcome(&self) -> io::Result<()> {
        match self.failure.get() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Ok(()),
        }
    }
}
