//! Nets of one game as the beginning of another's.

mod common;

use common::variant;
use model::{
    CompiledEvaluator, EvalRequest, Evaluator, ModelError, NetConfig, NetMeta, NetShape, Weights,
    load_related, sample_requests, save_weights,
};
use rand::RngExt;
use rules::{Position, Variant};
use std::collections::BTreeMap;
use std::sync::Arc;

fn tiny() -> NetConfig {
    NetConfig::preset("tiny").expect("a preset")
}

/// A net of a game whose every number is random.
fn net(variant: &Variant) -> Weights {
    let shape = NetShape::new(variant);
    common::random_weights(tiny(), shape, 5, |name, value, rng| {
        match name.rsplit('.').next() {
            Some("gamma" | "running_var") => rng.random_range(0.5..1.5),
            Some("weight") => value * 3.0,
            _ => rng.random_range(-0.3..0.3),
        }
    })
}

/// The net of one game as another begins with it, and the men that it does not know.
fn carried(from: &Variant, to: &Variant) -> (Weights, String) {
    let meta = NetMeta::new(from, tiny(), "a net", 1);
    let bytes = save_weights(&net(from), &meta).expect("a net file");
    let related = load_related(&bytes, "a net", to).expect("a net of a related game");
    (related.weights, related.unknown_men.into_iter().collect())
}

/// What a net says of a position: q, and the logits by the moves' texts.
type Judgement = (f32, BTreeMap<String, f32>);

fn judgement(weights: &Weights, variant: &Variant, position: Position) -> Judgement {
    let mut evaluator =
        CompiledEvaluator::new(weights, &tiny(), variant).expect("weights that fit");
    let request = EvalRequest::new(variant, position, 1);
    let evaluation = evaluator.evaluate(std::slice::from_ref(&request)).remove(0);
    let texts = request.moves.iter();
    let texts = texts.map(|&mv| variant.move_text(&request.position, mv));
    let logits = texts.zip(evaluation.policy_logits).collect();
    (evaluation.wdl.q(), logits)
}

/// A game with its men, its promotions and its hands listed in another order, so that planes and policy have other places.
fn reordered(game: &Variant) -> Arc<Variant> {
    let (head, tail) = game.toml().split_once("[promotion]").expect("promotions");
    let mut pieces = head.split("[[piece]]");
    let board = pieces.next().expect("the board");
    let mut pieces: Vec<&str> = pieces.collect();
    pieces.reverse();
    let name = format!("\"{}\"", game.name());
    let text = format!(
        "{}[[piece]]{}[promotion]{}",
        board.replacen(&name, "\"reordered\"", 1),
        pieces.join("[[piece]]"),
        tail.replacen("to = \"QRBN\"", "to = \"NBQR\"", 1)
    );
    Variant::from_toml(&text).expect("the same game")
}

#[test]
fn the_same_game_in_another_order_is_judged_the_same() {
    for name in ["chess", "falcon-hunter"] {
        let game = variant(name);
        let reordered = reordered(&game);
        assert_ne!(
            model::Encoding::new(&game).plane_names(),
            model::Encoding::new(&reordered).plane_names()
        );
        let (new, unknown) = carried(&game, &reordered);
        assert_eq!(unknown, "");
        let old = net(&game);
        let mut entries = 0;
        for request in sample_requests(&game, 60, 1) {
            let fen = request.position.fen(&game);
            let position = Position::from_fen(&reordered, &fen).expect("the same position");
            let expected = judgement(&old, &game, request.position);
            let found = judgement(&new, &reordered, position);
            compare(&expected, &found, &fen);
            entries += expected.1.keys().filter(|text| text.contains('@')).count();
        }
        assert_eq!(entries > 0, name == "falcon-hunter", "{entries}");
    }
}

fn compare(expected: &Judgement, found: &Judgement, fen: &str) {
    let ((q, logits), (same_q, same_logits)) = (expected, found);
    assert!((q - same_q).abs() < 1e-4, "{fen}: {q} and {same_q}");
    assert_eq!(logits.len(), same_logits.len(), "{fen}");
    let scale = logits
        .values()
        .fold(1.0, |most: f32, logit| most.max(logit.abs()));
    for (text, logit) in logits {
        let other = same_logits[text];
        assert!(
            (logit - other).abs() < 1e-5 * scale,
            "{fen} {text}: {logit}, {other}"
        );
    }
}

/// Falcon Chess has another falcon than Schultz's game: letter and name do not make a man known.
#[test]
fn men_of_other_moves_are_unknown() {
    let unknown = |from: &str, to: &str| carried(&variant(from), &variant(to)).1;
    assert_eq!(unknown("falcon", "falcon-hunter"), "FH");
    // The falcon as XBoard spells it is the same.
    assert_eq!(unknown("falcon", "falcon-xboard"), "");
    // A first leap makes no other knight, nor triple steps another pawn.
    assert_eq!(unknown("decimal-falcon-hunter", "falcon-hunter"), "");
}

/// What a net without hands says of entries is nothing: all squares alike.
#[test]
fn hands_that_a_net_has_never_seen_begin_with_zeros() {
    let (new, unknown) = carried(&variant("chess"), &variant("falcon-hunter"));
    assert_eq!(unknown, "FH");
    for name in ["policy.hand.weight", "policy.hand.bias"] {
        let tensor = new.get(name).expect("a layer for hands");
        assert!(!tensor.data.is_empty() && tensor.data.iter().all(|&x| x == 0.0));
    }
}

/// The falcon's planes of a net of chess are the mean of knight, bishop, rook and queen; its promotion is, too.
#[test]
fn unknown_men_begin_as_the_mean_of_the_others() {
    let (chess, falcon) = (variant("chess"), variant("falcon"));
    let (new, unknown) = carried(&chess, &falcon);
    assert_eq!(unknown, "F");
    let place = |variant: &Variant, name: &str| {
        let encoding = model::Encoding::new(variant);
        let place = encoding
            .plane_names()
            .iter()
            .position(|other| other == name);
        place.expect("a plane of this name")
    };
    let old = net(&chess);
    let of = |weights: &Weights, planes: usize, plane: usize, out: usize| {
        let stem = weights.get("stem.conv.weight").expect("a stem");
        stem.data[(out * planes + plane) * 9 + 4]
    };
    let planes = |variant: &Variant| NetShape::new(variant).planes;
    for (out, side) in [(0, "own"), (3, "enemy"), (15, "enemy")] {
        let known = ["N", "B", "R", "Q"].map(|letter| {
            let plane = place(&chess, &format!("{side} {letter}"));
            of(&old, planes(&chess), plane, out)
        });
        let mean = known.iter().sum::<f32>() / 4.0;
        let plane = place(&falcon, &format!("{side} F"));
        let falcon_plane = of(&new, planes(&falcon), plane, out);
        assert!((falcon_plane - mean).abs() < 1e-6, "{falcon_plane}, {mean}");
        let rook = place(&falcon, &format!("{side} R"));
        assert_eq!(of(&new, planes(&falcon), rook, out), known[2]);
    }
    let bias = |weights: &Weights| weights.get("policy.kind.bias").expect("kinds").data.clone();
    let (old, new) = (bias(&old), bias(&new));
    let mean = old[1..5].iter().sum::<f32>() / 4.0;
    let roles = falcon.promotion_roles().iter();
    let letters: Vec<char> = roles
        .map(|role| falcon.roles()[role.index()].letter)
        .collect();
    let kind = 1 + letters
        .iter()
        .position(|&letter| letter == 'F')
        .expect("promotes to F");
    assert!((new[kind] - mean).abs() < 1e-6, "{new:?} of {old:?}");
    assert_eq!(
        (new[0], new.last()),
        (old[0], old.last()),
        "plain, castling"
    );
}

/// From every game to every other: the weights fit, and what they say is finite.
#[test]
fn any_game_can_begin_with_any_other() {
    let games = [
        "chess",
        "falcon-10x10",
        "falcon-hunter",
        "falcon-hunter-66",
        "decimal-falcon-hunter",
    ];
    for from in games {
        for to in games {
            let to = variant(to);
            let (weights, _) = carried(&variant(from), &to);
            let (q, logits) = judgement(&weights, &to, to.start());
            let finite = q.is_finite() && logits.values().all(|logit| logit.is_finite());
            assert!(finite, "{from} to {}", to.name());
        }
    }
}

#[test]
fn a_net_whose_own_game_has_changed_is_refused() {
    let chess = variant("chess");
    let mut meta = NetMeta::new(&chess, tiny(), "a net", 1);
    meta.variant_toml = variant("falcon").toml().to_owned();
    let bytes = save_weights(&net(&chess), &meta).expect("a net file");
    let error = load_related(&bytes, "a net", &variant("falcon-hunter"));
    assert!(
        matches!(error, Err(ModelError::Encoding { .. })),
        "{error:?}"
    );
    meta.variant_toml = "no game".to_owned();
    let bytes = save_weights(&net(&chess), &meta).expect("a net file");
    let error = load_related(&bytes, "a net", &variant("falcon-hunter"));
    assert!(
        matches!(error, Err(ModelError::Corrupt { .. })),
        "{error:?}"
    );
}
