//! Piece values from game outcomes.
//!
//! Material alone predicts results tolerably well, so the weights that predict them best are values of the men
//! (Tomašev et al. 2020, arXiv 2009.04374, who fit tanh(w·Δ) to AlphaZero's games). The model here is
//!
//! E[White's score] = σ(Σ_r w_r·Δ_r + b·p + t·m), σ(x) = 1/(1 + e^(−x)),
//!
//! where Δ_r is White's number of men of role r less Black's, p is 1 if
//! White alone has bishops on squares of both colours, −1 if Black alone has, and m is +1 with White to move and −1 with Black to move.
//! A result in −1…1 is 2·score − 1 and tanh(x) = 2σ(2x) − 1, so the link is the same as theirs up to a factor that the
//! ratios w_r/w_pawn do not see; the fit maximises the likelihood instead of least squares. There is no intercept: with
//! colours mirrored, the position and the result are mirrored too. Each position of `quiet_positions`
//! is a row; errors come from resampling whole games.

use super::bootstrap::Bootstrap;
use super::census::census;
use super::estimate::{Evidence, Men, Method, Sampled, Scales, ratio};
use super::logistic::{Design, RIDGE};
use super::phase::{Part, Slice, part_of};
use rules::{Color, Outcome, Position, Variant};
use std::collections::BTreeMap;

/// Prior of the bishop pair: 0 with a standard deviation of 0.2 logits, about half a pawn. A bishop more mostly comes with the pair, so
/// that few games could hardly tell the two apart.
const PAIR_RIDGE: f64 = 25.0;

/// Rows for the regression, collected game by game.
#[derive(Debug, Clone)]
pub struct Regression<'a> {
    men: Men<'a>,
    variant: &'a Variant,
    design: Design,
    /// Positions that a row stands for: equal material within a game is one row.
    counts: Vec<f64>,
    /// The game of each row, ascending.
    games_of_rows: Vec<usize>,
    /// The part of the game that each row is from.
    parts: Vec<Part>,
    games: usize,
}

impl<'a> Regression<'a> {
    /// No games yet.
    pub fn new(variant: &'a Variant) -> Regression<'a> {
        let men = Men::new(variant);
        let design = Design {
            columns: men.roles().count() + 2,
            ridge: men
                .roles()
                .map(|_| RIDGE)
                .chain([PAIR_RIDGE, RIDGE])
                .collect(),
            ..Design::default()
        };
        Regression {
            men,
            variant,
            design,
            counts: Vec::new(),
            games_of_rows: Vec::new(),
            parts: Vec::new(),
            games: 0,
        }
    }

    /// Adds the sampled positions of one game; a game without positions counts for nothing.
    pub fn add_game(&mut self, outcome: Outcome, positions: &[Position]) {
        let mut rows: BTreeMap<(Vec<i8>, Part), f64> = BTreeMap::new();
        for position in positions {
            let row = (self.features(position), part_of(self.variant, position));
            *rows.entry(row).or_insert(0.0) += 1.0;
        }
        let score = f64::from(outcome.score(Color::White));
        for ((features, part), count) in &rows {
            self.design
                .features
                .extend(features.iter().map(|&feature| f64::from(feature)));
            self.design.scores.push(score);
            self.counts.push(*count);
            self.games_of_rows.push(self.games);
            self.parts.push(*part);
        }
        self.games += usize::from(!rows.is_empty());
    }

    /// Material differences of the men, White less Black, then that of bishop pairs, then the side to move as ±1.
    fn features(&self, position: &Position) -> Vec<i8> {
        let census = census(self.variant, position);
        let difference =
            |role: rules::Role| census.white[role.index()] as i8 - census.black[role.index()] as i8;
        let turn = match position.turn() {
            Color::White => 1,
            Color::Black => -1,
        };
        self.men
            .roles()
            .map(|(role, _)| difference(role))
            .chain([
                self.pair(position, Color::White) - self.pair(position, Color::Black),
                turn,
            ])
            .collect()
    }

    /// 1 if a side has bishops on squares of both colours.
    fn pair(&self, position: &Position, color: Color) -> i8 {
        let bishop = self.men.roles().find(|(_, info)| info.name == "bishop");
        let Some((bishop, _)) = bishop else { return 0 };
        let is_dark = |square: rules::Square| (square.file() + square.rank()).is_multiple_of(2);
        let bishops = || position.pieces(color, bishop).into_iter();
        i8::from(bishops().any(is_dark) && bishops().any(|square| !is_dark(square)))
    }

    /// Games with at least one position.
    pub fn games(&self) -> usize {
        self.games
    }

    /// Fits the values, with intervals from a bootstrap over games; `None` without a game.
    pub fn estimate(&self, bootstrap: Bootstrap) -> Option<Sampled> {
        self.estimate_in(None, bootstrap)
    }

    /// The same for some of the positions; `None` if there are none.
    pub fn estimate_in(&self, slice: Option<Slice>, bootstrap: Bootstrap) -> Option<Sampled> {
        let counts: Vec<f64> = self
            .counts
            .iter()
            .zip(&self.parts)
            .map(|(&count, &part)| {
                if slice.is_none_or(|slice| slice.has(part)) {
                    count
                } else {
                    0.0
                }
            })
            .collect();
        if counts.iter().all(|&count| count == 0.0) {
            return None;
        }
        let point = self.design.fit(&counts, &vec![0.0; self.design.columns]);
        let draws = bootstrap.over_games(self.games, |multiplicities| {
            let rows = counts.iter().zip(&self.games_of_rows);
            let weights: Vec<f64> = rows
                .map(|(count, &game)| count * multiplicities[game])
                .collect();
            self.scales(&self.design.fit(&weights, &point), &weights)
        });
        let evidence = Evidence {
            games: self.games_with(&counts),
            positions: counts.iter().sum::<f64>() as u64,
            of_men: self
                .evidence_of_men(&counts)
                .iter()
                .map(|&count| count as u64)
                .collect(),
        };
        let scales = self.scales(&point, &counts);
        Some(Sampled::new(
            Method::OutcomeRegression,
            self.men,
            &evidence,
            scales,
            draws,
        ))
    }

    /// Games with a row of some weight.
    fn games_with(&self, counts: &[f64]) -> u64 {
        let rows = self.games_of_rows.iter().zip(counts);
        let mut games: Vec<usize> = rows
            .filter(|(_, count)| **count > 0.0)
            .map(|(&game, _)| game)
            .collect();
        games.dedup();
        games.len() as u64
    }

    /// Positions, by weight, in which the sides have different numbers of each man.
    fn evidence_of_men(&self, weights: &[f64]) -> Vec<f64> {
        let mut evidence = vec![0.0; self.men.roles().count()];
        for (features, weight) in self
            .design
            .features
            .chunks(self.design.columns)
            .zip(weights)
        {
            for (sum, &feature) in evidence.iter_mut().zip(features) {
                *sum += if feature == 0.0 { 0.0 } else { *weight };
            }
        }
        evidence
    }

    /// Whether one side alone has a pair of bishops in some row.
    fn has_pairs(&self, weights: &[f64]) -> bool {
        let place = self.design.columns - 2;
        let rows = self
            .design
            .features
            .chunks(self.design.columns)
            .zip(weights);
        rows.into_iter()
            .any(|(row, weight)| row[place] != 0.0 && *weight > 0.0)
    }

    /// The fitted coefficients on all scales; a man whose numbers never differ is left out.
    fn scales(&self, coefficients: &[f64], weights: &[f64]) -> Scales {
        let evidence = self.evidence_of_men(weights);
        let logits: Vec<Option<f64>> = evidence
            .iter()
            .zip(coefficients)
            .map(|(&count, &w)| (count > 0.0).then_some(w))
            .collect();
        let in_units_of = |unit: Option<usize>| -> Vec<Option<f64>> {
            logits.iter().map(|&w| ratio(w, logits[unit?])).collect()
        };
        Scales {
            bishop_pair: self
                .has_pairs(weights)
                .then(|| {
                    let pawn = self.men.pawn().and_then(|pawn| logits[pawn]);
                    ratio(Some(coefficients[self.design.columns - 2]), pawn)
                })
                .flatten(),
            pawns: in_units_of(self.men.pawn()),
            knights: in_units_of(self.men.knight()),
            logits,
        }
    }
}

#[cfg(test)]
mod tests;
