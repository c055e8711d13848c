//! The search tree: nodes, edges and positions in three flat arrays.

use model::{Evaluation, Wdl};
use rules::{Move, Position};

use super::SearchConfig;
use super::proven::Proven;
use super::qtransform::{MoveStats, progress_bonus};

/// Index of a node.
pub type NodeId = u32;

/// The root's index.
pub const ROOT: NodeId = 0;

/// A position reached by the search.
#[derive(Clone, Debug)]
pub struct Node {
    /// Key of the position, for repetitions.
    pub key: u64,
    /// How often the position has stood on the board now, game and searched line together; 1 is the first time.
    pub repetitions: u8,
    /// The line ends here as a draw that is not proven (a second occurrence).
    pub assumed_draw: bool,
    /// The exact result, if known.
    pub proven: Option<Proven>,
    /// Simulations that reached the node.
    pub visits: u32,
    /// Simulations below the node, or of the node itself, that wait for an evaluation.
    pub in_flight: u32,
    /// The net's value, from the side to move.
    pub raw_q: f32,
    /// The net's probability of a draw.
    pub raw_draw: f32,
    pub(super) first_edge: u32,
    pub(super) edge_count: u32,
    /// Edges from this index on have never been visited.
    frontier: u32,
    value_sum: f64,
    draw_sum: f64,
    moves_left_sum: f64,
}

/// What one simulation says about a node.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// The value from the side to move, -1 to 1.
    pub q: f32,
    /// The probability of a draw.
    pub draw: f32,
    /// Plies to the end of the game.
    pub moves_left: f32,
}

impl Outlook {
    /// What the net says.
    pub fn of_evaluation(evaluation: &Evaluation) -> Self {
        Self {
            q: evaluation.wdl.q(),
            draw: evaluation.wdl.draw,
            moves_left: evaluation.moves_left,
        }
    }
}

/// A legal move of a node.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The move.
    pub mv: Move,
    /// Net probability among the legal moves.
    pub prior: f32,
    /// Its logarithm.
    pub logit: f32,
    /// The node that the move leads to, once it has been visited.
    pub child: Option<NodeId>,
}

/// Nodes with their positions, and edges contiguous by node.
///
/// A child has a greater index than its parent, and the edges of nodes lie in the order of the nodes' indices;
/// [`reroot`](Tree::reroot) relies on both.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) positions: Vec<Position>,
    pub(super) edges: Vec<Edge>,
}

impl Node {
    /// Mean value of the simulations, or the exact one, from the side to move.
    pub fn q(&self) -> f32 {
        match self.proven {
            Some(result) => result.q(),
            None => (self.value_sum / f64::from(self.visits.max(1))) as f32,
        }
    }

    /// Mean probability of a draw, or the certainty that there is one or none.
    pub fn draw(&self) -> f32 {
        match self.proven {
            Some(result) => f32::from(result == Proven::Draw),
            None => (self.draw_sum / f64::from(self.visits.max(1))) as f32,
        }
    }

    /// The value with every simulation in flight counted as one in which the opponent, whose move led here, comes out
    /// `virtual_loss` below even.
    fn q_in_flight(&self, virtual_loss: f32) -> f32 {
        if self.in_flight == 0 || self.proven.is_some() {
            return self.q();
        }
        let pending = f64::from(self.in_flight);
        let sum = self.value_sum + pending * f64::from(virtual_loss);
        (sum / (f64::from(self.visits) + pending)) as f32
    }

    /// The net's chances, from the side to move.
    pub fn raw_wdl(&self) -> Wdl {
        Wdl {
            win: (1.0 - self.raw_draw + self.raw_q) / 2.0,
            draw: self.raw_draw,
            loss: (1.0 - self.raw_draw - self.raw_q) / 2.0,
        }
    }

    /// What a simulation that ends here says.
    pub fn outlook(&self) -> Outlook {
        match self.assumed_draw {
            true => Outlook {
                q: 0.0,
                draw: 1.0,
                moves_left: 0.0,
            },
            false => Outlook {
                q: self.q(),
                draw: self.draw(),
                moves_left: self.moves_left(),
            },
        }
    }

    /// Mean of the estimated plies to the end, or the exact number if a mate is proven.
    pub fn moves_left(&self) -> f32 {
        match self.proven.and_then(Proven::plies) {
            Some(plies) => f32::from(plies),
            None => (self.moves_left_sum / f64::from(self.visits.max(1))) as f32,
        }
    }

    /// Whether a simulation ends here without an evaluation.
    pub fn is_leaf(&self) -> bool {
        self.assumed_draw || self.proven.is_some()
    }
}

impl Tree {
    /// Empties the tree and keeps its memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.positions.clear();
        self.edges.clear();
    }

    /// Takes the memory for so many nodes and edges.
    pub fn reserve(&mut self, nodes: usize, edges: usize) {
        let more = |wanted: usize, present: usize| wanted.saturating_sub(present);
        let (present, present_edges) = (self.nodes.len(), self.edges.len());
        self.nodes.reserve_exact(more(nodes, present));
        self.positions.reserve_exact(more(nodes, present));
        self.edges.reserve_exact(more(edges, present_edges));
    }

    /// The node with this index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The node's position.
    pub fn position(&self, id: NodeId) -> &Position {
        &self.positions[id as usize]
    }

    /// The node's legal moves; none before it has been expanded.
    pub fn edges(&self, id: NodeId) -> &[Edge] {
        let node = self.node(id);
        &self.edges[node.first_edge as usize..][..node.edge_count as usize]
    }

    fn edges_mut(&mut self, id: NodeId) -> &mut [Edge] {
        let (first, count) = (
            self.node(id).first_edge as usize,
            self.node(id).edge_count as usize,
        );
        &mut self.edges[first..][..count]
    }

    /// Adds a node without moves or visits.
    pub fn push(&mut self, position: Position, key: u64, repetitions: u8) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node {
            key,
            repetitions,
            assumed_draw: false,
            proven: None,
            visits: 0,
            in_flight: 0,
            raw_q: 0.0,
            raw_draw: 0.0,
            first_edge: self.edges.len() as u32,
            edge_count: 0,
            frontier: 0,
            value_sum: 0.0,
            draw_sum: 0.0,
            moves_left_sum: 0.0,
        });
        self.positions.push(position);
        id
    }

    /// Marks a node as the end of a line, with its exact result or as an assumed draw.
    pub fn end(&mut self, id: NodeId, result: Option<Proven>) {
        let node = &mut self.nodes[id as usize];
        node.proven = result;
        node.assumed_draw = result.is_none();
    }

    /// Links an edge to the node it leads to.
    pub fn link(&mut self, parent: NodeId, edge: usize, child: NodeId) {
        self.edges_mut(parent)[edge].child = Some(child);
        let node = &mut self.nodes[parent as usize];
        node.frontier = node.frontier.max(edge as u32 + 1);
    }

    /// Gives a node its moves with the net's value and priors: softmax(logits / `temperature`), the likeliest first if
    /// they are to be `sorted`.
    ///
    /// # Panics
    /// If the evaluation does not have one finite logit a move, or its value is not finite.
    pub fn expand(
        &mut self,
        id: NodeId,
        moves: &[Move],
        evaluation: &Evaluation,
        (temperature, sorted): (f32, bool),
    ) {
        let logits = &evaluation.policy_logits;
        assert_eq!(
            logits.len(),
            moves.len(),
            "an evaluation has one policy logit a legal move"
        );
        let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let first = self.edges.len();
        let mut total = 0.0;
        self.edges.extend(moves.iter().zip(logits).map(|(&mv, l)| {
            let logit = (l - max) / temperature;
            let prior = logit.exp();
            total += prior;
            Edge {
                mv,
                prior,
                logit,
                child: None,
            }
        }));
        let q = evaluation.wdl.q();
        assert!(
            q.is_finite() && f32::is_finite(total) && evaluation.moves_left.is_finite(),
            "an evaluation is finite, not {evaluation:?}"
        );
        let (scale, log_total) = (1.0 / total, total.ln());
        for edge in &mut self.edges[first..] {
            edge.prior = (edge.prior * scale).max(f32::MIN_POSITIVE);
            edge.logit -= log_total;
        }
        if sorted {
            self.edges[first..].sort_by(|a, b| b.prior.total_cmp(&a.prior));
        }
        let node = &mut self.nodes[id as usize];
        node.raw_q = q;
        node.raw_draw = evaluation.wdl.draw;
        node.first_edge = first as u32;
        node.edge_count = moves.len() as u32;
    }

    /// Mixes noise into the priors of the root: (1 − share) · prior + share · noise.
    pub fn mix_root_priors(&mut self, noise: &[f32], share: f32) {
        for (edge, n) in self.edges_mut(ROOT).iter_mut().zip(noise) {
            edge.prior = ((1.0 - share) * edge.prior + share * n).max(f32::MIN_POSITIVE);
            edge.logit = edge.prior.ln();
        }
    }

    /// What selection needs to know about the moves of a node, in their order, written to `out`. Simulations in flight
    /// count as visits, with a virtual loss.
    pub fn move_stats(&self, id: NodeId, config: &SearchConfig, out: &mut Vec<MoveStats>) {
        self.stats_of(id, self.edges(id), config, out);
    }

    /// As [`move_stats`](Tree::move_stats), up to the first move after all that have been visited: of sorted moves the
    /// likeliest one that never was.
    pub fn frontier_stats(&self, id: NodeId, config: &SearchConfig, out: &mut Vec<MoveStats>) {
        let edges = self.edges(id);
        let count = edges.len().min(self.node(id).frontier as usize + 1);
        self.stats_of(id, &edges[..count], config, out);
    }

    fn stats_of(
        &self,
        id: NodeId,
        edges: &[Edge],
        config: &SearchConfig,
        out: &mut Vec<MoveStats>,
    ) {
        out.clear();
        let expected = self.node(id).moves_left();
        out.extend(edges.iter().map(|edge| {
            let mut stats = MoveStats {
                logit: edge.logit,
                prior: edge.prior,
                visits: 0,
                q: 0.0,
                utility: 0.0,
                lost: false,
            };
            if let Some(child) = edge.child {
                let child = self.node(child);
                stats.visits = child.visits + child.in_flight;
                stats.q = -child.q_in_flight(config.puct.virtual_loss);
                let fewer_plies = expected - (child.moves_left() + 1.0);
                let weight = config.moves_left_weight;
                stats.utility = stats.q + progress_bonus(weight, stats.q, fewer_plies);
                stats.lost = matches!(child.proven, Some(Proven::Win(_)));
            }
            stats
        }));
    }

    /// The proven result of playing an edge, from the side that plays it.
    pub fn proven_by(&self, edge: &Edge) -> Option<Proven> {
        edge.child
            .and_then(|child| self.node(child).proven)
            .map(Proven::before)
    }

    /// The node is proven as far as its moves prove it, and no further.
    pub fn prove_by_moves(&mut self, id: NodeId) {
        let proven = Proven::of_moves(self.edges(id).iter().map(|edge| self.proven_by(edge)));
        self.nodes[id as usize].proven = proven;
    }

    /// Marks a path as waiting for the evaluation of its last node, or as waiting no more.
    pub fn set_in_flight(&mut self, path: &[NodeId], waits: bool) {
        for &id in path {
            let node = &mut self.nodes[id as usize];
            match waits {
                true => node.in_flight += 1,
                false => node.in_flight -= 1,
            }
        }
    }

    /// Carries what a leaf says up a path from the root to that leaf, and proofs as far as they reach.
    ///
    /// `outlook` is that of the leaf. Where a node's result is proven, the exact value goes on up instead of the
    /// leaf's.
    pub fn backup(&mut self, path: &[NodeId], outlook: Outlook) {
        let Outlook {
            mut q,
            mut draw,
            mut moves_left,
        } = outlook;
        let mut child_changed = false;
        for (index, &id) in path.iter().enumerate().rev() {
            if child_changed {
                let before = self.node(id).proven;
                self.prove_by_moves(id);
                child_changed = self.node(id).proven != before;
            } else {
                let is_leaf = index + 1 == path.len();
                child_changed = is_leaf && self.node(id).proven.is_some();
            }
            let node = &mut self.nodes[id as usize];
            if let Some(result) = node.proven {
                q = result.q();
                draw = f32::from(result == Proven::Draw);
                moves_left = result.plies().map_or(moves_left, f32::from);
            }
            node.visits += 1;
            node.value_sum += f64::from(q);
            node.draw_sum += f64::from(draw);
            node.moves_left_sum += f64::from(moves_left);
            q = -q;
            moves_left += 1.0;
        }
    }
}
