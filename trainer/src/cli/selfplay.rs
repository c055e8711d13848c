//! `falconzero selfplay`: a worker.

use crate::interrupt;
use crate::run::Run;
use anyhow::Context;
use model::{DeviceChoice, Inference};
use selfplay::game::GameConfig;
use selfplay::layout::safe_segment;
use selfplay::pace::WorkerProgress;
use selfplay::worker::{self, WorkerConfig};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two lines about the worker's progress.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Play self-play games for a run, with its newest net, until stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The run's folder or URL.
    #[arg(long)]
    run: String,
    /// The worker's name, which no other worker of the run has [default: from host and process].
    #[arg(long)]
    worker_id: Option<String>,
    /// `auto`, `cpu` or `gpu:0`; overrides the run's recipe.
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// `auto`, `int8`, `bf16`, `f32` or `burn`; overrides the run's recipe.
    #[arg(long)]
    inference: Option<Inference>,
    /// End when the standard input closes: the trainer's way to end its workers.
    #[arg(long)]
    until_stdin_closes: bool,
}

const EXAMPLES: &str = "\
Examples:
  # one more worker on this machine
  falconzero selfplay --run runs/falcon-quick
  # on any machine that reaches the storage
  falconzero selfplay --run s3://bucket/run

`falconzero train` starts workers of its own. A worker waits while it is too far ahead of the trainer, and ends at
Ctrl-C; all games that it has finished are safe at any time.";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let run = Run::open(&args.run)?;
    let stop = match args.until_stdin_closes {
        true => stop_when_stdin_closes()?,
        false => interrupt::flag("Finishing; press Ctrl-C again to stop at once.")?,
    };
    let config = worker_config(&run, &args)?;
    let mut last = Instant::now();
    let progress = worker::run(&run.storage, &config, &stop, &mut |progress| {
        if last.elapsed() >= LINE_EVERY {
            last = Instant::now();
            tracing::info!("{}", describe(progress));
        }
    })?;
    tracing::info!("ended: {}", describe(&progress));
    Ok(())
}

/// The worker's part of the run's recipe.
fn worker_config(run: &Run, args: &Args) -> anyhow::Result<WorkerConfig> {
    let recipe = &run.config;
    let usual = WorkerConfig::new(run.variant.clone());
    Ok(WorkerConfig {
        worker_id: args
            .worker_id
            .as_deref()
            .map_or(usual.worker_id, safe_segment),
        run_seed: recipe.run.seed,
        device: args.device.unwrap_or(recipe.device),
        inference: args.inference.unwrap_or(recipe.inference),
        game: GameConfig {
            search: recipe.search.clone(),
            selfplay: recipe.selfplay.clone(),
            tablebases: run.tablebases()?,
        },
        starts: recipe.starts.clone(),
        pace: Some(recipe.learn.pace()),
        games_in_parallel: recipe.run.games_in_parallel,
        ..WorkerConfig::new(run.variant.clone())
    })
}

fn describe(progress: &WorkerProgress) -> String {
    let seconds = progress.total_seconds.max(1e-9);
    format!(
        "{} games, {} plies, {:.0} evaluations/s, {:.0}% of the time in the net, {:.0}% waiting",
        progress.games,
        progress.plies,
        progress.positions_evaluated as f64 / seconds,
        100.0 * progress.net_seconds / seconds,
        100.0 * progress.waiting_seconds / seconds,
    )
}

/// Time that a worker has to write its last games once its trainer has ended.
const GRACE: Duration = Duration::from_secs(120);

/// A flag that is raised when the standard input ends, which happens when the trainer ends, however that happens.
fn stop_when_stdin_closes() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let watch = move || {
        let mut stdin = std::io::stdin();
        let mut byte = [0; 64];
        // An error counts as the end: without the trainer's line there is nobody to play for.
        while matches!(stdin.read(&mut byte), Ok(count) if count > 0) {}
        raised.store(true, Ordering::SeqCst);
        // A worker that does not come to an end by itself must not outlive its trainer.
        std::thread::sleep(GRACE);
        std::process::exit(1);
    };
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(watch)
        .context("cannot start a thread to watch the standard input")?;
    Ok(stop)
}
