use super::*;
use crate::arena::elo::{EloEstimate, score_of_elo};
use crate::arena::pentanomial::GameScore;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn matchup(first: &str, second: &str, counts: [u64; 5]) -> Matchup {
    Matchup {
        first: first.into(),
        second: second.into(),
        pentanomial: Pentanomial::new(counts),
    }
}

fn of<'a>(ratings: &'a [Rating], player: &str) -> &'a Rating {
    ratings
        .iter()
        .find(|rating| rating.player == player)
        .expect("the player is rated")
}

/// Two players: the maximum is where the expected score equals the one scored, the prior's game included.
#[test]
fn two_players_get_the_elo_of_their_score() {
    let counts = [3, 10, 25, 40, 22];
    let ratings = rate(&[matchup("net", "untrained", counts)], "untrained");
    let points = Pentanomial::new(counts).points() + 0.5;
    let expected = ELO_PER_NAT * (points / (201.0 - points)).ln();
    let net = of(&ratings, "net");
    assert!((net.elo.expect("connected") - expected).abs() < 1e-6);
    assert_eq!(net.games, 200);
    let single = EloEstimate::of(&Pentanomial::new(counts));
    let half_width = (single.high.expect("finite") - single.low.expect("finite")) / 2.0;
    assert!((net.error.expect("connected") - half_width).abs() < 0.02 * half_width);
    assert_eq!(of(&ratings, "untrained").elo, Some(0.0));
    assert_eq!(of(&ratings, "untrained").error, Some(0.0));
}

#[test]
fn a_chain_of_matches_adds_up() {
    let step = [3, 10, 25, 40, 22];
    let ratings = rate(&[matchup("b", "a", step), matchup("c", "b", step)], "a");
    let (b, c) = (of(&ratings, "b"), of(&ratings, "c"));
    assert!((c.elo.expect("connected") - 2.0 * b.elo.expect("connected")).abs() < 1e-6);
    let ratio = c.error.expect("connected") / b.error.expect("connected");
    assert!(
        (ratio - 2f64.sqrt()).abs() < 1e-6,
        "independent errors add in squares, got {ratio}"
    );
}

#[test]
fn order_of_players_and_matches_does_not_matter() {
    let forward = [
        matchup("b", "a", [1, 2, 3, 4, 5]),
        matchup("c", "a", [2, 2, 2, 1, 1]),
        matchup("c", "b", [9, 2, 1, 1, 0]),
    ];
    let backward: Vec<Matchup> = forward
        .iter()
        .rev()
        .map(|m| Matchup {
            first: m.second.clone(),
            second: m.first.clone(),
            pentanomial: m.pentanomial.reversed(),
        })
        .collect();
    for (one, other) in rate(&forward, "a").iter().zip(&rate(&backward, "a")) {
        assert_eq!(one.player, other.player);
        assert!((one.elo.expect("connected") - other.elo.expect("connected")).abs() < 1e-6);
        assert!((one.error.expect("connected") - other.error.expect("connected")).abs() < 1e-6);
    }
}

#[test]
fn players_without_a_way_to_the_anchor_have_no_rating() {
    let ratings = rate(
        &[
            matchup("b", "a", [0, 0, 1, 0, 0]),
            matchup("y", "x", [0, 0, 0, 0, 9]),
        ],
        "a",
    );
    assert_eq!(of(&ratings, "x").elo, None);
    assert_eq!(of(&ratings, "y").error, None);
    assert!(of(&ratings, "b").elo.is_some());
    assert_eq!(rate(&[], "a").len(), 1);
}

#[test]
fn a_clean_sweep_is_finite_and_uncertain() {
    let ratings = rate(
        &[matchup("net", "untrained", [0, 0, 0, 0, 20])],
        "untrained",
    );
    let net = of(&ratings, "net");
    assert!(net.elo.expect("connected") > 600.0);
    assert!(net.error.expect("connected") > 300.0);
}

/// A curve of five nets, each playing the two before it: the errors cover the true ratings.
#[test]
fn errors_cover_the_truth() {
    let truth = [0.0, 120.0, 200.0, 330.0, 380.0];
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut covered, mut total) = (0, 0);
    for _ in 0..300 {
        let mut matchups = Vec::new();
        for player in 1..truth.len() {
            for opponent in player.saturating_sub(2)..player {
                let score = score_of_elo(truth[player] - truth[opponent]);
                let mut game = || {
                    if rng.random_bool(score) {
                        GameScore::Win
                    } else {
                        GameScore::Loss
                    }
                };
                let mut pentanomial = Pentanomial::default();
                for _ in 0..40 {
                    pentanomial.record(game(), game());
                }
                matchups.push(Matchup {
                    first: player.to_string(),
                    second: opponent.to_string(),
                    pentanomial,
                });
            }
        }
        for rating in rate(&matchups, "0").iter().skip(1) {
            let player: usize = rating.player.parse().expect("a number");
            let (elo, error) = (
                rating.elo.expect("connected"),
                rating.error.expect("connected"),
            );
            covered += u32::from((elo - truth[player]).abs() <= error);
            total += 1;
        }
    }
    let rate = f64::from(covered) / f64::from(total);
    assert!((0.93..=0.97).contains(&rate), "coverage {rate}");
}
