//! Self-play: from a net to game records.
//!
//! Workers and trainer are separate processes that meet only through a run's storage.

pub mod config_error;
pub mod game;
pub mod games;
pub mod layout;
pub mod lease;
pub mod pace;
pub mod record;
pub mod search;
pub mod solve;
pub mod starts;
pub mod storage;
pub mod worker;
