//! The newest net on samples that it learns from and on held-out ones.

use crate::learn::batch::Batcher;
use crate::learn::holdout::{self, HoldoutReport};
use crate::learn::sample::Sample;
use crate::replay::Replay;
use crate::run::Run;
use crate::values::phase::{Phase, part_of};
use model::load_net;
use rules::tablebase::Tablebases;
use selfplay::record::GameRecord;
use serde::Serialize;
use std::sync::Arc;

/// The net on one kind of samples, of one phase or of all.
#[derive(Clone, Debug, Serialize)]
pub struct FitRow {
    /// The phase; `None` for all.
    pub phase: Option<Phase>,
    /// Whether these games are held out; else the net learns from them.
    pub held_out: bool,
    /// The measures.
    pub report: HoldoutReport,
}

/// What a net has learnt, and what it has learnt by heart.
#[derive(Clone, Debug, Serialize)]
pub struct NetFit {
    /// Rows in pairs: samples learnt from, samples held out; first of all phases, then of each.
    pub rows: Vec<FitRow>,
}

impl NetFit {
    /// Measures a net, its file's bytes and their name, on as many as `most` samples of either kind, both from the same,
    /// newest stretch of games.
    ///
    /// # Errors
    /// If the net cannot be read. Games that cannot be learnt from are left out with a warning.
    pub(super) fn measure<'a>(
        run: &Run,
        (bytes, origin): (&[u8], &str),
        tables: Option<Arc<Tablebases>>,
        games: impl IntoIterator<Item = &'a GameRecord>,
        most: usize,
    ) -> anyhow::Result<NetFit> {
        let device = run.config.device.device()?;
        let (net, _) = load_net(bytes, origin, &run.variant, &device)?;
        let mut replay = Replay::new(run.variant.clone(), &run.config.learn, tables);
        for game in games {
            if let Err(error) = replay.add(game) {
                tracing::warn!("game {} is left out: {error}", game.game_id);
            }
        }
        let batcher = Batcher::new(run.variant.clone(), 0.0);
        let [learnt, held_out] = of_one_stretch(&replay, run.config.learn.holdout_every, most);
        let kinds = [(false, learnt), (true, held_out)];
        let mut rows = Vec::new();
        let phases = [Phase::Opening, Phase::Middlegame, Phase::Endgame];
        for phase in std::iter::once(None).chain(phases.map(Some)) {
            for (held_out, samples) in &kinds {
                let is_of = |sample: &&&Sample| {
                    phase.is_none_or(|p| part_of(&run.variant, &sample.position).phase == p)
                };
                let samples: Vec<&Sample> = samples.iter().filter(is_of).copied().collect();
                if !samples.is_empty() {
                    rows.push(FitRow {
                        phase,
                        held_out: *held_out,
                        report: holdout::evaluate(&net, &batcher, &samples),
                    });
                }
            }
        }
        Ok(NetFit { rows })
    }
}

/// Samples learnt from and held-out ones, at most so many of either, of the same games' time: what early and late games teach
/// is not equally hard to foresee, so that samples of different stretches could not be compared.
fn of_one_stretch(replay: &Replay, holdout_every: u64, most: usize) -> [Vec<&Sample>; 2] {
    let times = holdout_every as usize - 1;
    let held_out = most
        .min(replay.holdout().len())
        .min(replay.window().len().div_ceil(times));
    let learnt = (held_out * times).min(replay.window().len());
    let stride = learnt.div_ceil(most).max(1);
    [
        replay
            .window()
            .skip(replay.window().len() - learnt)
            .step_by(stride)
            .collect(),
        replay
            .holdout()
            .skip(replay.holdout().len() - held_out)
            .collect(),
    ]
}
