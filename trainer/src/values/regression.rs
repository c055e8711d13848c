//! Piece values from game outcomes.
//!
//! Material alone predicts results tolerably well, so the weights that predict them best are values of the men
//! (Tomašev et al. 2020, arXiv 2009.04374, who fit tanh(w·Δ) to AlphaZero's games). The model here is
//!
//! E[White's score] = σ(Σ_r w_r·Δ_r + t·m), σ(x) = 1/(1 + e^(−x)),
//!
//! where Δ_r is White's number of men of role r less Black's, and m is +1 with White to move and −1 with Black to move.
//! A result in −1…1 is 2·score − 1 and tanh(x) = 2σ(2x) − 1, so the link is the same as theirs up to a factor that the
//! ratios w_r/w_pawn do not see; the fit maximises the likelihood instead of least squares. There is no intercept: with
//! colours mirrored, the position and the result are mirrored too. Each position of `quiet_positions`
//! is a row; errors come from resampling whole games.

use super::bootstrap::Bootstrap;
use super::census::census;
use super::estimate::{Estimate, Evidence, Men, Method, Scales, ratio};
use super::logistic::Design;
use rules::{Color, Outcome, Position, Variant};
use std::collections::BTreeMap;

/// Rows for the regression, collected game by game.
#[derive(Debug, Clone)]
pub struct Regression<'a> {
    men: Men<'a>,
    variant: &'a Variant,
    design: Design,
    /// Positions that a row stands for: equal material within a game is one row.
    counts: Vec<f64>,
    /// The game of each row.
    games_of_rows: Vec<usize>,
    games: usize,
}

impl<'a> Regression<'a> {
    /// No games yet.
    pub fn new(variant: &'a Variant) -> Regression<'a> {
        let men = Men::new(variant);
        let design = Design {
            columns: men.roles().count() + 1,
            ..Design::default()
        };
        Regression {
            men,
            variant,
            design,
            counts: Vec::new(),
            games_of_rows: Vec::new(),
            games: 0,
        }
    }

    /// Adds the sampled positions of one game; a game without positions counts for nothing.
    pub fn add_game(&mut self, outcome: Outcome, positions: &[Position]) {
        let mut rows: BTreeMap<Vec<i8>, f64> = BTreeMap::new();
        for position in positions {
            *rows.entry(self.features(position)).or_insert(0.0) += 1.0;
        }
        let score = match outcome {
            Outcome::WhiteWins => 1.0,
            Outcome::Draw => 0.5,
            Outcome::BlackWins => 0.0,
        };
        for (features, count) in &rows {
            self.design
                .features
                .extend(features.iter().map(|&feature| f64::from(feature)));
            self.design.scores.push(score);
            self.counts.push(*count);
            self.games_of_rows.push(self.games);
        }
        self.games += usize::from(!rows.is_empty());
    }

    /// Material differences of the men, White less Black, then the side to move as ±1.
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
            .chain([turn])
            .collect()
    }

    /// Games with at least one position.
    pub fn games(&self) -> usize {
        self.games
    }

    /// Fits the values, with intervals from a bootstrap over games; `None` without a game.
    pub fn estimate(&self, bootstrap: Bootstrap) -> Option<Estimate> {
        if self.games == 0 {
            return None;
        }
        let point = self
            .design
            .fit(&self.counts, &vec![0.0; self.design.columns]);
        let draws = bootstrap.over_games(self.games, |multiplicities| {
            let rows = self.counts.iter().zip(&self.games_of_rows);
            let weights: Vec<f64> = rows
                .map(|(count, &game)| count * multiplicities[game])
                .collect();
            self.scales(&self.design.fit(&weights, &point), &weights)
        });
        let evidence = Evidence {
            games: self.games as u64,
            positions: self.counts.iter().sum::<f64>() as u64,
            of_men: self
                .evidence_of_men(&self.counts)
                .iter()
                .map(|&count| count as u64)
                .collect(),
        };
        Some(Estimate::assemble(
            Method::OutcomeRegression,
            self.men,
            &evidence,
            &self.scales(&point, &self.counts),
            &draws,
        ))
    }

    /// Positions, by weight, in which the sides have different numbers of each man.
    fn evidence_of_men(&self, weights: &[f64]) -> Vec<f64> {
        let mut evidence = vec![0.0; self.design.columns - 1];
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
            pawns: in_units_of(self.men.pawn()),
            knights: in_units_of(self.men.knight()),
            logits,
        }
    }
}

#[cfg(test)]
mod tests;
