use super::*;
use crate::arena::pentanomial::Pentanomial;
use crate::values::estimate::{Evidence, Method, Scales};
use crate::values::phase::Crowding;
use rules::tablebase::MaterialKey;
use std::sync::Arc;

fn falcon() -> Arc<Variant> {
    Variant::by_name("falcon").expect("a shipped variant")
}

/// Values in logits of P, N, B, R, F, Q with five per cent of spread.
fn sampled(variant: &Variant, method: Method, worth: [f64; 6]) -> Sampled {
    let men = Men::new(variant);
    let scales = |factor: f64| {
        let logits: Vec<Option<f64>> = worth
            .iter()
            .enumerate()
            .map(|(man, w)| Some(w * if man == 0 { 1.0 } else { factor }))
            .collect();
        let over = |unit: usize| {
            logits
                .iter()
                .map(|w| super::super::estimate::ratio(*w, logits[unit]))
                .collect()
        };
        Scales {
            pawns: over(0),
            knights: over(1),
            bishop_pair: Some(0.5 * factor),
            logits,
        }
    };
    let draws = (0..41)
        .map(|draw| scales(0.95 + 0.1 * f64::from(draw) / 40.0))
        .collect();
    let evidence = Evidence {
        games: 90,
        positions: 9,
        of_men: vec![9; 6],
    };
    Sampled::new(method, men, &evidence, scales(1.0), draws)
}

fn verdict_of(rulings: &[Ruling], id: &str) -> Verdict {
    let ruling = rulings.iter().find(|ruling| ruling.id == id);
    ruling
        .unwrap_or_else(|| panic!("no ruling on {id}"))
        .verdict
}

/// Planted findings give each kind of claim its verdict.
#[test]
fn claims_get_the_verdict_that_the_findings_bear() {
    let variant = falcon();
    let claims = Claims::about(&variant).expect("claims");
    let worth = [0.4, 1.0, 1.1, 1.6, 2.35, 3.0];
    let methods = [Method::OutcomeRegression, Method::MaterialOdds];
    let mut findings = Findings {
        wholes: methods
            .map(|method| sampled(&variant, method, worth))
            .to_vec(),
        slices: vec![
            (
                Slice::Crowding(Crowding::Crowded),
                sampled(&variant, methods[0], [0.4, 1.0, 1.1, 1.6, 1.8, 3.0]),
            ),
            (
                Slice::Crowding(Crowding::Open),
                sampled(&variant, methods[0], worth),
            ),
        ],
        trials: Vec::new(),
        results: Results {
            white: 450,
            drawn: 100,
            black: 450,
        },
        matches: vec![OddsMatch {
            handicap: Handicap {
                first_lacks: "FF".into(),
                second_lacks: "RR".into(),
            },
            pentanomial: Pentanomial::new([30, 60, 100, 30, 15]),
        }],
        first_moves: Vec::new(),
    };
    let rulings = judge(&variant, &claims, &findings);
    for (id, verdict) in [
        ("falcon-seven", Verdict::Supported),
        ("falcon-above-rook", Verdict::Supported),
        ("falcon-like-rook", Verdict::Rejected),
        ("falcon-crowded", Verdict::Supported),
        ("falcon-endgame", Verdict::Untested),
        ("falcon-can-mate", Verdict::Supported),
        ("falcon-cannot-mate", Verdict::Rejected),
        ("few-draws", Verdict::Supported),
        ("two-falcons-falcon", Verdict::Supported),
        ("pawn-odds", Verdict::Untested),
        ("many-openings", Verdict::Untested),
        ("bison", Verdict::Untested),
    ] {
        assert_eq!(verdict_of(&rulings, id), verdict, "{id}");
    }
    // Far more than is claimed bears out no claim of a number.
    findings.matches[0].pentanomial = Pentanomial::new([400, 100, 50, 20, 5]);
    let rulings = judge(&variant, &claims, &findings);
    assert_eq!(
        verdict_of(&rulings, "two-falcons-falcon"),
        Verdict::Undecided
    );
    findings.results.drawn = 300;
    findings.matches[0].pentanomial = Pentanomial::new([10, 3, 9, 3, 10]);
    findings.wholes[0] = sampled(&variant, methods[0], [0.4, 1.0, 1.1, 2.5, 2.35, 3.0]);
    let rulings = judge(&variant, &claims, &findings);
    assert_eq!(verdict_of(&rulings, "few-draws"), Verdict::Undecided);
    assert_eq!(
        verdict_of(&rulings, "two-falcons-falcon"),
        Verdict::Undecided
    );
    assert_eq!(
        verdict_of(&rulings, "falcon-above-rook"),
        Verdict::Undecided
    );
    let torn = rulings
        .iter()
        .find(|ruling| ruling.id == "falcon-above-rook")
        .expect("a ruling");
    assert!(torn.evidence.contains("contradict"), "{}", torn.evidence);
}

#[test]
fn first_moves_are_judged_by_files() {
    let mv = |text: &str, q: f64| FirstMove {
        text: text.to_owned(),
        q,
        is_pawn: true,
    };
    let moves = [mv("c2c4", 0.1), mv("d2d4", 0.08), mv("e2e4", -0.3)];
    assert_eq!(opened("cd", &moves).expect("moves").0, Verdict::Supported);
    let (verdict, evidence) = opened("cde", &moves).expect("moves");
    assert_eq!(verdict, Verdict::Rejected);
    assert!(evidence.contains("files e among"), "{evidence}");
    let all_alike = opened("cd", &moves[..2]).expect("moves");
    assert_eq!(all_alike.0, Verdict::Undecided);
    assert_eq!(opened("c", &[]), None);
}

/// Every test in the data is about men and parts that exist.
#[test]
fn all_tests_can_be_heard() {
    for name in ["falcon", "chess"] {
        let variant = Variant::by_name(name).expect("a shipped variant");
        let claims = Claims::about(&variant).expect("claims");
        for claim in &claims.claims {
            let named = match &claim.test {
                Some(Test::Within { man, unit, .. } | Test::Less { man, unit, .. }) => {
                    vec![man, unit]
                }
                Some(Test::Greater { man, than, .. }) => vec![man, than],
                Some(Test::Match {
                    first_lacks,
                    second_lacks,
                    score,
                }) => {
                    let handicap = Handicap {
                        first_lacks: first_lacks.clone(),
                        second_lacks: second_lacks.clone(),
                    };
                    assert!(
                        handicap.difference(&variant).is_some() && *score > 0.5,
                        "{}",
                        claim.id
                    );
                    Vec::new()
                }
                Some(Test::Tablebase { material, .. }) => {
                    assert!(
                        MaterialKey::parse(&variant, material).is_ok(),
                        "{}",
                        claim.id
                    );
                    Vec::new()
                }
                Some(Test::BishopPair { .. } | Test::Draws { .. } | Test::FirstMoves { .. })
                | None => Vec::new(),
            };
            for man in named {
                assert!(place(&variant, man).is_some(), "{}: {man}", claim.id);
            }
        }
    }
}
