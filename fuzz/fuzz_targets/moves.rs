//! Any game of any variant: the rules' invariants hold after every move, and any text as a move is refused or legal.
//!
//! The first byte chooses the variant; every further byte chooses a move. A byte of 255 makes the next four bytes a text
//! that is tried as a move.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rules::{Bitboard, Color, Position, Variant};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let names = Variant::builtin_names();
    let variant = Variant::by_name(names[usize::from(choice) % names.len()]).unwrap();
    let mut position = variant.start();
    let mut bytes = rest.iter();
    while let Some(&byte) = bytes.next() {
        let moves = position.legal_moves(&variant);
        if byte == 255 {
            let text: Vec<u8> = bytes.by_ref().take(4).copied().collect();
            let text = String::from_utf8_lossy(&text);
            if let Ok(mv) = variant.parse_move(&position, &text) {
                assert!(moves.contains(&mv), "{text}");
            }
            continue;
        }
        let Some(&mv) = moves.get(usize::from(byte) % moves.len().max(1)) else {
            return;
        };
        let text = variant.move_text(&position, mv);
        assert_eq!(variant.parse_move(&position, &text), Ok(mv));
        let san = variant.san(&position, mv);
        assert_eq!(variant.parse_san(&position, &san), Ok(mv), "{san}");
        let before = position;
        position = position.play(&variant, mv);
        check(&variant, &before, &position);
    }
});

/// What must hold after any legal move.
fn check(variant: &Variant, before: &Position, after: &Position) {
    assert_eq!(after.turn(), !before.turn());
    assert!(!after.is_king_left_in_danger(variant));
    assert!((after.by_color(Color::White) & after.by_color(Color::Black)).is_empty());
    assert_eq!(after.occupied() & !variant.board(), Bitboard::EMPTY);
    assert_eq!(after.rights() & !after.occupied(), Bitboard::EMPTY);
    let again = Position::from_fen(variant, &after.fen(variant));
    assert_eq!(again.as_ref(), Ok(after));
    assert_eq!(again.map(|position| position.key()), Ok(after.key()));
}
