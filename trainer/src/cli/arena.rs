//! `falconzero arena`: a match between two contestants.

/// Play a match between two contestants and report the score and the Elo difference.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<()> {
    anyhow::bail!("the arena is not built yet")
}
