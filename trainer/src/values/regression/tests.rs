use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Planted worth of P, N, B, R, Q in logits.
const PLANTED: [(char, f64); 5] = [('P', 0.35), ('N', 1.1), ('B', 1.2), ('R', 1.9), ('Q', 3.3)];

fn chess() -> Arc<Variant> {
    Variant::by_name("chess").expect("a shipped variant")
}

/// Takes a few random men off the start array, now and then all of White's bishops.
fn random_odds(variant: &Variant, rng: &mut ChaCha8Rng) -> Position {
    let mut position = variant.start();
    for _ in 0..rng.random_range(1..6) {
        let squares: Vec<_> = position.occupied().into_iter().collect();
        let square = squares[rng.random_range(0..squares.len())];
        position = position
            .with_piece(variant, square, None)
            .unwrap_or(position);
    }
    if rng.random_bool(0.3) {
        // Without both bishops: with one less a bishop could not be told from the pair.
        let bishop = variant.role_by_letter('B').expect("a bishop");
        for square in position.pieces(rules::Color::White, bishop) {
            position = position
                .with_piece(variant, square, None)
                .unwrap_or(position);
        }
    }
    position
}

fn planted_score(variant: &Variant, position: &Position) -> f64 {
    let census = census(variant, position);
    let sum: f64 = PLANTED
        .iter()
        .map(|&(letter, worth)| {
            let index = variant.role_by_letter(letter).expect("a role").index();
            worth * (f64::from(census.white[index]) - f64::from(census.black[index]))
        })
        .sum();
    1.0 / (1.0 + (-sum).exp())
}

/// Games whose material never changes: the positions of a game are then as dependent as they can be.
fn planted_games<'a>(variant: &'a Variant, games: usize, rng: &mut ChaCha8Rng) -> Regression<'a> {
    let mut regression = Regression::new(variant);
    for _ in 0..games {
        let position = random_odds(variant, rng);
        let p = planted_score(variant, &position);
        // Up to half of the games are drawn, taken from wins and losses alike, which keeps the expected score.
        let draws = 0.5 * (1.0 - (2.0 * p - 1.0).abs());
        let outcome = match rng.random::<f64>() {
            u if u < draws => Outcome::Draw,
            u if u < draws / 2.0 + p => Outcome::WhiteWins,
            _ => Outcome::BlackWins,
        };
        regression.add_game(outcome, &[position; 5]);
    }
    regression
}

#[test]
fn planted_values_are_recovered() {
    let variant = chess();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let regression = planted_games(&variant, 10_000, &mut rng);
    let estimate = regression
        .estimate(Bootstrap {
            resamples: 20,
            seed: 1,
        })
        .expect("games")
        .estimate;
    for (letter, worth) in PLANTED {
        let value = estimate.of(letter).expect("a man");
        let pawns = value.pawns.expect("bounded");
        let truth = worth / PLANTED[0].1;
        assert!(
            (pawns.value / truth - 1.0).abs() < 0.12,
            "{letter} {pawns} against {truth}"
        );
    }
}

/// The intervals cover the planted values as often as they say, although the five positions of a game are copies.
#[test]
fn intervals_cover_planted_values() {
    let variant = chess();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut covered, mut total) = (0, 0);
    let repetitions = 200;
    for seed in 0..repetitions {
        let regression = planted_games(&variant, 400, &mut rng);
        let estimate = regression
            .estimate(Bootstrap {
                resamples: 150,
                seed,
            })
            .expect("games")
            .estimate;
        for (letter, worth) in &PLANTED[1..] {
            let knights = estimate
                .of(*letter)
                .and_then(|value| value.knights)
                .expect("bounded");
            if *letter != 'N' {
                covered += u32::from(knights.contains(worth / PLANTED[1].1));
                total += 1;
            }
        }
    }
    let rate = f64::from(covered) / f64::from(total);
    assert!((0.93..=0.97).contains(&rate), "coverage {rate} of {total}");
}

#[test]
fn men_that_never_differ_have_no_value() {
    let variant = chess();
    let mut regression = Regression::new(&variant);
    let pawn_up =
        Position::from_fen(&variant, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").expect("a position");
    for game in 0..50 {
        let outcome = if game % 3 == 0 {
            Outcome::Draw
        } else {
            Outcome::WhiteWins
        };
        regression.add_game(outcome, &[pawn_up]);
    }
    let estimate = regression
        .estimate(Bootstrap {
            resamples: 50,
            seed: 1,
        })
        .expect("games")
        .estimate;
    let queen = estimate.of('Q').expect("a man");
    assert_eq!(
        (queen.pawns, queen.logits, queen.positions),
        (None, None, 0)
    );
    let pawn = estimate.of('P').expect("a man");
    assert_eq!(pawn.pawns.map(|pawns| pawns.value), Some(1.0));
    assert_eq!(pawn.knights, None);
    assert_eq!((pawn.positions, estimate.games), (50, 50));
    assert!(estimate.of('K').is_none());
}

#[test]
fn colours_mirror() {
    let variant = chess();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut one, mut other) = (Regression::new(&variant), Regression::new(&variant));
    for _ in 0..200 {
        let position = random_odds(&variant, &mut rng);
        one.add_game(Outcome::WhiteWins, &[position]);
        other.add_game(Outcome::BlackWins, &[position.mirror(&variant)]);
    }
    let bootstrap = Bootstrap {
        resamples: 40,
        seed: 1,
    };
    let (one, other) = (
        one.estimate(bootstrap).expect("games").estimate,
        other.estimate(bootstrap).expect("games").estimate,
    );
    for (a, b) in one.values.iter().zip(&other.values) {
        let (a, b) = (a.logits.expect("measured"), b.logits.expect("measured"));
        for (a, b) in [(a.value, b.value), (a.low, b.low), (a.high, b.high)] {
            assert!((a - b).abs() < 1e-9, "{a} against {b}");
        }
    }
    assert!(Regression::new(&variant).estimate(bootstrap).is_none());
}
