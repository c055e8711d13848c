//! `falconzero train`: a whole run.

use crate::config::RunConfig;
use crate::pipeline::{self, Ended, InitialNet};
use crate::run::Run;
use crate::{finale, interrupt, variant};
use anyhow::{Context, ensure};
use model::{DeviceChoice, Inference};
use std::path::PathBuf;

/// Train a network by self-play: start workers, learn from their games, publish nets, measure them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The recipe: a TOML file. Not needed with --resume and --run.
    #[arg(required_unless_present = "resume")]
    recipe: Option<PathBuf>,
    /// The run's folder or URL [default: the recipe's run.dir, else runs/ and the recipe's name].
    #[arg(long)]
    run: Option<String>,
    /// Go on with an existing run, with the recipe that it was started with.
    #[arg(long)]
    resume: bool,
    /// The variant: a name that `falconzero variants` lists, or the path of a TOML file; overrides the recipe of a new run.
    #[arg(long, conflicts_with = "resume")]
    variant: Option<String>,
    /// Minutes for the whole run, those before a resumption included; overrides the recipe.
    #[arg(long)]
    minutes: Option<f64>,
    /// Worker processes on this machine, 0 for one per core; overrides the recipe.
    #[arg(long)]
    workers: Option<usize>,
    /// `auto`, `cpu` or `gpu:0`; overrides the recipe.
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// How nets are evaluated: `auto`, `int8`, `bf16`, `f32` or `burn`; overrides the recipe.
    #[arg(long)]
    inference: Option<Inference>,
    /// Begin with the weights of this net instead of random ones: a net's file, the folder or URL of a run, whose
    /// current net is taken, or shipped:VARIANT for a net that comes with the program; overrides the recipe of a new run.
    #[arg(long, value_name = "NET", conflicts_with = "resume")]
    from: Option<String>,
    /// The run's seed; overrides the recipe of a new run.
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  # ten minutes, into runs/falcon-quick
  falconzero train configs/runs/falcon-quick.toml
  falconzero train configs/runs/falcon-quick.toml --run runs/b --seed 2
  # a game of your own
  falconzero train configs/runs/falcon-quick.toml \\
      --variant mine.toml --run runs/mine
  # another recipe, from the net of a run on
  falconzero train mine.toml --from runs/falcon-hour
  # go on until an hour is full
  falconzero train --resume --run runs/falcon-quick --minutes 60
  # one more worker, from any machine
  falconzero selfplay --run runs/falcon-quick

Ctrl-C ends a run cleanly, with a checkpoint. The recipes are in configs/runs; reference.toml explains every field.";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let stop = interrupt::flag("Stopping with a checkpoint; press Ctrl-C again to stop at once.")?;
    let mut run = match args.resume {
        true => resume(&args)?,
        false => begin(&args)?,
    };
    run.storage = run.storage.patient(stop.clone());
    println!("{}", headline(&run));
    match pipeline::run(&run, &stop)? {
        Ended::TimeUp => finale::finish(&run, &stop),
        Ended::Interrupted => {
            println!(
                "Stopped. Nothing is lost; go on with\n  {}",
                finale::resume_command(&run)
            );
            Ok(())
        }
    }
}

/// What is about to happen, in a line.
fn headline(run: &Run) -> String {
    let RunConfig {
        run: section, net, ..
    } = &run.config;
    format!(
        "{}: a net of {} blocks with {} channels, {} workers, {} minutes in all, into {}",
        run.variant.title(),
        net.blocks,
        net.channels,
        section.worker_count(),
        section.minutes,
        run.storage.url()
    )
}

fn begin(args: &Args) -> anyhow::Result<Run> {
    let recipe = args
        .recipe
        .as_deref()
        .context("give the path of a recipe, for instance configs/runs/falcon-quick.toml")?;
    let mut config = RunConfig::load(recipe)?;
    override_with(&mut config, args)?;
    let location = location(args, Some(&config))?;
    let variant = variant::load(&config.run.variant)?;
    // A bad net is refused before there is a run.
    InitialNet::load(&config, &variant)?;
    Run::begin(&location, config, variant)
}

fn resume(args: &Args) -> anyhow::Result<Run> {
    let config = args.recipe.as_deref().map(RunConfig::load).transpose()?;
    let location = location(args, config.as_ref())?;
    let mut run = Run::open(&location)?;
    override_with(&mut run.config, args)?;
    Ok(run)
}

fn override_with(config: &mut RunConfig, args: &Args) -> anyhow::Result<()> {
    if let Some(variant) = &args.variant {
        config.run.variant.clone_from(variant);
    }
    config.run.minutes = args.minutes.unwrap_or(config.run.minutes);
    config.run.workers = args.workers.unwrap_or(config.run.workers);
    if let Some(net) = &args.from {
        ensure!(
            !net.is_empty(),
            "--from names no net; leave it out for random weights"
        );
        config.run.initial_net.clone_from(net);
    }
    config.run.seed = args.seed.unwrap_or(config.run.seed);
    config.device = args.device.unwrap_or(config.device);
    config.inference = args.inference.unwrap_or(config.inference);
    // The options have the ranges of the fields that they override.
    Ok(config.validate("the command line")?)
}

/// Where the run is or is to be.
fn location(args: &Args, config: Option<&RunConfig>) -> anyhow::Result<String> {
    if let Some(run) = &args.run {
        return Ok(run.clone());
    }
    if let Some(config) = config.filter(|config| !config.run.dir.is_empty()) {
        return Ok(config.run.dir.clone());
    }
    let name = args.recipe.as_ref().and_then(|path| path.file_stem());
    let name =
        name.context("say which run to resume: --run DIR, or the recipe that it was started with")?;
    Ok(format!("runs/{}", name.to_string_lossy()))
}
