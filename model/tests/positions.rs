//! Encoding and policy indices over random games of every built-in variant.

use std::collections::HashSet;

use model::{Encoding, PolicyLayout, sample_requests};
use rules::{Move, Square, Variant};

const POSITIONS: usize = 5000;

fn mirrored(square: Square, variant: &Variant) -> Square {
    Square::new(square.file(), variant.ranks() - 1 - square.rank()).expect("on the board")
}

fn mirrored_move(mv: Move, variant: &Variant) -> Move {
    let mirror = |square| mirrored(square, variant);
    match mv {
        Move::Step {
            from,
            to,
            promotion,
        } => Move::Step {
            from: mirror(from),
            to: mirror(to),
            promotion,
        },
        Move::Castle {
            from,
            to,
            partner_from,
            partner_to,
        } => Move::Castle {
            from: mirror(from),
            to: mirror(to),
            partner_from: mirror(partner_from),
            partner_to: mirror(partner_to),
        },
        Move::Drop { role, to } => Move::Drop {
            role,
            to: mirror(to),
        },
    }
}

#[test]
fn every_legal_move_has_an_index_of_its_own() {
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name).expect("builtin");
        let layout = PolicyLayout::new(&variant);
        let (mut promotes, mut castles, mut drops) = (false, false, false);
        for request in sample_requests(&variant, POSITIONS, 1) {
            let turn = request.position.turn();
            let mut seen = HashSet::new();
            for mv in &request.moves {
                promotes |= mv.promotion().is_some();
                castles |= matches!(mv, Move::Castle { .. });
                drops |= matches!(mv, Move::Drop { .. });
            }
            for &mv in &request.moves {
                let index = layout.index(turn, mv);
                assert!(
                    layout.flat(index) < layout.len(),
                    "{name}: {mv:?} {index:?}"
                );
                assert!(
                    seen.insert(layout.flat(index)),
                    "{name}: {mv:?} shares {index:?} in {}",
                    request.position.fen(&variant)
                );
            }
        }
        let expected = (
            !variant.promotion_roles().is_empty(),
            variant.can_castle(),
            !variant.hand_roles().is_empty(),
        );
        assert_eq!(
            (promotes, castles, drops),
            expected,
            "kinds of moves met in {name}"
        );
    }
}

#[test]
fn colours_swapped_look_the_same() {
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name).expect("builtin");
        let (encoding, layout) = (Encoding::new(&variant), PolicyLayout::new(&variant));
        for request in sample_requests(&variant, POSITIONS, 3) {
            let position = request.position;
            let mirror = position.mirror(&variant);
            let planes = encoding.encode_batch([(&position, 1)]);
            assert!(
                planes == encoding.encode_batch([(&mirror, 1)]),
                "{name}: planes of {} and its mirror differ",
                position.fen(&variant)
            );
            for &mv in &request.moves {
                assert_eq!(
                    layout.index(position.turn(), mv),
                    layout.index(mirror.turn(), mirrored_move(mv, &variant)),
                    "{name}: {mv:?}"
                );
            }
        }
    }
}

#[test]
fn planes_say_where_the_men_are() {
    let variant = Variant::by_name("falcon").expect("builtin");
    let encoding = Encoding::new(&variant);
    let plane = |planes: &[f32], name: &str| -> Vec<usize> {
        let index = encoding
            .plane_names()
            .iter()
            .position(|n| n == name)
            .expect("a plane");
        let squares = &planes[index * 100..][..100];
        (0..100).filter(|&square| squares[square] == 1.0).collect()
    };
    let start = encoding.encode_batch([(&variant.start(), 1)]);
    assert_eq!(plane(&start, "board").len(), 80);
    assert_eq!(plane(&start, "own F"), [3, 6]);
    assert_eq!(plane(&start, "enemy F"), [73, 76]);
    assert_eq!(plane(&start, "own P"), (10..20).collect::<Vec<_>>());
    assert!(plane(&start, "repetition").is_empty());
    let again = encoding.encode_batch([(&variant.start(), 2)]);
    assert_eq!(plane(&again, "repetition").len(), 80);

    let e4 = variant
        .parse_move(&variant.start(), "e2e4")
        .expect("a legal move");
    let black = variant.start().play(&variant, e4);
    let planes = encoding.encode_batch([(&black, 1)]);
    assert_eq!(
        plane(&planes, "en passant"),
        [54],
        "e3 from Black's side of eight ranks"
    );
    assert_eq!(
        plane(&planes, "enemy P")
            .iter()
            .filter(|&&square| square == 44)
            .count(),
        1
    );
}

#[test]
fn hashes_tell_variants_apart_and_names_are_unique() {
    let mut hashes = HashSet::new();
    for name in ["chess", "falcon"] {
        let encoding = Encoding::new(&Variant::by_name(name).expect("builtin"));
        assert!(hashes.insert(encoding.hash()));
        let names: HashSet<_> = encoding.plane_names().iter().collect();
        assert_eq!(names.len(), encoding.planes());
    }
}
