//! One Elo scale over all players of a run: the maximum-likelihood ratings of every match played so far.
//!
//! The model is Bradley and Terry's with a draw as half a win: the log-likelihood of a match of n games in which the
//! first player scores S points is S·ln p + (n − S)·ln(1 − p), p = 1/(1 + e^(θ_b − θ_a)). Each match is given a drawn
//! game as prior (half a pair), which keeps ratings finite after a clean sweep. The errors are those of the sandwich
//! estimator H⁻¹JH⁻¹ (Huber 1967), where J is built from the observed variance of colour-swapped pairs: draws and
//! paired openings make results less scattered than the model's coin tosses, and the error bar says so.

use super::elo::ELO_PER_NAT;
use super::normal::Z_95;
use super::pentanomial::{PRIOR_PAIRS, Pentanomial};
use crate::cholesky::Cholesky;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The result of all pairs that two players have played against each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matchup {
    /// Name of the player whose points are counted.
    pub first: String,
    /// Name of its opponent.
    pub second: String,
    /// Counts of pairs from the view of `first`.
    pub pentanomial: Pentanomial,
}

/// A player's place on the scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rating {
    /// The player's name.
    pub player: String,
    /// Elo above the anchor; `None` if no chain of matches leads to the anchor.
    pub elo: Option<f64>,
    /// Half width of the 95% interval of the difference to the anchor.
    pub error: Option<f64>,
    /// Games that the player has played.
    pub games: u64,
}

/// Fits the ratings of all players in `matchups`, with `anchor` at 0.
///
/// The ratings come in alphabetical order of the players, the anchor included.
pub fn rate(matchups: &[Matchup], anchor: &str) -> Vec<Rating> {
    let connected = connected_to(matchups, anchor);
    // The anchor is known, so it is not among the unknowns.
    let unknowns: Vec<&str> = connected
        .iter()
        .copied()
        .filter(|&player| player != anchor)
        .collect();
    let index: BTreeMap<&str, usize> = unknowns
        .iter()
        .enumerate()
        .map(|(index, &player)| (player, index))
        .collect();
    let edges: Vec<Edge> = matchups
        .iter()
        .filter(|matchup| {
            connected.contains(matchup.first.as_str()) && matchup.first != matchup.second
        })
        .map(|matchup| Edge::new(matchup, &index))
        .collect();
    let fit = Fit::maximise(&edges, unknowns.len());
    all_players(matchups, anchor)
        .into_iter()
        .map(|player| {
            let place = index.get(player).map(|&i| {
                (
                    fit.strength[i] * ELO_PER_NAT,
                    Z_95 * fit.error[i] * ELO_PER_NAT,
                )
            });
            let place = if player == anchor {
                Some((0.0, 0.0))
            } else {
                place
            };
            Rating {
                player: player.to_owned(),
                elo: place.map(|(elo, _)| elo),
                error: place.map(|(_, error)| error),
                games: games_of(matchups, player),
            }
        })
        .collect()
}

fn all_players<'a>(matchups: &'a [Matchup], anchor: &'a str) -> BTreeSet<&'a str> {
    let named = matchups
        .iter()
        .flat_map(|matchup| [matchup.first.as_str(), matchup.second.as_str()]);
    named.chain([anchor]).collect()
}

fn games_of(matchups: &[Matchup], player: &str) -> u64 {
    matchups
        .iter()
        .filter(|matchup| matchup.first == player || matchup.second == player)
        .map(|matchup| 2 * matchup.pentanomial.pairs())
        .sum()
}

/// The players that a chain of matches connects with the anchor, the anchor included.
fn connected_to<'a>(matchups: &'a [Matchup], anchor: &'a str) -> BTreeSet<&'a str> {
    let mut connected = BTreeSet::from([anchor]);
    loop {
        let before = connected.len();
        for matchup in matchups
            .iter()
            .filter(|matchup| matchup.pentanomial.pairs() > 0)
        {
            let (first, second) = (matchup.first.as_str(), matchup.second.as_str());
            if connected.contains(first) || connected.contains(second) {
                connected.extend([first, second]);
            }
        }
        if connected.len() == before {
            return connected;
        }
    }
}

/// A match between two players, by their places among the unknowns (`None` for the anchor).
struct Edge {
    first: Option<usize>,
    second: Option<usize>,
    /// Games and points of the first player, the prior's drawn game included.
    games: f64,
    points: f64,
    /// Variance of the points.
    variance: f64,
}

impl Edge {
    fn new(matchup: &Matchup, index: &BTreeMap<&str, usize>) -> Edge {
        let moments = matchup.pentanomial.moments();
        Edge {
            first: index.get(matchup.first.as_str()).copied(),
            second: index.get(matchup.second.as_str()).copied(),
            games: 2.0 * (matchup.pentanomial.pairs() as f64 + PRIOR_PAIRS),
            points: matchup.pentanomial.points() + PRIOR_PAIRS,
            // A pair's points are twice its mean score, so their variance is four times that of the score.
            variance: 4.0 * moments.variance * moments.pairs,
        }
    }

    fn expected(&self, strength: &[f64]) -> f64 {
        let of = |player: Option<usize>| player.map_or(0.0, |index| strength[index]);
        1.0 / (1.0 + (of(self.second) - of(self.first)).exp())
    }

    fn log_likelihood(&self, strength: &[f64]) -> f64 {
        let p = self.expected(strength);
        self.points * p.ln() + (self.games - self.points) * (1.0 - p).ln()
    }

    /// Adds `weight`·(e_first − e_second)(e_first − e_second)ᵀ to a matrix over the unknowns.
    fn add_outer(&self, matrix: &mut [f64], size: usize, weight: f64) {
        let signed = [(self.first, 1.0), (self.second, -1.0)];
        for (row, row_sign) in signed {
            for (column, column_sign) in signed {
                if let (Some(row), Some(column)) = (row, column) {
                    matrix[row * size + column] += weight * row_sign * column_sign;
                }
            }
        }
    }
}

/// Strengths in nats and their standard errors, one an unknown.
struct Fit {
    strength: Vec<f64>,
    error: Vec<f64>,
}

impl Fit {
    /// Newton's method with step halving; the log-likelihood is concave, and the prior makes it strictly so.
    fn maximise(edges: &[Edge], size: usize) -> Fit {
        let likelihood = |strength: &[f64]| -> f64 {
            edges.iter().map(|edge| edge.log_likelihood(strength)).sum()
        };
        let mut strength = vec![0.0; size];
        let mut best = likelihood(&strength);
        for _ in 0..100 {
            let Some(step) = newton_step(edges, &strength) else {
                break;
            };
            let mut scale = 1.0;
            let improved = loop {
                let candidate: Vec<f64> = strength
                    .iter()
                    .zip(&step)
                    .map(|(s, d)| s + scale * d)
                    .collect();
                let value = likelihood(&candidate);
                if value >= best {
                    strength = candidate;
                    break value - best;
                }
                scale /= 2.0;
                if scale < 1e-9 {
                    break 0.0;
                }
            };
            best += improved;
            if improved < 1e-12 {
                break;
            }
        }
        let error = standard_errors(edges, &strength);
        Fit { strength, error }
    }
}

fn hessian(edges: &[Edge], strength: &[f64]) -> Vec<f64> {
    let size = strength.len();
    let mut matrix = vec![0.0; size * size];
    for edge in edges {
        let p = edge.expected(strength);
        edge.add_outer(&mut matrix, size, edge.games * p * (1.0 - p));
    }
    matrix
}

fn newton_step(edges: &[Edge], strength: &[f64]) -> Option<Vec<f64>> {
    let mut gradient = vec![0.0; strength.len()];
    for edge in edges {
        let surplus = edge.points - edge.games * edge.expected(strength);
        if let Some(first) = edge.first {
            gradient[first] += surplus;
        }
        if let Some(second) = edge.second {
            gradient[second] -= surplus;
        }
    }
    Some(Cholesky::factor(&hessian(edges, strength), strength.len())?.solve(&gradient))
}

/// Square roots of the diagonal of H⁻¹JH⁻¹.
fn standard_errors(edges: &[Edge], strength: &[f64]) -> Vec<f64> {
    let size = strength.len();
    let Some(factor) = Cholesky::factor(&hessian(edges, strength), size) else {
        return vec![f64::INFINITY; size];
    };
    let mut scatter = vec![0.0; size * size];
    for edge in edges {
        edge.add_outer(&mut scatter, size, edge.variance);
    }
    let inverse = factor.inverse();
    (0..size)
        .map(|unknown| {
            let row = &inverse[unknown * size..][..size];
            let variance: f64 = (0..size)
                .flat_map(|i| (0..size).map(move |j| (i, j)))
                .map(|(i, j)| row[i] * scatter[i * size + j] * row[j])
                .sum();
            variance.sqrt()
        })
        .collect()
}

#[cfg(test)]
mod tests;
