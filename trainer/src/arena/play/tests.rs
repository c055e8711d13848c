use super::*;
use crate::arena::config::Adjudication;
use crate::arena::greedy::GreedyContestant;
use crate::arena::random::RandomContestant;

fn chess() -> Arc<Variant> {
    Variant::by_name("chess").expect("a shipped variant")
}

fn config(games: u32) -> MatchConfig {
    MatchConfig {
        games,
        opening_plies: 4,
        max_plies: 120,
        ..MatchConfig::default()
    }
}

fn teams(count: usize, variant: &Variant) -> Vec<Team> {
    let team = |_| Team {
        a: Box::new(GreedyContestant::new(variant)),
        b: Box::new(RandomContestant),
    };
    (0..count).map(team).collect()
}

fn keep_going(_: &MatchProgress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn greed_beats_chance() {
    let variant = chess();
    let result = play_match(&variant, &config(40), teams(1, &variant), &mut keep_going);
    assert!(result.complete);
    assert_eq!(result.wins + result.draws + result.losses, 40);
    assert!(result.elo.low.is_some_and(|low| low > 0.0), "{result}");
    assert_eq!(result.pairs.len(), 20);
    assert_eq!((result.a.as_str(), result.b.as_str()), ("greedy", "random"));
}

#[test]
fn batches_and_threads_do_not_change_the_result() {
    let variant = chess();
    let whole = play_match(&variant, &config(12), teams(1, &variant), &mut keep_going);
    let narrow = MatchConfig {
        parallel_games: 2,
        ..config(12)
    };
    let split = play_match(&variant, &narrow, teams(3, &variant), &mut keep_going);
    assert_eq!(whole.pairs, split.pairs);
    let other = MatchConfig {
        seed: 2,
        ..config(12)
    };
    assert_ne!(
        play_match(&variant, &other, teams(1, &variant), &mut keep_going).pairs,
        whole.pairs
    );
}

#[test]
fn a_stopped_match_keeps_its_finished_pairs() {
    let variant = chess();
    let narrow = MatchConfig {
        parallel_games: 2,
        ..config(40)
    };
    let mut finished = 0;
    let mut stop_at_three = |_: &MatchProgress<'_>| {
        finished += 1;
        if finished >= 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let result = play_match(&variant, &narrow, teams(1, &variant), &mut stop_at_three);
    assert!(!result.complete);
    assert!(
        (3..=5).contains(&result.pairs.len()),
        "{} pairs",
        result.pairs.len()
    );
}

#[test]
fn games_of_the_greatest_length_are_drawn() {
    let variant = chess();
    let short = MatchConfig {
        max_plies: 5,
        ..config(4)
    };
    let result = play_match(&variant, &short, teams(1, &variant), &mut keep_going);
    assert_eq!(result.draws, 4);
    assert_eq!(result.ends.get("max-plies"), Some(&4));
    assert_eq!(result.mean_plies, Some(5.0));
}

/// Plays the first legal move and is sure that White wins.
struct Partisan;

impl Contestant for Partisan {
    fn name(&self) -> &str {
        "partisan"
    }

    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice> {
        let choose = |turn: &Turn<'_>| {
            let position = turn.game.position();
            let q = if position.turn() == Color::White {
                1.0
            } else {
                -1.0
            };
            Choice {
                mv: position.legal_moves(turn.game.variant())[0],
                q: Some(q),
            }
        };
        turns.iter().map(choose).collect()
    }
}

#[test]
fn a_game_is_adjudicated_once_both_agree_for_long_enough() {
    let variant = chess();
    let adjudication = Some(Adjudication { q: 0.9, plies: 3 });
    let config = MatchConfig {
        adjudication,
        ..config(4)
    };
    let team = Team {
        a: Box::new(Partisan),
        b: Box::new(Partisan),
    };
    let result = play_match(&variant, &config, vec![team], &mut keep_going);
    assert_eq!(result.ends.get("adjudicated"), Some(&4), "{result}");
    assert_eq!(result.white_score, Some(1.0));
    assert_eq!(result.score, Some(0.5));
    assert_eq!(result.mean_plies, Some(7.0));
    let team = Team {
        a: Box::new(Partisan),
        b: Box::new(RandomContestant),
    };
    let result = play_match(&variant, &config, vec![team], &mut keep_going);
    assert_eq!(
        result.ends.get("adjudicated"),
        None,
        "one opinion is not enough"
    );
}
