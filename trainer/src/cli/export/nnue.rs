//! `falconzero export --format nnue`: distillation for Fairy-Stockfish.

use super::{keep_apart, text_file};
use crate::arena::spec::NetBytes;
use crate::cli::json_file;
use crate::cli::stage_bar::StageBar;
use crate::distill::learn::UNITS_PER_NAT;
use crate::distill::{DistillConfig, DistillStage, Distilled, distill, material_net};
use crate::run::Run;
use anyhow::{Context, ensure};
use model::export::nnue::{Features, NnueNet, UNITS_PER_PAWN};
use model::{DeviceChoice, Inference, load_evaluator};
use rules::Variant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings of the distillation.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Distillation (--format nnue)")]
pub struct NnueArgs {
    /// Run whose games give the positions [default: the net's, if --net is a run].
    #[arg(long, requires = "net")]
    pub run: Option<String>,
    /// Positions to draw from the games; each is learnt from as it is and after one random move, if it is quiet.
    #[arg(long, default_value_t = DistillConfig::default().positions, value_parser = count)]
    positions: usize,
    /// Times that each position is learnt from.
    #[arg(long, default_value_t = DistillConfig::default().epochs, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Share of the game's outcome in what is learnt, 0 to 1; the rest is the net's judgement.
    #[arg(long, default_value_t = DistillConfig::default().outcome_share, value_parser = share)]
    outcome_share: f32,
    /// Seed of all random choices.
    #[arg(long, default_value_t = DistillConfig::default().seed)]
    seed: u64,
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("give a whole number of at least 1".to_owned()),
    }
}

fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1".to_owned()),
    }
}

/// Writes the net; `spec` is how the command line names `net`.
pub fn run(
    args: &NnueArgs,
    spec: Option<&str>,
    net: Option<NetBytes>,
    variant: &Arc<Variant>,
    out: Option<PathBuf>,
) -> anyhow::Result<()> {
    let features = Features::new(variant)?;
    let name = net.as_ref().map_or("material", |net| net.name.as_str());
    let out = out.unwrap_or_else(|| PathBuf::from(format!("{}-{name}.nnue", variant.name())));
    keep_apart(net.as_ref(), &out)?;
    check_name(&out, variant)?;
    json_file::check(Some(&out))?;
    let nnue = match net {
        Some(net) => distilled(args, spec, &net, variant)?,
        None => material_net(variant)?,
    };
    let bytes = nnue.to_bytes(&features);
    text_file::write_with(&out, |file| Ok(file.write_all(&bytes)?))?;
    println!("{} bytes in '{}'", bytes.len(), out.display());
    Ok(())
}

/// Fairy-Stockfish takes a net only for a variant that the file's name begins with.
fn check_name(out: &Path, variant: &Variant) -> anyhow::Result<()> {
    let name = out.file_name().map(|name| name.to_string_lossy());
    ensure!(
        name.is_some_and(|name| name.starts_with(variant.name())),
        "Fairy-Stockfish ignores a net whose file name does not begin with the variant's; call it '{}-….nnue', not '{}'",
        variant.name(),
        out.display()
    );
    Ok(())
}

fn distilled(
    args: &NnueArgs,
    spec: Option<&str>,
    net: &NetBytes,
    variant: &Arc<Variant>,
) -> anyhow::Result<NnueNet> {
    let location = args.run.as_deref().or(spec).unwrap_or_default();
    ensure!(
        args.run.is_some() || !Path::new(location).is_file(),
        "'{location}' is a net's file, and positions come from the games of a run of {}; give one with --run, be it another net's",
        variant.name()
    );
    let run = Run::open(location)
        .context("positions come from the games of a run; give one with --run")?;
    let mut teacher = load_evaluator(
        &net.bytes,
        &net.origin,
        variant,
        DeviceChoice::Auto,
        net.inference.unwrap_or(Inference::Auto),
    )?;
    let config = DistillConfig {
        positions: args.positions,
        epochs: args.epochs,
        outcome_share: args.outcome_share,
        seed: args.seed,
        ..DistillConfig::default()
    };
    let bar = StageBar::new();
    let distilled = distill(
        &run.storage,
        variant,
        &mut *teacher,
        config,
        &mut |stage, done, all| {
            let stage = match stage {
                DistillStage::Reading => "reading games",
                DistillStage::Judging => "judging positions",
                DistillStage::Learning => "learning",
            };
            bar.show(stage, done, all);
        },
    )?;
    bar.finish();
    print_fit(&distilled);
    Ok(distilled.net)
}

fn print_fit(distilled: &Distilled) {
    let [train, holdout] = distilled.positions;
    println!("{train} positions learnt from, {holdout} of other games measured on:");
    println!(
        "a pawn moves the net's log odds by {:.3} nats; lifted to {:.3}, as Fairy-Stockfish's search expects",
        distilled.nats_per_pawn,
        UNITS_PER_PAWN as f32 / UNITS_PER_NAT
    );
    println!("                 divergence/nats  error of the expected score");
    for (name, fit) in [
        ("as learnt", distilled.learnt),
        ("in floats", distilled.floats),
        ("in integers", distilled.integers),
        ("material only", distilled.material),
    ] {
        println!("{name:14} {:17.4} {:28.4}", fit.divergence, fit.error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that the engine would pass over without a word is refused with one that it takes.
    #[test]
    fn names_begin_with_the_variants() {
        let chess = Variant::by_name("chess").expect("built in");
        assert!(check_name(Path::new("nets/chess-7.nnue"), &chess).is_ok());
        let error = check_name(Path::new("chess/my.nnue"), &chess).expect_err("another name");
        assert!(error.to_string().contains("'chess-….nnue'"), "{error}");
    }
}
