//! Ctrl-C: the first asks for a clean end, the second ends at once.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of a program ended by Ctrl-C, by the shell's convention.
const INTERRUPTED: i32 = 130;

/// A flag that Ctrl-C (or a termination signal) raises; a second one ends the program at once. `reminder` is printed at
/// the first.
///
/// # Errors
/// If the signal handler cannot be installed.
pub fn flag(reminder: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    flag_and(reminder, || {})
}

/// As [`flag`], with something that must be done even when the program ends at once.
///
/// # Errors
/// If the signal handler cannot be installed.
pub fn flag_and(reminder: &'static str, at_once: fn()) -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            at_once();
            std::process::exit(INTERRUPTED);
        }
        eprintln!("\n{reminder}");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
