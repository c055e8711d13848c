//! `falconzero tablebase`: endgames with few men, solved.

use super::json_file;
use crate::{logging, variant};
use anyhow::{Context, ensure};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use rules::tablebase::{
    Longest, MaterialKey, SideStatistics, Stage, Statistics, TableValue, Tablebases,
};
use rules::{Position, Variant};
use selfplay::tables;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Solve an endgame with up to four men, kings included, by retrograde analysis.
///
/// Prints for each side to move how many positions are won, drawn and lost, and the longest mate. Castling, men in hand,
/// the fifty-move rule and draws by insufficient material are left out. docs/tablebases.md tells more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The men of both sides by their letters, such as KFvK; may be left out with --probe.
    #[arg(required_unless_present = "probe")]
    material: Option<String>,
    /// Name of a built-in variant, or path of a variant's TOML file.
    #[arg(long)]
    variant: String,
    /// Folder of tables: those there are used, and new ones are written there.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Memory that tables may take, in GiB.
    #[arg(long, default_value_t = 4.0, value_parser = memory)]
    memory: f64,
    /// A position to look up, as FEN; its best moves are listed.
    #[arg(long, value_name = "FEN")]
    probe: Option<String>,
    /// Also write the counts as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  # can king and falcon mate a bare king?
  falconzero tablebase KFvK --variant falcon
  # four men, kept for later use
  falconzero tablebase KBNvK --variant falcon --dir tables/falcon
  falconzero tablebase --variant chess \\
      --probe '8/8/8/3k4/8/8/8/R3K3 w - - 0 1'";

/// A number of GiB.
fn memory(text: &str) -> Result<f64, String> {
    let gib = text
        .parse::<f64>()
        .ok()
        .filter(|gib| *gib > 0.0 && gib.is_finite());
    gib.ok_or_else(|| "give a number of GiB above 0, such as 4".to_owned())
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    json_file::check(args.json.as_deref())?;
    let variant = variant::load(&args.variant)?;
    let position = match &args.probe {
        Some(fen) => Some(variant::position(&variant, Some(fen))?),
        None => None,
    };
    let key = match (&args.material, &position) {
        (Some(text), _) => MaterialKey::parse(&variant, text)?,
        (None, Some(position)) => {
            let key = MaterialKey::of(&variant, position);
            MaterialKey::parse(&variant, &key.name(&variant))?
        }
        (None, None) => anyhow::bail!("name the men, such as KRvK, or a position: --probe FEN"),
    };
    let mut all = match &args.dir {
        Some(folder) if folder.is_dir() => tables::load(&variant, folder)?,
        _ => Tablebases::new(&variant),
    };
    build(&mut all, &key, args.memory, args.dir.as_deref())?;
    let name = all.canonical(&key).name(&variant);
    let table = all.get(&key).context("the table has just been built")?;
    if args.material.is_some() {
        let statistics = table.statistics(&all);
        print!("{}", text(&variant, &name, &statistics));
        if let Some(path) = &args.json {
            json_file::write(path, &Report::new(&variant, &name, &statistics))?;
        }
    }
    if let Some(position) = position {
        let found = MaterialKey::of(&variant, &position).name(&variant);
        let answer = probe(&all, &position);
        print!(
            "{}",
            answer.with_context(|| format!(
                "{name} was asked for, and the position is one of {found}"
            ))?
        );
    }
    Ok(())
}

/// Builds what is missing, after a look at the memory, and writes it into the folder.
fn build(
    all: &mut Tablebases,
    key: &MaterialKey,
    gib: f64,
    folder: Option<&Path>,
) -> anyhow::Result<()> {
    let plan = all.plan(key)?;
    if plan.keys.is_empty() {
        return Ok(());
    }
    let variant = Arc::clone(all.variant());
    let names: Vec<String> = plan.keys.iter().map(|key| key.name(&variant)).collect();
    eprintln!(
        "building {} in {} of memory",
        names.join(", "),
        HumanBytes(plan.bytes)
    );
    ensure!(
        plan.bytes as f64 <= gib * f64::from(1 << 30),
        "the tables need {} of memory, more than the {gib} GiB allowed; allow more: --memory {:.0}",
        HumanBytes(plan.bytes),
        (plan.bytes as f64 / f64::from(1 << 30)).ceil()
    );
    let bar = ProgressBar::new(0).with_style(style());
    logging::keep_clear_of(bar.clone());
    for key in plan.keys {
        let begun = Instant::now();
        let name = key.name(&variant);
        all.build(&key, &mut |progress| {
            bar.set_message(match progress.stage {
                Stage::Legal => format!("{name}: legal positions"),
                Stage::Ends => format!("{name}: mates and captures"),
                Stage::Plies(plies) => format!("{name}: mate in {plies} plies"),
            });
            bar.set_length(progress.all);
            bar.set_position(progress.done);
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        let kept = match folder {
            Some(folder) => {
                let (path, bytes) = tables::save(all, &key, folder)?;
                format!(", {} in {}", HumanBytes(bytes), path.display())
            }
            None => String::new(),
        };
        bar.suspend(|| eprintln!("{name}: {seconds:.1} s{kept}"));
    }
    bar.finish_and_clear();
    Ok(())
}

fn style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {msg}");
    style
        .expect("the template is well formed")
        .progress_chars("=> ")
}

/// What the table says as a whole.
fn text(variant: &Variant, name: &str, statistics: &Statistics) -> String {
    let mut text = format!(
        "{name} on {}, distance to mate in plies\n\n{:<15}{:>13}{:>13}{:>13}\n",
        variant.title(),
        "to move",
        "won",
        "drawn",
        "lost"
    );
    let sides = [("White", &statistics.white), ("Black", &statistics.black)];
    for (side, counts) in sides {
        let SideStatistics {
            won, drawn, lost, ..
        } = counts;
        text += &format!("{side:<15}{won:>13}{drawn:>13}{lost:>13}\n");
        let all = (won + drawn + lost).max(1) as f64;
        let share = |count: &u64| format!("{:.2}%", 100.0 * *count as f64 / all);
        text += &format!(
            "{:<15}{:>13}{:>13}{:>13}\n",
            "",
            share(won),
            share(drawn),
            share(lost)
        );
    }
    for (side, counts) in sides {
        if let Some(Longest { plies, position }) = &counts.longest_win {
            text += &format!(
                "\nlongest win of {side}: mate in {plies} plies ({} moves)\n{}\n{}",
                plies.div_ceil(2),
                position.fen(variant),
                position.board_text(variant)
            );
        }
    }
    if sides.iter().all(|(_, counts)| counts.longest_win.is_none()) {
        text += "\nnobody can force mate from any position with the move\n";
    }
    text
}

/// The value of a position, and what each of its moves leads to, best first.
fn probe(all: &Tablebases, position: &Position) -> anyhow::Result<String> {
    let variant = all.variant();
    let value = all.probe(position).with_context(|| {
        format!(
            "the tables do not answer '{}': it has castling rights, men in hand or a king that can be captured",
            position.fen(variant)
        )
    })?;
    let mut moves: Vec<(i32, String, String)> = Vec::new();
    for mv in position.legal_moves(variant) {
        let next = position.play(variant, mv);
        let (rank, words) = match all.probe(&next) {
            Some(TableValue::Loss(plies)) => (i32::from(plies), format!("wins in {}", plies + 1)),
            Some(TableValue::Draw) => (100_000, "draws".to_owned()),
            Some(TableValue::Win(plies)) => (
                200_000 - i32::from(plies),
                format!("loses in {}", plies + 1),
            ),
            None => (300_000, "unknown".to_owned()),
        };
        moves.push((rank, variant.move_text(position, mv), words));
    }
    moves.sort();
    let mut text = format!("{}\n{}\n", position.board_text(variant), in_words(value));
    for (_, mv, words) in moves {
        text += &format!("  {mv:<8}{words}\n");
    }
    Ok(text)
}

fn in_words(value: TableValue) -> String {
    match value {
        TableValue::Win(plies) => format!("the side to move mates in {plies} plies"),
        TableValue::Draw => "a draw".to_owned(),
        TableValue::Loss(0) => "the side to move is mated".to_owned(),
        TableValue::Loss(plies) => format!("the side to move is mated in {plies} plies"),
    }
}

/// The counts as JSON.
#[derive(Serialize)]
struct Report {
    variant: String,
    material: String,
    white_to_move: Side,
    black_to_move: Side,
}

#[derive(Serialize)]
struct Side {
    won: u64,
    drawn: u64,
    lost: u64,
    mated: u64,
    longest_win_plies: Option<u16>,
    longest_win_fen: Option<String>,
}

impl Report {
    fn new(variant: &Variant, name: &str, statistics: &Statistics) -> Report {
        let side = |counts: &SideStatistics| {
            let longest = counts.longest_win.as_ref();
            Side {
                won: counts.won,
                drawn: counts.drawn,
                lost: counts.lost,
                mated: counts.mated,
                longest_win_plies: longest.map(|longest| longest.plies),
                longest_win_fen: longest.map(|longest| longest.position.fen(variant)),
            }
        };
        Report {
            variant: variant.name().to_owned(),
            material: name.to_owned(),
            white_to_move: side(&statistics.white),
            black_to_move: side(&statistics.black),
        }
    }
}
