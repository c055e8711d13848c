use super::planted::PlantedPlayers;
use super::*;
use crate::arena::contestant::Contestant;
use crate::arena::greedy::GreedyContestant;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rules::{Color, Variant};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const WORTH: [(char, f64); 6] = [
    ('P', 0.4),
    ('N', 1.1),
    ('B', 1.2),
    ('F', 1.9),
    ('R', 1.8),
    ('Q', 3.4),
];

fn falcon() -> Arc<Variant> {
    Variant::by_name("falcon").expect("a shipped variant")
}

fn planted() -> PlantedPlayers {
    PlantedPlayers {
        worth: WORTH.to_vec(),
        first_move: 0.2,
        draws: 0.4,
    }
}

#[test]
fn handicaps_name_men_of_the_array_and_their_difference() {
    let variant = falcon();
    let all = Handicap::all(&variant);
    assert!(all.len() > 200, "{}", all.len());
    for handicap in &all {
        let difference = handicap.difference(&variant).expect("men of the array");
        assert!(difference.iter().any(|&d| d != 0.0), "{handicap}");
    }
    let handicap = Handicap {
        first_lacks: "RR".into(),
        second_lacks: "FFP".into(),
    };
    assert_eq!(
        handicap.difference(&variant),
        Some(vec![1.0, 0.0, 0.0, -2.0, 2.0, 0.0])
    );
    assert_eq!(handicap.to_string(), "without RR v. without FFP");
    let three = Handicap {
        first_lacks: "QQ".into(),
        second_lacks: String::new(),
    };
    assert_eq!(three.difference(&variant), None);
}

#[test]
fn arrays_lack_the_men_and_exchange_them() {
    let variant = falcon();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let handicap = Handicap {
        first_lacks: "R".into(),
        second_lacks: "FP".into(),
    };
    for _ in 0..10 {
        let [as_white, as_black] = handicap.arrays(&variant, &mut rng).expect("arrays");
        let count = |position: &rules::Position, color, letter| {
            position
                .pieces(color, variant.role_by_letter(letter).expect("a man"))
                .count()
        };
        for (position, first) in [(&as_white, Color::White), (&as_black, Color::Black)] {
            assert_eq!(
                [count(position, first, 'R'), count(position, first, 'F')],
                [1, 2]
            );
            assert_eq!(
                [count(position, !first, 'R'), count(position, !first, 'F')],
                [2, 1]
            );
            assert_eq!(
                [count(position, first, 'P'), count(position, !first, 'P')],
                [10, 9]
            );
        }
        let mut mirrored = as_white.mirror(&variant).fen(&variant);
        mirrored = mirrored.replace(" b ", " w ");
        let board = |fen: &str| fen.split(' ').next().map(str::to_owned);
        assert_eq!(board(&mirrored), board(&as_black.fen(&variant)));
    }
}

/// The choice of matches closes in on even ones, and the values are those planted.
#[test]
fn planted_values_are_found_by_even_matches() {
    let variant = falcon();
    let config = OddsConfig {
        games: 6000,
        ..OddsConfig::default()
    };
    let mut late = Vec::new();
    let result = measure(&variant, &mut planted(), &config, &mut |progress| {
        if progress.games > 3000 {
            late.push(progress.last.score().expect("games"));
        }
        ControlFlow::Continue(())
    });
    let result = result.expect("games");
    assert_eq!(result.values.estimate.games, 6000);
    for (letter, worth) in &WORTH[1..] {
        let pawns = result
            .values
            .estimate
            .of(*letter)
            .and_then(|man| man.pawns)
            .expect("bounded");
        let truth = worth / WORTH[0].1;
        assert!(
            (pawns.value / truth - 1.0).abs() < 0.15,
            "{letter}: {pawns} against {truth}"
        );
        assert!(pawns.high - pawns.low < 0.4 * truth, "{letter}: {pawns}");
    }
    let off = late.iter().map(|score| (score - 0.5).abs()).sum::<f64>() / late.len() as f64;
    assert!(off < 0.25, "matches score {off} from one half");
}

/// The intervals contain the planted values as often as they say, although matches are chosen by what is known.
#[test]
fn intervals_cover_planted_values() {
    let variant = falcon();
    let (mut covered, mut total) = (0, 0);
    for seed in 0..200 {
        let config = OddsConfig {
            games: 1280,
            draws: 400,
            seed: seed * 1_000_003,
            ..OddsConfig::default()
        };
        let result = measure(&variant, &mut planted(), &config, &mut |_| {
            ControlFlow::Continue(())
        });
        let estimate = result.expect("games").values.estimate;
        for (letter, worth) in &WORTH[1..] {
            let pawns = estimate.of(*letter).and_then(|man| man.pawns);
            covered += u32::from(pawns.is_some_and(|pawns| pawns.contains(worth / WORTH[0].1)));
            total += 1;
        }
    }
    let rate = f64::from(covered) / f64::from(total);
    assert!((0.93..=0.97).contains(&rate), "coverage {rate} of {total}");
}

/// Real games: who lacks a rook against greedy play loses more often than not.
#[test]
fn the_side_with_more_men_scores_more() {
    let variant = falcon();
    let stop = AtomicBool::new(false);
    let greedy = || -> Box<dyn Contestant> { Box::new(GreedyContestant::new(&variant)) };
    let mut players = NetPlayers::new(&variant, vec![greedy(), greedy()], &stop);
    let handicap = Handicap {
        first_lacks: "QR".into(),
        second_lacks: String::new(),
    };
    let scores = players.play(&handicap, 8, 5);
    assert_eq!(scores.len(), 8);
    let points: f64 = scores
        .iter()
        .map(|pair| pair.as_white + pair.as_black)
        .sum();
    assert!(points < 8.0, "{points} of 16");
    assert_eq!(
        players.play(&handicap, 8, 5),
        scores,
        "the same seed gives the same games"
    );
    let stopped = AtomicBool::new(true);
    let mut players = NetPlayers::new(&variant, vec![greedy()], &stopped);
    assert!(players.play(&handicap, 2, 5).is_empty());
}

#[test]
fn bad_settings_are_named() {
    let variant = falcon();
    for (config, field) in [
        (
            OddsConfig {
                games_per_match: 3,
                ..OddsConfig::default()
            },
            "games_per_match",
        ),
        (
            OddsConfig {
                focus: "K".into(),
                ..OddsConfig::default()
            },
            "focus",
        ),
        (
            OddsConfig {
                draws: 1,
                ..OddsConfig::default()
            },
            "draws",
        ),
    ] {
        let error = config.validate(&variant).expect_err(field).to_string();
        assert!(error.contains(field), "{error}");
    }
}
