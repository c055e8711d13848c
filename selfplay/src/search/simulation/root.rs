//! The root before its first simulation.

use model::EvalRequest;

use super::Search;
use crate::search::config::{PuctConfig, SearchKind};
use crate::search::halving::considered_visits;
use crate::search::noise;
use crate::search::proven::Proven;
use crate::search::tree::{Edge, ROOT};

impl Search {
    /// Asks for the evaluation of the root.
    pub(super) fn request_root(&mut self) -> EvalRequest {
        self.scratch.path.clear();
        self.scratch.path.push(ROOT);
        self.tree
            .position(ROOT)
            .legal_moves_into(&self.variant, &mut self.scratch.moves);
        if let Some(wanted) = &self.root_moves {
            self.scratch.moves.retain(|mv| wanted.contains(mv));
        }
        self.request(ROOT)
    }

    /// Prepares the root once its priors are known: noise, the halving table, mates in one.
    pub(super) fn start_root(&mut self) {
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
        self.solve_by_tables();
    }

    /// If the tables know the root, visits all of its moves that they know as well.
    pub(super) fn solve_by_tables(&mut self) {
        if self.known(self.tree.position(ROOT)).is_none() {
            return;
        }
        for index in 0..self.tree.edges(ROOT).len() {
            let Edge { mv, child, .. } = self.tree.edges(ROOT)[index];
            let position = self.tree.position(ROOT).play(&self.variant, mv);
            // A defence that would outlast the fifty-move rule is left to the search.
            if child.is_some() || self.known(&position).is_none() {
                continue;
            }
            self.scratch.path.clear();
            self.scratch.path.push(ROOT);
            let child = self.add_child(ROOT, index);
            let outlook = self.tree.node(child).outlook();
            self.tree.backup(&[ROOT, child], outlook);
            self.simulations += 1;
        }
    }

    /// Visits every root move that mates at once. A move that has been visited is known to mate if it does.
    pub(super) fn scan_for_mates(&mut self) {
        for index in 0..self.tree.edges(ROOT).len() {
            let Edge { mv, child, .. } = self.tree.edges(ROOT)[index];
            if child.is_some() {
                continue;
            }
            let position = self.tree.position(ROOT).play(&self.variant, mv);
            if !position.is_check(&self.variant) {
                continue;
            }
            position.legal_moves_into(&self.variant, &mut self.scratch.moves);
            if self.scratch.moves.is_empty() {
                let child = self.tree.push(position, position.key(), 1);
                self.tree.link(ROOT, index, child);
                self.tree.end(child, Some(Proven::Loss(0)));
                let mate = self.tree.node(child).outlook();
                self.tree.backup(&[ROOT, child], mate);
                self.simulations += 1;
            }
        }
    }
}
