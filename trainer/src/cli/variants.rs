//! `falconzero variants`: what can be played.

use rules::Variant;

/// List the built-in variants with board size and start position.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the TOML text of this variant instead: a starting point for one of your own.
    #[arg(long, value_name = "VARIANT")]
    toml: Option<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    if let Some(name) = args.toml {
        print!("{}", crate::variant::load(&name)?.toml());
        return Ok(());
    }
    let width = Variant::builtin_names()
        .iter()
        .map(|name| name.len())
        .max()
        .unwrap_or(0);
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name)?;
        println!(
            "{name:width$}  {}x{}  {}",
            variant.files(),
            variant.ranks(),
            variant.start_fen()
        );
    }
    Ok(())
}
