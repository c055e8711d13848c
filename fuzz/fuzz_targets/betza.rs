//! Any text as a piece: refused with a place inside the string, or a piece that can be drawn on every board.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rules::{PieceDiagram, betza};

fuzz_target!(|text: &str| match betza::parse(text) {
    Ok(motions) => {
        assert!(!motions.is_empty(), "`{text}` has no move");
        for (files, ranks) in [(1, 1), (2, 9), (8, 8), (10, 10)] {
            let diagram = PieceDiagram::new(&motions, files, ranks).unwrap();
            assert!(diagram.empty_mobility() >= 0.0 && diagram.crowded_mobility() >= 0.0);
            diagram.text();
            diagram.svg();
        }
    }
    Err(error) => assert!(error.offset <= text.chars().count(), "{error}"),
});
