//! `falconzero arena`: a match between two contestants.

mod engines;
mod watch;

use super::{json_file, text_file};
use crate::arena::config::{Adjudication, MatchConfig};
use crate::arena::external::referee::play_refereed;
use crate::arena::play::play_match;
use crate::arena::result::MatchResult;
use crate::arena::spec::{ContestantSpec, Equipment};
use crate::arena::sprt::Sprt;
use crate::{interrupt, process_group, variant};
use anyhow::Context;
use engines::{EngineArgs, PlayerSpec, default_tables};
use model::{DeviceChoice, Inference, InferenceChoice};
use rules::Variant;
use std::path::PathBuf;
use std::sync::Arc;
use watch::Watch;

/// What the first Ctrl-C says.
const REMINDER: &str = "ending the match; the finished pairs count (Ctrl-C again to quit at once)";

/// Play a match between two contestants and report the score and the Elo difference.
///
/// Games come in pairs: both contestants play each opening with White and with Black. Ctrl-C ends the match and reports
/// the pairs that are finished. Other programs play as `uci:COMMAND` or `cecp:COMMAND`; whatever they do, our rules decide.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// First contestant: a net's file, a run (its current net), `shipped:VARIANT` (the program's own net), `greedy`,
    /// `random`, `uniform` (search without a net), `uci:COMMAND` or `cecp:COMMAND`.
    #[arg(long, value_name = "WHO")]
    a: String,
    /// Second contestant, as --a.
    #[arg(long, value_name = "WHO")]
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
    /// Threads to play on [default: one per core, or 1 on a GPU]. With engines: games at a time [default: one core is left
    /// free].
    #[arg(long, visible_alias = "concurrency")]
    threads: Option<usize>,
    /// End the match once a sequential test has decided between two differences in Elo, with 5% errors,
    /// but not before 32 games.
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    sprt: Option<Vec<f64>>,
    /// Seed of openings and of random choices.
    #[arg(long, default_value_t = MatchConfig::default().seed)]
    seed: u64,
    /// Where nets are evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// How nets are evaluated: auto (the fastest), int8, bf16, f32 or burn. A contestant's own choice is written behind its
    /// net: net.safetensors@f32.
    #[arg(long, default_value_t = Inference::Auto)]
    inference: Inference,
    /// Also write the result, with every pair, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the games as PGN, each pair as soon as it is finished.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    #[command(flatten)]
    engines: EngineArgs,
}

const EXAMPLES: &str = "\
Examples:
  falconzero arena --variant falcon --a runs/falcon-quick --b greedy \\
      --games 100 --simulations 16
  falconzero arena --variant falcon --a new.safetensors --b old.safetensors \\
      --games 400 --json match.json
  falconzero arena --variant falcon --a runs/falcon-quick --b cecp:fairymax \\
      --st 1 --games 40 --pgn games.pgn
  falconzero arena --variant chess --a uci:stockfish \\
      --a-option 'Skill Level=0' --b runs/chess-hour --tc 10+0.1 --sprt 0 50";

/// Plies of agreement before a game is adjudicated.
const AGREEMENT: u32 = 6;

/// A match, and why it ended early if something failed.
type Outcome = (MatchResult, Option<anyhow::Error>);

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let variant = variant::load(&args.variant)?;
    let config = args.config();
    config.validate().context("this match cannot be played")?;
    json_file::check(args.json.as_deref())?;
    json_file::check(args.pgn.as_deref())?;
    if let (Some(json), Some(pgn)) = (&args.json, &args.pgn) {
        anyhow::ensure!(
            !text_file::is_same(json, pgn),
            "--json and --pgn name the same file '{}'; give two",
            json.display()
        );
    }
    let sprt = match args.sprt.as_deref() {
        Some(&[elo0, elo1]) => Some(Sprt::new(elo0, elo1)?),
        Some(_) | None => None,
    };
    let specs = args.engines.players(&args.a, &args.b)?;
    let (mut result, failure) = match &specs {
        [PlayerSpec::Own(a), PlayerSpec::Own(b)] => {
            args.play_own(&variant, &config, [a, b], sprt)?
        }
        _ => args.play_engines(&variant, &config, &specs, sprt)?,
    };
    result.sprt = sprt.map(|sprt| sprt.state(&result.pentanomial));
    println!("{result}");
    if let Some(path) = &args.json {
        json_file::write(path, &result)?;
    }
    match failure {
        Some(error) => Err(error.context("the match ended early")),
        None => Ok(()),
    }
}

impl Args {
    fn config(&self) -> MatchConfig {
        MatchConfig {
            games: self.games,
            simulations: self.simulations,
            opening_plies: self.opening_plies,
            max_plies: self.max_plies,
            parallel_games: self.parallel_games,
            adjudication: self.adjudicate.map(|q| Adjudication {
                q,
                plies: AGREEMENT,
            }),
            seed: self.seed,
        }
    }

    fn equipment(&self) -> Equipment {
        Equipment {
            simulations: self.simulations,
            device: self.device,
            inference: self.inference,
        }
    }

    /// A match between contestants of our own, all games of a thread in lockstep.
    fn play_own(
        &self,
        variant: &Arc<Variant>,
        config: &MatchConfig,
        contestants: [&ContestantSpec; 2],
        sprt: Option<Sprt>,
    ) -> anyhow::Result<Outcome> {
        self.engines.check_needless()?;
        let choice = self.inference.choose(self.device)?;
        tracing::info!("inference: {choice}");
        let threads = self.threads.unwrap_or_else(|| default_threads(&choice));
        let threads = threads.clamp(1, config.pairs());
        let teams = self.equipment().teams(variant, contestants, threads)?;
        let names = [teams[0].a.name().to_owned(), teams[0].b.name().to_owned()];
        let stop = interrupt::flag(REMINDER)?;
        let mut watch = Watch::start(variant, config, names, sprt, self.pgn.as_deref(), stop)?;
        let result = play_match(variant, config, teams, &mut |news| watch.hear(news));
        Ok((result, watch.finish()))
    }

    /// A match in which an engine plays.
    fn play_engines(
        &self,
        variant: &Arc<Variant>,
        config: &MatchConfig,
        specs: &[PlayerSpec; 2],
        sprt: Option<Sprt>,
    ) -> anyhow::Result<Outcome> {
        let count = self.threads.unwrap_or_else(|| default_tables(config));
        let count = count.clamp(1, config.pairs());
        // Before the engines are started: none may be left behind.
        let stop = interrupt::flag_and(REMINDER, process_group::end_all)?;
        let tables = self
            .engines
            .tables(specs, variant, self.equipment(), count)?;
        let names = tables[0].each_ref().map(|player| player.name().to_owned());
        let mut watch = Watch::start(variant, config, names, sprt, self.pgn.as_deref(), stop)?;
        let limit = self.engines.limit();
        let (result, failure) =
            play_refereed(variant, config, limit, tables, &mut |news| watch.hear(news));
        Ok((result, failure.or(watch.finish())))
    }
}

fn default_threads(choice: &InferenceChoice) -> usize {
    match choice.on_cpu() {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    }
}
