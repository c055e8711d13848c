//! What nets and searches thought in play, against what came of the games.

use crate::values::phase::{Phase, part_of};
use rules::{Position, Variant};
use selfplay::record::GameRecord;
use serde::Serialize;
use std::collections::BTreeMap;

/// One phase of the games; errors are mean squares of the expected score (0 to 1) less the score.
#[derive(Clone, Debug, Serialize)]
pub struct SearchRow {
    /// The phase.
    pub phase: Phase,
    /// Plies.
    pub plies: u64,
    /// Error of whoever knows only the mean score.
    pub constant_error: f64,
    /// Error of the net's own value.
    pub net_error: f64,
    /// Error of the search's value.
    pub search_error: f64,
    /// Mean entropy of the policies of full searches in nats.
    pub policy_entropy: f64,
    /// Share of plies on which the likeliest move of a full search was played.
    pub likeliest_played: f64,
}

/// Sums over plies.
#[derive(Clone, Debug, Default)]
pub struct SearchTally {
    phases: BTreeMap<Phase, Sums>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    plies: u64,
    score: f64,
    score_squares: f64,
    net: f64,
    search: f64,
    full: u64,
    entropy: f64,
    likeliest: u64,
}

impl SearchTally {
    /// Takes in a game; plies whose position cannot be read are left out.
    pub fn add(&mut self, variant: &Variant, game: &GameRecord) {
        for ply in &game.plies {
            let Ok(position) = Position::from_fen(variant, &ply.fen) else {
                continue;
            };
            let score = f64::from(game.outcome.score(position.turn()));
            let phase = part_of(variant, &position).phase;
            let sums = self.phases.entry(phase).or_default();
            let net = ply.raw_value.win + 0.5 * ply.raw_value.draw;
            sums.plies += 1;
            sums.score += score;
            sums.score_squares += score * score;
            sums.net += (f64::from(net) - score).powi(2);
            sums.search += (0.5 + 0.5 * f64::from(ply.root_q) - score).powi(2);
            if ply.full_search {
                sums.full += 1;
                sums.entropy += entropy(&ply.policy);
                let likeliest = ply.policy.iter().max_by(|a, b| a.1.total_cmp(&b.1));
                sums.likeliest += u64::from(likeliest.is_some_and(|(mv, _)| *mv == ply.mv));
            }
        }
    }

    /// The rows, opening first.
    pub fn rows(&self) -> Vec<SearchRow> {
        let row = |(&phase, sums): (&Phase, &Sums)| {
            let (plies, full) = (sums.plies as f64, sums.full.max(1) as f64);
            SearchRow {
                phase,
                plies: sums.plies,
                constant_error: sums.score_squares / plies - (sums.score / plies).powi(2),
                net_error: sums.net / plies,
                search_error: sums.search / plies,
                policy_entropy: sums.entropy / full,
                likeliest_played: sums.likeliest as f64 / full,
            }
        };
        self.phases.iter().map(row).collect()
    }
}

/// Entropy of a policy in nats.
fn entropy(policy: &[(String, f32)]) -> f64 {
    let terms = policy.iter().map(|(_, p)| f64::from(*p));
    terms.filter(|&p| p > 0.0).map(|p| -p * p.ln()).sum()
}
