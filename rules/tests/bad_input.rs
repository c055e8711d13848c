//! Input of any kind is refused with a reason, never with a panic.

use proptest::prelude::*;
use rules::{Position, Variant, VariantError, betza};

/// Failures are shown, not written into the source tree.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

/// Changes a text in a few places: a character replaced, dropped, doubled or moved.
fn mangled(text: &'static str) -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..4u8, any::<char>(), "[ -~]");
    prop::collection::vec(edit, 1..4).prop_map(move |edits| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, kind, odd, plain) in edits {
            let at = at.index(letters.len().max(1)).min(letters.len());
            match kind {
                0 => letters.insert(at, odd),
                1 if at < letters.len() => {
                    letters.remove(at);
                }
                2 if at < letters.len() => letters.insert(at, letters[at]),
                _ => {
                    let plain = plain.chars().next().unwrap_or('/');
                    if at < letters.len() {
                        letters[at] = plain;
                    }
                }
            }
        }
        letters.into_iter().collect()
    })
}

fn any_variant() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Variant::builtin_names())
}

fn toml_of(name: &str) -> &'static str {
    Box::leak(
        Variant::by_name(name)
            .unwrap()
            .toml()
            .to_string()
            .into_boxed_str(),
    )
}

fn fen_of(name: &str) -> &'static str {
    Box::leak(
        Variant::by_name(name)
            .unwrap()
            .start_fen()
            .to_string()
            .into_boxed_str(),
    )
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn any_fen(name in any_variant(), fen in "\\PC{0,80}") {
        let variant = Variant::by_name(name).unwrap();
        let _ = Position::from_fen(&variant, &fen);
    }

    #[test]
    fn mangled_fens_give_playable_positions(
        (name, fen) in any_variant().prop_flat_map(|n| (Just(n), mangled(fen_of(n)))),
    ) {
        let variant = Variant::by_name(name).unwrap();
        if let Ok(position) = Position::from_fen(&variant, &fen) {
            let again = Position::from_fen(&variant, &position.fen(&variant)).unwrap();
            prop_assert_eq!(again, position);
            position.status(&variant);
            for mv in position.legal_moves(&variant) {
                position.play(&variant, mv).legal_move_count(&variant);
            }
            position.mirror(&variant);
        }
    }

    #[test]
    fn any_betza(text in "[a-zA-Z0-9(),]{0,12}") {
        let _ = betza::parse(&text);
    }

    #[test]
    fn any_unicode_betza(text in "\\PC{0,12}") {
        let _ = betza::parse(&text);
    }

    #[test]
    fn any_move_text(name in any_variant(), text in "\\PC{0,8}") {
        let variant = Variant::by_name(name).unwrap();
        let _ = variant.parse_move(&variant.start(), &text);
        let _ = variant.parse_square(&text);
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn mangled_variants_are_refused_or_playable(
        text in any_variant().prop_flat_map(|name| mangled(toml_of(name))),
    ) {
        match Variant::from_toml(&text) {
            Ok(variant) => {
                let position = variant.start();
                position.status(&variant);
                for mv in position.legal_moves(&variant) {
                    position.play(&variant, mv).legal_move_count(&variant);
                }
            }
            Err(VariantError::Toml { line, .. } | VariantError::Field { line, .. }) => {
                prop_assert!(line >= 1 && line <= text.lines().count() + 1);
            }
            Err(VariantError::Unknown { .. }) => prop_assert!(false, "the name is not looked up"),
        }
    }
}

/// The message for a variant file with one change.
fn message(from: &str, to: &str) -> String {
    let chess = Variant::by_name("chess").unwrap();
    assert!(chess.toml().contains(from), "`{from}` is not in the file");
    let text = chess.toml().replacen(from, to, 1);
    Variant::from_toml(&text).unwrap_err().to_string()
}

#[test]
fn variant_errors_name_line_field_and_remedy() {
    let cases = [
        (
            "ranks = 8",
            "ranks = 8\nfirst_rank = 2",
            "line 9, `board.first_rank`: ranks are numbered from 0 or from 1",
        ),
        ("title =", "tittle =", "line 2: unknown field `tittle`"),
        (
            "files = 8",
            "files = 12",
            "line 7, `board.files`: a board has 2 to 10",
        ),
        (
            "files = 8",
            "files = 9",
            "line 4, `start`: the rank `rnbqkbnr` does not have 9 squares",
        ),
        (
            "fmWfceFifmnD",
            "fmWfceFifmnX",
            "line 13, `piece.betza`: Betza string",
        ),
        (
            "letter = \"N\"",
            "letter = \"P\"",
            "line 17, `piece.letter`: the pawn has this letter already",
        ),
        (
            "royal = true\n",
            "",
            "`piece.royal`: 0 kinds of men are royal",
        ),
        (
            "to = \"QRBN\"",
            "to = \"QX\"",
            "`promotion.to`: no [[piece]] has the letter `X`",
        ),
        (
            "steps = 2",
            "steps = 2\nmin_steps = 1",
            "give either `steps` (fixed) or `min_steps` (free)",
        ),
        (
            "steps = 2",
            "steps = 4",
            "`castling.partner`: no R starts on the leader's rank with 4 squares between them",
        ),
        (
            "betza = \"N\"",
            "betza = \"NiD\"",
            "`i` needs to know whether the knight has moved",
        ),
        (
            "PPPP/RNBQ",
            "PPPP/RNXQ",
            "line 4, `start`: no [[piece]] has the letter `X`",
        ),
        (
            "fmWfceFifmnD",
            "fmRfceFifmnD",
            "line 13, `piece.betza`: `e` needs pawns that may go `ifmnD` or `fmnD` and nothing else that far",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq",
            "k7/8/1Q6/8/8/8/8/4K2R b -",
            "line 4, `start`: the game would be over before its first move",
        ),
        (
            "KQkq",
            "KQxkq",
            "`x` means nothing here; the letters are `KQ`",
        ),
    ];
    for (from, to, expected) in cases {
        let message = message(from, to);
        assert!(message.contains(expected), "`{message}` lacks `{expected}`");
    }
}

/// An author mends a file in one go; what only follows from a mistake is not reported beside it.
#[test]
fn all_mistakes_are_reported_at_once() {
    let chess = Variant::by_name("chess").unwrap();
    let changed = |changes: &[(&str, &str)]| {
        let mut text = chess.toml().to_string();
        for (from, to) in changes {
            assert!(text.contains(from), "`{from}` is not in the file");
            text = text.replacen(from, to, 1);
        }
        let errors = Variant::check(&text).unwrap_err();
        assert!(errors.contains(&Variant::from_toml(&text).unwrap_err()));
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<String>>()
    };
    let many = changed(&[
        ("name = \"chess\"", "name = \"My Chess\""),
        ("files = 8", "files = 9"),
        ("betza = \"N\"", "betza = \"Nx\""),
        ("betza = \"R\"", "betza = \"uR\""),
        ("to = \"QRBN\"", "to = \"QRBX\""),
    ]);
    let starts = [
        "line 1, `name`",
        "line 4, `start`",
        "line 19, `piece.betza`",
        "line 29, `piece.betza`",
    ];
    assert_eq!(many.len(), starts.len() + 1, "{many:#?}");
    for (message, start) in many.iter().zip(starts) {
        assert!(message.contains(start), "`{message}` is not about {start}");
    }
    assert!(
        many[4].contains("no [[piece]] has the letter `X`"),
        "{}",
        many[4]
    );
    // Without the knight's letter, its squares at the start and the promotion mean nothing; that is one mistake each.
    let two = changed(&[("letter = \"N\"", "letter = \"S\"")]);
    assert_eq!(two.len(), 2, "{two:#?}");
    assert_eq!(changed(&[("title =", "tittle =")]).len(), 1);
}

#[test]
fn unknown_names_list_the_known_ones() {
    let message = Variant::by_name("falkon").unwrap_err().to_string();
    assert!(
        message.contains("`falkon`") && message.contains("falcon-xboard"),
        "{message}"
    );
}

#[test]
fn fen_errors_name_field_and_remedy() {
    let cases = [
        (
            "chess",
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "position: White has 0 royal men",
        ),
        ("chess", "k7/8/8/8/8/8/8/K7", "side to move: it is missing"),
        (
            "chess",
            "0k7/8/8/8/8/8/8/K7 w - - 0 1",
            "the rank `0k7` does not have 8 squares",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/8/K7 x - - 0 1",
            "`x` is neither `w` nor `b`",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/K7 w - - 0 1",
            "board: there are 7 ranks",
        ),
        (
            "chess",
            "k6P/8/8/8/8/8/8/K7 w - - 0 1",
            "a pawn of White on h8",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/8/K7 w K - 0 1",
            "`K` needs White's rook on h1; leave the letter out",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/8/K6R w K - 0 1",
            "White cannot castle without its leader on e1",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/8/K7 w - e3 0 1",
            "no pawn can just have passed e3",
        ),
        (
            "chess",
            "k7/8/8/8/8/8/8/K7 w - - 0 1 +0+0",
            "counts no losses",
        ),
        (
            "chess",
            "rnbfqkfbnr/8/8/8/8/8/8/K7 w - - 0 1",
            "does not have 8 squares",
        ),
        (
            "falcon-hunter",
            "k7/8/8/8/8/8/8/K7[FFfh] w - - 0 1",
            "more `F` in hand",
        ),
        (
            "falcon-hunter",
            "k7/8/8/8/8/8/8/K7[Ffh] w - - 0 1 +0+0",
            "has entered 1 men after 0 losses",
        ),
        (
            "falcon-hunter-66",
            "4k3/8/8/8/8/8/8/8/8/****K*** w - - 0 1",
            "is not a square of this board; write `*`",
        ),
    ];
    for (name, fen, expected) in cases {
        let variant = Variant::by_name(name).unwrap();
        let message = Position::from_fen(&variant, fen).unwrap_err().to_string();
        assert!(message.contains(expected), "`{message}` lacks `{expected}`");
    }
}

#[test]
fn move_errors_list_the_legal_moves() {
    let chess = Variant::by_name("chess").unwrap();
    let message = chess
        .parse_move(&chess.start(), "e2e5")
        .unwrap_err()
        .to_string();
    assert!(message.contains("legal from there: e2e3 e2e4"), "{message}");
}
