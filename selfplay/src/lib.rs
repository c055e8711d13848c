//! Self-play: from a net to game records.
//!
//! Workers and trainer are separate processes that meet only through a run's storage:
//!
//! 1. A [`Storage`](storage::Storage) holds a run's objects, [`layout`] names them all.
//! 2. A [`Search`](search::Search) improves on a net's opinion of one position; [`solve`] finds
//!    mates with it.
//! 3. [`StartGenerator`](starts::StartGenerator) says where games begin, and
//!    [`SelfPlayGame`](game::SelfPlayGame) plays one.
//! 4. A [`worker`] plays many and writes them as [`GameRecord`](record::GameRecord)s.
//! 5. A [`GameStream`](games::GameStream) hands them to the trainer, which holds the run's
//!    [`Lease`](lease::Lease); [`pace`] decides which of the two waits.
//!
//! ```
//! use selfplay::games::GameStream;
//! use selfplay::storage::Storage;
//! use selfplay::worker::ChunkWriter;
//!
//! let storage = Storage::in_memory();
//! let mut writer = ChunkWriter::start(&storage, "w1", 32)?;
//! // … writer.add(game) as games finish …
//! writer.flush()?;
//! assert!(GameStream::new(&storage).scan()?.games.is_empty());
//! # Ok::<(), selfplay::storage::StorageError>(())
//! ```

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
pub mod tables;
pub mod worker;
