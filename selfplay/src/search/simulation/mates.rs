//! Mates near the root, proven by exhaustion.
//!
//! A net that was taught by short searches hardly looks at sacrifices, and a search that trusts it may pass over a mate in
//! two for thousands of simulations. To look through all of them takes a few thousand positions.

use std::sync::Arc;

use rules::{Move, Variant};

use super::Search;
use crate::search::proven::Proven;
use crate::search::tree::ROOT;
use crate::solve::prover::{OutOfBudget, Prover};

/// How far to look for a mate.
pub struct MateLimits<'a> {
    /// Moves of the mating side, at most.
    pub moves: u32,
    /// Positions to look at, at most.
    pub positions: u64,
    /// Asked now and then whether to give up.
    pub stop: &'a dyn Fn() -> bool,
}

/// What has been proven about the root's moves besides what simulations found.
#[derive(Clone, Debug, Default)]
pub(super) struct Mates {
    /// The line of the root's mate.
    pub line: Option<Vec<Move>>,
    /// Root moves after which the opponent has no such mate.
    safe: Vec<Move>,
}

impl Mates {
    pub(super) fn forget(&mut self) {
        self.line = None;
        self.safe.clear();
    }
}

impl Search {
    /// Looks for a mate of the side to move, and makes it the search's result. Whether there is one.
    ///
    /// # Panics
    /// If leaves are pending or the root has not been evaluated.
    pub fn find_mate(&mut self, limits: &MateLimits<'_>) -> bool {
        self.assert_at_rest();
        if self.is_proven() {
            return false;
        }
        let root = *self.tree.position(ROOT);
        let variant = Arc::clone(&self.variant);
        let mut prover = self.prover(&variant, limits);
        let Ok(Some((moves, keys))) = prover.shortest(&root, limits.moves) else {
            return false;
        };
        // Not all moves need be searched.
        let edges = self.tree.edges(ROOT);
        let key = keys
            .into_iter()
            .find(|&key| edges.iter().any(|edge| edge.mv == key));
        let plies = (2 * moves - 1) as u16;
        let Some(key) = key.filter(|&key| self.conclude(key, Proven::Loss(plies - 1))) else {
            return false;
        };
        self.mates.line = Some(prover.line(&root, key, moves, limits.positions));
        true
    }

    /// Looks for a mate of the opponent's after the move that looks best, unless it is known that there is none. Whether
    /// there is one, so that the move is lost.
    ///
    /// # Panics
    /// If leaves are pending or the root has not been evaluated.
    pub fn refute_best(&mut self, limits: &MateLimits<'_>) -> bool {
        self.assert_at_rest();
        let best = self.lines(1)[0].pv[0];
        if self.is_proven() || self.mates.safe.contains(&best) {
            return false;
        }
        let after = self.tree.position(ROOT).play(&self.variant, best);
        let found = self
            .prover(&self.variant, limits)
            .shortest(&after, limits.moves);
        match found {
            Ok(Some((moves, _))) => self.conclude(best, Proven::Win((2 * moves - 1) as u16)),
            Ok(None) => {
                self.mates.safe.push(best);
                false
            }
            Err(OutOfBudget) => false,
        }
    }

    /// A prover that knows which positions the game allows no more.
    fn prover<'a>(&self, variant: &'a Variant, limits: &MateLimits<'a>) -> Prover<'a> {
        let mut keys = self.drawn_keys();
        // The root itself may be a position that has occurred before.
        let root = self.tree.node(ROOT).key;
        keys.extend(self.history.contains(&root).then_some(root));
        Prover::new(variant, limits.positions)
            .with_drawn(keys)
            .until(limits.stop)
    }

    /// Keys of the positions that have occurred twice in the game.
    fn drawn_keys(&self) -> Vec<u64> {
        let mut keys = self.history.clone();
        keys.sort_unstable();
        let twice = keys.windows(2).filter(|pair| pair[0] == pair[1]);
        twice.map(|pair| pair[0]).collect()
    }

    /// Takes the result after a root move for certain. Not if the move is not searched, or its result is known already.
    fn conclude(&mut self, mv: Move, after: Proven) -> bool {
        let edges = self.tree.edges(ROOT);
        let Some(index) = edges.iter().position(|edge| edge.mv == mv) else {
            return false;
        };
        let (child, is_new) = match edges[index].child {
            Some(child) => (child, false),
            None => {
                self.scratch.path.clear();
                self.scratch.path.push(ROOT);
                (self.add_child(ROOT, index), true)
            }
        };
        let is_leaf = self.tree.node(child).is_leaf();
        if is_leaf && !is_new {
            return false;
        }
        if !is_leaf {
            self.tree.end(child, Some(after));
        }
        let outlook = self.tree.node(child).outlook();
        self.tree.backup(&[ROOT, child], outlook);
        self.simulations += 1;
        self.tree.node(child).proven.is_some()
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
    use rules::{Game, Position};

    const ENOUGH: MateLimits<'_> = MateLimits {
        moves: 2,
        positions: 20_000,
        stop: &|| false,
    };

    fn game(fen: &str) -> Game {
        let variant = Variant::by_name("chess").expect("a built-in variant");
        let position = Position::from_fen(&variant, fen).expect("a valid FEN");
        Game::new(variant, position)
    }

    /// A search of some simulations.
    fn search(game: &Game, simulations: u32) -> Search {
        let config = SearchConfig {
            kind: SearchKind::Puct,
            simulations: SearchConfig::UNLIMITED,
            mate_scan: false,
            ..SearchConfig::default()
        };
        let mut search = Search::new(game, config, 0);
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

    /// Morphy's problem: mate in two by Ra6.
    const MORPHY: &str = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";

    #[test]
    fn a_mate_is_the_result_with_its_whole_line() {
        let mut search = search(&game(MORPHY), 3);
        assert!(!search.is_proven());
        let in_one = MateLimits { moves: 1, ..ENOUGH };
        assert!(!search.find_mate(&in_one));
        let ten_positions = MateLimits {
            positions: 10,
            ..ENOUGH
        };
        assert!(!search.find_mate(&ten_positions));
        let stopped = MateLimits {
            stop: &|| true,
            ..ENOUGH
        };
        assert!(!search.find_mate(&stopped));
        assert!(search.find_mate(&ENOUGH));
        let line = search.lines(1).remove(0);
        assert_eq!((line.proven, line.pv.len()), (Some(Proven::Win(3)), 3));
        assert_eq!(best(&search), "a1a6");
        assert!(search.is_proven() && search.is_finished());
        assert!(!search.find_mate(&ENOUGH), "it is known already");
    }

    /// White threatens Qd8 mate; most of Black's moves overlook it.
    #[test]
    fn a_move_into_a_mate_is_lost() {
        let game = game("6k1/pp3ppp/8/8/8/n7/3Q1PPP/3R2K1 b - - 0 1");
        let mut search = search(&game, 2);
        let mut lost = Vec::new();
        loop {
            let looks_best = best(&search);
            if !search.refute_best(&ENOUGH) {
                break;
            }
            lost.push(looks_best);
        }
        assert!(!lost.is_empty(), "{} looks best at first", best(&search));
        assert!(!search.is_proven() && !lost.contains(&best(&search)));
        let root = *game.position();
        for mv in root.legal_moves(game.variant()) {
            let text = game.variant().move_text(&root, mv);
            let mut prover = Prover::new(game.variant(), 20_000);
            let after = root.play(game.variant(), mv);
            let mate = prover.shortest(&after, 2).ok().expect("enough positions");
            if lost.contains(&text) || text == best(&search) {
                assert_eq!(mate.is_some(), lost.contains(&text), "{text}");
            }
        }
    }

    /// The root of a tree that is moved on is proven by its own moves only: the side that is to be mated is still searched.
    #[test]
    fn a_concluded_move_is_searched_when_it_is_played() {
        let mut game = game(MORPHY);
        let mut search = search(&game, 400);
        assert!(search.find_mate(&ENOUGH));
        let key = search.lines(1).remove(0).pv[0];
        game.play(key);
        assert!(search.advance(&[key], &game), "it had been searched");
        assert!(!search.is_proven());
        run(&mut search, 10);
        assert_eq!(search.simulations(), 10);
        assert_eq!(search.mates.line, None);
        // The same root again keeps what is known of it.
        let mut again = self::search(&self::game(MORPHY), 3);
        assert!(again.find_mate(&ENOUGH));
        let line = again.lines(1).remove(0);
        assert!(again.advance(&[], &self::game(MORPHY)));
        assert_eq!(again.lines(1).remove(0), line);
    }

    /// A mate through a position that has stood on the board twice is none: the third time is a draw.
    #[test]
    fn the_third_occurrence_is_no_way_to_a_mate() {
        let mut game = game("kbK5/pp6/RP6/8/8/8/8/8 b - - 1 1");
        let shuffle = ["b8c7", "a6a1", "c7b8"];
        for text in shuffle.iter().chain(&["a1a6"]).chain(&shuffle) {
            let mv = game.variant().parse_move(game.position(), text);
            game.play(mv.expect("a legal move"));
        }
        assert!(game.outcome().is_none(), "twice is not thrice");
        let mut search = search(&game, 3);
        // The positions between the two that the root has been, all twice.
        assert_eq!(search.drawn_keys().len(), 3);
        assert!(!search.find_mate(&ENOUGH));
        assert!(self::search(&self::game(MORPHY), 3).find_mate(&ENOUGH));
    }
}
