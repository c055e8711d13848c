//! The search itself: descend, expand, back up.

mod deep;
mod mates;
mod repetition;
mod root;

use std::sync::Arc;

use model::{EvalRequest, Evaluation, Wdl};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rules::tablebase::{TableValue, Tablebases};
use rules::{Game, Move, Position, Status, Variant};

use self::deep::Room;
pub use self::mates::MateLimits;
use self::mates::Mates;
use super::config::{SearchConfig, SearchKind};
use super::gumbel::{select_interior, select_root, sigma_at};
use super::proven::Proven;
use super::puct;
use super::qtransform::MoveStats;
use super::result::{SearchResult, read};
use super::tree::{NodeId, Outlook, ROOT, Tree};

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
    /// The root moves to search; `None` is all legal ones.
    root_moves: Option<Vec<Move>>,
    /// Endgame tables of the variant: their positions need no search.
    tables: Option<Arc<Tablebases>>,
    /// What the tree may hold, as numbers of nodes and edges.
    room: Option<Room>,
    /// Mates near the root that were proven by exhaustion.
    mates: Mates,
    simulations: u32,
    /// No more simulations than these.
    most: u32,
    raw_value: Wdl,
    /// Leaves whose evaluations are awaited, in the order in which they were gathered.
    pending: Vec<Pending>,
    /// Most nodes from the root to a leaf, the root not counted, since the search started.
    depth: u32,
    scratch: Scratch,
}

/// A leaf that awaits its evaluation.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// From the root to the leaf.
    path: Vec<NodeId>,
    /// The leaf's legal moves.
    moves: Vec<Move>,
}

/// How a descent ended.
enum Descent {
    /// At a new position, whose path and legal moves are in the scratch space.
    Leaf(NodeId),
    /// At an end of the game, which has been backed up.
    End,
    /// At a leaf that is pending already.
    Collision,
}

/// Memory that is used again in every simulation.
#[derive(Clone, Debug, Default)]
struct Scratch {
    path: Vec<NodeId>,
    moves: Vec<Move>,
    spare: Vec<Pending>,
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
            root_moves: None,
            tables: None,
            room: None,
            mates: Mates::default(),
            simulations: 0,
            most: SearchConfig::UNLIMITED,
            raw_value: Wdl {
                win: 0.0,
                draw: 1.0,
                loss: 0.0,
            },
            pending: Vec::new(),
            depth: 0,
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

    /// From now on takes the values of positions in these tables, of the game's variant, for certain.
    pub fn set_tables(&mut self, tables: Option<Arc<Tablebases>>) {
        self.tables = tables;
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
        self.root_moves = None;
        self.mates.forget();
        self.simulations = 0;
        self.depth = 0;
        self.scratch.spare.append(&mut self.pending);
        self.set_history(game);
        self.tree.push(position, position.key(), game.repetitions());
    }

    fn set_history(&mut self, game: &Game) {
        self.history.clear();
        self.history.extend_from_slice(game.history_keys());
        // The root is a node of its own, so the history ends before it.
        if self.history.last() == Some(&game.position().key()) {
            self.history.pop();
        }
    }

    /// Runs simulations until one needs an evaluation, and returns that leaf; `None` when the search has finished.
    ///
    /// # Panics
    /// If the last leaf has not been answered.
    pub fn gather(&mut self) -> Option<EvalRequest> {
        assert!(
            self.pending.is_empty(),
            "respond to the last leaf before gathering the next"
        );
        self.next_leaf(u32::MAX)
    }

    /// Takes the evaluation of the leaf gathered longest ago that has none yet.
    ///
    /// # Panics
    /// If no leaf is pending, or the evaluation does not fit it.
    pub fn respond(&mut self, evaluation: Evaluation) {
        assert!(
            !self.pending.is_empty(),
            "there is no leaf that awaits its evaluation"
        );
        let leaf = self.pending.remove(0);
        self.answer(leaf, &evaluation);
    }

    /// The next leaf, unless the search has finished, or a descent leads to a leaf that is pending already, or as many
    /// as `patience` lead to ends of the game.
    fn next_leaf(&mut self, patience: u32) -> Option<EvalRequest> {
        if self.tree.node(ROOT).visits == 0 {
            return self.pending.is_empty().then(|| self.request_root());
        }
        let last = self.simulations.saturating_add(patience);
        while !self.is_finished() && self.simulations < last {
            match self.simulate() {
                Descent::Leaf(leaf) => return Some(self.request(leaf)),
                Descent::End => {}
                Descent::Collision => return None,
            }
        }
        None
    }

    fn answer(&mut self, leaf: Pending, evaluation: &Evaluation) {
        let id = leaf.path[leaf.path.len() - 1];
        self.tree.set_in_flight(&leaf.path, false);
        let order = (self.config.policy_temperature(), self.is_sorted());
        self.tree.expand(id, &leaf.moves, evaluation, order);
        self.tree
            .backup(&leaf.path, Outlook::of_evaluation(evaluation));
        self.scratch.spare.push(leaf);
        if id == ROOT {
            self.raw_value = evaluation.wdl;
            self.start_root();
        } else {
            self.simulations += 1;
        }
    }

    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        let root = self.tree.node(ROOT);
        let begun = self.simulations.saturating_add(self.pending.len() as u32);
        let most = self.budget().min(self.most);
        root.visits > 0 && (root.proven.is_some() || begun >= most)
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
        match self.config.simulations {
            SearchConfig::UNLIMITED => SearchConfig::UNLIMITED,
            _ if self.tree.edges(ROOT).len() == 1 => 1,
            simulations => simulations,
        }
    }

    /// Asks for the evaluation of a new node whose path and legal moves are in the scratch space.
    fn request(&mut self, id: NodeId) -> EvalRequest {
        let Scratch {
            path, moves, spare, ..
        } = &mut self.scratch;
        let mut leaf = spare.pop().unwrap_or_default();
        std::mem::swap(&mut leaf.path, path);
        std::mem::swap(&mut leaf.moves, moves);
        self.tree.set_in_flight(&leaf.path, true);
        let request = EvalRequest {
            position: *self.tree.position(id),
            repetitions: self.tree.node(id).repetitions,
            moves: leaf.moves.clone(),
        };
        self.pending.push(leaf);
        request
    }

    /// One descent, to a new position, to an end of the game, which is backed up at once, or to a position whose
    /// evaluation is awaited.
    fn simulate(&mut self) -> Descent {
        self.scratch.path.clear();
        self.scratch.path.push(ROOT);
        let mut id = ROOT;
        while !self.tree.node(id).is_leaf() {
            if self.tree.node(id).visits == 0 {
                return Descent::Collision;
            }
            let index = self.select(id);
            let child = self.tree.edges(id)[index].child;
            let is_new = child.is_none();
            id = child.unwrap_or_else(|| self.add_child(id, index));
            self.scratch.path.push(id);
            if is_new && !self.tree.node(id).is_leaf() {
                self.note_depth();
                return Descent::Leaf(id);
            }
        }
        self.note_depth();
        let outlook = self.tree.node(id).outlook();
        self.tree.backup(&self.scratch.path, outlook);
        self.simulations += 1;
        Descent::End
    }

    fn note_depth(&mut self) {
        let depth = self.scratch.path.len() as u32 - 1;
        self.depth = self.depth.max(depth);
    }

    /// Whether the moves of a node are sorted by their priors, so that selection need not look at all of them.
    fn is_sorted(&self) -> bool {
        self.config.kind == SearchKind::Puct
    }

    /// Index of the move to descend by.
    fn select(&mut self, id: NodeId) -> usize {
        let is_sorted = self.is_sorted() && id != ROOT;
        let Scratch { stats, policy, .. } = &mut self.scratch;
        // Noise may have changed the priors of the root.
        match is_sorted {
            true => self.tree.frontier_stats(id, &self.config, stats),
            false => self.tree.move_stats(id, &self.config, stats),
        }
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
            Status::Ongoing => {
                if let Some(value) = self.known(&position) {
                    self.tree.end(child, Some(value));
                }
            }
        }
        child
    }

    /// The exact value of a position, if the tables know it.
    fn known(&self, position: &Position) -> Option<Proven> {
        let value = self.tables.as_ref()?.probe_in_play(position)?;
        Some(match value {
            TableValue::Draw => Proven::Draw,
            TableValue::Win(plies) => Proven::Win(plies),
            TableValue::Loss(plies) => Proven::Loss(plies),
        })
    }
}
