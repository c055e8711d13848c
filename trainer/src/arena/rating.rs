//! The strength of a run's nets as it trains: each published net plays anchors, and one Elo scale spans them all.
//!
//! The scale's zero is the run's first net, untrained. The other fixed anchor is the greedy player; nets rated earlier are
//! milestones on the way, because a match against a far weaker player says little. All results are kept in the run's
//! storage, and ratings are fitted anew from all of them, so an early net's rating may still move a little.

use super::config::MatchConfig;
use super::elo::score_of_elo;
use super::ladder::{Matchup, rate};
use super::play::{MatchProgress, play_match};
use super::spec::{ContestantSpec, Equipment};
use model::{DeviceChoice, Inference};
use rules::Variant;
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::storage::Storage;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Version of the ladder's JSON form.
pub const LADDER_VERSION: u32 = 1;
/// Name of the greedy anchor on the ladder; ids of nets are different.
const GREEDY: &str = "greedy";
/// Anchors that the newest rated net beats with more than this score are not played again: the result is known.
const FOREGONE: f64 = 0.97;

/// All players of a run and the matches between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// [`LADDER_VERSION`].
    pub version: u32,
    /// Nets in the order in which they were rated; the first is the zero of the scale.
    pub nets: Vec<CurrentNet>,
    /// All matches so far, one entry for each two players.
    pub matchups: Vec<Matchup>,
}

/// A net's place on the run's scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedNet {
    /// The net's name in the run.
    pub id: String,
    /// Training steps the net has seen.
    pub step: u64,
    /// Elo above the untrained net.
    pub elo: f64,
    /// Half width of the 95% interval.
    pub error: f64,
    /// Games played for the rating.
    pub games: u64,
}

/// What is needed to rate a net.
#[derive(Debug, Clone, Copy)]
pub struct RatingRequest<'a> {
    /// The run.
    pub storage: &'a Storage,
    /// Its rules.
    pub variant: &'a Arc<Variant>,
    /// Where nets are evaluated.
    pub device: DeviceChoice,
    /// How nets are evaluated.
    pub inference: Inference,
    /// Threads to play on, at least 1.
    pub threads: usize,
    /// A match against one anchor.
    pub config: &'a MatchConfig,
    /// Earlier nets to play, besides the fixed anchors.
    pub milestones: usize,
    /// The net, which must have been published.
    pub net: &'a CurrentNet,
}

/// Plays a published net against its anchors and stores what came out.
///
/// The first net of a run plays the greedy anchor only and is the scale's zero. If `on_progress` breaks, the pairs played
/// so far count; `None` if there is none.
///
/// # Errors
/// If the storage fails or a net cannot be loaded.
pub fn rate_net(
    request: RatingRequest<'_>,
    on_progress: &mut dyn FnMut(&MatchProgress<'_>) -> ControlFlow<()>,
) -> anyhow::Result<Option<RatedNet>> {
    let mut ladder = Ladder::read(request.storage)?;
    let opponents = ladder.opponents(request.net, request.milestones);
    ladder.add_net(request.net);
    let player = ContestantSpec::published(request.storage, &request.net.id)?;
    for (number, name) in opponents.iter().enumerate() {
        let opponent = match name.as_str() {
            GREEDY => ContestantSpec::Greedy,
            id => ContestantSpec::published(request.storage, id)?,
        };
        // Openings differ from match to match, but not from one run of the same seed to the next.
        let seed = request
            .config
            .seed
            .wrapping_add(request.net.step << 8)
            .wrapping_add(number as u64);
        let config = MatchConfig {
            seed,
            ..request.config.clone()
        };
        let mut stopped = false;
        let result = {
            let equipment = Equipment {
                simulations: config.simulations,
                device: request.device,
                inference: request.inference,
            };
            let teams = equipment.teams(request.variant, [&player, &opponent], request.threads)?;
            play_match(request.variant, &config, teams, &mut |progress| {
                let flow = on_progress(progress);
                stopped = flow.is_break();
                flow
            })
        };
        ladder.add_match(&request.net.id, name, result.pentanomial);
        if stopped {
            break;
        }
    }
    ladder.write(request.storage)?;
    Ok(ladder
        .curve()
        .into_iter()
        .find(|rated| rated.id == request.net.id))
}

impl Ladder {
    /// The ladder of a run, empty if no net has been rated yet.
    ///
    /// # Errors
    /// If the storage fails or holds something else under the ladder's name.
    pub fn read(storage: &Storage) -> anyhow::Result<Ladder> {
        let empty = Ladder {
            version: LADDER_VERSION,
            nets: Vec::new(),
            matchups: Vec::new(),
        };
        let ladder: Ladder = storage
            .find_json(&RunPaths::arena("ladder"))?
            .unwrap_or(empty);
        anyhow::ensure!(
            ladder.version == LADDER_VERSION,
            "'{}' has version {}, this program knows {LADDER_VERSION}; use the program that wrote it, or delete it to rate \
             the nets to come anew",
            storage.object_url(&RunPaths::arena("ladder")),
            ladder.version
        );
        Ok(ladder)
    }

    /// Stores the ladder.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn write(&self, storage: &Storage) -> anyhow::Result<()> {
        Ok(storage.put_json(&RunPaths::arena("ladder"), self)?)
    }

    /// The Elo curve of the run: every rated net in the order of rating. Nets without a finished game are left out.
    pub fn curve(&self) -> Vec<RatedNet> {
        let ratings = self.ratings();
        let place = |net: &CurrentNet| {
            let rating = ratings.iter().find(|rating| rating.player == net.id)?;
            let (elo, error) = (rating.elo?, rating.error?);
            Some(RatedNet {
                id: net.id.clone(),
                step: net.step,
                elo,
                error,
                games: rating.games,
            })
        };
        self.nets.iter().filter_map(place).collect()
    }

    /// Elo of the greedy anchor and its error, where it is known.
    pub fn greedy(&self) -> Option<(f64, f64)> {
        let ratings = self.ratings();
        let rating = ratings.iter().find(|rating| rating.player == GREEDY)?;
        Some((rating.elo?, rating.error?))
    }

    fn ratings(&self) -> Vec<super::ladder::Rating> {
        self.nets
            .first()
            .map_or_else(Vec::new, |anchor| rate(&self.matchups, &anchor.id))
    }

    fn add_net(&mut self, net: &CurrentNet) {
        if self.nets.iter().all(|known| known.id != net.id) {
            self.nets.push(net.clone());
        }
    }

    fn add_match(
        &mut self,
        first: &str,
        second: &str,
        pentanomial: super::pentanomial::Pentanomial,
    ) {
        let same = |matchup: &&mut Matchup| matchup.first == first && matchup.second == second;
        match self.matchups.iter_mut().find(same) {
            Some(matchup) => matchup.pentanomial.merge(&pentanomial),
            None => self.matchups.push(Matchup {
                first: first.to_owned(),
                second: second.to_owned(),
                pentanomial,
            }),
        }
    }

    /// Whom a net should play: the fixed anchors unless the result is foregone, the net rated last, and those nearest to a
    /// half, a quarter, … of its training steps.
    fn opponents(&self, net: &CurrentNet, milestones: usize) -> Vec<String> {
        let earlier: Vec<&CurrentNet> = self
            .nets
            .iter()
            .filter(|known| known.id != net.id)
            .collect();
        let Some((anchor, later)) = earlier.split_first() else {
            return vec![GREEDY.to_owned()];
        };
        let nearest = |step: u64| later.iter().min_by_key(|known| known.step.abs_diff(step));
        let wanted = (1..64)
            .map(|halvings| net.step >> halvings)
            .filter_map(nearest);
        let mut chosen: Vec<String> = Vec::new();
        for candidate in later.last().into_iter().chain(wanted) {
            if chosen.len() < milestones && !chosen.contains(&candidate.id) {
                chosen.push(candidate.id.clone());
            }
        }
        let newest = self.curve().last().map_or(0.0, |rated| rated.elo);
        let fixed = [
            (anchor.id.clone(), Some(0.0)),
            (GREEDY.to_owned(), self.greedy().map(|(elo, _)| elo)),
        ];
        for (name, elo) in fixed {
            let foregone = elo.is_some_and(|elo| score_of_elo(newest - elo) > FOREGONE);
            if chosen.is_empty() || !foregone {
                chosen.push(name);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests;
