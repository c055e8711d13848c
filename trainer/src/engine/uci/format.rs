//! UCI's lines from the engine.

use crate::engine::event::Report;
use crate::engine::notation::Notation;
use crate::engine::options::{OptionKind, OptionSpec};
use crate::engine::score::{centipawns, mate_in, thousandths};
use rules::Variant;
use selfplay::search::Line;

/// `option name … type …`.
pub(super) fn option(option: &OptionSpec) -> String {
    let name = option.name;
    match &option.kind {
        OptionKind::Check(value) => format!("option name {name} type check default {value}"),
        OptionKind::Spin { value, least, most } => {
            format!("option name {name} type spin default {value} min {least} max {most}")
        }
        OptionKind::Text(text) | OptionKind::File(text) => {
            let text = if text.is_empty() { "<empty>" } else { text };
            format!("option name {name} type string default {text}")
        }
        OptionKind::Button => format!("option name {name} type button"),
    }
}

/// An option with a fixed list of values.
pub(super) fn combo(name: &str, value: &str, values: &[&str]) -> String {
    let mut text = format!("option name {name} type combo default {value}");
    for value in values {
        text += " var ";
        text += value;
    }
    text
}

/// What Fairy-Stockfish says about a variant when it is chosen.
pub(super) fn variant(variant: &Variant, notation: Notation) -> String {
    format!(
        "variant {} files {} ranks {} pocket {} template fairy startpos {}",
        variant.name(),
        variant.files(),
        variant.ranks(),
        variant.hand_roles().len(),
        notation.fen(variant.start_fen())
    )
}

/// `info …`, a line for each of the report's.
pub(super) fn info(report: &Report, with_wdl: bool) -> Vec<String> {
    let notation = Notation::uci(&report.variant);
    let line = |(index, line): (usize, &Line)| {
        format!(
            "info depth {} seldepth {} multipv {} score {}{} nodes {} nps {} hashfull {} time {} pv {}",
            line.pv.len(),
            (report.deepest as usize).max(line.pv.len()),
            index + 1,
            score(line),
            if with_wdl { wdl(line) } else { String::new() },
            report.nodes,
            report.speed(),
            (report.fullness * 1000.0) as u32,
            report.elapsed.as_millis(),
            notation.line(&report.variant, report.position, &line.pv)
        )
    };
    report.lines.iter().enumerate().map(line).collect()
}

fn score(line: &Line) -> String {
    match mate_in(line.proven) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", centipawns(line.q())),
    }
}

fn wdl(line: &Line) -> String {
    let [win, draw, loss] = thousandths(line.wdl);
    format!(" wdl {win} {draw} {loss}")
}
