//! Tables against known numbers, against the rules themselves and against damage.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{Position, Variant};

/// Five files by five ranks: pawns that promote, men of crooked moves, a hopper and a lame leaper.
const SMALL: &str = r#"
name = "small"
title = "A small board"
start = "kphcn/5/5/5/KPHCN w - - 0 1"
board = { files = 5, ranks = 5 }
promotion = { to = "HC" }
piece = [
  { letter = "P", name = "pawn", betza = "fmWfceFifmnD", pawn = true },
  { letter = "H", name = "hunter", betza = "fRbB" },
  { letter = "C", name = "cannon", betza = "mRcpR" },
  { letter = "N", name = "lame knight", betza = "nN" },
  { letter = "K", name = "king", betza = "K", royal = true },
]
"#;

fn tables(name: &str, material: &str) -> (Tablebases, MaterialKey) {
    let variant = match name {
        "small" => Variant::from_toml(SMALL),
        name => Variant::by_name(name),
    };
    let variant = variant.expect("a variant");
    let mut tables = Tablebases::new(&variant);
    let key = MaterialKey::parse(&variant, material).expect("material");
    tables.build(&key, &mut |_| {}).expect("built");
    (tables, key)
}

fn longest_win(name: &str, material: &str) -> Option<u16> {
    let (tables, key) = tables(name, material);
    let table = tables.get(&key).expect("built");
    table
        .statistics(&tables)
        .white
        .longest_win
        .map(|longest| longest.plies)
}

/// Known for a century: 16 moves with the rook, 10 with the queen, 28 with the pawn, none with one minor piece.
#[test]
fn orthodox_endings_take_as_long_as_known() {
    assert_eq!(longest_win("chess", "KRvK"), Some(31));
    assert_eq!(longest_win("chess", "KQvK"), Some(19));
    assert_eq!(longest_win("chess", "KPvK"), Some(55));
    assert_eq!(longest_win("chess", "KNvK"), None);
    assert_eq!(longest_win("chess", "KBvK"), None);
}

/// Each value is one ply from the best of its successors; that and the mates determine a table.
#[test]
fn values_follow_from_those_after_each_move() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (name, material) in [
        ("chess", "KPvK"),
        ("falcon", "KFvK"),
        ("falcon-hunter-66", "KFvK"),
        ("small", "KHvKN"),
        ("small", "KPvKN"),
        ("small", "KCCvK"),
        ("small", "KPPvK"),
        ("falcon-10x10-p3", "KPvK"),
    ] {
        let (tables, key) = tables(name, material);
        let variant = Arc::clone(tables.variant());
        let table = tables.get(&key).expect("built");
        let mut checked = 0;
        while checked < 2000 {
            let cell = rng.random_range(0..table.cells());
            let Some((mut position, mut value)) = table.entry(&tables, cell) else {
                continue;
            };
            if tables.geometry_flips() && rng.random_bool(0.5) {
                position = position.mirror(&variant);
                value = tables.probe(&position).expect("the mirrored position");
                assert_eq!(
                    Some(value),
                    table.entry(&tables, cell).map(|(_, value)| value)
                );
            }
            assert_eq!(tables.probe(&position), Some(value));
            assert_eq!(
                value,
                from_successors(&tables, &position),
                "{}",
                position.fen(&variant)
            );
            checked += 1;
        }
    }
}

/// The value by the rules' own moves and the tables' values after them.
fn from_successors(tables: &Tablebases, position: &Position) -> TableValue {
    let variant = tables.variant();
    let moves = position.legal_moves(variant);
    if moves.is_empty() {
        return match position.is_check(variant) {
            true => TableValue::Loss(0),
            false => TableValue::Draw,
        };
    }
    let (mut win, mut loss, mut all_lose) = (None::<u16>, 0, true);
    for mv in moves {
        let next = position.play(variant, mv);
        match tables
            .probe(&next)
            .unwrap_or_else(|| panic!("no value of {}", next.fen(variant)))
        {
            TableValue::Loss(plies) => {
                win = Some(win.map_or(plies + 1, |best| best.min(plies + 1)))
            }
            TableValue::Draw => all_lose = false,
            TableValue::Win(plies) => loss = loss.max(plies + 1),
        }
    }
    match win {
        Some(plies) => TableValue::Win(plies),
        None if all_lose => TableValue::Loss(loss),
        None => TableValue::Draw,
    }
}

/// King and falcon do mate a bare king; the mates themselves were counted by another program.
#[test]
fn mates_are_counted_one_by_one() {
    for (name, material, mates) in [("falcon", "KFvK", 16), ("falcon-10x10", "KFvK", 16)] {
        let (tables, key) = tables(name, material);
        let statistics = tables.get(&key).expect("built").statistics(&tables);
        assert_eq!(statistics.black.mated, mates, "{name} {material}");
        assert_eq!(
            (statistics.white.drawn, statistics.white.lost),
            (0, 0),
            "{name} {material}"
        );
    }
}

#[test]
fn files_come_back_and_damage_is_told() {
    let (tables, key) = tables("small", "KHvK");
    let bytes = tables.to_bytes(&key).expect("built");
    let mut read = Tablebases::new(tables.variant());
    assert_eq!(read.insert_bytes(&bytes), Ok(key.clone()));
    let (old, new) = (
        tables.get(&key).expect("built"),
        read.get(&key).expect("read"),
    );
    assert!(old.cells == new.cells);
    for length in (0..bytes.len()).step_by(17) {
        assert!(
            read.insert_bytes(&bytes[..length]).is_err(),
            "cut at {length}"
        );
    }
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..200 {
        let mut damaged = bytes.clone();
        let at = rng.random_range(0..bytes.len());
        damaged[at] ^= 1 << rng.random_range(0..8);
        // zstd has header bits without meaning; what is read must be what was written.
        if read.insert_bytes(&damaged).is_ok() {
            assert!(read.get(&key).expect("read").cells == old.cells);
        }
    }
    let other = Variant::by_name("falcon-8x8").expect("built in");
    let error = Tablebases::new(&other)
        .insert_bytes(&bytes)
        .expect_err("other rules");
    assert!(error.to_string().contains("other rules"), "{error}");
}

#[test]
fn what_tables_cannot_say_is_refused_by_name() {
    let chess = Variant::by_name("chess").expect("built in");
    for (text, hint) in [
        ("KRK", "with a `v` between"),
        ("KXvK", "`X` is no man"),
        ("RvK", "exactly one K"),
        ("KRRRvK", "at most 4"),
        ("krvk", "`k` is no man"),
    ] {
        let error = MaterialKey::parse(&chess, text)
            .expect_err(text)
            .to_string();
        assert!(error.contains(hint), "{error}");
    }
    let key = MaterialKey::parse(&chess, "KPvKP").expect("material");
    let error = Tablebases::new(&chess)
        .plan(&key)
        .expect_err("en passant")
        .to_string();
    assert!(
        error.contains("KPvKP") && error.contains("en passant"),
        "{error}"
    );
    let (tables, _) = tables("chess", "KRvK");
    let castling = Position::from_fen(&chess, "4k3/8/8/8/8/8/8/4K2R w K - 0 1").expect("a FEN");
    assert_eq!(tables.probe(&castling), None);
    assert_eq!(tables.probe(&chess.start()), None);
}

/// A position of a table can be written down and read again, also where men come from the hand.
#[test]
fn cells_are_positions_of_games() {
    for (name, material) in [
        ("chess", "KRvK"),
        ("falcon-hunter", "KHvK"),
        ("decimal-falcon-hunter", "KFvK"),
    ] {
        let (tables, key) = tables(name, material);
        let table = tables.get(&key).expect("built");
        let cells = (0..table.cells()).step_by(997);
        let positions: Vec<Position> = cells
            .filter_map(|cell| Some(table.entry(&tables, cell)?.0))
            .collect();
        assert!(positions.len() > 10, "{name}");
        for position in positions {
            let fen = position.fen(tables.variant());
            let read = Position::from_fen(tables.variant(), &fen).expect(&fen);
            assert_eq!(read, position, "{name}: {fen}");
        }
    }
}

/// Whichever side has the man, on boards of all sizes and where men come from the hand.
#[test]
fn three_men_cover_every_man() {
    for name in ["chess", "falcon-8x8", "falcon-hunter"] {
        let variant = Variant::by_name(name).expect("built in");
        let tables = Tablebases::three_men(&variant).expect("solved");
        let king = variant.role_info(variant.royal).letter;
        for role in variant.roles().iter().filter(|role| !role.is_royal) {
            let (man, bare) = (format!("{king}{}", role.letter), king);
            for text in [format!("{man}v{bare}"), format!("{bare}v{man}")] {
                let key = MaterialKey::parse(&variant, &text).expect("material");
                assert!(tables.get(&key).is_some(), "{name}: {text}");
            }
        }
    }
}
