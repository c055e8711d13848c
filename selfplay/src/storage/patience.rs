//! Writes that wait for space instead of failing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Storage, StorageError};

/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);
/// Time between two reminders that the disk is full.
const REMIND_EVERY: Duration = Duration::from_secs(60);

impl Storage {
    /// The same storage, but a write that finds it full says so and tries again until there is
    /// space, or until `stop` is raised, and only then fails.
    #[must_use]
    pub fn patient(&self, stop: Arc<AtomicBool>) -> Storage {
        Storage {
            inner: self.inner.clone(),
            waits_until: Some(stop),
        }
    }

    /// The same storage, whose writes fail at once when it is full.
    #[must_use]
    pub fn impatient(&self) -> Storage {
        Storage {
            inner: self.inner.clone(),
            waits_until: None,
        }
    }

    /// Tries `write`, with the patience of this storage.
    pub(super) fn patiently<T>(
        &self,
        write: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        retry(self.waits_until.as_deref(), PAUSE, write)
    }
}

fn retry<T>(
    stop: Option<&AtomicBool>,
    pause: Duration,
    mut write: impl FnMut() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    let mut reminded: Option<Instant> = None;
    loop {
        let error = match (write(), stop) {
            (Err(error @ StorageError::Full { .. }), Some(stop))
                if !stop.load(Ordering::SeqCst) =>
            {
                error
            }
            (Ok(written), _) if reminded.is_some() => {
                tracing::info!("there is space again, going on");
                return Ok(written);
            }
            (result, _) => return result,
        };
        if reminded.is_none_or(|at| at.elapsed() >= REMIND_EVERY) {
            reminded = Some(Instant::now());
            tracing::warn!("{error}; waiting for space");
        }
        std::thread::sleep(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> StorageError {
        let source = object_store::Error::NotImplemented {
            operation: "test".to_owned(),
            implementer: "test".to_owned(),
        };
        StorageError::Full {
            object: "x".to_owned(),
            source,
        }
    }

    /// A full disk is waited for, but not by those who were not told to, nor once it is time to stop.
    #[test]
    fn waits_for_space_until_told_to_stop() {
        let stop = AtomicBool::new(false);
        let mut tries = 0;
        let mut write = || {
            tries += 1;
            if tries < 3 { Err(full()) } else { Ok(tries) }
        };
        let pause = Duration::from_millis(1);
        assert!(retry(None, pause, &mut write).is_err());
        assert_eq!(retry(Some(&stop), pause, &mut write).expect("space"), 3);
        stop.store(true, Ordering::SeqCst);
        assert!(retry(Some(&stop), pause, || Err::<(), _>(full())).is_err());
    }
}
