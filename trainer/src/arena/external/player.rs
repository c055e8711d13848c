//! Who sits at a referee's table: an engine, or one of our own contestants.

use super::client::{Answer, Client, Course, Fault, Patience};
use super::clock::{Clocks, Limit};
use super::spec::EngineSpec;
use crate::arena::contestant::{Contestant, Turn};
use crate::arena::result::Forfeit;
use anyhow::{Context, anyhow};
use rules::{Outcome, Variant};
use std::sync::Arc;
use std::time::Instant;

/// A player of one game at a time.
pub enum Player {
    /// One of our own, who has no clock: what limits it is its own configuration.
    Own(Box<dyn Contestant>),
    /// Another program.
    Engine(Engine),
}

/// A name for terminals and PGN.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

/// Another program, started anew whenever it has failed.
pub struct Engine {
    spec: EngineSpec,
    variant: Arc<Variant>,
    patience: Patience,
    name: String,
    client: Option<Box<dyn Client>>,
}

impl Engine {
    /// Starts an engine.
    ///
    /// # Errors
    /// If it does not start or does not play the variant.
    pub fn start(
        spec: &EngineSpec,
        variant: &Arc<Variant>,
        patience: Patience,
    ) -> anyhow::Result<Engine> {
        let client = spec.start(variant, patience)?;
        let name = client
            .name()
            .map_or_else(|| spec.fallback_name(), printable);
        Ok(Engine {
            spec: spec.clone(),
            variant: Arc::clone(variant),
            patience,
            name,
            client: Some(client),
        })
    }

    /// Makes the engine ready for a game; one that does not get ready is started once more.
    fn new_game(&mut self, limit: Limit) -> anyhow::Result<()> {
        if let Some(client) = &mut self.client {
            match client.new_game(limit) {
                Ok(()) => return Ok(()),
                Err(fault) => tracing::warn!(
                    engine = self.name,
                    fault.reason,
                    "not ready for a new game; it is started anew"
                ),
            }
        }
        // The old process ends before a new one begins, so that they do not compete.
        self.client = None;
        let mut client = self.spec.start(&self.variant, self.patience)?;
        client
            .new_game(limit)
            .map_err(|fault| anyhow!(fault.reason))
            .with_context(|| format!("{} does not get ready for a game", self.name))?;
        self.client = Some(client);
        Ok(())
    }

    fn think(&mut self, course: &Course, clocks: &Clocks) -> Result<Answer, Fault> {
        let client = self
            .client
            .as_mut()
            .ok_or_else(|| Fault::new(Forfeit::Crashed, "the engine is not running"))?;
        let answer = client.think(course, clocks);
        // After resigning an engine is as good as before; in all other cases nobody knows what state it is in.
        if answer
            .as_ref()
            .is_err_and(|fault| fault.kind != Forfeit::Resigned)
        {
            self.client = None;
        }
        answer
    }
}

impl Player {
    /// Adds `(a)` and `(b)` to the names of engines that bear the same: as often as not they are one program with other
    /// options or nets.
    pub fn tell_apart([a, b]: &mut [Player; 2]) {
        if a.name() != b.name() {
            return;
        }
        for (player, sign) in [(a, " (a)"), (b, " (b)")] {
            if let Player::Engine(engine) = player {
                engine.name.push_str(sign);
            }
        }
    }

    /// The name in results.
    pub fn name(&self) -> &str {
        match self {
            Player::Own(contestant) => contestant.name(),
            Player::Engine(engine) => &engine.name,
        }
    }

    /// Whether a clock runs for the player.
    pub fn has_clock(&self) -> bool {
        match self {
            Player::Own(_) => false,
            Player::Engine(_) => true,
        }
    }

    /// Gets ready for a game.
    ///
    /// # Errors
    /// If an engine cannot be started, not even anew.
    pub fn new_game(&mut self, limit: Limit) -> anyhow::Result<()> {
        match self {
            Player::Own(_) => Ok(()),
            Player::Engine(engine) => engine.new_game(limit),
        }
    }

    /// A move in a game that is not over; `seed` decides random choices of our own contestants.
    ///
    /// # Errors
    /// How the player lost the game instead.
    pub fn think(&mut self, course: &Course, clocks: &Clocks, seed: u64) -> Result<Answer, Fault> {
        match self {
            Player::Own(contestant) => {
                let start = Instant::now();
                let game = &course.game;
                let choice = contestant.choose(&[Turn { game, seed }])[0];
                Ok(Answer {
                    mv: choice.mv,
                    q: choice.q,
                    elapsed: start.elapsed(),
                })
            }
            Player::Engine(engine) => engine.think(course, clocks),
        }
    }

    /// Hears how the game ended.
    pub fn game_over(&mut self, outcome: Outcome) {
        match self {
            Player::Own(_) | Player::Engine(Engine { client: None, .. }) => {}
            Player::Engine(Engine {
                client: Some(client),
                ..
            }) => client.game_over(outcome),
        }
    }
}
