//! `falconzero variants`: what can be played.

mod check;
mod show;

use rules::Variant;

/// List the built-in variants, explain or draw one, or check a file of your own.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the TOML text of this variant instead: a starting point for one of your own.
    #[arg(long, value_name = "VARIANT")]
    toml: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the built-in variants, as without a subcommand.
    List,
    Check(check::Args),
    Show(show::Args),
}

const EXAMPLES: &str = "\
Examples:
  # names, board sizes, titles and start positions
  falconzero variants
  # a file to change
  falconzero variants --toml falcon > mine.toml
  # what it means, or the mistakes in it
  falconzero variants check mine.toml
  # its rules in words and its board as a picture
  falconzero variants show falcon --svg falcon.svg

docs/variants.md explains the file format.";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    match (args.command, args.toml) {
        (Some(Command::Check(args)), _) => check::run(args),
        (Some(Command::Show(args)), _) => show::run(args),
        (Some(Command::List), _) => list(),
        (None, Some(name)) => {
            print!("{}", crate::variant::load(&name)?.toml());
            Ok(())
        }
        (None, None) => list(),
    }
}

fn list() -> anyhow::Result<()> {
    let names = Variant::builtin_names();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut title_width = 0;
    for name in names {
        title_width = title_width.max(Variant::by_name(name)?.title().chars().count());
    }
    for name in names {
        let variant = Variant::by_name(name)?;
        println!(
            "{name:width$}  {:>5}  {:title_width$}  {}",
            format!("{}x{}", variant.files(), variant.ranks()),
            variant.title(),
            variant.start_fen()
        );
    }
    Ok(())
}
