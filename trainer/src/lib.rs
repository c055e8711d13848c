//! Learning, measuring and the pipeline: everything between the game records of self-play and the published net.
//!
//! A tour along the path of the data:
//!
//! 1. [`config`] reads a run's recipe, [`variant`] its rules, [`run`] opens its storage.
//! 2. [`pipeline`] runs it all: worker processes ([`fleet`]) play, the trainer learns and publishes.
//! 3. [`replay`] turns game records into samples, [`learn`] samples into better weights.
//! 4. [`arena`] measures strength, [`audit`] whether a run can be trusted, [`values`] what the pieces are worth, [`worth`] what a new one would be.
//! 5. [`metrics`], [`progress`] and [`logging`] tell what is going on, [`pgn`] which games were played,
//!    [`report`] everything on one page.
//! 6. [`engine`] plays with a net for chess programs, over UCI or CECP; [`shipped`] has the nets that come along.
//! 7. [`distill`] teaches a small net for Fairy-Stockfish what ours knows.
//! 8. [`cli`] is the program `falconzero`.

// First, for its macros are for all the others.
#[macro_use]
mod output;

pub mod arena;
pub mod audit;
mod cholesky;
pub mod cli;
pub mod compare;
pub mod config;
pub mod distill;
pub mod engine;
pub mod finale;
pub mod fit;
pub mod fleet;
mod game_stats;
pub mod interrupt;
pub mod learn;
pub mod logging;
pub mod metrics;
pub mod pgn;
pub mod pipeline;
pub mod process_group;
pub mod progress;
pub mod replay;
pub mod report;
pub mod run;
pub mod shipped;
pub mod time_use;
pub mod values;
pub mod variant;
pub mod worth;
