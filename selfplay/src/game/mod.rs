//! One self-play game as a state machine.

mod end;

pub use end::{EndReason, UnknownEndReason};
