//! Short matches during the run: some of the published nets are rated on the run's Elo scale.
//!
//! A rating has a thread of its own, so that neither learning nor self-play waits for it.

use super::publish::net_id;
use super::state::Pipeline;
use crate::arena::config::MatchConfig;
use crate::arena::rating::{Ladder, RatedNet, RatingRequest, rate_net};
use crate::config::ArenaConfig;
use crate::run::Run;
use anyhow::anyhow;
use model::{DeviceChoice, Inference};
use rules::Variant;
use selfplay::layout::CurrentNet;
use selfplay::storage::Storage;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A match of `games` games by the recipe's rules.
pub fn match_config(arena: &ArenaConfig, games: u32, seed: u64) -> MatchConfig {
    MatchConfig {
        games,
        simulations: arena.simulations,
        opening_plies: arena.opening_plies,
        max_plies: arena.max_plies,
        seed,
        ..MatchConfig::default()
    }
}

/// Elo of the net rated last above the untrained one, and half the width of its 95% interval.
pub(super) fn newest_elo(run: &Run) -> anyhow::Result<Option<(f64, f64)>> {
    let curve = Ladder::read(&run.storage)?.curve();
    Ok(curve
        .last()
        .filter(|rated| rated.step > 0)
        .map(|rated| (rated.elo, rated.error)))
}

/// A net being rated by a thread in the background.
pub(super) struct Rating {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<Option<Rated>>>,
}

/// What a rating found.
struct Rated {
    net: RatedNet,
    /// Elo of the greedy player above the untrained net, if it was played.
    greedy: Option<f64>,
}

/// What the thread needs, as its own.
struct Job {
    storage: Storage,
    variant: Arc<Variant>,
    device: DeviceChoice,
    inference: Inference,
    config: MatchConfig,
    milestones: usize,
    net: CurrentNet,
}

impl Job {
    /// Plays the net's matches. Those that `stop` breaks off count as far as they got.
    fn rate(self, stop: &AtomicBool) -> anyhow::Result<Option<Rated>> {
        let request = RatingRequest {
            storage: &self.storage,
            variant: &self.variant,
            device: self.device,
            inference: self.inference,
            threads: 1,
            config: &self.config,
            milestones: self.milestones,
            net: &self.net,
        };
        let rated = rate_net(request, &mut |_| match stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })?;
        let Some(net) = rated else { return Ok(None) };
        let greedy = Ladder::read(&self.storage)?.greedy().map(|(elo, _)| elo);
        Ok(Some(Rated { net, greedy }))
    }
}

impl Pipeline<'_> {
    /// Begins to rate the untrained net, which is the zero of the scale, unless that has been done.
    pub(super) fn measure_untrained(&mut self) -> anyhow::Result<()> {
        if Ladder::read(&self.run.storage)?.nets.is_empty() {
            self.rate(CurrentNet {
                id: net_id(0),
                step: 0,
            });
        }
        Ok(())
    }

    /// Begins to rate the net just published, if it is its turn and the rating before has ended.
    pub(super) fn measure(&mut self, net: CurrentNet) {
        let every = self.run.config.arena.every;
        if self.learner.counters.nets_published.is_multiple_of(every) {
            match self.rating {
                None => self.rate(net),
                Some(_) => {
                    tracing::debug!("net {} is not rated: the one before still is", net.id);
                }
            }
        }
    }

    fn rate(&mut self, net: CurrentNet) {
        let arena = &self.run.config.arena;
        let job = Job {
            storage: self.run.storage.clone(),
            variant: Arc::clone(&self.run.variant),
            device: self.run.config.device,
            inference: self.run.config.inference,
            config: match_config(arena, arena.games, self.run.config.run.seed),
            milestones: arena.milestones,
            net,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || job.rate(&seen));
        self.rating = Some(Rating { stop, thread });
    }

    /// Takes the result of a rating that has ended.
    pub(super) fn take_rating(&mut self) {
        if let Some(rating) = self.rating.take_if(|rating| rating.thread.is_finished()) {
            self.finish_rating(rating);
        }
    }

    /// Breaks off the rating that goes on, if there is one; what has been played counts.
    pub(super) fn break_off_rating(&mut self) {
        if let Some(rating) = self.rating.take() {
            rating.stop.store(true, Ordering::SeqCst);
            self.finish_rating(rating);
        }
    }

    /// A rating that failed costs its place on the curve, and not the run.
    fn finish_rating(&mut self, rating: Rating) {
        let crashed = |_| anyhow!("its match crashed; the message above says why");
        let rated = rating.thread.join().map_err(crashed).flatten();
        let Rated { net, greedy } = match rated {
            Ok(Some(rated)) => rated,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("a net is left without a rating: {error:#}");
                return;
            }
        };
        if net.step > 0 {
            self.elo = Some((net.elo, net.error));
        }
        let metrics = &mut self.reporter.metrics;
        metrics.scalar(net.step, "arena/elo_above_untrained", net.elo as f32);
        metrics.scalar(net.step, "arena/elo_error", net.error as f32);
        if let Some(greedy) = greedy {
            metrics.scalar(
                net.step,
                "arena/elo_above_greedy",
                (net.elo - greedy) as f32,
            );
        }
    }
}
