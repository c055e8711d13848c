//! Child processes with groups of their own (on Unix), so that Ctrl-C in a terminal reaches us alone.

#[cfg(unix)]
use rustix::process::{Pid, Signal};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// The groups that run, for when the program ends at once and drops nothing.
static RUNNING: Mutex<Vec<ProcessGroup>> = Mutex::new(Vec::new());

/// Kills all groups that are remembered.
pub fn end_all() {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.drain(..).for_each(ProcessGroup::kill);
}

/// Lets the command's process have a group of its own.
pub fn set_apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// A process that was [set apart](set_apart), and those that it has started.
#[derive(Clone, Copy, PartialEq)]
pub struct ProcessGroup(u32);

impl ProcessGroup {
    /// Remembers it until [`forget`](ProcessGroup::forget).
    pub fn of(child: &Child) -> ProcessGroup {
        let group = ProcessGroup(child.id());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.push(group);
        group
    }

    /// Ends all of it at once; nothing happens where there are no groups, or if nobody is left.
    pub fn kill(self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
    }

    /// Asks for a clean end, as Ctrl-C would.
    pub fn interrupt(self) {
        #[cfg(unix)]
        self.signal(Signal::INT);
    }

    #[cfg(unix)]
    fn signal(self, signal: Signal) {
        // An error means that nobody is left in it.
        if let Some(group) = i32::try_from(self.0).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// It has ended: its number may soon be another's.
    pub fn forget(self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|&other| other != self);
    }
}
