//! The best lines of a search.

use std::cmp::Reverse;

use model::Wdl;
use rules::Move;

use super::SearchConfig;
use super::proven::Proven;
use super::qtransform::MoveStats;
use super::result::principal_variation;
use super::tree::{ROOT, Tree};

/// A root move and what is expected of it, everything from the side to move at the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The moves, the root move first.
    pub pv: Vec<Move>,
    /// Simulations through the root move.
    pub visits: u32,
    /// Mean of those simulations, or the exact value.
    pub wdl: Wdl,
    /// The exact result, if the search found it; plies count from the root.
    pub proven: Option<Proven>,
    /// Estimated plies to the end of the game from the root.
    pub moves_left: f32,
    /// The net's probability of the move.
    pub prior: f32,
}

impl Line {
    /// The value, -1 to 1.
    pub fn q(&self) -> f32 {
        self.wdl.q()
    }
}

/// Sorts moves best first: fast wins, then by visits and value, then slow losses.
#[derive(PartialEq, PartialOrd)]
enum Rank {
    Win(u16),
    Open(Reverse<u32>, f32),
    Loss(Reverse<u16>),
}

/// The `count` best visited root moves, best first; the likeliest move alone if none has been visited.
pub fn best_lines(tree: &Tree, config: &SearchConfig, count: usize) -> Vec<Line> {
    let mut stats = Vec::new();
    tree.move_stats(ROOT, config, &mut stats);
    let edges = tree.edges(ROOT);
    let rank = |index: usize| match tree.proven_by(&edges[index]) {
        Some(Proven::Win(plies)) => Rank::Win(plies),
        Some(Proven::Loss(plies)) => Rank::Loss(Reverse(plies)),
        Some(Proven::Draw) | None => {
            let MoveStats {
                visits,
                utility,
                prior,
                ..
            } = stats[index];
            let merit = if visits > 0 { utility } else { prior };
            Rank::Open(Reverse(visits), -merit)
        }
    };
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by(|&a, &b| {
        rank(a)
            .partial_cmp(&rank(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let searched = order.iter().filter(|&&at| stats[at].visits > 0).count();
    order.truncate(count.clamp(1, searched.max(1)));
    order
        .into_iter()
        .map(|index| line(tree, &stats[index], index))
        .collect()
}

fn line(tree: &Tree, stats: &MoveStats, index: usize) -> Line {
    let root = tree.node(ROOT);
    let edge = &tree.edges(ROOT)[index];
    let (wdl, moves_left) = match edge.child {
        Some(child) => {
            let child = tree.node(child);
            let (q, draw) = (child.q(), child.draw());
            let wdl = Wdl {
                win: (1.0 - draw + q) / 2.0,
                draw,
                loss: (1.0 - draw - q) / 2.0,
            };
            (wdl.flip(), child.moves_left() + 1.0)
        }
        None => (root.raw_wdl(), root.moves_left()),
    };
    Line {
        pv: principal_variation(tree, index),
        visits: stats.visits,
        wdl,
        proven: tree.proven_by(edge),
        moves_left,
        prior: stats.prior,
    }
}
