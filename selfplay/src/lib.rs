//! Self-play: from a net to game records.
//!
//! Workers and trainer are separate processes that meet only through a run's storage.

pub mod layout;
pub mod storage;
