//! Mates near the root, proven by exhaustion.
//!
//! A net that was taught by short searches hardly looks at sacrifices, and a search that trusts it may pass over a mate in
//! two for thousands of simulations. To look through all of them takes a few thousand positions, which is less than a
//! hundred evaluations of a net.

use rules::Move;

use super::Search;
use crate::search::proven::Proven;
use crate::search::tree::ROOT;
use crate::solve::prove_mate;

/// What has been proven about the root's moves besides what simulations found.
#[derive(Clone, Debug, Default)]
pub(super) struct Mates {
    /// The line of the root's mate.
    pub line: Option<Vec<Move>>,
    /// Root moves after which the opponent's mates have been looked for.
    checked: Vec<Move>,
}

impl Mates {
    pub(super) fn forget(&mut self) {
        self.line = None;
        self.checked.clear();
    }
}

impl Search {
    /// Looks for a mate in at most `moves` moves of the side to move, through no more than `budget` positions, and makes
    /// it the search's result. Whether there is one.
    ///
    /// # Panics
    /// If leaves are pending or the root has not been evaluated.
    pub fn find_mate(&mut self, moves: u32, budget: u64) -> bool {
        self.assert_at_rest();
        if self.is_proven() {
            return false;
        }
        let root = *self.tree.position(ROOT);
        let Some(line) = prove_mate(&self.variant, &root, moves, budget) else {
            return false;
        };
        let length = line.len() as u16;
        if !self.conclude(line[0], Proven::Loss(length - 1)) {
            return false;
        }
        self.mates.line = Some(line);
        true
    }

    /// Looks for a mate of the opponent's in at most `moves` moves after the move that looks best, unless that has been
    /// done, through no more than `budget` positions. Whether there is one, so that the move is lost.
    ///
    /// # Panics
    /// If leaves are pending or the root has not been evaluated.
    pub fn refute_best(&mut self, moves: u32, budget: u64) -> bool {
        self.assert_at_rest();
        let best = self.lines(1)[0].pv[0];
        if self.is_proven() || self.mates.checked.contains(&best) {
            return false;
        }
        self.mates.checked.push(best);
        let after = self.tree.position(ROOT).play(&self.variant, best);
        prove_mate(&self.variant, &after, moves, budget)
            .is_some_and(|line| self.conclude(best, Proven::Win(line.len() as u16)))
    }

    /// Takes the result after a root move for certain; not if the move is not searched or decided already.
    fn conclude(&mut self, mv: Move, after: Proven) -> bool {
        let edges = self.tree.edges(ROOT);
        let Some(index) = edges.iter().position(|edge| edge.mv == mv) else {
            return false;
        };
        let child = match edges[index].child {
            Some(child) => child,
            None => {
                self.scratch.path.clear();
                self.scratch.path.push(ROOT);
                self.add_child(ROOT, index)
            }
        };
        if self.tree.node(child).is_leaf() {
            return false;
        }
        self.tree.end(child, Some(after));
        let outlook = self.tree.node(child).outlook();
        self.tree.backup(&[ROOT, child], outlook);
        self.simulations += 1;
        true
    }

    fn assert_at_rest(&self) {
        assert!(
            self.pending.is_empty() && self.has_result(),
            "mates are looked for between simulations"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{SearchConfig, SearchKind};
    use model::{Evaluator, UniformEvaluator};
    use rules::{Game, Position, Variant};

    /// A search of some simulations.
    fn search(fen: &str, simulations: u32) -> Search {
        let variant = Variant::by_name("chess").expect("a built-in variant");
        let position = Position::from_fen(&variant, fen).expect("a valid FEN");
        let config = SearchConfig {
            kind: SearchKind::Puct,
            simulations: SearchConfig::UNLIMITED,
            mate_scan: false,
            ..SearchConfig::default()
        };
        let mut search = Search::new(&Game::new(variant, position), config, 0);
        run(&mut search, simulations);
        search
    }

    fn run(search: &mut Search, simulations: u32) {
        let until = search.simulations() + simulations;
        while search.simulations() < until
            && let Some(request) = search.gather()
        {
            search.respond(UniformEvaluator.evaluate(&[request]).remove(0));
        }
    }

    fn best(search: &Search) -> String {
        let line = search.lines(1).remove(0);
        let variant = search.variant();
        variant.move_text(search.tree.position(ROOT), line.pv[0])
    }

    /// Morphy's problem: mate in two by a6, which threatens nothing at first sight.
    const MORPHY: &str = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";

    #[test]
    fn a_mate_is_the_result_with_its_whole_line() {
        let mut search = search(MORPHY, 3);
        assert!(!search.is_proven());
        assert!(!search.find_mate(1, 10_000), "there is none in one");
        assert!(!search.find_mate(2, 10), "not within ten positions");
        assert!(search.find_mate(2, 10_000));
        let line = search.lines(1).remove(0);
        assert_eq!((line.proven, line.pv.len()), (Some(Proven::Win(3)), 3));
        assert_eq!(best(&search), "a1a6");
        assert!(search.is_proven() && search.is_finished());
        assert!(!search.find_mate(2, 10_000), "it is known already");
    }

    /// Black, a rook up, may win the knight and is then mated on the back rank in two.
    #[test]
    fn a_move_into_a_mate_is_lost() {
        let fen = "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 0 1";
        let mut search = search(fen, 40);
        let mut refuted = Vec::new();
        for _ in 0..30 {
            let looks_best = best(&search);
            if search.refute_best(2, 10_000) {
                refuted.push(looks_best);
            }
            run(&mut search, 20);
        }
        let variant = search.variant().clone();
        let root = *search.tree.position(ROOT);
        for text in &refuted {
            let mv = variant.parse_move(&root, text).expect("a legal move");
            let after = root.play(&variant, mv);
            let line = prove_mate(&variant, &after, 2, 10_000);
            assert!(line.is_some(), "{text} is no blunder");
        }
        let last = variant
            .parse_move(&root, &best(&search))
            .expect("a legal move");
        let after = root.play(&variant, last);
        assert_eq!(prove_mate(&variant, &after, 2, 10_000), None);
        assert!(!refuted.contains(&best(&search)));
    }

    /// The root of a tree that is moved on is proven by its own moves only.
    #[test]
    fn a_concluded_move_is_searched_when_it_is_played() {
        let mut search = search(MORPHY, 200);
        let variant = search.variant().clone();
        let start = *search.tree.position(ROOT);
        assert!(search.find_mate(2, 10_000));
        let key = search.lines(1).remove(0).pv[0];
        let mut game = Game::new(variant, start);
        game.play(key);
        if search.advance(&[key], &game) {
            run(&mut search, 10);
            assert!(search.simulations() > 0 || search.is_proven());
            assert!(search.has_result());
        }
    }
}
