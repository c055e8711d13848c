//! First positions of self-play games.
//!
//! Random play on a big board rarely ends in mate, so a net that starts from nothing would see few decisive games.
//! [`StartGenerator`] therefore mixes five kinds: openings (the game itself), arrays with men missing, a few men
//! with the kings, late positions of earlier games ([`Archive`]) and positions of endgame tablebases. It knows no variant by name: it works with the
//! roles and the array that the variant has.

mod archive;
mod config;
mod few_men;
mod generator;
mod kind;
mod odds;
mod tablebase;
#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use config::StartConfig;
pub use generator::{Start, StartGenerator};
pub use kind::{StartKind, UnknownStartKind};
