//! The search itself: descend, expand, back up.

use std::sync::Arc;

use model::{EvalRequest, Evaluation, Wdl};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rules::{Game, Move, Position, Status, Variant};

use super::config::{PuctConfig, SearchConfig, SearchKind};
use super::gumbel::{select_interior, select_root, sigma_at};
use super::halving::considered_visits;
use super::proven::Proven;
use super::qtransform::MoveStats;
use super::result::{SearchResult, read};
use super::tree::{NodeId, ROOT, Tree};
use super::{noise, puct};

/// A search of one position.
///
/// ```
/// use model::{Evaluator, UniformEvaluator};
/// use selfplay::search::{Search, SearchConfig};
///
/// let variant = rules::Variant::by_name("falcon").expect("a built-in variant");
/// let game = rules::Game::new(variant.clone(), variant.start());
/// let mut search = Search::new(&game, SearchConfig::default(), 1);
/// while let Some(request) = search.gather() {
///     let evaluation = UniformEvaluator.evaluate(&[request]).remove(0);
///     search.respond(evaluation);
/// }
/// println!("{}", variant.move_text(game.position(), search.result().best_move));
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    variant: Arc<Variant>,
    config: SearchConfig,
    rng: ChaCha8Rng,
    tree: Tree,
    /// Keys of the game's positions before the root since the last irreversible ply.
    history: Vec<u64>,
    /// One Gumbel variable a root move, scaled.
    gumbels: Vec<f32>,
    /// Sequential halving's table.
    schedule: Vec<u32>,
    simulations: u32,
    raw_value: Wdl,
    /// The leaf whose evaluation is awaited; its path and legal moves are in the scratch space.
    pending: Option<NodeId>,
    scratch: Scratch,
}

/// Memory that is used again in every simulation.
#[derive(Clone, Debug, Default)]
struct Scratch {
    path: Vec<NodeId>,
    moves: Vec<Move>,
    stats: Vec<MoveStats>,
    policy: Vec<f32>,
}

impl Search {
    /// A search of the game's present position.
    ///
    /// # Panics
    /// If the game is over.
    pub fn new(game: &Game, config: SearchConfig, seed: u64) -> Self {
        let mut search = Self {
            variant: Arc::clone(game.variant()),
            config,
            rng: ChaCha8Rng::seed_from_u64(seed),
            tree: Tree::default(),
            history: Vec::new(),
            gumbels: Vec::new(),
            schedule: Vec::new(),
            simulations: 0,
            raw_value: Wdl {
                win: 0.0,
                draw: 1.0,
                loss: 0.0,
            },
            pending: None,
            scratch: Scratch::default(),
        };
        search.set_root(game);
        search
    }

    /// Starts anew from another position with the memory of this search.
    ///
    /// # Panics
    /// If the game is over.
    pub fn restart(&mut self, game: &Game, config: SearchConfig, seed: u64) {
        self.variant = Arc::clone(game.variant());
        self.config = config;
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.set_root(game);
    }

    fn set_root(&mut self, game: &Game) {
        let position = *game.position();
        assert_eq!(
            game.status(),
            Status::Ongoing,
            "a search needs a game that goes on: {}",
            position.fen(&self.variant)
        );
        self.tree.clear();
        self.schedule.clear();
        self.simulations = 0;
        self.pending = None;
        self.history.clear();
        self.history.extend_from_slice(game.history_keys());
        let key = position.key();
        // The root is a node of its own, so the history ends before it.
        if self.history.last() == Some(&key) {
            self.history.pop();
        }
        self.tree.push(position, key, game.repetitions());
    }

    /// Runs simulations until one needs an evaluation, and returns that leaf; `None` when the search has finished.
    ///
    /// # Panics
    /// If the last leaf has not been answered.
    pub fn gather(&mut self) -> Option<EvalRequest> {
        assert!(
            self.pending.is_none(),
            "respond to the last leaf before gathering the next"
        );
        if self.tree.node(ROOT).visits == 0 {
            return Some(self.request_root());
        }
        while !self.is_finished() {
            if let Some(request) = self.simulate() {
                return Some(request);
            }
        }
        None
    }

    /// Takes the evaluation of the leaf gathered last.
    ///
    /// # Panics
    /// If no leaf is pending, or the evaluation does not fit it.
    pub fn respond(&mut self, evaluation: Evaluation) {
        let leaf = self
            .pending
            .take()
            .expect("a leaf that awaits its evaluation");
        self.tree.expand(leaf, &self.scratch.moves, &evaluation);
        self.tree.backup(
            &self.scratch.path,
            evaluation.wdl.q(),
            evaluation.moves_left,
        );
        if leaf == ROOT {
            self.raw_value = evaluation.wdl;
            self.start_root();
        } else {
            self.simulations += 1;
        }
    }

    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        let root = self.tree.node(ROOT);
        root.visits > 0 && (root.proven.is_some() || self.simulations >= self.budget())
    }

    /// The result so far; final once the search has finished.
    ///
    /// # Panics
    /// If the root has not been evaluated yet.
    pub fn result(&self) -> SearchResult {
        assert!(
            self.tree.node(ROOT).visits > 0,
            "a search has a result once its root is evaluated"
        );
        read(
            &self.tree,
            &self.config,
            &self.gumbels,
            self.raw_value,
            self.simulations,
        )
    }

    /// Simulations to do: one if there is no choice.
    fn budget(&self) -> u32 {
        if self.tree.edges(ROOT).len() == 1 {
            1
        } else {
            self.config.simulations
        }
    }

    fn request_root(&mut self) -> EvalRequest {
        self.scratch.path.clear();
        self.scratch.path.push(ROOT);
        self.tree
            .position(ROOT)
            .legal_moves_into(&self.variant, &mut self.scratch.moves);
        self.request(ROOT)
    }

    /// Asks for the evaluation of a new node whose legal moves are in the scratch space.
    fn request(&mut self, id: NodeId) -> EvalRequest {
        self.pending = Some(id);
        EvalRequest {
            position: *self.tree.position(id),
            repetitions: self.tree.node(id).repetitions,
            moves: self.scratch.moves.clone(),
        }
    }

    /// Prepares the root once its priors are known: noise, the halving table, mates in one.
    fn start_root(&mut self) {
        let moves = self.tree.edges(ROOT).len();
        let budget = self.budget() as usize;
        match self.config.kind {
            SearchKind::Gumbel => {
                noise::gumbels(
                    &mut self.rng,
                    moves,
                    self.config.gumbel_scale,
                    &mut self.gumbels,
                );
                let considered = (self.config.max_considered_moves as usize)
                    .min(moves)
                    .min(budget);
                self.schedule = considered_visits(considered, budget);
            }
            SearchKind::Puct => {
                let PuctConfig {
                    dirichlet_alpha,
                    dirichlet_share,
                    ..
                } = self.config.puct;
                if dirichlet_share > 0.0 {
                    let noise = noise::dirichlet(&mut self.rng, moves, dirichlet_alpha);
                    self.tree.mix_root_priors(&noise, dirichlet_share);
                }
            }
        }
        if self.config.mate_scan {
            self.scan_for_mates();
        }
    }

    /// Visits every root move that mates at once.
    fn scan_for_mates(&mut self) {
        for index in 0..self.tree.edges(ROOT).len() {
            let mv = self.tree.edges(ROOT)[index].mv;
            let position = self.tree.position(ROOT).play(&self.variant, mv);
            if !position.is_check(&self.variant) {
                continue;
            }
            position.legal_moves_into(&self.variant, &mut self.scratch.moves);
            if self.scratch.moves.is_empty() {
                let child = self.tree.push(position, position.key(), 1);
                self.tree.link(ROOT, index, child);
                self.tree.end(child, Some(Proven::Loss(0)));
                self.tree.backup(&[ROOT, child], -1.0, 0.0);
                self.simulations += 1;
            }
        }
    }

    /// One descent. Either it reaches a new position, which is returned for evaluation, or an end of the game, which
    /// is backed up at once.
    fn simulate(&mut self) -> Option<EvalRequest> {
        self.scratch.path.clear();
        self.scratch.path.push(ROOT);
        let mut id = ROOT;
        while !self.tree.node(id).is_leaf() {
            let index = self.select(id);
            id = match self.tree.edges(id)[index].child {
                Some(child) => child,
                None => {
                    let child = self.add_child(id, index);
                    if !self.tree.node(child).is_leaf() {
                        self.scratch.path.push(child);
                        return Some(self.request(child));
                    }
                    child
                }
            };
            self.scratch.path.push(id);
        }
        let node = self.tree.node(id);
        let (q, moves_left) = if node.assumed_draw {
            (0.0, 0.0)
        } else {
            (node.q(), node.moves_left())
        };
        self.tree.backup(&self.scratch.path, q, moves_left);
        self.simulations += 1;
        None
    }

    /// Index of the move to descend by.
    fn select(&mut self, id: NodeId) -> usize {
        let Scratch { stats, policy, .. } = &mut self.scratch;
        self.tree
            .move_stats(id, self.config.moves_left_weight, stats);
        let node = self.tree.node(id);
        match self.config.kind {
            SearchKind::Puct => puct::select(stats, node.q(), &self.config.puct),
            SearchKind::Gumbel if id == ROOT => select_root(
                stats,
                &self.gumbels,
                node.raw_q,
                sigma_at(&self.config, stats),
                self.schedule[self.simulations as usize],
            ),
            SearchKind::Gumbel => {
                select_interior(stats, node.raw_q, sigma_at(&self.config, stats), policy)
            }
        }
    }

    /// Plays a move of a node; the new node is marked if the game ends there, else its moves are in the scratch space.
    fn add_child(&mut self, parent: NodeId, index: usize) -> NodeId {
        let mv = self.tree.edges(parent)[index].mv;
        let position = self.tree.position(parent).play(&self.variant, mv);
        let key = position.key();
        let earlier = self.earlier_occurrences(&position, key);
        let child = self.tree.push(position, key, 1 + earlier.total.min(2));
        self.tree.link(parent, index, child);
        position.legal_moves_into(&self.variant, &mut self.scratch.moves);
        match position.status_given(&self.variant, !self.scratch.moves.is_empty()) {
            Status::Checkmate => self.tree.end(child, Some(Proven::Loss(0))),
            Status::Stalemate
            | Status::FiftyMoves
            | Status::InsufficientMaterial
            | Status::ThreefoldRepetition => {
                self.tree.end(child, Some(Proven::Draw));
            }
            Status::Ongoing if earlier.total >= 2 => self.tree.end(child, Some(Proven::Draw)),
            Status::Ongoing if earlier.in_search && self.config.twofold_is_draw => {
                self.tree.end(child, None)
            }
            Status::Ongoing => {}
        }
        child
    }

    /// Counts earlier occurrences of a new position that the present path leads to.
    fn earlier_occurrences(&self, position: &Position, key: u64) -> Earlier {
        let reversible = usize::from(position.halfmove_clock());
        let path = self
            .scratch
            .path
            .iter()
            .rev()
            .map(|&id| self.tree.node(id).key);
        let earlier = path
            .chain(self.history.iter().rev().copied())
            .take(reversible);
        let mut count = Earlier {
            total: 0,
            in_search: false,
        };
        // The side to move is the same every second ply only.
        for (distance, earlier_key) in earlier.enumerate().skip(1).step_by(2) {
            if earlier_key == key {
                count.total += 1;
                count.in_search |= distance < self.scratch.path.len();
            }
        }
        count
    }
}

/// How often a position has stood on the board before.
struct Earlier {
    total: u8,
    /// At least once at or below the root.
    in_search: bool,
}
