//! A sceptic's look at a run: were the games played by the rules, do the targets follow from them, what do searches add
//! to the net, and does the net know more than its training samples.
//!
//! 1. [`Replayed`]: every game once more by the rules, and every target from scratch.
//! 2. [`SearchTally`]: the values that nets and searches gave while playing, against what came of the games.
//! 3. [`NetFit`]: the newest net on samples that it learns from and on held-out ones, by phase, with its calibration.
//! 4. [`Audit`]: all of it, with the net's judgement of solved endings, as text and as JSON.

mod fit;
mod replay;
mod report;
mod searches;

pub use fit::{FitRow, NetFit};
pub use replay::{Fault, Replayed};
pub use searches::{SearchRow, SearchTally};

use crate::game_stats::GameStats;
use crate::pipeline::net_step;
use crate::run::Run;
use crate::time_use::WorkerTime;
use crate::values::exact::{Agreement, agreement};
use anyhow::ensure;
use model::{Inference, load_evaluator};
use selfplay::layout::CurrentNet;
use selfplay::pace::WorkerProgress;
use serde::Serialize;

/// Positions of each solved ending that the net is asked about.
const EXACT_POSITIONS: usize = 1000;

/// What to look at.
#[derive(Clone, Copy, Debug)]
pub struct AuditConfig {
    /// The newest games, so many; at least 1.
    pub games: usize,
    /// Samples of either kind to measure the net on, at least 1.
    pub samples: usize,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditStage {
    /// Reading game files.
    Reading,
    /// Replaying games.
    Replaying,
    /// Evaluating the net.
    Measuring,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// The run's variant.
    pub variant: String,
    /// The newest net; empty if there is none.
    pub net: String,
    /// Its training steps.
    pub step: u64,
    /// What the games are like, under the names of the TensorBoard curves.
    pub games: Vec<(String, f32)>,
    /// Games looked at.
    pub game_count: usize,
    /// Mean number of training steps by which the nets that played were older than the newest.
    pub steps_behind: f32,
    /// What the workers have spent their time on.
    pub worker_time: WorkerTime,
    /// The games once more by the rules.
    pub replayed: Replayed,
    /// What nets and searches thought in play, by phase.
    pub searches: Vec<SearchRow>,
    /// The newest net on samples; `None` if there is no net.
    pub fit: Option<NetFit>,
    /// The newest net on solved endings; empty if the variant's cannot be solved.
    pub exact: Vec<Agreement>,
}

/// Audits a run; nothing in it is changed.
///
/// # Errors
/// If the run has no finished game, or its storage or net cannot be read.
pub fn audit(
    run: &Run,
    config: AuditConfig,
    on_progress: &mut dyn FnMut(AuditStage, usize, usize),
) -> anyhow::Result<Audit> {
    on_progress(AuditStage::Reading, 0, config.games);
    let games = run.newest_games(config.games)?;
    ensure!(
        !games.is_empty(),
        "the run has no finished game yet; wait until its workers have played some"
    );
    let net = CurrentNet::read(&run.storage)?;
    let step = net.as_ref().map_or(0, |net| net.step);
    let mut stats = GameStats::default();
    let mut replayed = Replayed::default();
    let mut tally = SearchTally::default();
    for (done, game) in games.iter().enumerate() {
        stats.add(game, net_step(game));
        replayed.add(&run.variant, game, run.config.learn.value_lambda);
        tally.add(&run.variant, game);
        on_progress(AuditStage::Replaying, done, games.len());
    }
    on_progress(AuditStage::Measuring, 0, 1);
    let (mut fit, mut exact) = (None, Vec::new());
    if let Some(net) = &net {
        let (bytes, origin) = run.net_bytes(&net.id)?;
        // The tables that games were adjudicated by; any others would say the same.
        let tables = run.tablebases()?;
        let loaded = (&bytes[..], origin.as_str());
        fit = Some(NetFit::measure(
            run,
            loaded,
            tables.clone(),
            &games,
            config.samples,
        )?);
        if let Some(tables) = tables {
            let device = run.config.device;
            let mut evaluator =
                load_evaluator(&bytes, &origin, &run.variant, device, Inference::Auto)?;
            exact = agreement(
                &tables,
                evaluator.as_mut(),
                EXACT_POSITIONS,
                run.config.run.seed,
            );
        }
    }
    Ok(Audit {
        variant: run.variant.name().to_owned(),
        net: net.map(|net| net.id).unwrap_or_default(),
        step,
        games: stats.scalars(),
        game_count: games.len(),
        steps_behind: stats.staleness(step),
        worker_time: WorkerTime::of(&WorkerProgress::read_all(&run.storage)?),
        replayed,
        searches: tally.rows(),
        fit,
        exact,
    })
}
