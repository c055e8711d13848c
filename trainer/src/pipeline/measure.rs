//! Short matches during the run: some of the published nets are rated on the run's Elo scale.

use super::publish::net_id;
use super::state::Pipeline;
use crate::arena::config::MatchConfig;
use crate::arena::rating::{Ladder, RatingRequest, rate_net};
use crate::config::ArenaConfig;
use crate::progress::Waiting;
use crate::run::Run;
use selfplay::layout::CurrentNet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

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

impl Pipeline<'_> {
    /// Rates the untrained net, which is the zero of the scale, unless that has been done. There is time for it: the
    /// workers have just begun, and there is nothing to learn from yet.
    pub(super) fn measure_untrained(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        match Ladder::read(&self.run.storage)?.nets.is_empty() {
            true => self.rate(
                &CurrentNet {
                    id: net_id(0),
                    step: 0,
                },
                stop,
            ),
            false => Ok(()),
        }
    }

    /// Rates the net just published, if it is its turn: every few nets one is rated.
    pub(super) fn measure(&mut self, net: &CurrentNet, stop: &AtomicBool) -> anyhow::Result<()> {
        let every = self.run.config.arena.every;
        match self.learner.counters.nets_published.is_multiple_of(every) {
            true => self.rate(net, stop),
            false => Ok(()),
        }
    }

    /// Rates a net. Matches that `stop` breaks off count as far as they got.
    fn rate(&mut self, net: &CurrentNet, stop: &AtomicBool) -> anyhow::Result<()> {
        let arena = &self.run.config.arena;
        self.show(Waiting::Match);
        let config = match_config(arena, arena.games, self.run.config.run.seed);
        let request = RatingRequest {
            storage: &self.run.storage,
            variant: &self.run.variant,
            device: self.run.config.device,
            threads: 1,
            config: &config,
            milestones: arena.milestones,
            net,
        };
        let rated = rate_net(request, &mut |_| match stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })?;
        if let Some(rated) = rated {
            self.elo = (net.step > 0).then_some((rated.elo, rated.error));
            let metrics = &mut self.reporter.metrics;
            metrics.scalar(net.step, "arena/elo_above_untrained", rated.elo as f32);
            metrics.scalar(net.step, "arena/elo_error", rated.error as f32);
            if let Some((greedy, _)) = Ladder::read(&self.run.storage)?.greedy() {
                metrics.scalar(
                    net.step,
                    "arena/elo_above_greedy",
                    (rated.elo - greedy) as f32,
                );
            }
        }
        Ok(())
    }
}
