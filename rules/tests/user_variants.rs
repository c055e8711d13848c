//! Variants that users write: the examples, and the file in the guide.
//!
//! Counts for Capablanca Chess and Grand Chess are those that engine authors publish.

use rules::{Position, Variant, perft};

const CHESS: &str = include_str!("../../configs/variants/chess.toml");

#[test]
fn examples_play() {
    let cases: [(&str, &[u64]); 3] = [
        (
            include_str!("../../configs/examples/capablanca.toml"),
            &[28, 784, 25_228, 805_128],
        ),
        (
            include_str!("../../configs/examples/grand-style.toml"),
            &[65, 4_225, 259_514],
        ),
        (
            include_str!("../../configs/examples/bison-riders.toml"),
            &[],
        ),
    ];
    for (text, counts) in cases {
        let variant = Variant::from_toml(text).unwrap();
        let start = variant.start();
        for (depth, &expected) in (1..).zip(counts) {
            let nodes = perft(&variant, &start, depth);
            assert_eq!(nodes, expected, "{} depth {depth}", variant.name());
        }
        assert!(!Variant::builtin_names().contains(&variant.name()));
        assert_eq!(
            start.legal_moves(&variant).len(),
            start.mirror(&variant).legal_moves(&variant).len()
        );
    }
}

/// Torpedo pawns go two squares from everywhere, and can be captured en passant wherever they did.
#[test]
fn double_steps_from_everywhere_are_captured_en_passant() {
    let torpedo = CHESS.replacen("fmWfceFifmnD", "fmWfmnDfceF", 1);
    let variant = Variant::from_toml(&torpedo).unwrap();
    let play = |position: Position, text: &str| {
        let mv = variant.parse_move(&position, text).unwrap();
        position.play(&variant, mv)
    };
    let start = "4k3/2p5/8/8/1P6/2p5/8/4K3 w - - 0 1";
    let passed = play(Position::from_fen(&variant, start).unwrap(), "b4b6");
    let fen = passed.fen(&variant);
    assert_eq!(fen, "4k3/2p5/1P6/8/8/2p5/8/4K3 b - b5 0 1");
    assert_eq!(Position::from_fen(&variant, &fen), Ok(passed));
    let start = "4k3/8/8/P7/1p6/8/8/4K3 b - - 0 1";
    let passed = play(Position::from_fen(&variant, start).unwrap(), "b4b2");
    assert_eq!(passed.fen(&variant), "4k3/8/8/P7/8/8/1p6/4K3 w - b3 0 2");

    let start = "4k3/8/8/1p6/8/8/P7/4K3 w - - 0 1";
    let beside = play(Position::from_fen(&variant, start).unwrap(), "a2a4");
    let beside = play(beside, "b5b3");
    assert_eq!(beside.fen(&variant), "4k3/8/8/8/P7/1p6/8/4K3 w - b4 0 2");
    let capture = play(beside, "e1e2");
    assert_eq!(capture.fen(&variant).split(' ').nth(3), Some("-"));
}

#[test]
fn the_file_in_the_guide_works() {
    let guide = include_str!("../../docs/variants.md");
    let block = guide
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let variant = Variant::from_toml(block.unwrap()).unwrap();
    assert_eq!(variant.name(), "two-falcons");
    assert_eq!(variant.start().legal_moves(&variant).len(), 6);
}
