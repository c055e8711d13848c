//! Recipes against each other: each trains for the same time from the same seeds, then all nets play all others.
//!
//! 1. [`plan`]: which runs there are, and what each of them has done.
//! 2. [`training`]: the runs, one after the other, each with the whole machine to itself.
//! 3. [`tournament`]: the round robin.
//! 4. [`table`]: Elo of each recipe with its error, also that of [`scatter`], beside samples, games and steps.
//!
//! Everything lies in one folder, and what is done already is not done again.

pub mod plan;
pub mod scatter;
pub mod table;
pub mod tournament;
pub mod training;
