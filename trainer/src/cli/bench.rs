//! `falconzero bench`: how fast this machine is at each step of the loop.

mod inference;
mod rates;
mod selfplay;

use crate::config::RunConfig;
use crate::learn::Learner;
use crate::learn::batch::Batcher;
use crate::learn::sample::{Sample, samples};
use crate::variant;
use ::selfplay::game::GameConfig;
use ::selfplay::games::GameStream;
use ::selfplay::layout::{CurrentNet, RunInfo};
use ::selfplay::storage::Storage;
use ::selfplay::worker::WorkerConfig;
use inference::InferenceBench;
use model::{DeviceChoice, Inference, NetMeta, NetShape, save_net};
use rules::Variant;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measure positions/s of the net, self-play and training on this machine, with a fresh net.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A recipe, for its net, search and self-play [default: the defaults of reference.toml].
    recipe: Option<PathBuf>,
    /// Name of a built-in variant, or path of a variant's TOML file; overrides the recipe.
    #[arg(long)]
    variant: Option<String>,
    /// `auto`, `cpu` or `gpu:0`; overrides the recipe.
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// `auto`, `int8`, `bf16`, `f32` or `burn`: how self-play evaluates nets; overrides the recipe.
    #[arg(long)]
    inference: Option<Inference>,
    /// Seconds for each measurement, 0.1 to 3600.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    #[command(flatten)]
    rates: rates::RatesArgs,
}

const EXAMPLES: &str = "\
Examples:
  falconzero bench
  falconzero bench configs/runs/falcon-overnight.toml --seconds 20

Training uses all cores. Nothing else should run.";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let mut config = match &args.recipe {
        Some(path) => RunConfig::load(path)?,
        None => RunConfig::default(),
    };
    if let Some(name) = args.variant {
        config.run.variant = name;
    }
    config.device = args.device.unwrap_or(config.device);
    config.inference = args.inference.unwrap_or(config.inference);
    let time = Duration::from_secs_f64(args.seconds);
    if rates::wanted(&args.rates) {
        return rates::run(&args.rates, &*variant::load(&config.run.variant)?, time);
    }
    let bench = Bench {
        variant: variant::load(&config.run.variant)?,
        time: Duration::from_secs_f64(args.seconds),
        config,
    };
    let net = &bench.config.net;
    println!(
        "variant {}, net {}x{}, device {}",
        bench.config.run.variant, net.blocks, net.channels, bench.config.device
    );
    let learner = bench.learner()?;
    let net = bench.net(&learner)?;
    let inference = InferenceBench {
        variant: &bench.variant,
        net: &net,
        device: bench.config.device,
        inference: bench.config.inference,
        time: bench.time,
    };
    inference.run()?;
    let games = bench.selfplay(&net)?;
    bench.training(learner, &games)
}

/// Parses a duration in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number from 0.1 to 3600".to_owned()),
    }
}

struct Bench {
    config: RunConfig,
    variant: Arc<Variant>,
    time: Duration,
}

impl Bench {
    fn learner(&self) -> anyhow::Result<Learner> {
        let RunConfig {
            learn, net, run, ..
        } = &self.config;
        let device = self.config.device.device()?;
        Ok(Learner::new(
            learn,
            *net,
            NetShape::new(&self.variant),
            run.seed,
            &device,
        )?)
    }

    /// A fresh net as bytes.
    fn net(&self, learner: &Learner) -> anyhow::Result<Vec<u8>> {
        let net = learner.averaged_net();
        Ok(save_net(
            &net,
            &NetMeta::new(&self.variant, *net.config(), "bench", 0),
        )?)
    }

    /// One worker, then one a core; returns samples of their games.
    fn selfplay(&self, net: &[u8]) -> anyhow::Result<Vec<Sample>> {
        let storage = Storage::in_memory();
        RunInfo::new(self.variant.name(), self.config.run.seed).create(&storage)?;
        CurrentNet {
            id: "bench".to_owned(),
            step: 0,
        }
        .publish(&storage, net.to_vec())?;
        let worker = WorkerConfig {
            run_seed: self.config.run.seed,
            device: self.config.device,
            inference: self.config.inference,
            game: GameConfig {
                search: self.config.search.clone(),
                selfplay: self.config.selfplay.clone(),
                tablebases: None,
            },
            starts: self.config.starts.clone(),
            games_in_parallel: self.config.run.games_in_parallel,
            ..WorkerConfig::new(self.variant.clone())
        };
        selfplay::run(&storage, &worker, self.time)?;
        let scan = GameStream::new(&storage).scan()?;
        let samples = scan
            .games
            .iter()
            .map(|game| samples(&self.variant, game, None))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(samples.into_iter().flatten().collect())
    }

    fn training(&self, mut learner: Learner, samples: &[Sample]) -> anyhow::Result<()> {
        anyhow::ensure!(
            !samples.is_empty(),
            "no game was finished in time to train on; give more time: --seconds 20"
        );
        let batch_size = self.config.learn.batch_size;
        let batcher = Batcher::new(self.variant.clone(), self.config.learn.value_from_search);
        let mut draws = samples.iter().cycle();
        let mut batch_time = Duration::ZERO;
        let mut steps = 0u32;
        let mut begun = Instant::now();
        while steps == 0 || begun.elapsed() < self.time {
            let batching = Instant::now();
            let drawn: Vec<&Sample> = draws.by_ref().take(batch_size).collect();
            let batch = batcher.batch(&drawn, &learner.device());
            batch_time += batching.elapsed();
            learner.step(&batch, 0.0);
            steps += 1;
            if steps == 1 && learner.counters.steps == 1 {
                // The first step warms up allocator and caches.
                (steps, batch_time, begun) = (0, Duration::ZERO, Instant::now());
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let rate = f64::from(steps) * batch_size as f64 / seconds;
        println!(
            "training, batch {batch_size:3}       {rate:9.0} samples/s, {:.0}% of it making batches",
            100.0 * batch_time.as_secs_f64() / seconds
        );
        let begun = Instant::now();
        let bytes = learner.checkpoint()?;
        println!(
            "checkpoint               {:9.1} ms, {:.1} MB",
            begun.elapsed().as_secs_f64() * 1e3,
            bytes.len() as f64 / 1e6
        );
        Ok(())
    }
}
