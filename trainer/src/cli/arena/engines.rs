//! The part of the command line that is about engines.

use crate::arena::config::MatchConfig;
use crate::arena::external::cecp;
use crate::arena::external::client::Patience;
use crate::arena::external::clock::{Limit, TimeControl, seconds_of};
use crate::arena::external::player::{Engine, Player};
use crate::arena::external::referee::Table;
use crate::arena::external::spec::{EngineSpec, Protocol};
use crate::arena::spec::{ContestantSpec, Equipment};
use anyhow::{Context, ensure};
use rules::Variant;
use std::sync::Arc;
use std::time::Duration;

/// Settings of matches in which an engine plays.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Engines (contestants uci:COMMAND and cecp:COMMAND)")]
pub struct EngineArgs {
    /// Option of the first contestant's engine; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    a_option: Vec<String>,
    /// Option of the second contestant's engine.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    b_option: Vec<String>,
    /// Name by which the first contestant's engine knows the variant [default: the variant's].
    #[arg(long, value_name = "NAME")]
    a_variant: Option<String>,
    /// Name by which the second contestant's engine knows the variant.
    #[arg(long, value_name = "NAME")]
    b_variant: Option<String>,
    /// Clock of the engines: [MOVES/]SECONDS[+INCREMENT], such as 1+0.1.
    #[arg(long, group = "limit", value_parser = TimeControl::parse)]
    tc: Option<TimeControl>,
    /// Seconds for each move of the engines [default: 1].
    #[arg(long, group = "limit", value_name = "SECONDS", value_parser = seconds_of)]
    st: Option<Duration>,
    /// Nodes for each move of the engines.
    #[arg(long, group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Plies of the engines' searches.
    #[arg(long, group = "limit", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Seconds by which an engine may exceed its clock before the game is lost [default: 0.25].
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of)]
    grace: Option<Duration>,
    /// Seconds after which an engine counts as hung where no clock runs [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of)]
    patience: Option<Duration>,
}

/// A contestant on the command line.
#[derive(Debug, Clone)]
pub enum PlayerSpec {
    /// One of ours.
    Own(ContestantSpec),
    /// Another program.
    Engine(EngineSpec),
}

impl EngineArgs {
    /// Both contestants.
    ///
    /// # Errors
    /// If one is neither a contestant nor an engine, or an engine's option is given to none.
    pub fn players(&self, a: &str, b: &str) -> anyhow::Result<[PlayerSpec; 2]> {
        let player = |text: &str, options: &[String], variant: &Option<String>| {
            let Some(mut engine) = EngineSpec::parse(text)? else {
                ensure!(
                    options.is_empty() && variant.is_none(),
                    "options and names of variants are for engines, and '{text}' is none; write uci:COMMAND or cecp:COMMAND"
                );
                return Ok(PlayerSpec::Own(ContestantSpec::parse(text)?));
            };
            engine = engine.with_options(options)?;
            engine.variant.clone_from(variant);
            if engine.protocol == Protocol::Cecp {
                cecp::check_limit(self.limit())?;
            }
            Ok(PlayerSpec::Engine(engine))
        };
        Ok([
            player(a, &self.a_option, &self.a_variant)?,
            player(b, &self.b_option, &self.b_variant)?,
        ])
    }

    /// Refuses limits of engines in a match without one, where they would mean nothing.
    ///
    /// # Errors
    /// If one was given.
    pub fn check_needless(&self) -> anyhow::Result<()> {
        let is_limited = self.tc.is_some() || self.st.is_some();
        let is_waited_for = self.grace.is_some() || self.patience.is_some();
        ensure!(
            !is_limited && !is_waited_for && self.nodes.is_none() && self.depth.is_none(),
            "--tc, --st, --nodes, --depth, --grace and --patience are for engines, and neither contestant is one: nets play by --simulations; \
             to give a net a clock, let it play as an engine: 'uci:falconzero engine --net NET'"
        );
        Ok(())
    }

    /// What limits the engines' searches.
    pub fn limit(&self) -> Limit {
        if let Some(control) = self.tc {
            return Limit::Clock(control);
        }
        if let Some(nodes) = self.nodes {
            return Limit::Nodes(nodes);
        }
        if let Some(depth) = self.depth {
            return Limit::Depth(depth);
        }
        Limit::MoveTime(self.st.unwrap_or(Duration::from_secs(1)))
    }

    /// Tables with both players, engines started.
    ///
    /// # Errors
    /// If a net cannot be loaded or an engine not be started.
    pub fn tables(
        &self,
        specs: &[PlayerSpec; 2],
        variant: &Arc<Variant>,
        equipment: Equipment,
        count: usize,
    ) -> anyhow::Result<Vec<Table>> {
        let usual = Patience::default();
        let patience = Patience {
            grace: self.grace.unwrap_or(usual.grace),
            longest: self.patience.unwrap_or(usual.longest),
        };
        let player = |spec: &PlayerSpec| {
            anyhow::Ok(match spec {
                PlayerSpec::Own(spec) => Player::Own(spec.build(variant, equipment)?),
                PlayerSpec::Engine(spec) => Player::Engine(Engine::start(spec, variant, patience)?),
            })
        };
        let table = |_| {
            let mut players = [player(&specs[0])?, player(&specs[1])?];
            Player::tell_apart(&mut players);
            anyhow::Ok(players)
        };
        (0..count)
            .map(table)
            .collect::<anyhow::Result<_>>()
            .context("this match cannot be played")
    }
}

/// Tables that this machine can serve: only one of the two players of each thinks at any time, and a core is left for the rest.
pub fn default_tables(config: &MatchConfig) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores - 1).clamp(1, config.pairs())
}
