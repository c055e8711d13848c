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
fn judgement(
    weights: &Weights,
    variant: &Variant,
    position: Position,
) -> (f32, BTreeMap<String, f32>) {
    let mut evaluator =
        CompiledEvaluator::new(weights, &tiny(), variant).expect("weights that fit");
    let request = EvalRequest::new(variant, position, 1);
    let evaluation = evaluator.evaluate(std::slice::from_ref(&request)).remove(0);
    let texts = request.moves.iter();
    let texts = texts.map(|&mv| variant.move_text(&request.position, mv));
    let logits = texts.zip(evaluation.policy_logits).collect();
    (evaluation.wdl.q(), logits)
}

/// Chess with its men and promotions listed in another order, so that planes and policy have other places.
fn reordered_chess() -> Arc<Variant> {
    let text = variant("chess").toml().to_owned();
    let (head, tail) = text.split_once("[promotion]").expect("promotions");
    let mut pieces = head.split("[[piece]]");
    let board = pieces.next().expect("the board");
    let mut pieces: Vec<&str> = pieces.collect();
    pieces.reverse();
    let text = format!(
        "{}[[piece]]{}[promotion]{}",
        board.replacen("\"chess\"", "\"reordered\"", 1),
        pieces.join("[[piece]]"),
        tail.replacen("QRBN", "NBQR", 1)
    );
    Variant::from_toml(&text).expect("chess")
}

#[test]
fn the_same_game_in_another_order_is_judged_the_same() {
    let (chess, reordered) = (variant("chess"), reordered_chess());
    let (new, unknown) = carried(&chess, &reordered);
    assert_eq!(unknown, "");
    let old = net(&chess);
    for request in sample_requests(&chess, 20, 1) {
        let fen = request.position.fen(&chess);
        let position = Position::from_fen(&reordered, &fen).expect("the same position");
        let (q, logits) = judgement(&old, &chess, request.position);
        let (same_q, same_logits) = judgement(&new, &reordered, position);
        assert!((q - same_q).abs() < 1e-4, "{fen}: {q} and {same_q}");
        assert_eq!(logits.len(), same_logits.len(), "{fen}");
        let scale = logits
            .values()
            .fold(1.0, |most: f32, logit| most.max(logit.abs()));
        for (text, logit) in &logits {
            let other = same_logits[text];
            assert!(
                (logit - other).abs() < 1e-5 * scale,
                "{fen} {text}: {logit}, {other}"
            );
        }
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
