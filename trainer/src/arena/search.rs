//! The contestant that searches, with a net or without.

use super::contestant::{Choice, Contestant, Turn};
use model::Evaluator;

/// Gumbel search without noise, all games of a batch in lockstep so that each evaluation serves them all.
///
/// Every move is searched afresh: nothing is kept from one move to the next, which keeps games independent of each other.
pub struct SearchContestant {
    name: String,
    evaluator: Box<dyn Evaluator>,
    simulations: u32,
}

impl SearchContestant {
    /// A player that spends `simulations` on each move.
    pub fn new(
        name: impl Into<String>,
        evaluator: Box<dyn Evaluator>,
        simulations: u32,
    ) -> SearchContestant {
        SearchContestant {
            name: name.into(),
            evaluator,
            simulations,
        }
    }
}

impl Contestant for SearchContestant {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice> {
        let _ = (&mut self.evaluator, self.simulations, turns);
        unimplemented!("the search is not there yet")
    }
}
