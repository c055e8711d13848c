//! One self-play game as a state machine, from its start to its record.

mod config;
mod end;
mod play;
#[cfg(test)]
mod tests;

pub use config::{GameConfig, SelfPlayConfig};
pub use end::{EndReason, UnknownEndReason};
pub use play::{GameIdentity, SelfPlayGame};
