//! What a finished search says.

use model::Wdl;
use rules::Move;

use super::gumbel::{argmax, best_root, sigma_at};
use super::proven::Proven;
use super::qtransform::{MoveStats, improved_policy, policy_value};
use super::tree::{Edge, NodeId, ROOT, Tree};
use super::{SearchConfig, SearchKind, puct};

/// The outcome of a search, everything from the side to move at the root.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The move to play.
    pub best_move: Move,
    /// The improved policy over all legal moves, in the order of move generation; sums to 1. If a win is proven it is
    /// spread over the moves that mate fastest only.
    pub root_policy: Vec<(Move, f32)>,
    /// Value of the root in \[-1, 1\]: exact if proven, else that of `root_policy` (Gumbel) or the simulations' mean
    /// (PUCT).
    pub q: f32,
    /// The net's value of the root.
    pub raw_value: Wdl,
    /// Visits of every legal move, in the same order.
    pub visits: Vec<(Move, u32)>,
    /// The exact result, if the search found it.
    pub proven: Option<Proven>,
    /// The line that the search expects, from the root, `best_move` first.
    pub pv: Vec<Move>,
    /// Estimated plies to the end of the game; exact if a mate is proven.
    pub moves_left: f32,
    /// Simulations done.
    pub simulations: u32,
    /// How far the search has moved the policy: the Kullback–Leibler divergence of `root_policy` from the net's, in nats.
    pub surprise: f32,
}

/// Reads the result off a finished tree.
pub(super) fn read(
    tree: &Tree,
    config: &SearchConfig,
    gumbels: &[f32],
    raw_value: Wdl,
    simulations: u32,
) -> SearchResult {
    let root = tree.node(ROOT);
    let edges = tree.edges(ROOT);
    let mut moves = Vec::new();
    tree.move_stats(ROOT, config, &mut moves);
    let policy = root_policy(tree, config, &moves);
    let best = best_edge(tree, config, &moves, gumbels, &policy);
    let q = match (root.proven, config.kind) {
        (None, SearchKind::Gumbel) => policy_value(&moves, root.raw_q, &policy),
        (Some(_), _) | (None, SearchKind::Puct) => root.q(),
    };
    SearchResult {
        best_move: edges[best].mv,
        root_policy: edges
            .iter()
            .zip(&policy)
            .map(|(edge, &p)| (edge.mv, p))
            .collect(),
        q,
        raw_value,
        visits: edges
            .iter()
            .zip(&moves)
            .map(|(edge, m)| (edge.mv, m.visits))
            .collect(),
        proven: root.proven,
        pv: principal_variation(tree, best),
        moves_left: root.moves_left(),
        simulations,
        surprise: divergence(&policy, &moves),
    }
}

/// Σ p ln(p / prior), 0 or more.
fn divergence(policy: &[f32], moves: &[MoveStats]) -> f32 {
    let terms = policy.iter().zip(moves).filter(|(p, _)| **p > 0.0);
    let sum: f32 = terms.map(|(p, m)| p * (p / m.prior).ln()).sum();
    sum.max(0.0)
}

/// The policy target.
fn root_policy(tree: &Tree, config: &SearchConfig, moves: &[MoveStats]) -> Vec<f32> {
    let mut policy = Vec::with_capacity(moves.len());
    let root = tree.node(ROOT);
    match (config.kind, root.proven) {
        (SearchKind::Puct, None | Some(Proven::Loss(_) | Proven::Draw)) => {
            puct::visit_policy(moves, &mut policy)
        }
        (SearchKind::Gumbel, _) | (SearchKind::Puct, Some(Proven::Win(_))) => {
            improved_policy(moves, root.raw_q, sigma_at(config, moves), &mut policy);
        }
    }
    if let Some(win @ Proven::Win(_)) = root.proven {
        let fastest = |edge: &Edge| tree.proven_by(edge) == Some(win);
        for (p, edge) in policy.iter_mut().zip(tree.edges(ROOT)) {
            *p = if fastest(edge) {
                p.max(f32::MIN_POSITIVE)
            } else {
                0.0
            };
        }
        let total: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= total);
    }
    policy
}

/// Index of the move to play: the fastest proven win, else the longest defence if all lose, else the kind's winner.
fn best_edge(
    tree: &Tree,
    config: &SearchConfig,
    moves: &[MoveStats],
    gumbels: &[f32],
    policy: &[f32],
) -> usize {
    let root = tree.node(ROOT);
    let choice = match root.proven {
        Some(Proven::Win(_)) => argmax(policy.iter().map(|&p| Some(p))),
        Some(Proven::Loss(_)) => argmax(
            tree.edges(ROOT)
                .iter()
                .map(|e| tree.proven_by(e).and_then(Proven::plies).map(f32::from)),
        ),
        Some(Proven::Draw) | None => None,
    };
    choice.unwrap_or_else(|| match config.kind {
        SearchKind::Gumbel => best_root(moves, gumbels, root.raw_q, sigma_at(config, moves)),
        SearchKind::Puct => puct::best_root(moves),
    })
}

/// The expected line: from each node the shortest proven win, the longest proven loss, or the most visited move.
pub(super) fn principal_variation(tree: &Tree, best: usize) -> Vec<Move> {
    let first = tree.edges(ROOT)[best];
    let mut line = vec![first.mv];
    let mut next = first.child;
    while let Some(id) = next {
        let Some(edge) = expected_edge(tree, id) else {
            break;
        };
        line.push(edge.mv);
        next = edge.child;
    }
    line
}

fn expected_edge(tree: &Tree, id: NodeId) -> Option<Edge> {
    let result = tree.node(id).proven;
    let edges = tree.edges(id);
    let visits = |edge: &Edge| edge.child.map(|child| tree.node(child).visits as f32);
    let index = match result {
        Some(Proven::Win(_) | Proven::Loss(_)) => {
            edges.iter().position(|e| tree.proven_by(e) == result)
        }
        Some(Proven::Draw) | None => argmax(edges.iter().map(visits)),
    };
    index.map(|index| edges[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surprise_is_the_way_from_the_net_s_policy() {
        let moves = [0.25, 0.75].map(MoveStats::unvisited);
        assert_eq!(divergence(&[0.25, 0.75], &moves), 0.0);
        assert!((divergence(&[1.0, 0.0], &moves) - 4.0f32.ln()).abs() < 1e-6);
        let even = 0.5 * 2.0f32.ln() + 0.5 * (2.0f32 / 3.0).ln();
        assert!((divergence(&[0.5, 0.5], &moves) - even).abs() < 1e-6);
    }
}
