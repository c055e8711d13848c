//! Search: a position and an evaluator in, an improved policy and a value out.
//!
//! [`Search`] is a state machine without an evaluator of its own: [`gather`](Search::gather) hands out the one leaf
//! that it wants evaluated next, [`respond`](Search::respond) takes the answer. Batching is then a loop over many
//! searches ([`run_lockstep`]), and no search depends on what it was batched with.
//!
//! The loop (descend, expand, back up) is in [`Search`]; how moves are selected is in pure functions over
//! [`MoveStats`]:
//!
//! * Gumbel AlphaZero (Danihelka, Guez, Schrittwieser and Silver, *Policy improvement by planning with Gumbel*,
//!   2022): Gumbel top-m and sequential halving at the root, visits that follow the improved policy below it,
//!   completed Q with the mixed value as policy target;
//! * PUCT (Silver et al. 2018) for deep analysis.
//!
//! An engine takes PUCT further ([`gather_leaves`](Search::gather_leaves), [`advance`](Search::advance),
//! [`lines`](Search::lines)): several leaves in flight with virtual losses, a tree that outlives a move, and memory with
//! a bound.
//!
//! Results that are certain (mates, draws by rule) back up exactly, with the distance to mate ([`Proven`]).

mod config;
mod gumbel;
mod halving;
mod line;
mod lockstep;
mod noise;
mod proven;
mod puct;
mod qtransform;
mod reroot;
mod result;
mod simulation;
mod tree;

pub use config::{PuctConfig, SearchConfig, SearchKind};
pub use line::Line;
pub use lockstep::run_lockstep;
pub use proven::Proven;
pub use qtransform::{MoveStats, Sigma, improved_policy, mixed_value};
pub use result::SearchResult;
pub use simulation::{MateLimits, Search};

#[cfg(test)]
mod tests;
