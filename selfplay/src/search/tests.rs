//! The whole search on real games with fake evaluators.

mod deep;
mod tables;

use std::sync::Arc;

use model::{EvalRequest, Evaluation, Evaluator, UniformEvaluator, Wdl};
use rules::{Color, Game, Position, Variant};

use super::{Proven, Search, SearchConfig, SearchKind, SearchResult, run_lockstep};

/// Values and priors from a hash of the FEN and the move's text: arbitrary, but the same everywhere and whatever the
/// order of move generation.
struct HashEvaluator(Arc<Variant>);

/// Every position is as good for White.
struct WhiteEvaluator(f32);

/// Material of the side to move against the other's, kings aside: each man counts one.
struct CountEvaluator;

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn unit(text: &str) -> f32 {
    (fnv(text) >> 40) as f32 / (1_u32 << 24) as f32
}

fn wdl(q: f32) -> Wdl {
    Wdl {
        win: (1.0 + q) / 2.0,
        draw: 0.0,
        loss: (1.0 - q) / 2.0,
    }
}

fn evaluation(request: &EvalRequest, q: f32) -> Evaluation {
    Evaluation {
        wdl: wdl(q),
        moves_left: 40.0,
        policy_logits: vec![0.0; request.moves.len()],
    }
}

impl Evaluator for HashEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let one = |request: &EvalRequest| {
            let fen = request.position.fen(&self.0);
            let text = |mv| self.0.move_text(&request.position, mv);
            Evaluation {
                wdl: wdl(unit(&fen) - 0.5),
                moves_left: 20.0 + 60.0 * unit(&fen),
                policy_logits: request
                    .moves
                    .iter()
                    .map(|&mv| 3.0 * unit(&(fen.clone() + &text(mv))))
                    .collect(),
            }
        };
        requests.iter().map(one).collect()
    }
}

impl Evaluator for WhiteEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let q = |request: &EvalRequest| match request.position.turn() {
            Color::White => self.0,
            Color::Black => -self.0,
        };
        requests
            .iter()
            .map(|request| evaluation(request, q(request)))
            .collect()
    }
}

impl Evaluator for CountEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let men = |position: &Position, color: Color| position.by_color(color).count() as f32;
        let one = |request: &EvalRequest| {
            let (position, us) = (&request.position, request.position.turn());
            evaluation(request, 0.1 * (men(position, us) - men(position, !us)))
        };
        requests.iter().map(one).collect()
    }
}

fn game(variant: &str, fen: &str) -> Game {
    let variant = Variant::by_name(variant).expect("a built-in variant");
    let position = match fen {
        "start" => variant.start(),
        fen => Position::from_fen(&variant, fen).expect("a valid FEN"),
    };
    Game::new(variant, position)
}

fn run(
    game: &Game,
    config: &SearchConfig,
    seed: u64,
    evaluator: &mut dyn Evaluator,
) -> SearchResult {
    let mut search = [Search::new(game, config.clone(), seed)];
    run_lockstep(&mut search, evaluator);
    search[0].result()
}

fn quiet(simulations: u32) -> SearchConfig {
    SearchConfig {
        simulations,
        gumbel_scale: 0.0,
        ..SearchConfig::default()
    }
}

fn puct(simulations: u32) -> SearchConfig {
    SearchConfig {
        kind: SearchKind::Puct,
        ..quiet(simulations)
    }
}

fn text(game: &Game, result: &SearchResult) -> String {
    game.variant().move_text(game.position(), result.best_move)
}

/// Visited moves with their visits, most visited first.
fn visits(game: &Game, result: &SearchResult) -> Vec<String> {
    let mut visits: Vec<(u32, String)> = result
        .visits
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|&(mv, n)| (n, game.variant().move_text(game.position(), mv)))
        .collect();
    visits.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    visits
        .into_iter()
        .map(|(n, mv)| format!("{mv} {n}"))
        .collect()
}

#[test]
fn golden_gumbel_tree() {
    let game = game("falcon", "start");
    let result = run(
        &game,
        &quiet(32),
        1,
        &mut HashEvaluator(game.variant().clone()),
    );
    assert_eq!(
        visits(&game, &result),
        [
            "d2d3 4", "i1h3 4", "i2i3 4", "j2j4 4", "a2a4 2", "c2c3 2", "c2c4 2", "i2i4 2",
            "a2a3 1", "d2d4 1", "f2f3 1", "f2f4 1", "h2h3 1", "h2h4 1", "i1j3 1", "j2j3 1",
        ]
    );
    assert_eq!(text(&game, &result), "d2d3");
    assert!((result.q - 0.22925).abs() < 1e-4, "{}", result.q);
    assert!(
        (result.moves_left - 53.0938).abs() < 1e-2,
        "{}",
        result.moves_left
    );
}

#[test]
fn golden_puct_tree() {
    let game = game("falcon", "start");
    let result = run(
        &game,
        &puct(60),
        1,
        &mut HashEvaluator(game.variant().clone()),
    );
    assert_eq!(
        visits(&game, &result)[..6],
        [
            "j2j4 22", "d2d3 11", "j2j3 11", "i1h3 3", "i2i3 3", "a2a4 2"
        ]
    );
    assert_eq!(text(&game, &result), "j2j4");
    assert!((result.q - 0.0202).abs() < 1e-4, "{}", result.q);
}

#[test]
fn budgets_and_policies_are_exact() {
    let game = game("chess", "start");
    for simulations in [1, 8, 33, 100] {
        for config in [quiet(simulations), puct(simulations)] {
            let result = run(
                &game,
                &config,
                3,
                &mut HashEvaluator(game.variant().clone()),
            );
            assert_eq!(result.simulations, simulations);
            assert_eq!(
                result.visits.iter().map(|(_, n)| n).sum::<u32>(),
                simulations
            );
            assert_eq!(result.root_policy.len(), 20);
            assert!((result.root_policy.iter().map(|(_, p)| p).sum::<f32>() - 1.0).abs() < 1e-5);
            assert_eq!(result.pv[0], result.best_move);
        }
    }
}

#[test]
fn a_batch_changes_nothing_and_the_seed_does() {
    let first = game("falcon", "start");
    let mut second = first.clone();
    second.play(first.position().legal_moves(first.variant())[3]);
    let config = SearchConfig::default();
    let mut evaluator = HashEvaluator(first.variant().clone());
    let mut batch = [
        Search::new(&first, config.clone(), 5),
        Search::new(&second, config.clone(), 6),
        Search::new(&first, config.clone(), 7),
    ];
    run_lockstep(&mut batch, &mut evaluator);
    let alone = run(&first, &config, 5, &mut evaluator);
    assert_eq!(batch[0].result(), alone);
    assert_eq!(batch[1].result(), run(&second, &config, 6, &mut evaluator));
    assert_ne!(batch[2].result(), alone);
    let mut reused = batch[1].clone();
    reused.restart(&first, config, 5);
    run_lockstep(std::slice::from_mut(&mut reused), &mut evaluator);
    assert_eq!(reused.result(), alone);
}

#[test]
fn values_keep_their_perspective() {
    // The rook can take a queen for nothing, for either side.
    for (fen, best) in [
        ("q3k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a8"),
        ("r3k3/8/8/8/8/8/8/Q3K3 b - - 0 1", "a8a1"),
    ] {
        let game = game("chess", fen);
        for config in [quiet(32), puct(100)] {
            let result = run(&game, &config, 1, &mut CountEvaluator);
            assert_eq!(text(&game, &result), best);
            assert!(result.q > 0.0, "{}", result.q);
        }
    }
}

#[test]
fn a_mate_in_one_is_always_found() {
    // Duke's problem B, where promotion to a falcon mates; uniform priors and the least budget.
    let game = game("falcon", "10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1");
    let result = run(
        &game,
        &SearchConfig {
            simulations: 1,
            ..quiet(1)
        },
        1,
        &mut UniformEvaluator,
    );
    assert_eq!(
        (text(&game, &result).as_str(), result.proven),
        ("c7c8f", Some(Proven::Win(1)))
    );
    assert_eq!(result.q, 1.0);
    assert_eq!(result.moves_left, 1.0);
    let policy: Vec<f32> = result
        .root_policy
        .iter()
        .map(|(_, p)| *p)
        .filter(|&p| p > 0.0)
        .collect();
    assert_eq!(policy, [1.0]);
}

#[test]
fn uniform_search_proves_mates_in_two() {
    for (fen, key) in [
        ("7rk1/7ppp/10/7FPP/7N2/10/10/2Q4K2 w - - 0 1", "c1i7"),
        ("10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1", "e1c4"),
        ("2b7/10/pknF6/2p7/2R1F5/P9/10/4K5 w - - 0 1", "c4b4"),
    ] {
        let game = game("falcon", fen);
        let result = run(&game, &puct(50_000), 1, &mut UniformEvaluator);
        assert_eq!(
            (text(&game, &result).as_str(), result.proven),
            (key, Some(Proven::Win(3))),
            "{fen}"
        );
        assert_eq!(result.pv.len(), 3, "{fen}");
    }
}

#[test]
fn losing_moves_are_neither_played_nor_searched_on() {
    // Fool's mate: after 1.f3 e5 the move g4 loses at once.
    let variant = Variant::by_name("chess").expect("chess is built in");
    let mut game = Game::new(variant.clone(), variant.start());
    for mv in ["f2f3", "e7e5"] {
        game.play(
            variant
                .parse_move(game.position(), mv)
                .expect("a legal move"),
        );
    }
    let blunder = variant
        .parse_move(game.position(), "g2g4")
        .expect("a legal move");
    let result = run(&game, &puct(3000), 1, &mut UniformEvaluator);
    assert_ne!(result.best_move, blunder);
    let searched = |mv| {
        result
            .visits
            .iter()
            .find(|(m, _)| *m == mv)
            .map_or(0, |(_, n)| *n)
    };
    assert!(
        searched(blunder) < 60,
        "a lost move is not searched on: {}",
        searched(blunder)
    );
}

#[test]
fn a_lost_position_is_proven_with_its_distance() {
    // Duke's problem D after the key: three moves, each mated by the next one.
    let mut game = game("falcon", "10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1");
    let key = game
        .variant()
        .parse_move(game.position(), "e1c4")
        .expect("a legal move");
    game.play(key);
    for config in [quiet(2000), puct(2000)] {
        let result = run(&game, &config, 1, &mut UniformEvaluator);
        assert_eq!(
            (result.proven, result.q, result.moves_left),
            (Some(Proven::Loss(2)), -1.0, 2.0)
        );
    }
}

#[test]
fn a_repetition_is_a_draw_when_the_game_says_so() {
    let variant = Variant::by_name("chess").expect("chess is built in");
    let mut game = Game::new(variant.clone(), variant.start());
    for mv in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.play(
            variant
                .parse_move(game.position(), mv)
                .expect("a legal move"),
        );
    }
    // Whatever Black plays leaves White well off, except the third occurrence of the start.
    let config = SearchConfig {
        max_considered_moves: 32,
        ..quiet(64)
    };
    let result = run(&game, &config, 1, &mut WhiteEvaluator(0.8));
    assert_eq!(text(&game, &result), "f6g8");
    let result = run(&game, &config, 1, &mut WhiteEvaluator(-0.8));
    assert_ne!(text(&game, &result), "f6g8");
}

#[test]
fn no_choice_costs_one_simulation() {
    let game = game("chess", "k7/3Q4/8/8/8/8/8/4K3 b - - 0 1");
    assert_eq!(game.position().legal_moves(game.variant()).len(), 1);
    let result = run(&game, &quiet(64), 1, &mut UniformEvaluator);
    assert_eq!(result.simulations, 1);
    assert_eq!(result.root_policy[0].1, 1.0);
}

#[test]
#[should_panic(expected = "a game that goes on")]
fn a_finished_game_is_refused() {
    let game = game("chess", "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1");
    let _ = Search::new(&game, SearchConfig::default(), 1);
}
