use std::sync::Arc;

use burn::tensor::Device;
use rules::{Color, Position, Variant};

use super::*;
use crate::{ModelError, sample_requests};

/// Chess, decimal pieces and a board with missing squares.
const GAMES: [&str; 3] = ["chess", "falcon-hunter-promotion", "falcon-hunter-66"];

fn game(name: &str) -> (Arc<Variant>, Features) {
    let variant = Variant::by_name(name).expect("built in");
    let features = Features::new(&variant).expect("expressible");
    (variant, features)
}

fn positions(variant: &Variant, count: usize) -> Vec<Position> {
    let requests = sample_requests(variant, count, 7);
    requests
        .into_iter()
        .map(|request| request.position)
        .collect()
}

fn fresh(features: &Features) -> FloatNnue {
    FloatNnue::new(
        features.clone(),
        &|place| 200 + 100 * place as i32,
        3,
        &Device::flex(),
    )
}

/// What both sides see is the same thing from two sides: White's view of a position is Black's view of its mirror.
#[test]
fn views_are_those_of_the_mirror() {
    for (variant, features) in GAMES.map(game) {
        for position in positions(&variant, 50) {
            let mirror = position.mirror(&variant);
            let mut views = [(&position, Color::White), (&mirror, Color::Black)]
                .map(|(position, side)| features.view(position, side));
            for view in &mut views {
                view.men.sort_by_key(|man| (man.plane, man.square));
                let last = view
                    .men
                    .iter()
                    .filter(|man| man.plane == features.king_plane());
                assert_eq!(last.count(), 2, "both kings share the last plane");
            }
            assert_eq!(views[0], views[1]);
            assert_eq!(features.bucket(&position), features.bucket(&mirror));
        }
    }
}

/// Eighths of the men at the start.
#[test]
fn buckets_are_by_men() {
    let (variant, features) = game("chess");
    for (fen, bucket) in [
        (variant.start_fen(), 7),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 0),
        ("4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1", 1),
    ] {
        let position = Position::from_fen(&variant, fen).expect("a position");
        assert_eq!(features.bucket(&position), bucket, "{fen}");
    }
}

#[test]
fn material_counts_men_for_the_side_to_move() {
    let (variant, features) = game("chess");
    let net = NnueNet::material(&features, &|place| [208, 600, 650, 1000, 1800][place]);
    for (fen, units) in [
        (variant.start_fen(), 0),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1", 1800),
        ("4k3/8/8/8/8/8/8/4KQ2 b - - 0 1", -1800),
        ("4k1n1/8/8/8/8/8/PP6/4K3 w - - 0 1", 2 * 208 - 600),
    ] {
        let position = Position::from_fen(&variant, fen).expect("a position");
        assert_eq!(net.evaluate(&features, &position).value(), units, "{fen}");
    }
}

/// What is written is read back, and evaluates alike.
#[test]
fn files_keep_every_number() {
    let (_, features) = game("falcon-hunter-66");
    let net = fresh(&features).quantise("a net of random weights");
    let bytes = net.to_bytes(&features);
    let size = 12
        + net.description.len()
        + 4
        + 2 * HALF
        + features.count() * (2 * HALF + 4 * BUCKETS)
        + BUCKETS * (4 + 4 * 16 + 16 * 1024 + 4 * 32 + 32 * 32 + 4 + 32);
    assert_eq!(bytes.len(), size);
    let read = NnueNet::from_bytes(&bytes, "test", &features).expect("a net");
    assert!(read == net, "numbers differ");
}

/// Damaged files and files for other games are refused with the reason, wherever the damage is.
#[test]
fn bad_files_are_errors() {
    let (_, features) = game("chess");
    let bytes = NnueNet::material(&features, &|_| 208).to_bytes(&features);
    let reason =
        |bytes: &[u8], features: &Features| match NnueNet::from_bytes(bytes, "test", features) {
            Err(ModelError::Nnue { reason, .. }) => reason,
            other => panic!("{:?} instead of a refusal", other.map(|_| ())),
        };
    for length in [
        0,
        3,
        11,
        15,
        900,
        1_000_000,
        bytes.len() - 17_000,
        bytes.len() - 1,
    ] {
        let reason = reason(&bytes[..length], &features);
        assert!(reason.starts_with("it ends within"), "{length}: {reason}");
    }
    let stack = bytes.len() - BUCKETS * 17_640;
    for (place, what) in [
        (0, "version"),
        (4, "hash of the net"),
        (12, "hash of the feature transformer"),
        (stack, "hash of a stack"),
    ] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        let reason = reason(&damaged, &features);
        assert!(reason.contains(what), "{reason}");
    }
    let mut endless = bytes.clone();
    endless[8..12].fill(0xFF);
    assert!(reason(&endless, &features).contains("description"));
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(reason(&longer, &features).contains("1 bytes follow"));
    reason(&bytes, &game("falcon-hunter-66").1);
}

/// The integers stand for the floats: rounding moves a value by some hundredths of a pawn.
#[test]
fn integers_are_near_the_floats() {
    for (variant, features) in GAMES.map(game) {
        let float = fresh(&features);
        let net = float.quantise("");
        let positions = positions(&variant, 100);
        let floats = float.evaluate(&positions, &Device::flex());
        for (position, float) in positions.iter().zip(floats) {
            let value = net.evaluate(&features, position).value() as f32;
            assert!((value - float).abs() < 12.0, "{value} for {float}");
        }
    }
}

/// No sum of four products of a hidden layer leaves 16 bits, whatever the weights were.
#[test]
fn weights_stay_within_their_limits() {
    for (name, limit) in [
        ("shared.weight", 0.5),
        ("first.3.weight", 0.5),
        ("second.0.weight", 1.0),
    ] {
        assert_eq!(LayerStacks::limit(name), Some(limit), "{name}");
    }
    assert!(LayerStacks::limit("output.7.weight").is_some_and(|limit| (1.6..1.7).contains(&limit)));
    assert_eq!(LayerStacks::limit("first.3.bias"), None);
    let (_, features) = game("chess");
    for stack in fresh(&features).layers.quantise() {
        for layer in stack.hidden {
            assert!(
                layer
                    .weights
                    .iter()
                    .all(|weight| weight.unsigned_abs() <= 64)
            );
        }
    }
}
