//! How self-play games are played.

use std::sync::Arc;

use rules::tablebase::Tablebases;
use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, require};
use crate::search::SearchConfig;

/// Settings of self-play games beyond those of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlayConfig {
    /// Playout-cap randomisation (Wu 2019): chance that a ply gets a full search, with `search.simulations`, and so
    /// makes a sample; 0 to 1. Default 0.25.
    pub full_search_share: f32,
    /// A cheap search whose policy is further than this from the net's, in nats (Kullback–Leibler), is followed by a full
    /// one, whose ply is a sample; 0 is never. Default 0.
    pub full_search_surprise: f32,
    /// Simulations of a cheap search, which only moves the game on; 1 to 1000000. Default 8.
    pub cheap_simulations: u32,
    /// Gumbel scale of cheap searches, 0 or more. At 1, as in full searches, a move is a sample from the improved
    /// policy, so games differ without loss of strength in expectation. Default 1.
    pub cheap_gumbel_scale: f32,
    /// Plies at the beginning whose move is drawn from the root policy at `temperature`; after them the search's own
    /// choice is played. Default 0.
    pub temperature_plies: u16,
    /// Temperature of those plies, above 0. Default 1.
    pub temperature: f32,
    /// A side gives up when its root q (-1 to 1) is at or below minus this; above 1 is never. Default 0.95.
    pub resign_q: f32,
    /// How many of its own searches in a row must say so, at least 1. Default 5.
    pub resign_plies: u16,
    /// Share of games that nobody may resign, so that false resignations can be counted; 0 to 1. Default 0.15.
    pub resign_playout_share: f32,
    /// Plies after which a game is called a draw, at least 1. Default 400.
    pub max_plies: u16,
    /// Folder of endgame tablebases on the worker's machine; [`SelfPlayConfig::AUTO_TABLES`] for the endings with three
    /// men, solved when the worker starts; empty for none. A game that comes into one of them is over, with the table's
    /// result; one that begins in a table is played out. Default `auto`.
    pub tablebases: String,
}

/// All that decides how a game goes, besides its start, its seed and the net.
#[derive(Clone, Debug, Default)]
pub struct GameConfig {
    /// Full searches; cheap ones differ in simulations and noise.
    pub search: SearchConfig,
    /// The rest.
    pub selfplay: SelfPlayConfig,
    /// The tables of `selfplay.tablebases`, once they are loaded.
    pub tablebases: Option<Arc<Tablebases>>,
}

impl Default for SelfPlayConfig {
    fn default() -> Self {
        Self {
            full_search_share: 0.25,
            full_search_surprise: 0.0,
            cheap_simulations: 8,
            cheap_gumbel_scale: 1.0,
            temperature_plies: 0,
            temperature: 1.0,
            resign_q: 0.95,
            resign_plies: 5,
            resign_playout_share: 0.15,
            max_plies: 400,
            tablebases: Self::AUTO_TABLES.to_owned(),
        }
    }
}

impl SelfPlayConfig {
    /// What stands in place of a folder of tablebases for those that are solved on the spot.
    pub const AUTO_TABLES: &str = "auto";

    /// Checks every range.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (field, value) in [
            ("selfplay.full_search_share", self.full_search_share),
            ("selfplay.resign_playout_share", self.resign_playout_share),
        ] {
            require((0.0..=1.0).contains(&value), field, value, "from 0 to 1")?;
        }
        for (field, value) in [
            ("selfplay.resign_plies", u32::from(self.resign_plies)),
            ("selfplay.max_plies", u32::from(self.max_plies)),
        ] {
            require(value >= 1, field, value, "at least 1")?;
        }
        require(
            (1..=SearchConfig::MOST_SIMULATIONS).contains(&self.cheap_simulations),
            "selfplay.cheap_simulations",
            self.cheap_simulations,
            "from 1 to 1000000",
        )?;
        for (field, value) in [
            ("selfplay.temperature", self.temperature),
            ("selfplay.resign_q", self.resign_q),
        ] {
            require(value.is_finite() && value > 0.0, field, value, "above 0")?;
        }
        for (field, value) in [
            ("selfplay.cheap_gumbel_scale", self.cheap_gumbel_scale),
            ("selfplay.full_search_surprise", self.full_search_surprise),
        ] {
            require(value.is_finite() && value >= 0.0, field, value, "0 or more")?;
        }
        Ok(())
    }
}
