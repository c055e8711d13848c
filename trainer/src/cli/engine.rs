//! `falconzero engine`: a net as a chess engine.

use crate::engine::{self, NetShelf, Settings, Setup};
use crate::variant;
use anyhow::Context;
use model::{DeviceChoice, Inference};
use std::io::{BufReader, IsTerminal, stdin, stdout};

/// Play as a chess engine over UCI or CECP (the protocol of XBoard and WinBoard).
///
/// The first command, `uci` or `xboard`, tells which. docs/engine.md shows how to install the engine in chess programs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A net's file, a run (its current net), or `uniform` to search without a net; may be given several times, for
    /// several variants [default: the net that comes with the program, if there is one for the variant].
    #[arg(long, value_name = "NET")]
    net: Vec<String>,
    /// The variant until the client names another: a built-in one's name, or the path of a TOML file [default: that of the
    /// first net, else falcon].
    #[arg(long)]
    variant: Option<String>,
    /// Memory for the search, in MiB.
    #[arg(long, default_value_t = Settings::default().hash_mib)]
    hash: usize,
    /// Threads that evaluate positions on a CPU.
    #[arg(long, default_value_t = Settings::default().threads)]
    threads: usize,
    /// Where the net is evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// How a net is evaluated: auto, int8, bf16, f32 or burn; NET@f32 says it for one net.
    #[arg(long, default_value_t = Inference::Auto)]
    inference: Inference,
}

/// The variant when nothing names one.
const DEFAULT_VARIANT: &str = "falcon";

const EXAMPLES: &str = "\
Examples:
  falconzero engine --net runs/falcon-quick
  falconzero engine --net mine.safetensors --variant mine.toml
  xboard -fcp 'falconzero engine --net runs/falcon-quick' -variant falcon";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let input = BufReader::new(stdin());
    let setup = match setup(args) {
        Ok(setup) => setup,
        Err(error) => {
            if !stdin().is_terminal() {
                engine::refuse(&format!("{error:#}"), input, stdout());
            }
            return Err(error);
        }
    };
    engine::run(setup, input, stdout()).context("what the engine says cannot be written")
}

/// What the command line asks for.
fn setup(args: Args) -> anyhow::Result<Setup> {
    let nets = NetShelf::read(args.net.iter().map(String::as_str))?;
    let variant = match (&args.variant, nets.variant()) {
        (Some(name), _) => variant::load(name)?,
        (None, Some(variant)) => variant,
        (None, None) => variant::load(DEFAULT_VARIANT)?,
    };
    let mut settings = Settings::default();
    settings.set_number("Hash", args.hash)?;
    settings.set_number("Threads", args.threads)?;
    Ok(Setup {
        variant,
        nets,
        settings,
        device: args.device,
        inference: args.inference,
    })
}
