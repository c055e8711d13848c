//! `falconzero arena`: a match between two contestants.

use super::json_file;
use crate::arena::config::{Adjudication, MatchConfig};
use crate::arena::elo::EloEstimate;
use crate::arena::play::{MatchProgress, Team, play_match};
use crate::arena::spec::{ContestantSpec, Equipment};
use crate::{interrupt, logging, variant};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use model::DeviceChoice;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Play a match between two contestants and report the score and the Elo difference.
///
/// Games come in pairs: both contestants play each opening with White and with Black. Ctrl-C ends the match and reports
/// the pairs that are finished.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// First contestant: a net's file, a run (its current net), `greedy`, `random` or `uniform` (search without a net).
    #[arg(long, value_name = "NET")]
    a: String,
    /// Second contestant, as --a.
    #[arg(long, value_name = "NET")]
    b: String,
    /// Games to play, an even number.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Simulations a move of each contestant that searches.
    #[arg(long, default_value_t = MatchConfig::default().simulations)]
    simulations: u32,
    /// Random plies from the start array before the contestants take over.
    #[arg(long, default_value_t = MatchConfig::default().opening_plies)]
    opening_plies: u32,
    /// Plies after which a game counts as drawn.
    #[arg(long, default_value_t = MatchConfig::default().max_plies)]
    max_plies: u32,
    /// End a game as won when both searches have seen |q| of this much or more, 0 to 1, for 6 plies [default: play on].
    #[arg(long, value_name = "Q")]
    adjudicate: Option<f32>,
    /// Games that each thread keeps going at once; the size of its batches.
    #[arg(long, default_value_t = MatchConfig::default().parallel_games)]
    parallel_games: u32,
    /// Threads to play on [default: one per core, or 1 on a GPU].
    #[arg(long)]
    threads: Option<usize>,
    /// Seed of openings and of random choices.
    #[arg(long, default_value_t = MatchConfig::default().seed)]
    seed: u64,
    /// Where nets are evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// Also write the result, with every pair, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  falconzero arena --variant falcon --a runs/falcon-quick --b greedy --games 100 --simulations 16
  falconzero arena --variant falcon --a new.safetensors --b old.safetensors --games 400 --json match.json";

/// Plies of agreement before a game is adjudicated.
const AGREEMENT: u32 = 6;

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let config = MatchConfig {
        games: args.games,
        simulations: args.simulations,
        opening_plies: args.opening_plies,
        max_plies: args.max_plies,
        parallel_games: args.parallel_games,
        adjudication: args.adjudicate.map(|q| Adjudication {
            q,
            plies: AGREEMENT,
        }),
        seed: args.seed,
    };
    config.validate().context("this match cannot be played")?;
    json_file::check(args.json.as_deref())?;
    let (a, b) = (
        ContestantSpec::parse(&args.a)?,
        ContestantSpec::parse(&args.b)?,
    );
    let equipment = Equipment {
        simulations: args.simulations,
        device: args.device,
    };
    let threads = args
        .threads
        .unwrap_or_else(|| default_threads(args.device))
        .clamp(1, config.pairs());
    let teams = (0..threads)
        .map(|_| {
            Ok(Team {
                a: a.build(&variant, equipment)?,
                b: b.build(&variant, equipment)?,
            })
        })
        .collect::<anyhow::Result<Vec<Team>>>()?;
    let stop = interrupt::flag(
        "ending the match; the finished pairs count (Ctrl-C again to quit at once)",
    )?;
    let bar = progress_bar(config.pairs());
    logging::keep_clear_of(bar.clone());
    let result = play_match(&variant, &config, teams, &mut |progress| {
        show(&bar, progress);
        if stop.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    bar.finish_and_clear();
    println!("{result}");
    if let Some(path) = &args.json {
        json_file::write(path, &result)?;
    }
    Ok(())
}

fn default_threads(device: DeviceChoice) -> usize {
    match device.is_cpu() {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    }
}

fn progress_bar(pairs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{elapsed_precise} [{bar:30}] {pos}/{len} games  {msg}  {eta} left",
    )
    .expect("the template is well formed");
    ProgressBar::new(2 * pairs as u64).with_style(style.progress_chars("=> "))
}

fn show(bar: &ProgressBar, progress: &MatchProgress) {
    let score = progress.pentanomial.score().unwrap_or(0.5);
    bar.set_position(2 * progress.pentanomial.pairs());
    bar.set_message(format!(
        "{:.1}%  Elo {}",
        100.0 * score,
        EloEstimate::of(&progress.pentanomial)
    ));
}
