//! The contestant that searches, with a net or without.

use super::contestant::{Choice, Contestant, Turn};
use model::Evaluator;
use rules::tablebase::Tablebases;
use selfplay::search::{Search, SearchConfig, run_lockstep};
use std::sync::Arc;

/// Plays the best move of a search, all games of a batch in lockstep so that each evaluation serves them all.
///
/// Every move is searched afresh: nothing is kept from one move to the next, so that games do not depend on each other.
pub struct SearchContestant {
    name: String,
    evaluator: Box<dyn Evaluator>,
    config: SearchConfig,
    tables: Option<Arc<Tablebases>>,
    /// Searches of earlier turns, kept for their memory.
    searches: Vec<Search>,
}

impl SearchContestant {
    /// A player with its own name, evaluator and search.
    pub fn new(
        name: impl Into<String>,
        evaluator: Box<dyn Evaluator>,
        config: SearchConfig,
    ) -> SearchContestant {
        SearchContestant {
            name: name.into(),
            evaluator,
            config,
            tables: None,
            searches: Vec::new(),
        }
    }

    /// The same player with tables whose values its searches take for certain.
    pub fn with_tables(self, tables: Option<Arc<Tablebases>>) -> SearchContestant {
        SearchContestant { tables, ..self }
    }
}

impl Contestant for SearchContestant {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice> {
        for (index, turn) in turns.iter().enumerate() {
            match self.searches.get_mut(index) {
                Some(search) => search.restart(turn.game, self.config.clone(), turn.seed),
                None => self
                    .searches
                    .push(Search::new(turn.game, self.config.clone(), turn.seed)),
            }
            self.searches[index].set_tables(self.tables.clone());
        }
        let searches = &mut self.searches[..turns.len()];
        run_lockstep(searches, self.evaluator.as_mut());
        let choice = |search: &Search| {
            let result = search.result();
            Choice {
                mv: result.best_move,
                q: Some(result.q),
            }
        };
        searches.iter().map(choice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EvalRequest, Evaluation, UniformEvaluator};
    use rules::{Game, Position, Variant};
    use std::sync::{Arc, Mutex};

    /// Notes the sizes of its batches.
    struct Counting(Arc<Mutex<Vec<usize>>>);

    impl Evaluator for Counting {
        fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
            self.0.lock().expect("no other thread").push(requests.len());
            UniformEvaluator.evaluate(requests)
        }
    }

    #[test]
    fn one_evaluation_serves_all_games() {
        let variant = Variant::by_name("falcon").expect("a shipped variant");
        let game = Game::new(variant.clone(), variant.start());
        let batches = Arc::new(Mutex::new(Vec::new()));
        let config = SearchConfig {
            simulations: 8,
            mate_scan: false,
            ..SearchConfig::default()
        };
        let mut contestant =
            SearchContestant::new("counting", Box::new(Counting(batches.clone())), config);
        let turns: Vec<Turn<'_>> = (0..40).map(|seed| Turn { game: &game, seed }).collect();
        let choices = contestant.choose(&turns);
        assert_eq!(choices.len(), 40);
        assert_eq!(
            *batches.lock().expect("no other thread"),
            [40; 9],
            "the root and eight simulations"
        );
        assert_eq!(
            contestant.choose(&turns),
            choices,
            "the same seeds give the same moves"
        );
    }

    #[test]
    fn mate_is_found_without_a_net() {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let position =
            Position::from_fen(&variant, "6k1/5ppp/8/8/8/8/8/1R2K3 w - - 0 1").expect("a position");
        let game = Game::new(variant.clone(), position);
        let mut contestant = SearchContestant::new(
            "uniform",
            Box::new(UniformEvaluator),
            SearchConfig::default(),
        );
        let choice = contestant.choose(&[Turn {
            game: &game,
            seed: 1,
        }])[0];
        assert_eq!(variant.move_text(&position, choice.mv), "b1b8");
        assert_eq!(choice.q, Some(1.0));
    }
}
