//! CECP's lines from the engine, and its moves.

use crate::engine::event::Report;
use crate::engine::notation::Notation;
use crate::engine::options::{OptionKind, OptionSpec};
use crate::engine::score::{centipawns, mate_in};
use crate::engine::session::Session;
use rules::{Move, Position, Variant, export};
use selfplay::search::Line;

/// The score of a mate in no moves; one in N moves is N above it, or below its negative.
const MATE: i32 = 100_000;

/// What the engine can do, in answer to `protover`.
pub(super) fn features(session: &Session) -> Vec<String> {
    let names = session.variant_names().into_iter();
    let variants: Vec<String> = names
        .filter(|name| {
            let variant = session.find_variant(name);
            variant.is_ok_and(|variant| export::xboard(&variant).is_ok())
        })
        .map(export::xboard_name)
        .collect();
    let mut lines =
        vec![
        "feature done=0".to_owned(),
        format!("feature myname=\"falconzero {}\"", env!("CARGO_PKG_VERSION")),
        format!("feature variants=\"{}\"", variants.join(",")),
        "feature ping=1 setboard=1 playother=1 usermove=1 san=0 time=1 draw=0 reuse=1 analyze=1"
            .to_owned(),
        "feature sigint=0 sigterm=0 colors=0 ics=0 name=0 pause=0 debug=1 memory=1 smp=1"
            .to_owned(),
    ];
    let options = session.options();
    // The client has ways of its own to set these.
    let own = |option: &&OptionSpec| {
        !matches!(option.name, "Hash" | "Threads" | "Ponder" | "UCI_ShowWDL")
    };
    lines.extend(options.iter().filter(own).map(option));
    lines.push("feature done=1".to_owned());
    lines
}

fn option(option: &OptionSpec) -> String {
    let name = option.name;
    let text = match &option.kind {
        OptionKind::Check(value) => format!("{name} -check {}", i32::from(*value)),
        OptionKind::Spin { value, least, most } => format!("{name} -spin {value} {least} {most}"),
        OptionKind::Text(text) => format!("{name} -string {text}"),
        OptionKind::File(text) => format!("{name} -file {text}"),
        OptionKind::Button => format!("{name} -button"),
    };
    format!("feature option=\"{}\"", text.replace('"', "'"))
}

/// `ply score time nodes pv`, a line for each of the report's.
pub(super) fn thinking(report: &Report) -> Vec<String> {
    let notation = Notation::cecp(&report.variant);
    let line = |line: &Line| {
        format!(
            "{} {} {} {} {}",
            line.pv.len(),
            score(line),
            report.elapsed.as_millis() / 10,
            report.nodes,
            plain(&notation.line(&report.variant, report.position, &line.pv))
        )
    };
    report.lines.iter().map(line).collect()
}

fn score(line: &Line) -> i32 {
    match mate_in(line.proven) {
        Some(moves) if moves > 0 => MATE + moves,
        Some(moves) => moves - MATE,
        None => centipawns(line.q()),
    }
}

/// The answer to `.`: time, nodes, ply, and moves left to look at, of which there are always none.
pub(super) fn status(report: &Report) -> String {
    format!(
        "stat01: {} {} {} 0 {}",
        report.elapsed.as_millis() / 10,
        report.nodes,
        report.lines.first().map_or(0, |line| line.pv.len()),
        report.lines.len()
    )
}

/// The text of a move: castling is the king's move alone.
pub(super) fn write_move(
    variant: &Variant,
    notation: Notation,
    position: &Position,
    mv: Move,
) -> String {
    plain(&notation.write(variant, position, mv))
}

/// Leaves out the partner's square of castlings.
fn plain(text: &str) -> String {
    let words = text.split(' ');
    let plain = words.map(|word| word.split('/').next().unwrap_or(word));
    plain.collect::<Vec<_>>().join(" ")
}

/// The legal move that a client means. It may leave out castling's partner, if that is clear, and the letter of a
/// promotion, which is then the [usual](Variant::usual_promotion) one; letters of promotions may be large.
pub(super) fn read_move(
    variant: &Variant,
    notation: Notation,
    position: &Position,
    text: &str,
) -> Option<Move> {
    let legal = position.legal_moves(variant);
    let written = |mv: Move| notation.write(variant, position, mv);
    let exact = legal.iter().find(|&&mv| written(mv) == text);
    if let Some(&mv) = exact {
        return Some(mv);
    }
    if text.starts_with(['O', '0']) {
        let san = text.replace('0', "O");
        return variant.parse_san(position, &san).ok();
    }
    let small = match text.contains('@') {
        true => text.to_owned(),
        false => text.to_ascii_lowercase(),
    };
    let is_meant = |mv: &&Move| plain(&written(**mv)) == small;
    legal.iter().find(is_meant).copied().or_else(|| {
        let promotes = |mv: &&Move| {
            let letter = mv
                .promotion()
                .map(|role| variant.roles()[role.index()].letter);
            letter.is_some_and(|letter| {
                let letter = letter.to_ascii_lowercase();
                written(**mv).strip_suffix(letter) == Some(small.as_str())
            })
        };
        legal
            .iter()
            .filter(promotes)
            .find(|mv| mv.promotion() == variant.usual_promotion())
            .copied()
    })
}
