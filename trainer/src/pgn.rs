//! Game records as PGN, for people and for other programs.

use anyhow::Context;
use rules::{Position, Variant};
use selfplay::record::GameRecord;

/// A recorded game as PGN: nets as players, how it ended, `Variant`, `FEN` unless it began as the variant does, `Result`,
/// and the moves in SAN.
///
/// # Errors
/// If the record does not follow the variant's rules.
pub fn of_record(variant: &Variant, record: &GameRecord) -> anyhow::Result<String> {
    let moves = record.plies.iter().enumerate().map(|(index, ply)| {
        let wrong = || {
            format!(
                "game {}, ply {index}: the record was written under other rules than the run's",
                record.game_id
            )
        };
        let position = Position::from_fen(variant, &ply.fen).with_context(wrong)?;
        variant.parse_move(&position, &ply.mv).with_context(wrong)
    });
    let moves = moves.collect::<anyhow::Result<Vec<_>>>()?;
    let first = record.plies.first().context("the game has no plies")?;
    let start = Position::from_fen(variant, &first.fen)?;
    let player = player(record);
    let seed = record.seed.to_string();
    let tags = [
        ("Event", "self-play"),
        ("Site", record.worker_id.as_str()),
        ("Round", record.game_id.as_str()),
        ("White", &player),
        ("Black", &player),
        ("Seed", &seed),
        ("Start", record.start_kind.as_str()),
        ("Termination", record.end.as_str()),
    ];
    Ok(variant.pgn(&tags, &start, &moves, Some(record.outcome)))
}

/// The net that played, or the first and the last one.
fn player(record: &GameRecord) -> String {
    let net = |ply: Option<&selfplay::record::PlyRecord>| {
        ply.map_or("", |ply| ply.net_id.as_str()).to_owned()
    };
    let (first, last) = (net(record.plies.first()), net(record.plies.last()));
    match first == last {
        true => format!("net {first}"),
        false => format!("nets {first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::test_games::{random_game, record_of};
    use rules::Outcome;

    #[test]
    fn a_record_becomes_tags_and_moves() {
        let falcon = Variant::by_name("falcon").expect("built in");
        let record = record_of(&falcon, "g1", &["e2e4", "e7e5", "d1f4"], Outcome::BlackWins);
        let pgn = of_record(&falcon, &record).expect("a game");
        for part in [
            "[White \"net 000000\"]",
            "[Variant \"falcon\"]",
            "[Result \"0-1\"]",
            "\n\n1. e4 e5 2. Ff4 0-1\n",
        ] {
            assert!(pgn.contains(part), "'{part}' is missing in:\n{pgn}");
        }
        assert!(!pgn.contains("[FEN"), "{pgn}");
    }

    /// The moves of a game that began anywhere read back with the rules' own reader.
    #[test]
    fn the_text_replays_to_the_same_game() {
        let hunter = Variant::by_name("hunter-chess").expect("built in");
        let mut record = random_game(&hunter, 5, 80, &|_| 0.5);
        record.plies.drain(..11);
        let pgn = of_record(&hunter, &record).expect("a game");
        let fen = pgn
            .split("[FEN \"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let mut position = Position::from_fen(&hunter, fen.expect("a start")).expect("a position");
        let (_, words) = pgn.split_once("\n\n").expect("moves");
        let words = words.split_whitespace().filter(|word| !word.ends_with('.'));
        let mut played = 0;
        for (word, ply) in words.zip(&record.plies) {
            assert_eq!(position.fen(&hunter), ply.fen);
            let mv = hunter.parse_san(&position, word).expect("a legal move");
            position = position.play(&hunter, mv);
            played += 1;
        }
        assert_eq!(played, record.plies.len());
    }

    #[test]
    fn a_game_of_other_rules_is_refused() {
        let [chess, falcon] =
            ["chess", "falcon"].map(|name| Variant::by_name(name).expect("built in"));
        let record = record_of(&chess, "g1", &["e2e4"], Outcome::Draw);
        let error = format!("{:#}", of_record(&falcon, &record).expect_err("chess"));
        assert!(
            error.contains("game g1, ply 0") && error.contains("other rules"),
            "{error}"
        );
    }
}
