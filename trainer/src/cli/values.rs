//! `falconzero values`: what the pieces are worth.

/// Estimate what each piece is worth from a run's games and net.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_args: Args) -> anyhow::Result<()> {
    anyhow::bail!("piece values are not built yet")
}
