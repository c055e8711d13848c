//! The move generator against counts and move lists that two other programs agree on.
//!
//! Protects every rule that decides whether a move is legal. Positions with up to
//! `NODE_BUDGET` leaves are counted to their full depth, larger ones one ply less deep.

use rules::{Position, Variant, divide, perft};

const NODE_BUDGET: u64 = 700_000;

struct Suite {
    fen: String,
    counts: Vec<u64>,
    moves: Option<Vec<String>>,
}

fn suites(text: &str) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    for line in text.lines() {
        let Some((kind, rest)) = line.split_once(' ') else {
            continue;
        };
        match (kind, suites.last_mut()) {
            ("#", _) => {}
            ("fen", _) => suites.push(Suite {
                fen: rest.to_string(),
                counts: Vec::new(),
                moves: None,
            }),
            ("perft", Some(suite)) => {
                suite.counts = rest.split(' ').map(|n| n.parse().unwrap()).collect();
            }
            ("moves", Some(suite)) => {
                suite.moves = Some(rest.split(' ').map(str::to_string).collect());
            }
            _ => panic!("unexpected line `{line}`"),
        }
    }
    suites
}

fn run(name: &str, text: &str) {
    let variant = Variant::by_name(name).unwrap();
    let suites = suites(text);
    assert!(suites.len() >= 10, "{name} has too few positions");
    for suite in suites {
        let position = Position::from_fen(&variant, &suite.fen).unwrap();
        assert_eq!(position.fen(&variant), suite.fen, "{name}: FEN out");
        if let Some(mut expected) = suite.moves {
            let mut moves: Vec<String> = position
                .legal_moves(&variant)
                .into_iter()
                .map(|mv| variant.move_text(&position, mv))
                .collect();
            moves.sort();
            expected.sort();
            assert_eq!(moves, expected, "{name}: moves of {}", suite.fen);
        }
        for (depth, &expected) in (1..).zip(&suite.counts) {
            if depth > 1 && expected > NODE_BUDGET {
                break;
            }
            let count = perft(&variant, &position, depth);
            if count != expected {
                for (mv, nodes) in divide(&variant, &position, depth) {
                    println!("{} {nodes}", variant.move_text(&position, mv));
                }
            }
            assert_eq!(count, expected, "{name}: depth {depth} of {}", suite.fen);
        }
    }
}

macro_rules! perft_tests {
    ($($test:ident $name:literal),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                run($name, include_str!(concat!("../../data/perft/", $name, ".txt")));
            }
        )*

        #[test]
        fn every_variant_has_a_suite() {
            for name in Variant::builtin_names() {
                assert!([$($name),*].contains(name), "no perft suite for {name}");
            }
        }
    };
}

perft_tests! {
    chess "chess",
    falcon "falcon",
    falcon_xboard "falcon-xboard",
    falcon_free "falcon-free",
    falcon_free2 "falcon-free2",
    falcon_tournament "falcon-tournament",
    falcon_9x10 "falcon-9x10",
    falcon_10x10 "falcon-10x10",
    falcon_10x10_p3 "falcon-10x10-p3",
    falcon_8x8 "falcon-8x8",
    falcon_hunter "falcon-hunter",
    falcon_hunter_promotion "falcon-hunter-promotion",
    falcon_hunter_66 "falcon-hunter-66",
    hunter_chess "hunter-chess",
    decimal_falcon_hunter "decimal-falcon-hunter",
}
