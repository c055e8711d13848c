//! Log messages on stderr, above the live line if there is one.

use indicatif::ProgressBar;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing_subscriber::EnvFilter;

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Starts logging; RUST_LOG chooses what, by default warnings and what the program itself has to say.
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logging = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_writer(|| AboveBar);
    // It fails only if it was started before, as by a second test in one process.
    let _already_started = logging.try_init();
}

/// From now on log messages go above this bar.
pub fn keep_clear_of(bar: ProgressBar) {
    *bar_now() = Some(bar);
}

fn bar_now() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

struct AboveBar;

impl Write for AboveBar {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let write = || std::io::stderr().write_all(bytes);
        let _nobody_to_tell = match bar_now().as_ref() {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}
