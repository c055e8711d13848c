//! Games of one worker and of one a core.

use selfplay::pace::WorkerProgress;
use selfplay::storage::Storage;
use selfplay::worker::{self, WorkerConfig};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Games are counted when they end. A worker begins all of its games at once, so the first ones to end are short ones; what
/// is measured begins when as many have ended as it plays at once.
const WARM_UP: u64 = 1;
/// And ends when so many times as many have ended, but not before the time is up.
const ENOUGH: u64 = 4;
/// A measurement ends after this many times its time in any case.
const PATIENCE: u32 = 20;

/// Measures one worker, then one a core, each for `time` at least.
///
/// # Errors
/// If a worker fails.
pub fn run(storage: &Storage, worker: &WorkerConfig, time: Duration) -> anyhow::Result<()> {
    let one = workers(storage, worker, 1, time)?;
    print(&one, "self-play, one worker");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores > 1 {
        let all = workers(storage, worker, cores, time)?;
        println!(
            "self-play, {cores} workers {:12.0} positions/s, {:.2} times as many",
            all.positions,
            all.positions / one.positions
        );
        println!("{:25}{:9.0} simulations/s", "", all.simulations);
        println!("{:25}{:9.0} plies/s", "", all.plies);
        println!("{:25}{:9.0} games/hour", "", 3600.0 * all.games);
    }
    Ok(())
}

/// What some workers do in a second.
#[derive(Default)]
struct Speed {
    positions: f64,
    simulations: f64,
    plies: f64,
    games: f64,
    /// Share of the time spent in the net, summed over the workers.
    net: f64,
}

fn print(speed: &Speed, title: &str) {
    println!("{title:25}{:9.0} positions/s", speed.positions);
    println!("{:25}{:9.0} simulations/s", "", speed.simulations);
    println!("{:25}{:9.0} plies/s", "", speed.plies);
    println!("{:25}{:9.0} games/hour", "", 3600.0 * speed.games);
    println!("{:25}{:9.0}% of the time in the net", "", 100.0 * speed.net);
}

fn workers(
    storage: &Storage,
    worker: &WorkerConfig,
    count: usize,
    time: Duration,
) -> anyhow::Result<Speed> {
    let speeds = std::thread::scope(|scope| {
        let start = |index| {
            scope.spawn(move || one(storage, worker, &format!("bench-{count}-{index}"), time))
        };
        let running: Vec<_> = (0..count).map(start).collect();
        running
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"))
            .collect::<anyhow::Result<Vec<Speed>>>()
    })?;
    Ok(speeds.into_iter().fold(Speed::default(), |sum, one| Speed {
        positions: sum.positions + one.positions,
        simulations: sum.simulations + one.simulations,
        plies: sum.plies + one.plies,
        games: sum.games + one.games,
        net: sum.net + one.net,
    }))
}

fn one(
    storage: &Storage,
    worker: &WorkerConfig,
    id: &str,
    time: Duration,
) -> anyhow::Result<Speed> {
    let config = WorkerConfig {
        worker_id: id.to_owned(),
        ..worker.clone()
    };
    let parallel = config.games_in_parallel as u64;
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let mut steady: Option<WorkerProgress> = None;
    let end = worker::run(storage, &config, &stop, &mut |progress| {
        if steady.is_none() && progress.games >= WARM_UP * parallel {
            steady = Some(progress.clone());
        }
        let enough = progress.games >= ENOUGH * parallel && begun.elapsed() >= time;
        if enough || begun.elapsed() >= PATIENCE * time {
            stop.store(true, Ordering::SeqCst);
        }
    })?;
    let start = steady.unwrap_or_default();
    let seconds = (end.total_seconds - start.total_seconds).max(1e-9);
    let rate = |of: fn(&WorkerProgress) -> u64| (of(&end) - of(&start)) as f64 / seconds;
    Ok(Speed {
        positions: rate(|progress| progress.positions_evaluated),
        simulations: rate(|progress| progress.simulations),
        plies: rate(|progress| progress.plies),
        games: rate(|progress| progress.games),
        net: (end.net_seconds - start.net_seconds) / seconds,
    })
}
