//! First positions of self-play games.

mod kind;

pub use kind::{StartKind, UnknownStartKind};
