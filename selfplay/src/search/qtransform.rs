//! Completed Q and the improved policy: pure functions over a node's moves.
//!
//! Everything is from the side to move at the node, q in \[-1, 1\].

use super::config::SearchConfig;

/// What selection may know about one move of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveStats {
    /// Logarithm of the prior (normalised over the legal moves).
    pub logit: f32,
    /// Net probability, normalised over the legal moves; above 0.
    pub prior: f32,
    /// Simulations that went through the move.
    pub visits: u32,
    /// Mean of those simulations, or the exact value; meaningless without visits.
    pub q: f32,
    /// `q` plus the bonus for progress: what selection compares; meaningless without visits.
    pub utility: f32,
    /// The move is proven to lose, so it is not searched again.
    pub lost: bool,
}

#[cfg(test)]
impl MoveStats {
    /// A move of which only the net has spoken.
    pub fn unvisited(prior: f32) -> MoveStats {
        MoveStats {
            logit: prior.ln(),
            prior,
            visits: 0,
            q: 0.0,
            utility: 0.0,
            lost: false,
        }
    }
}

/// The monotone map σ from values to logits: σ(q) = (c_visit + max N) · c_scale · score(q).
///
/// Danihelka et al. 2022, equation 8. There q is normalised to \[0, 1\] by the known bounds of the game, as in MuZero;
/// here that is score(q) = (q + 1) / 2, the expected score. So with c_visit = 50 and c_scale = 1 ten points of score
/// in a hundred are worth 5 logits before the first visit. There is no rescaling by a node's own least and
/// greatest q, which would blow noise up to the same size as real differences.
#[derive(Clone, Copy, Debug)]
pub struct Sigma {
    factor: f32,
}

impl Sigma {
    /// σ at a node whose most visited move has `max_visits` visits.
    pub fn new(config: &SearchConfig, max_visits: u32) -> Self {
        Self {
            factor: (config.c_visit + max_visits as f32) * config.c_scale,
        }
    }

    /// Logits for a value.
    pub fn of(self, q: f32) -> f32 {
        self.factor * 0.5 * (q + 1.0)
    }
}

/// Visits of the most visited move.
pub fn max_visits(moves: &[MoveStats]) -> u32 {
    moves.iter().map(|m| m.visits).max().unwrap_or(0)
}

/// The value that stands in for moves without visits: the net's value mixed with what the visited moves say.
///
/// Danihelka et al. 2022, equation 33:
/// v_mix = (v + ΣN · Σ π(b) q(b) / Σ π(b)) / (1 + ΣN), the inner sums over visited moves.
pub fn mixed_value(raw_q: f32, moves: &[MoveStats]) -> f32 {
    let (mut visits, mut prior, mut weighted) = (0_u32, 0.0_f64, 0.0_f64);
    for m in moves.iter().filter(|m| m.visits > 0) {
        visits += m.visits;
        prior += f64::from(m.prior);
        weighted += f64::from(m.prior) * f64::from(m.q);
    }
    if visits == 0 {
        return raw_q;
    }
    let visits = f64::from(visits);
    ((f64::from(raw_q) + visits * weighted / prior) / (1.0 + visits)) as f32
}

/// The policy π' = softmax(logits + σ(completed Q)), written to `out` in the order of `moves`.
///
/// Danihelka et al. 2022, equations 10 and 11. Moves without visits share one completed value, so only visited ones
/// cost an exponential.
pub fn improved_policy(moves: &[MoveStats], raw_q: f32, sigma: Sigma, out: &mut Vec<f32>) {
    let unvisited = sigma.of(mixed_value(raw_q, moves));
    let shift = moves
        .iter()
        .filter(|m| m.visits > 0)
        .map(|m| sigma.of(m.utility))
        .fold(
            if moves.iter().all(|m| m.visits > 0) {
                f32::NEG_INFINITY
            } else {
                unvisited
            },
            f32::max,
        );
    let unvisited_factor = f64::from(unvisited - shift).exp();
    let weight = |m: &MoveStats| {
        let factor = match m.visits {
            0 => unvisited_factor,
            _ => f64::from(sigma.of(m.utility) - shift).exp(),
        };
        f64::from(m.prior) * factor
    };
    let first = out.len();
    let mut total = 0.0;
    out.extend(moves.iter().map(|m| {
        let w = weight(m);
        total += w;
        w as f32
    }));
    let scale = (1.0 / total) as f32;
    out[first..].iter_mut().for_each(|p| *p *= scale);
}

/// The value of playing `policy`: Σ π(a) · completed q(a).
///
/// At a Gumbel root this is the fair estimate; the plain mean of the simulations is dragged down by the visits that
/// sequential halving owes every considered move.
pub fn policy_value(moves: &[MoveStats], raw_q: f32, policy: &[f32]) -> f32 {
    let unvisited = mixed_value(raw_q, moves);
    let completed = moves
        .iter()
        .map(|m| if m.visits > 0 { m.q } else { unvisited });
    completed
        .zip(policy)
        .map(|(q, p)| q * p)
        .sum::<f32>()
        .clamp(-1.0, 1.0)
}

/// The bonus for progress: with a good position less moves left is better, with a bad one more.
///
/// `fewer_plies` is how many plies the move saves against the node's own expectation. The bonus is
/// weight · q · s / (1 + |s|) with s = fewer_plies / 10, so never more than the weight.
pub fn progress_bonus(weight: f32, q: f32, fewer_plies: f32) -> f32 {
    let s = fewer_plies / 10.0;
    weight * q * s / (1.0 + s.abs())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A move that is worth what its simulations say.
    pub fn stats(prior: f32, visits: u32, q: f32) -> MoveStats {
        MoveStats {
            logit: prior.ln(),
            prior,
            visits,
            q,
            utility: q,
            lost: false,
        }
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-5
    }

    #[test]
    fn the_mixed_value_is_the_raw_value_without_visits() {
        assert_eq!(
            mixed_value(0.25, &[stats(0.5, 0, 9.0), stats(0.5, 0, 9.0)]),
            0.25
        );
    }

    #[test]
    fn the_mixed_value_by_hand() {
        // visited: priors .2 and .3, q .5 and -.5: weighted (.1 - .15) / .5 = -.1; (.4 + 4 * -.1) / 5 = 0.
        let moves = [stats(0.5, 0, 9.0), stats(0.2, 3, 0.5), stats(0.3, 1, -0.5)];
        assert!(close(mixed_value(0.4, &moves), 0.0));
        // With one visited move: (1 + 2 * .5) / 3.
        assert!(close(
            mixed_value(1.0, &[stats(0.1, 2, 0.5), stats(0.9, 0, 0.0)]),
            2.0 / 3.0
        ));
    }

    #[test]
    fn sigma_is_in_points_of_score() {
        let sigma = Sigma::new(&SearchConfig::default(), 14);
        assert!(close(sigma.of(0.5) - sigma.of(0.25), 64.0 * 0.125));
    }

    #[test]
    fn the_improved_policy_is_the_softmax_of_the_completed_values() {
        let config = SearchConfig {
            c_visit: 2.0,
            c_scale: 0.5,
            ..SearchConfig::default()
        };
        let moves = [stats(0.5, 0, 9.0), stats(0.2, 3, 0.5), stats(0.3, 1, -0.5)];
        let sigma = Sigma::new(&config, max_visits(&moves));
        let mut policy = Vec::new();
        improved_policy(&moves, 0.4, sigma, &mut policy);
        // σ factor (2 + 3) * .5 = 2.5; completed scores .5, .75, .25.
        let weights = [
            0.5 * 1.25_f32.exp(),
            0.2 * 1.875_f32.exp(),
            0.3 * 0.625_f32.exp(),
        ];
        let total: f32 = weights.iter().sum();
        for (p, w) in policy.iter().zip(weights) {
            assert!(close(*p, w / total), "{policy:?}");
        }
        let expected = policy[1] * 0.5 - policy[2] * 0.5;
        assert!(close(policy_value(&moves, 0.4, &policy), expected));
    }

    #[test]
    fn extreme_values_stay_finite() {
        let config = SearchConfig {
            c_scale: 100.0,
            ..SearchConfig::default()
        };
        let moves = [stats(f32::MIN_POSITIVE, 1, 1.0), stats(1.0, 5, -1.0)];
        let mut policy = Vec::new();
        improved_policy(&moves, -1.0, Sigma::new(&config, 5), &mut policy);
        assert_eq!(policy, [1.0, 0.0]);
    }

    #[test]
    fn progress_helps_the_winner_and_delays_the_loser() {
        assert!(progress_bonus(0.02, 0.9, 10.0) > 0.0);
        assert!(progress_bonus(0.02, -0.9, 10.0) < 0.0);
        assert!(progress_bonus(0.02, 1.0, 1e9) <= 0.02);
        assert_eq!(progress_bonus(0.0, 1.0, 50.0), 0.0);
    }
}
