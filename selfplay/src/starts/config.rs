//! How starts are mixed.

use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, require};

/// Settings of a [`StartGenerator`](super::StartGenerator). Shares are relative: only their ratios count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartConfig {
    /// Share of games from the array. Default 0.5.
    pub opening_share: f32,
    /// Share of games from the array without some men. Default 0.2.
    pub odds_share: f32,
    /// Share of games with kings and a few men. Default 0.15.
    pub few_men_share: f32,
    /// Share of games from late positions of earlier games; openings as long as there are none. Default 0.1.
    pub archive_share: f32,
    /// Share of games from positions of the tables of `selfplay.tablebases`; openings if there are none. Default 0.05.
    pub tablebase_share: f32,
    /// Openings: least and greatest number of plies before the first searched one. Default \[0, 10\].
    pub opening_plies: [u16; 2],
    /// Openings: share whose first plies are drawn from the net's policy; the others' are uniformly random, 0 to 1.
    /// Default 0.5.
    pub sampled_share: f32,
    /// Openings: temperature of that policy, above 0. Default 1.
    pub sampled_temperature: f32,
    /// Odds: least and greatest number of men that the weaker side lacks; the other lacks none to as many.
    /// Default \[1, 6\].
    pub odds_men: [u8; 2],
    /// Odds: least and greatest number of uniformly random plies. Default \[0, 6\].
    pub odds_plies: [u16; 2],
    /// Few men: least (1 or more) and greatest number of men besides the kings. Default \[1, 6\].
    pub few_men: [u8; 2],
    /// Few men: share in which one side has the stronger men; in the others they fall at random, 0 to 1.
    /// Default 0.75.
    pub lopsided_share: f32,
}

impl Default for StartConfig {
    fn default() -> Self {
        Self {
            opening_share: 0.5,
            odds_share: 0.2,
            few_men_share: 0.15,
            archive_share: 0.1,
            tablebase_share: 0.05,
            opening_plies: [0, 10],
            sampled_share: 0.5,
            sampled_temperature: 1.0,
            odds_men: [1, 6],
            odds_plies: [0, 6],
            few_men: [1, 6],
            lopsided_share: 0.75,
        }
    }
}

impl StartConfig {
    /// Every game from the array itself, with no random plies.
    pub fn array_only() -> Self {
        Self {
            opening_share: 1.0,
            odds_share: 0.0,
            few_men_share: 0.0,
            archive_share: 0.0,
            tablebase_share: 0.0,
            opening_plies: [0, 0],
            ..Self::default()
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (field, value) in [
            ("starts.opening_share", self.opening_share),
            ("starts.odds_share", self.odds_share),
            ("starts.few_men_share", self.few_men_share),
            ("starts.archive_share", self.archive_share),
            ("starts.tablebase_share", self.tablebase_share),
        ] {
            require(value.is_finite() && value >= 0.0, field, value, "0 or more")?;
        }
        let playable = self.opening_share + self.odds_share + self.few_men_share;
        require(
            playable > 0.0,
            "starts.opening_share",
            self.opening_share,
            "above 0, unless odds_share or few_men_share is",
        )?;
        for (field, value) in [
            ("starts.sampled_share", self.sampled_share),
            ("starts.lopsided_share", self.lopsided_share),
        ] {
            require((0.0..=1.0).contains(&value), field, value, "from 0 to 1")?;
        }
        let temperature = self.sampled_temperature;
        require(
            temperature.is_finite() && temperature > 0.0,
            "starts.sampled_temperature",
            temperature,
            "above 0",
        )?;
        let ordered = "[least, greatest] in this order";
        for (field, [least, greatest]) in [
            ("starts.opening_plies", self.opening_plies),
            ("starts.odds_plies", self.odds_plies),
            ("starts.odds_men", self.odds_men.map(u16::from)),
            ("starts.few_men", self.few_men.map(u16::from)),
        ] {
            require(
                least <= greatest,
                field,
                format!("[{least}, {greatest}]"),
                ordered,
            )?;
        }
        require(
            self.odds_men[0] >= 1,
            "starts.odds_men",
            self.odds_men[0],
            "at least 1",
        )?;
        require(
            self.few_men[0] >= 1,
            "starts.few_men",
            self.few_men[0],
            "at least 1",
        )?;
        require(
            self.few_men[1] <= 16,
            "starts.few_men",
            self.few_men[1],
            "at most 16",
        )
    }
}
