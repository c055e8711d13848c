//! What a search may be told.

use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, require};

/// Settings of a [`Search`](super::Search).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// How moves are selected. Default `gumbel`.
    pub kind: SearchKind,
    /// Simulations after the root's own evaluation, at least 1. A root with one legal move gets one simulation, and a
    /// root whose result is proven stops at once. [`SearchConfig::UNLIMITED`] leaves both ends to the driver: the
    /// search goes on until its result is proven. Default 32.
    pub simulations: u32,
    /// Gumbel only: how many root moves sequential halving starts from, at least 1. Default 16.
    pub max_considered_moves: u32,
    /// Gumbel only: factor on the root's Gumbel noise, 0 or more. 1 samples moves from the improved policy, 0 makes
    /// the search deterministic (matches, analysis). Default 1.
    pub gumbel_scale: f32,
    /// `c_visit` of σ in visits, 0 or more; see [`Sigma`](super::Sigma). Default 50.
    pub c_visit: f32,
    /// `c_scale` of σ in logits per visit and point of expected score, 0 or more; see [`Sigma`](super::Sigma).
    /// Default 1.
    pub c_scale: f32,
    /// Largest bonus, in points of q (-1 to 1), that a faster win or a slower loss earns a move; 0 is off. It breaks
    /// ties so that a winning side makes progress. Default 0.02.
    pub moves_left_weight: f32,
    /// Count the second occurrence of a position inside the searched line as a draw. The value is used, never as a
    /// proof. Off, only a third occurrence by the game's own rule is a draw. Default true.
    pub twofold_is_draw: bool,
    /// Look for a mate in one among all root moves before the first simulation. Default true.
    pub mate_scan: bool,
    /// PUCT only.
    pub puct: PuctConfig,
}

/// How a search selects moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchKind {
    /// Gumbel AlphaZero: for budgets of a few to a few hundred simulations, and for making samples.
    Gumbel,
    /// PUCT (AlphaZero): for deep analysis, where the budget is not known beforehand.
    Puct,
}

/// Settings of the PUCT mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PuctConfig {
    /// Exploration constant, above 0. Default 1.5.
    pub c_puct: f32,
    /// First-play urgency: an unvisited move counts as its parent's value less this times the square root of the
    /// prior already visited; 0 or more. Default 0.25.
    pub fpu_reduction: f32,
    /// Temperature of the priors, above 0: they are softmax(logits / temperature), so that more than 1 lets the search
    /// look at more moves than the net would. Default 1.
    pub policy_temperature: f32,
    /// Concentration of the Dirichlet noise on root priors, above 0. Default 0.15.
    pub dirichlet_alpha: f32,
    /// Share of that noise in the root priors, 0 (off) to 1. Default 0.
    pub dirichlet_share: f32,
    /// With several leaves in flight: how far below even, in points of q, a simulation that waits for its evaluation
    /// counts for the moves that led to it, 0 to 1. More spreads a batch over more lines. Default 1.
    pub virtual_loss: f32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            kind: SearchKind::Gumbel,
            simulations: 32,
            max_considered_moves: 16,
            gumbel_scale: 1.0,
            c_visit: 50.0,
            c_scale: 1.0,
            moves_left_weight: 0.02,
            twofold_is_draw: true,
            mate_scan: true,
            puct: PuctConfig::default(),
        }
    }
}

impl Default for PuctConfig {
    fn default() -> Self {
        Self {
            c_puct: 1.5,
            fpu_reduction: 0.25,
            policy_temperature: 1.0,
            dirichlet_alpha: 0.15,
            dirichlet_share: 0.0,
            virtual_loss: 1.0,
        }
    }
}

impl SearchConfig {
    /// The most that [`simulations`](SearchConfig::simulations) may be in a recipe.
    pub const MOST_SIMULATIONS: u32 = 1_000_000;
    /// As [`simulations`](SearchConfig::simulations): no bound but a proof.
    pub const UNLIMITED: u32 = u32::MAX;

    /// What logits are divided by before they become priors. Gumbel's σ is made for logits as they are.
    pub(super) fn policy_temperature(&self) -> f32 {
        match self.kind {
            SearchKind::Gumbel => 1.0,
            SearchKind::Puct => self.puct.policy_temperature,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let PuctConfig {
            c_puct,
            fpu_reduction,
            policy_temperature,
            dirichlet_alpha,
            dirichlet_share,
            virtual_loss,
        } = self.puct;
        require(
            (1..=Self::MOST_SIMULATIONS).contains(&self.simulations),
            "search.simulations",
            self.simulations,
            "from 1 to 1000000",
        )?;
        require(
            self.max_considered_moves >= 1,
            "search.max_considered_moves",
            self.max_considered_moves,
            "at least 1",
        )?;
        for (field, value) in [
            ("search.gumbel_scale", self.gumbel_scale),
            ("search.c_visit", self.c_visit),
            ("search.c_scale", self.c_scale),
            ("search.puct.fpu_reduction", fpu_reduction),
        ] {
            require(value.is_finite() && value >= 0.0, field, value, "0 or more")?;
        }
        for (field, value) in [
            ("search.puct.c_puct", c_puct),
            ("search.puct.policy_temperature", policy_temperature),
            ("search.puct.dirichlet_alpha", dirichlet_alpha),
        ] {
            require(value.is_finite() && value > 0.0, field, value, "above 0")?;
        }
        for (field, value) in [
            ("search.moves_left_weight", self.moves_left_weight),
            ("search.puct.dirichlet_share", dirichlet_share),
            ("search.puct.virtual_loss", virtual_loss),
        ] {
            require((0.0..=1.0).contains(&value), field, value, "from 0 to 1")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_left_out_have_their_defaults_and_unknown_ones_are_refused() {
        let read = |text: &str| toml::from_str::<SearchConfig>(text);
        let config =
            read("kind = \"puct\"\nsimulations = 8\n[puct]\nc_puct = 2.0").expect("a valid table");
        let puct = PuctConfig {
            c_puct: 2.0,
            ..PuctConfig::default()
        };
        let expected = SearchConfig {
            kind: SearchKind::Puct,
            simulations: 8,
            puct,
            ..SearchConfig::default()
        };
        assert_eq!(config, expected);
        let error = read("simulatoins = 8")
            .expect_err("a misspelt field")
            .to_string();
        assert!(error.contains("simulatoins"), "{error}");
    }

    #[test]
    fn values_out_of_range_are_named() {
        assert_eq!(SearchConfig::default().validate(), Ok(()));
        let error = SearchConfig {
            c_scale: -1.0,
            ..SearchConfig::default()
        }
        .validate();
        let error = error.expect_err("a negative scale").to_string();
        assert_eq!(
            error,
            "`search.c_scale = -1.0` is out of range: it must be 0 or more"
        );
        let config = SearchConfig {
            moves_left_weight: f32::NAN,
            ..SearchConfig::default()
        };
        assert_eq!(
            config.validate().map_err(|e| e.field),
            Err("search.moves_left_weight")
        );
    }
}
