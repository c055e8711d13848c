//! What each man is worth: estimators, and a table of their values beside the published claims.
//!
//! 1. `run`: from a run's games and its current net to the table; the entry point.
//! 2. [`regression`]: values from the outcomes of games.
//! 3. [`probe`]: values from what a net thinks when a man is taken away.
//! 4. [`odds`]: values from matches with unequal armies.
//! 5. [`estimate`]: what an estimator says, always with an interval; [`phase`]: in which part of a game.
//! 6. [`reconcile`]: one value from all estimators, and whether they contradict each other.
//! 7. [`exact`], [`first_moves`]: how well the net knows what tablebases know for certain, and which openings it likes.
//! 8. [`history`]: how the values have changed as a run went on.
//! 9. [`claims`]: what others have published; [`court`]: what the findings say about it.
//! 10. [`table`]: all of it side by side.

mod run;

pub mod exact;
pub mod first_moves;
pub mod history;
pub mod odds;
pub mod probe;
pub mod regression;

pub mod claims;
pub mod court;
pub mod estimate;
pub mod phase;
pub mod reconcile;
pub mod table;

mod bootstrap;
mod census;
mod logistic;
mod sample;

#[cfg(test)]
pub(crate) mod test_games;

pub use bootstrap::Bootstrap;
pub use run::{OnProgress, Sources, ValuesConfig, ValuesStage, first_table};
