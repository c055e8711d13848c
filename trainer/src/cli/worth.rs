//! `falconzero worth`: what is this piece worth?

use crate::config::{MOST_MINUTES, RunConfig};
use crate::output::shell_word;
use crate::pipeline::{self, Ended, InitialNet};
use crate::run::Run;
use crate::values::history::history;
use crate::values::odds::OddsConfig;
use crate::values::{Sources, ValuesConfig, ValuesStage, first_table};
use crate::worth::{Ground, LETTER, answer, maturity, outlook};
use crate::{interrupt, progress};
use anyhow::{Context, ensure};
use model::DeviceChoice;
use rules::{PieceDiagram, Variant, betza};
use selfplay::layout::safe_segment;
use selfplay::lease::TrainerStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Share of the time for training; the rest is for matches with unequal armies.
const TRAINING_SHARE: f64 = 0.8;
/// Up to so many minutes a run from nothing uses the recipe of ten minutes, beyond them that of an hour; one that begins with
/// a net learns sooner.
const QUICK_MINUTES: f64 = 25.0;
/// Positions before a short run from a net on learns.
const QUICK_POSITIONS: u64 = 20_000;
/// Samples that a net must have learnt from before its opinion of the piece is asked: some 500 steps. Before that it is
/// what it was when the piece was new to it.
const LEAST_SAMPLES: u64 = 60_000;
/// What `--from` says for random weights.
const FROM_NOTHING: &str = "none";

/// Find out what a piece is worth: build a variant with it, train a net, and measure.
///
/// Training begins with the net that comes with the program for the game, so that the other men are known from the start.
/// The piece stands in the array of both sides: in place of the falcons of Falcon Chess (10x8, or 10x10 with --on 10x10), or of
/// the bishops of orthodox chess.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The piece's moves in Betza notation; docs/variants.md lists what is understood.
    betza: String,
    /// The game it is tried in: falcon, chess or 10x10.
    #[arg(long, default_value = "falcon")]
    on: Ground,
    /// Time for all of it in minutes, above 0; with --resume what was spent before counts.
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Folder or URL of the run to begin [default: runs/worth-BETZA, or runs/worth-BETZA-on-GAME for another game than
    /// falcon].
    #[arg(long)]
    run: Option<String>,
    /// Go on with the study that there is, with more minutes.
    #[arg(long)]
    resume: bool,
    /// The net that training begins with: its file, the folder or URL of a run, or shipped:VARIANT; `none` for random
    /// weights [default: the shipped net of the game, which knows the other men].
    #[arg(long, value_name = "NET", conflicts_with = "resume")]
    from: Option<String>,
    /// Worker processes [default: one per core].
    #[arg(long)]
    workers: Option<usize>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where tensors live: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
}

const EXAMPLES: &str = "\
Examples:
  # the bison: a (1,3)+(2,3) leaper, on 10x8
  falconzero worth CZ
  falconzero worth WD --on chess --minutes 20
  # the falcon itself
  falconzero worth nCnZ
  # go on until three hours are full
  falconzero worth nCnZ --resume --minutes 180";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = args.on.with_piece(&args.betza)?;
    ensure!(
        args.minutes > 0.0 && args.minutes <= MOST_MINUTES,
        "--minutes {} is out of range; give more than 0 and at most {MOST_MINUTES}",
        args.minutes
    );
    let config = match args.resume {
        true => None,
        false => Some(recipe(&args, &variant)?),
    };
    let location = args.run.clone().unwrap_or_else(|| default_location(&args));
    println!("{}", variant.title());
    let motions = betza::parse(&args.betza)?;
    if let Some(diagram) = PieceDiagram::new(&motions, variant.files(), variant.ranks()) {
        println!(
            "\n{}\non average {:.1} squares on an empty board, {:.1} on a crowded one\n",
            diagram.text(),
            diagram.empty_mobility(),
            diagram.crowded_mobility()
        );
    }
    let stop =
        interrupt::flag("Finishing with what there is; press Ctrl-C again to stop at once.")?;
    let mut run = match config {
        None => resume(&location, &args, &variant)?,
        Some(config) => {
            // Looked at first, so that a folder that cannot be written to is not taken for a study.
            ensure!(
                Run::open(&location).is_err(),
                "there is a run in '{location}' already; go on with it by --resume, with more --minutes than before, or give another folder: --run DIR"
            );
            Run::begin(&location, config, variant)?
        }
    };
    run.storage = run.storage.patient(stop.clone());
    if pipeline::run(&run, &stop)? == Ended::Interrupted {
        println!(
            "Stopped. Go on with\n  {}",
            resume_command(&args, args.minutes)
        );
        return Ok(());
    }
    report(&run, &args, &location, &stop).with_context(|| {
        format!(
            "the study is kept; go on with {}",
            resume_command(&args, longer(&args, 2.0))
        )
    })
}

/// Where a study lies by default: one folder for each piece and game.
fn default_location(args: &Args) -> String {
    let piece = safe_segment(&args.betza);
    match args.on {
        Ground::Falcon => format!("runs/worth-{piece}"),
        ground => format!("runs/worth-{piece}-on-{ground}"),
    }
}

/// The study that there is, with as much time as this one has.
fn resume(location: &str, args: &Args, variant: &Variant) -> anyhow::Result<Run> {
    let mut run = Run::open(location).with_context(|| {
        format!(
            "there is no study of {} to go on with; begin it without --resume",
            args.betza
        )
    })?;
    ensure!(
        run.variant.toml() == variant.toml(),
        "the run in '{location}' is of {}, and not of {}; give the run of this piece: --run DIR",
        run.variant.title(),
        variant.title()
    );
    limit(&mut run.config, args)?;
    Ok(run)
}

/// Takes over what the command line says of time and machine, also for a study that goes on.
fn limit(config: &mut RunConfig, args: &Args) -> anyhow::Result<()> {
    config.run.minutes = TRAINING_SHARE * args.minutes;
    config.run.workers = args.workers.unwrap_or_default();
    config.device = args.device;
    Ok(config.validate("the command line")?)
}

/// So many times the minutes, as far as they may be asked for.
fn longer(args: &Args, times: f64) -> f64 {
    (times * args.minutes).min(MOST_MINUTES)
}

/// The command that goes on with a study.
fn resume_command(args: &Args, minutes: f64) -> String {
    let ground = match args.on {
        Ground::Falcon => String::new(),
        other => format!(" --on {other}"),
    };
    let run = args.run.as_ref();
    let run = run.map_or_else(String::new, |run| format!(" --run {}", shell_word(run)));
    format!(
        "falconzero worth {}{ground}{run} --resume --minutes {minutes}",
        shell_word(&args.betza)
    )
}

/// The shipped recipe for so much time, and for a run that begins with a net or with none.
fn recipe(args: &Args, variant: &Variant) -> anyhow::Result<RunConfig> {
    let quick = args.minutes <= QUICK_MINUTES;
    let net = match args.from.as_deref() {
        Some(FROM_NOTHING) => None,
        given => Some(given.unwrap_or(args.on.net())),
    };
    let (text, name) = match (net, quick) {
        (Some(_), _) => (
            include_str!("../../../configs/runs/falcon-further.toml"),
            "falcon-further.toml",
        ),
        (None, true) => (
            include_str!("../../../configs/runs/falcon-quick.toml"),
            "falcon-quick.toml",
        ),
        (None, false) => (
            include_str!("../../../configs/runs/falcon-hour.toml"),
            "falcon-hour.toml",
        ),
    };
    let mut config = RunConfig::parse(text, name)?;
    if let Some(net) = net {
        config.net = InitialNet::size(net, variant).with_context(|| {
            format!(
                "training cannot begin with '{net}'; --from {FROM_NOTHING} begins without a net"
            )
        })?;
        net.clone_into(&mut config.run.initial_net);
        if quick {
            // The first thousand games instead of three thousand.
            config.learn.min_positions = QUICK_POSITIONS;
        }
    }
    config.run.seed = args.seed;
    limit(&mut config, args)?;
    Ok(config)
}

/// Measures for the rest of the time, and prints what has been found.
fn report(run: &Run, args: &Args, location: &str, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let learnt =
        TrainerStatus::read(&run.storage)?.map_or(0, |status| status.counters.samples_used);
    if learnt < LEAST_SAMPLES {
        println!(
            "The net has learnt from {learnt} samples of games with the piece, and knows as good as nothing about it before {LEAST_SAMPLES}: no value yet.\nGo on with\n  {}",
            resume_command(args, longer(args, 10.0))
        );
        return Ok(());
    }
    let time = Duration::from_secs_f64((1.0 - TRAINING_SHARE) * args.minutes * 60.0);
    let matches_end = Arc::new(AtomicBool::new(false));
    end_after(time, &matches_end, stop)?;
    let sources = Sources {
        storage: &run.storage,
        variant: &run.variant,
        device: run.config.device,
        inference: run.config.inference,
        tables: None,
        stop: &matches_end,
    };
    let config = ValuesConfig {
        odds: OddsConfig {
            games: usize::MAX / 2,
            focus: LETTER.to_string(),
            seed: args.seed,
            ..OddsConfig::default()
        },
        seed: args.seed,
        ..ValuesConfig::default()
    };
    let display = progress::Display::new();
    let mut last = Instant::now();
    let table = first_table(&sources, &config, &mut |stage, done, _| {
        if stage == ValuesStage::Playing && last.elapsed() > Duration::from_secs(10) {
            last = Instant::now();
            display.note(&format!("{done} games with unequal armies"));
        }
    })?;
    display.finish();
    let history = history(&sources, 4, args.seed)?;
    print!("{table}");
    let combined = table.combined.iter().find(|value| value.letter == LETTER);
    let combined = combined.context("the table has the piece")?;
    println!("\n{}", answer(combined, &args.betza));
    let knight = table.combined.iter().find(|value| value.letter == 'N');
    let knight = knight.and_then(|value| value.pawns);
    if let Some(text) = knight.and_then(|knight| maturity(&knight.interval)) {
        println!("{text}");
    }
    let single: Vec<_> = table
        .estimates
        .iter()
        .filter_map(|estimate| estimate.of(LETTER)?.pawns)
        .collect();
    if let Some(pawns) = combined.pawns {
        print!("{}", outlook(&pawns, &single, &history));
    }
    println!(
        "Go on with\n  {}\n  falconzero values --run {} --odds-games 1000 --focus {LETTER}",
        resume_command(args, longer(args, 2.0)),
        shell_word(location)
    );
    Ok(())
}

/// Raises a flag when the time is over or `stop` is raised.
fn end_after(time: Duration, flag: &Arc<AtomicBool>, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let (flag, stop, begun) = (Arc::clone(flag), Arc::clone(stop), Instant::now());
    let watch = move || {
        while begun.elapsed() < time && !stop.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(100));
        }
        flag.store(true, Ordering::SeqCst);
    };
    std::thread::Builder::new()
        .name("time".to_owned())
        .spawn(watch)
        .context("cannot start a thread to watch the time")?;
    Ok(())
}
