//! The worker: plays games with the newest net and writes them into the run's storage.

mod chunks;

pub use chunks::ChunkWriter;
