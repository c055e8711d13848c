//! What an engine needs of a search: several leaves in flight, a tree that outlives a move, bounded memory, and the
//! best lines at any time.

use std::sync::Arc;

use model::{EvalRequest, Evaluation};
use rules::{Game, Move, Position, Variant};

use super::Search;
use crate::search::SearchKind;
use crate::search::line::{Line, best_lines};
use crate::search::tree::{Edge, Node, ROOT};

/// Legal moves that a position has on average, for dividing memory between nodes and edges. Games on 10×8 boards have
/// 35 to 45 in the middle game.
const MOVES_A_NODE: usize = 40;

/// More legal moves than a position has: the room that must be left before a node is expanded.
const MOST_MOVES: usize = 1024;

/// Descents to ends of the game in a row before the driver gets a chance to stop the search.
const PATIENCE: u32 = 256;

/// Nodes and edges that a tree may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    nodes: usize,
    edges: usize,
}

impl Search {
    /// As [`gather`](Search::gather), for up to `most` leaves at once, appended to `out`. Fewer come, even none, while
    /// descents lead to leaves that are pending already or to ends of the game, and when the memory is full.
    ///
    /// Leaves gathered together are chosen without knowing each other's evaluations, so many of them make a weaker
    /// search than as many one after the other.
    ///
    /// # Panics
    /// If `most` is above 1 and the search is not of the kind PUCT.
    pub fn gather_leaves(&mut self, most: usize, out: &mut Vec<EvalRequest>) {
        assert!(
            most <= 1 || self.config.kind == SearchKind::Puct,
            "sequential halving takes one leaf at a time"
        );
        for _ in self.pending.len()..most {
            if self.is_full() {
                return;
            }
            match self.next_leaf(PATIENCE) {
                Some(request) => out.push(request),
                None => return,
            }
        }
    }

    /// From now on does no more than so many simulations, counted since the root changed, whatever its configuration
    /// says.
    pub fn limit_simulations(&mut self, most: u32) {
        self.most = most;
    }

    /// Lets the tree have about `bytes` of memory from now on, which are reserved at once; a search that has filled
    /// them hands out no more leaves.
    pub fn limit_memory(&mut self, bytes: usize) {
        let node = size_of::<Node>() + size_of::<Position>() + MOVES_A_NODE * size_of::<Edge>();
        let nodes = bytes / node;
        let room = Room {
            nodes: nodes.max(64),
            edges: (nodes * MOVES_A_NODE).max(16 * MOST_MOVES),
        };
        self.tree.reserve(room.nodes, room.edges);
        self.room = Some(room);
    }

    /// Share of the memory that the tree fills, 0 to 1; 0 if it is not limited.
    pub fn fullness(&self) -> f32 {
        self.room.map_or(0.0, |room| {
            let nodes = self.tree.nodes.len() as f32 / room.nodes as f32;
            let edges = self.tree.edges.len() as f32 / room.edges as f32;
            nodes.max(edges).min(1.0)
        })
    }

    /// Whether the tree has no room for another leaf.
    pub fn is_full(&self) -> bool {
        self.room.is_some_and(|room| {
            let waiting = (self.pending.len() + 1) * MOST_MOVES;
            self.tree.nodes.len() >= room.nodes || self.tree.edges.len() + waiting > room.edges
        })
    }

    /// Searches only these root moves. To be called before the first leaf is gathered; it holds until the root changes.
    ///
    /// # Panics
    /// If the root has been evaluated already.
    pub fn restrict_root(&mut self, moves: Vec<Move>) {
        assert!(
            self.tree.node(ROOT).visits == 0,
            "root moves are chosen before the search begins"
        );
        self.root_moves = Some(moves);
    }

    /// Goes on from the position that some moves after the root have led to, and keeps what the tree knows of it;
    /// `game` is at that position. Simulations are counted anew.
    ///
    /// False, with nothing changed, if the tree has not searched that position or its root moves were restricted.
    ///
    /// # Panics
    /// If leaves are pending.
    pub fn advance(&mut self, moves: &[Move], game: &Game) -> bool {
        assert!(
            self.pending.is_empty(),
            "respond to all leaves before the root changes"
        );
        if self.root_moves.is_some() {
            return false;
        }
        let mut root = ROOT;
        for &mv in moves {
            let edge = self.tree.edges(root).iter().find(|edge| edge.mv == mv);
            match edge.and_then(|edge| edge.child) {
                Some(child) => root = child,
                None => return false,
            }
        }
        if self.tree.edges(root).is_empty() || self.tree.position(root) != game.position() {
            return false;
        }
        if root != ROOT {
            self.tree.reroot(root);
            // The result of a move that was concluded from outside the tree has yet to be found among its own.
            self.tree.prove_by_moves(ROOT);
            self.mates.forget();
        }
        self.set_history(game);
        self.raw_value = self.tree.node(ROOT).raw_wdl();
        self.simulations = 0;
        self.depth = 0;
        if self.config.mate_scan && self.tree.node(ROOT).proven.is_none() {
            self.scan_for_mates();
        }
        self.solve_by_tables();
        true
    }

    /// The `count` best root moves that have been searched, best first, each with the line expected after it.
    pub fn lines(&self, count: usize) -> Vec<Line> {
        let mut lines = best_lines(&self.tree, &self.config, count);
        if let (Some(best), Some(mate)) = (lines.first_mut(), &self.mates.line)
            && best.pv.first() == mate.first()
        {
            best.pv.clone_from(mate);
        }
        lines
    }

    /// Whether the root has been evaluated, so that there is a result.
    pub fn has_result(&self) -> bool {
        self.tree.node(ROOT).visits > 0
    }

    /// The rules of the game.
    pub fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// Root moves that are searched; 0 before the root has been evaluated.
    pub fn root_moves(&self) -> usize {
        self.tree.edges(ROOT).len()
    }

    /// Visits of the root, those of a tree that has been kept included.
    pub fn visits(&self) -> u32 {
        self.tree.node(ROOT).visits
    }

    /// Simulations since the search started or the root changed.
    pub fn simulations(&self) -> u32 {
        self.simulations
    }

    /// Plies of the deepest of those simulations.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether the result is certain.
    pub fn is_proven(&self) -> bool {
        self.tree.node(ROOT).proven.is_some()
    }

    /// Takes the evaluations of all leaves that are pending, in the order in which they were gathered.
    ///
    /// # Panics
    /// If there is not one evaluation a leaf.
    pub fn respond_all(&mut self, evaluations: Vec<Evaluation>) {
        assert_eq!(
            evaluations.len(),
            self.pending.len(),
            "one evaluation a leaf"
        );
        for evaluation in evaluations {
            self.respond(evaluation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qtransform::MoveStats;
    use crate::search::{SearchConfig, puct};
    use model::{Evaluator, UniformEvaluator};

    /// Priors and values that differ from position to position.
    struct Uneven;

    impl Evaluator for Uneven {
        fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
            let mut evaluations = UniformEvaluator.evaluate(requests);
            for (request, evaluation) in requests.iter().zip(&mut evaluations) {
                let key = request.position.key();
                for (index, logit) in evaluation.policy_logits.iter_mut().enumerate() {
                    *logit = (key.rotate_left(3 * index as u32) % 512) as f32 / 128.0;
                }
                evaluation.wdl.win = (key >> 40) as f32 / (1 << 24) as f32;
                evaluation.wdl.loss = 1.0 - evaluation.wdl.win;
                evaluation.wdl.draw = 0.0;
            }
            evaluations
        }
    }

    /// Selection that stops after the moves visited so far takes what it would take of all, in a tree that has been
    /// moved on, too.
    #[test]
    fn no_move_beyond_the_frontier_is_missed() {
        let variant = Variant::by_name("falcon").expect("a built-in variant");
        let mut game = Game::new(Arc::clone(&variant), variant.start());
        let config = SearchConfig {
            kind: SearchKind::Puct,
            simulations: SearchConfig::UNLIMITED,
            ..SearchConfig::default()
        };
        let mut search = Search::new(&game, config, 1);
        for _ in 0..6 {
            let wanted = search.simulations() + 2_000;
            while search.simulations() < wanted {
                let mut requests = Vec::new();
                search.gather_leaves(4, &mut requests);
                search.respond_all(Uneven.evaluate(&requests));
            }
            let (tree, config) = (&search.tree, &search.config);
            let (mut some, mut all) = (Vec::new(), Vec::new());
            let mut looked_at = (0, 0);
            for id in 1..tree.nodes.len() as u32 {
                let is_open = |stats: &[_]| stats.iter().any(|m: &MoveStats| !m.lost);
                tree.frontier_stats(id, config, &mut some);
                tree.move_stats(id, config, &mut all);
                if !is_open(&all) {
                    continue;
                }
                let q = tree.node(id).q();
                let chosen = puct::select(&some, q, &config.puct);
                assert_eq!(chosen, puct::select(&all, q, &config.puct));
                looked_at = (looked_at.0 + some.len(), looked_at.1 + all.len());
            }
            assert!(2 * looked_at.0 < looked_at.1, "{looked_at:?}");
            let moves = search.lines(1)[0].pv[..1].to_vec();
            game.play(moves[0]);
            assert!(search.advance(&moves, &game));
        }
    }
}
