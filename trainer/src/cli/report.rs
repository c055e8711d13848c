//! `falconzero report`: a run on one page.

use super::{json_file, text_file};
use crate::report::{CONTROL, Report, page, table};
use crate::run::Run;
use crate::values::table::{TABLE_VERSION, ValueTable};
use crate::values::{Sources, ValuesConfig, first_table};
use anyhow::Context;
use model::DeviceChoice;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Write a run's report: one self-contained HTML page, and the same numbers as JSON and CSV.
///
/// The page shows what was trained, curves, the values of the men by each method, verdicts on published claims, values by
/// part of the game and by square, and games to step through. It needs no network.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder or URL of the run.
    #[arg(long)]
    run: String,
    /// The page to write; the JSON and CSV files go beside it [default: report.html in the run's folder].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Values that `falconzero values --json` has written, with its matches [default: measured now, without matches].
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// Values of a run of orthodox chess, to show as the control.
    #[arg(long, value_name = "FILE")]
    control: Option<PathBuf>,
    /// Where the net is evaluated: auto, cpu or gpu:0.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
}

const EXAMPLES: &str = "\
Examples:
  falconzero report --run runs/falcon-quick
  falconzero values --run runs/falcon-overnight --odds-games 2000 \\
      --claim-games 1000 --json values.json
  falconzero report --run runs/falcon-overnight --values values.json \\
      --control chess.json --out report.html";

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let run = Run::open(&args.run)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| run.local_folder().join("report.html"));
    check_outputs(&out, &args)?;
    let tables = run.tablebases()?;
    let sources = Sources {
        storage: &run.storage,
        variant: &run.variant,
        device: args.device,
        inference: run.config.inference,
        tables: tables.as_ref(),
        stop: &AtomicBool::new(false),
    };
    let values = match &args.values {
        Some(path) => read(path)?,
        None => first_table(&sources, &ValuesConfig::default(), &mut |_, _, _| {})?,
    };
    anyhow::ensure!(
        values.variant == run.variant.name(),
        "the values are of {}, the run is of {}; give those of this run",
        values.variant,
        run.variant.name()
    );
    let (of_values, of_run) = (Path::new(&values.run), Path::new(run.storage.url()));
    if values.run != run.storage.url() && !text_file::is_same(of_values, of_run) {
        tracing::warn!(
            "the values were measured on '{}', the curves and games are those of '{}'",
            values.run,
            run.storage.url()
        );
    }
    let control = args.control.as_deref().map(read).transpose()?;
    if let Some(control) = &control {
        anyhow::ensure!(
            control.variant == CONTROL,
            "the control is orthodox chess, whose values are known; --control has values of {}",
            control.variant
        );
    }
    let report = Report::gather(&run, &sources, values, control)?;
    text_file::write(&out, &page::html(&report, &run.variant)?)?;
    json_file::write(&out.with_extension("json"), &report)?;
    text_file::write(&out.with_extension("csv"), &table::csv(&report))?;
    println!(
        "written: {}, with the same numbers as .json and .csv",
        out.display()
    );
    Ok(())
}

/// The three files are written side by side, so that none may be in the way of another, or of what is read.
fn check_outputs(out: &Path, args: &Args) -> anyhow::Result<()> {
    json_file::check(Some(out))?;
    let (json, csv) = (out.with_extension("json"), out.with_extension("csv"));
    anyhow::ensure!(
        out != json && out != csv,
        "--out is the page's name; JSON and CSV go beside it: give --out {}",
        out.with_extension("html").display()
    );
    let inputs = [args.values.as_deref(), args.control.as_deref()];
    for output in [out, &json, &csv] {
        for input in inputs.into_iter().flatten() {
            anyhow::ensure!(
                !text_file::is_same(output, input),
                "the report would overwrite '{}', which it is to read; give another name: --out report.html",
                input.display()
            );
        }
    }
    Ok(())
}

/// Reads a table of values.
fn read(path: &Path) -> anyhow::Result<ValueTable> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the values '{}'", path.display()))?;
    let unknown = || {
        format!(
            "'{}' is not what `falconzero values --json` of this version writes; write it again",
            path.display()
        )
    };
    let table: ValueTable = serde_json::from_str(&text).with_context(unknown)?;
    anyhow::ensure!(table.version == TABLE_VERSION, unknown());
    Ok(table)
}
