//! `falconzero variants check`: what a variant's file means.

use crate::variant;
use anyhow::Context;
use rules::Variant;
use std::path::PathBuf;

/// Explain what was understood of a variant's file, or report the mistakes in it with line and remedy.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The variant's TOML file (or a built-in variant's name).
    file: PathBuf,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let file = args.file.display();
    let builtin = args
        .file
        .to_str()
        .filter(|name| Variant::builtin_names().contains(name));
    let text = match builtin {
        Some(name) => Variant::by_name(name)?.toml().to_owned(),
        None => std::fs::read_to_string(&args.file)
            .with_context(|| format!("cannot read the variant file '{file}'; check the path"))?,
    };
    match Variant::check(&text) {
        Ok(variant) => {
            variant::check_name(&variant)?;
            print!("{}", variant.explain());
            let moves = variant.start().legal_moves(&variant).len();
            println!(
                "\n'{file}' is fine: {moves} moves at the start. Play it with --variant {file}"
            );
            Ok(())
        }
        Err(mistakes) => {
            let list: Vec<String> = mistakes
                .iter()
                .map(|mistake| format!("  {mistake}"))
                .collect();
            let count = match mistakes.len() {
                1 => "a mistake".to_owned(),
                many => format!("{many} mistakes"),
            };
            anyhow::bail!(
                "'{file}' has {count}:\n{}\ndocs/variants.md explains every field",
                list.join("\n")
            )
        }
    }
}
