//! `falconzero export`: nets and variants for other programs.

mod nnue;

use super::text_file;
use crate::arena::material::MaterialTable;
use crate::arena::spec::{ContestantSpec, NetBytes};
use crate::variant;
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use model::export::onnx;
use model::{load_weights, read_meta, save_weights};
use rules::{Variant, export};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write a net, or a variant's rules, in the format of another program.
///
/// docs/export.md specifies the formats. What a program has no words for is refused by name.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The net: its file, or the folder or URL of a run (its current net).
    #[arg(long)]
    net: Option<String>,
    /// Name of a built-in variant, or path of a variant's TOML file; enough for rules [default: the net's own rules].
    #[arg(long)]
    variant: Option<String>,
    /// What to write.
    #[arg(long, value_enum)]
    format: Format,
    /// Where to [default: rules to the standard output, nets to NET.onnx, NET.safetensors or VARIANT-NET.nnue here].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    nnue: nnue::NnueArgs,
}

const EXAMPLES: &str = "\
Examples:
  falconzero export --net runs/falcon-quick --format onnx --out falcon.onnx
  falconzero export --net runs/falcon-quick --format safetensors \\
      --out falcon.safetensors
  falconzero export --variant falcon-hunter-66 --format variants-ini \\
      --out variants.ini
  # distilled on the run's games, some minutes
  falconzero export --net runs/chess-hour --format nnue
  # material only, to measure the other against
  falconzero export --variant chess --format nnue";

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The net as an ONNX graph.
    Onnx,
    /// The net's weights with their description, as `--net` takes them everywhere.
    Safetensors,
    /// A small net for Fairy-Stockfish, distilled from the net on positions of a run; without a net, material only.
    Nnue,
    /// The rules as a section of Fairy-Stockfish's variants.ini.
    VariantsIni,
    /// The rules as an ini file for Fairy-Max.
    FmaxIni,
    /// The rules as the lines `setup` and `piece` that an engine sends to XBoard.
    Xboard,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    ensure!(
        args.nnue.run.is_none() || args.format == Format::Nnue,
        "--run names the games that a net for Fairy-Stockfish is distilled on; it goes with --format nnue alone"
    );
    let net = args.net.as_deref().map(read_net).transpose()?;
    let variant = match (&args.variant, &net) {
        (Some(name), _) => variant::load(name)?,
        (None, Some(net)) => rules_of(net)?,
        (None, None) => {
            bail!("give a net by --net, or, where rules are to be written, a variant by --variant")
        }
    };
    match args.format {
        Format::Onnx | Format::Safetensors => {
            let net = net.context("this format is for nets: give one with --net")?;
            let bytes = convert(&net, &variant, args.format)?;
            let ending = match args.format {
                Format::Onnx => "onnx",
                _ => "safetensors",
            };
            let out = args
                .out
                .unwrap_or_else(|| PathBuf::from(format!("{}.{ending}", net.name)));
            keep_apart(Some(&net), &out)?;
            text_file::write_with(&out, |file| Ok(file.write_all(&bytes)?))?;
            println!("{} bytes in '{}'", bytes.len(), out.display());
        }
        Format::Nnue => nnue::run(&args.nnue, args.net.as_deref(), net, &variant, args.out)?,
        Format::VariantsIni | Format::FmaxIni | Format::Xboard => {
            let text = describe(&variant, args.format)?;
            match args.out {
                Some(out) => {
                    keep_apart(net.as_ref(), &out)?;
                    text_file::write(&out, &text)?;
                }
                None => print!("{text}"),
            }
        }
    }
    Ok(())
}

/// Checks that what is written over is not the net itself, if there is one, by whatever name it was read.
fn keep_apart(net: Option<&NetBytes>, out: &Path) -> anyhow::Result<()> {
    let Some(net) = net else { return Ok(()) };
    // Only of a file of its length: devices may have no end.
    let may_be = std::fs::metadata(out)
        .is_ok_and(|about| about.is_file() && about.len() == net.bytes.len() as u64);
    ensure!(
        !may_be || std::fs::read(out).map_or(true, |there| there != net.bytes),
        "'{}' is the net itself, which would be lost; write the export to another file",
        out.display()
    );
    Ok(())
}

fn read_net(text: &str) -> anyhow::Result<NetBytes> {
    match ContestantSpec::parse(text)? {
        ContestantSpec::Net(net) => Ok(net),
        ContestantSpec::Greedy | ContestantSpec::Random | ContestantSpec::Uniform => {
            bail!("'{text}' is not a net; give a net's file or the folder of a run")
        }
    }
}

/// The rules that a net carries with it.
fn rules_of(net: &NetBytes) -> anyhow::Result<Arc<Variant>> {
    let meta = read_meta(&net.bytes, &net.origin)?;
    Variant::from_toml(&meta.variant_toml).with_context(|| {
        format!(
            "the rules in '{}' are not valid for this program; give the variant with --variant",
            net.origin
        )
    })
}

/// A net as a file.
fn convert(net: &NetBytes, variant: &Variant, format: Format) -> anyhow::Result<Vec<u8>> {
    let (weights, meta) = load_weights(&net.bytes, &net.origin, variant)?;
    Ok(match format {
        Format::Onnx => {
            onnx::to_onnx(&weights, &meta, variant).map_err(|error| error.at_origin(&net.origin))?
        }
        Format::Safetensors
        | Format::Nnue
        | Format::VariantsIni
        | Format::FmaxIni
        | Format::Xboard => save_weights(&weights, &meta)?,
    })
}

/// A variant as text.
fn describe(variant: &Variant, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::FmaxIni => {
            let table = MaterialTable::new(variant);
            export::fairy_max(variant, &|role| (100.0 * table.value(role)).round() as u32)?
        }
        Format::Xboard => {
            let setup = export::xboard(variant)?;
            setup.lines().map(|line| format!("{line}\n")).collect()
        }
        Format::VariantsIni | Format::Onnx | Format::Safetensors | Format::Nnue => {
            export::fairy_stockfish(variant)?
        }
    })
}
