//! Selection of Gumbel AlphaZero (Danihelka et al. 2022), as pure functions over a node's moves.

use super::qtransform::{MoveStats, Sigma, improved_policy, max_visits, mixed_value};

/// The root move for the next simulation: the best by g + logit + σ(q) among the moves with `considered_visits`
/// visits (see [`considered_visits`](super::halving::considered_visits)); algorithm 2 of the paper.
///
/// Moves proven to lose drop out, and moves with fewer visits (also such as were not considered at first) then compete
/// for the places they leave.
///
/// # Panics
/// If all moves are lost (the root would be proven) or the slices differ in length.
pub fn select_root(
    moves: &[MoveStats],
    gumbels: &[f32],
    raw_q: f32,
    sigma: Sigma,
    considered_visits: u32,
) -> usize {
    let score = root_score(moves, gumbels, raw_q, sigma);
    let refill = moves.iter().any(|m| m.lost);
    let best = |allowed: &dyn Fn(&MoveStats) -> bool| {
        let open = |m: &MoveStats| !m.lost && allowed(m);
        argmax(
            moves
                .iter()
                .zip(gumbels)
                .map(|(m, &g)| open(m).then(|| score(m, g))),
        )
    };
    best(&|m| m.visits == considered_visits || (refill && m.visits < considered_visits))
        .or_else(|| best(&|_| true))
        .expect("a root with an unproven move")
}

/// The move to play: the best by g + logit + σ(q) among the most visited ones that do not lose (all, if all lose).
///
/// # Panics
/// If there is no move or the slices differ in length.
pub fn best_root(moves: &[MoveStats], gumbels: &[f32], raw_q: f32, sigma: Sigma) -> usize {
    let score = root_score(moves, gumbels, raw_q, sigma);
    let most = moves.iter().filter(|m| !m.lost).map(|m| m.visits).max();
    let allowed = |m: &MoveStats| most.is_none_or(|visits| !m.lost && m.visits == visits);
    argmax(
        moves
            .iter()
            .zip(gumbels)
            .map(|(m, &g)| allowed(m).then(|| score(m, g))),
    )
    .expect("a root with a legal move")
}

/// The move to descend by at any other node: argmax π'(a) − N(a) / (1 + ΣN), equation 14 of the paper, which makes
/// visits follow the improved policy without noise. Moves proven to lose are left out.
///
/// `policy` is scratch space.
///
/// # Panics
/// If all moves are lost.
pub fn select_interior(
    moves: &[MoveStats],
    raw_q: f32,
    sigma: Sigma,
    policy: &mut Vec<f32>,
) -> usize {
    policy.clear();
    improved_policy(moves, raw_q, sigma, policy);
    let total: u32 = moves.iter().map(|m| m.visits).sum();
    let share = 1.0 / (1.0 + total as f32);
    argmax(
        moves
            .iter()
            .zip(policy.iter())
            .map(|(m, p)| (!m.lost).then_some(p - m.visits as f32 * share)),
    )
    .expect("a node with an unproven move")
}

/// σ at a node with these moves.
pub fn sigma_at(config: &super::SearchConfig, moves: &[MoveStats]) -> Sigma {
    Sigma::new(config, max_visits(moves))
}

/// The score g + logit + σ(completed q) of a move and its Gumbel variable.
fn root_score(
    moves: &[MoveStats],
    gumbels: &[f32],
    raw_q: f32,
    sigma: Sigma,
) -> impl Fn(&MoveStats, f32) -> f32 {
    assert_eq!(moves.len(), gumbels.len(), "one Gumbel variable a move");
    let unvisited = mixed_value(raw_q, moves);
    move |m, g| g + m.logit + sigma.of(if m.visits > 0 { m.utility } else { unvisited })
}

/// Index of the greatest allowed score, the first one on a tie.
pub fn argmax(scores: impl IntoIterator<Item = Option<f32>>) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (index, score) in scores.into_iter().enumerate() {
        if let Some(score) = score
            && best.is_none_or(|(_, top)| score > top)
        {
            best = Some((index, score));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::super::SearchConfig;
    use super::super::halving::considered_visits;
    use super::*;

    /// A bandit: each pull of an arm shows its true value, as a net without noise would.
    fn pull(arms: &mut [MoveStats], values: &[f32], index: usize) {
        arms[index].visits += 1;
        arms[index].q = values[index];
        arms[index].utility = values[index];
    }

    fn arms(n: usize) -> Vec<MoveStats> {
        vec![MoveStats::unvisited(1.0 / n as f32); n]
    }

    fn play(
        values: &[f32],
        gumbels: &[f32],
        considered: usize,
        simulations: usize,
    ) -> (Vec<u32>, usize) {
        let config = SearchConfig::default();
        let mut arms = arms(values.len());
        for wanted in considered_visits(considered, simulations) {
            let index = select_root(&arms, gumbels, 0.0, sigma_at(&config, &arms), wanted);
            pull(&mut arms, values, index);
        }
        let best = best_root(&arms, gumbels, 0.0, sigma_at(&config, &arms));
        (arms.iter().map(|a| a.visits).collect(), best)
    }

    #[test]
    fn the_best_arm_of_those_considered_wins() {
        let (visits, best) = play(&[0.1, 0.9, -0.3, 0.5], &[0.0; 4], 4, 16);
        assert_eq!((visits, best), (vec![2, 6, 2, 6], 1));
    }

    #[test]
    fn gumbel_noise_decides_what_is_considered() {
        let (visits, best) = play(&[0.1, 0.9, -0.3, 0.5], &[1.0, 0.0, 2.0, 1.5], 2, 8);
        assert_eq!((visits, best), (vec![0, 0, 4, 4], 3));
    }

    #[test]
    fn lost_arms_make_room_for_others() {
        let config = SearchConfig::default();
        let mut arms = arms(4);
        for wanted in considered_visits(2, 6) {
            let index = select_root(&arms, &[0.0; 4], 0.0, sigma_at(&config, &arms), wanted);
            pull(&mut arms, &[-1.0, -1.0, 0.2, 0.1], index);
            arms[index].lost = index < 2;
        }
        assert_eq!(
            arms.iter().map(|a| a.visits).collect::<Vec<_>>(),
            [1, 1, 3, 1]
        );
        assert_eq!(
            best_root(&arms, &[0.0; 4], 0.0, sigma_at(&config, &arms)),
            2
        );
    }

    #[test]
    fn interior_visits_follow_the_improved_policy() {
        let config = SearchConfig {
            c_visit: 4.0,
            c_scale: 0.1,
            ..SearchConfig::default()
        };
        let values = [0.6, 0.0, -0.6];
        let mut arms = arms(3);
        let mut policy = Vec::new();
        for _ in 0..300 {
            // A fixed σ, so that the target of the visits stands still.
            let index = select_interior(&arms, 0.0, Sigma::new(&config, 10), &mut policy);
            pull(&mut arms, &values, index);
        }
        for (arm, p) in arms.iter().zip(&policy) {
            assert!(
                (arm.visits as f32 / 300.0 - p).abs() < 0.01,
                "{arms:?} {policy:?}"
            );
        }
        assert!(policy[0] > policy[1] && policy[1] > policy[2]);
    }
}
