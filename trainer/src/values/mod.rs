//! What each man is worth: estimators, and a table of their values beside the published claims.
//!
//! 1. `run`: from a run's games and its current net to the table; the entry point.
//! 2. [`regression`]: values from the outcomes of games.
//! 3. [`probe`]: values from what a net thinks when a man is taken away.
//! 4. [`exact`]: how well the net knows what tablebases know for certain.
//! 5. [`estimate`]: what an estimator says, always with an interval.
//! 6. [`claims`]: what others have published.
//! 7. [`table`]: all of it side by side.

mod run;

pub mod exact;
pub mod odds;
pub mod probe;
pub mod regression;

pub mod claims;
pub mod estimate;
pub mod table;

mod bootstrap;
mod census;
mod logistic;
mod sample;

#[cfg(test)]
pub(crate) mod test_games;

pub use bootstrap::Bootstrap;
pub use run::{ValuesConfig, ValuesStage, first_table};
