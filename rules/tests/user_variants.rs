//! Variants that users write: the examples, and the file in the guide.
//!
//! Counts for Capablanca Chess and Grand Chess are those that engine authors publish.

use rules::{Variant, perft};

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
