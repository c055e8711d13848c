//! Any text as a variant's file: refused with a line of the file, or a game that can be explained, drawn and played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rules::{Variant, VariantError};

fuzz_target!(|text: &str| match Variant::check(text) {
    Ok(variant) => {
        variant.explain();
        let mut position = variant.start();
        position.board_svg(&variant);
        for ply in 0..8 {
            let moves = position.legal_moves(&variant);
            let Some(&mv) = moves.get(ply % moves.len().max(1)) else {
                break;
            };
            variant.san(&position, mv);
            position = position.play(&variant, mv);
        }
    }
    Err(mistakes) => {
        assert!(!mistakes.is_empty());
        for mistake in mistakes {
            match mistake {
                VariantError::Toml { line, .. } | VariantError::Field { line, .. } => {
                    assert!(line >= 1 && line <= text.lines().count() + 1, "line {line}");
                }
                VariantError::Unknown { .. } => panic!("names are not looked up"),
            }
        }
    }
});
