//! Selection of AlphaZero (Silver et al. 2018), as pure functions over a node's moves.

use super::config::PuctConfig;
use super::gumbel::argmax;
use super::qtransform::MoveStats;

/// The move to descend by: argmax q(a) + c_puct · P(a) · √ΣN / (1 + N(a)), moves proven to lose left out.
///
/// `node_q` is the node's own mean value, from which unvisited moves take their first-play urgency.
///
/// # Panics
/// If all moves are lost.
pub fn select(moves: &[MoveStats], node_q: f32, config: &PuctConfig) -> usize {
    let (mut total, mut explored) = (0_u32, 0.0_f32);
    for m in moves.iter().filter(|m| m.visits > 0) {
        total += m.visits;
        explored += m.prior;
    }
    let urgency = node_q - config.fpu_reduction * explored.sqrt();
    let exploration = config.c_puct * (total.max(1) as f32).sqrt();
    argmax(moves.iter().map(|m| {
        let q = if m.visits > 0 { m.utility } else { urgency };
        (!m.lost).then_some(q + exploration * m.prior / (1.0 + m.visits as f32))
    }))
    .expect("a node with an unproven move")
}

/// The move to play: the most visited one that does not lose, the better q on a tie (if all lose, the last to do so).
pub fn best_root(moves: &[MoveStats]) -> usize {
    let all_lost = moves.iter().all(|m| m.lost);
    let allowed = |m: &MoveStats| all_lost || !m.lost;
    let visits = moves
        .iter()
        .filter(|m| allowed(m))
        .map(|m| m.visits)
        .max()
        .unwrap_or(0);
    let candidate = |m: &MoveStats| allowed(m) && (all_lost || m.visits == visits);
    argmax(moves.iter().map(|m| {
        candidate(m).then_some(if m.visits > 0 {
            m.utility
        } else {
            m.prior - 2.0
        })
    }))
    .expect("a root with a legal move")
}

/// The visits as a distribution, written to `out`; the priors if there are no visits.
pub fn visit_policy(moves: &[MoveStats], out: &mut Vec<f32>) {
    let total: u32 = moves.iter().map(|m| m.visits).sum();
    out.extend(moves.iter().map(|m| match total {
        0 => m.prior,
        _ => m.visits as f32 / total as f32,
    }));
}

#[cfg(test)]
mod tests {
    use super::super::qtransform::tests::stats;
    use super::*;

    #[test]
    fn the_formula_by_hand() {
        let config = PuctConfig {
            c_puct: 2.0,
            fpu_reduction: 0.5,
            ..PuctConfig::default()
        };
        // √ΣN = 2: .1 + 4*.25/4 = .35; -.2 + 4*.25/2 = .3; unvisited .3 - .5*√.5 + 4*.5 = 1.946.
        let mut moves = [
            stats(0.25, 3, 0.1),
            stats(0.25, 1, -0.2),
            stats(0.5, 0, 0.0),
        ];
        assert_eq!(select(&moves, 0.3, &config), 2);
        moves[2].lost = true;
        assert_eq!(select(&moves, 0.3, &config), 0);
        assert_eq!(best_root(&moves), 0);
        let mut policy = Vec::new();
        visit_policy(&moves, &mut policy);
        assert_eq!(policy, [0.75, 0.25, 0.0]);
    }
}
