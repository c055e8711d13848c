//! Any text as a FEN of any variant: refused, or a position that can be written, read back and played.
//!
//! The first byte chooses the variant, the rest is the FEN.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rules::{Position, Variant};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let names = Variant::builtin_names();
    let variant = Variant::by_name(names[usize::from(choice) % names.len()]).unwrap();
    let Ok(fen) = std::str::from_utf8(rest) else {
        return;
    };
    let Ok(position) = Position::from_fen(&variant, fen) else {
        return;
    };
    let again = Position::from_fen(&variant, &position.fen(&variant));
    assert_eq!(again.as_ref(), Ok(&position));
    position.status(&variant);
    let moves = position.legal_moves(&variant);
    assert_eq!(moves.len() as u64, position.legal_move_count(&variant));
    for mv in moves {
        position.play(&variant, mv).legal_move_count(&variant);
    }
    assert_eq!(position.mirror(&variant).mirror(&variant), position);
});
