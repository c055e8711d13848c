//! Searches as an engine makes them: several leaves in flight, a tree that is kept, memory with a bound.

use super::*;
use rules::{Move, Status};

/// A search without an end of its own.
fn endless() -> SearchConfig {
    puct(SearchConfig::UNLIMITED)
}

/// Searches until there have been so many simulations, `batch` leaves at a time.
fn search_on(search: &mut Search, simulations: u32, batch: usize, evaluator: &mut dyn Evaluator) {
    while !search.is_finished() && !search.is_full() && search.simulations() < simulations {
        let mut requests = Vec::new();
        search.gather_leaves(batch, &mut requests);
        let evaluations = evaluator.evaluate(&requests);
        search.respond_all(evaluations);
    }
}

fn fresh(game: &Game) -> Search {
    Search::new(game, endless(), 1)
}

/// Sums that must hold in every tree, whatever its history.
fn check(game: &Game, search: &Search) {
    let legal = game.position().legal_moves(game.variant());
    for line in search.lines(usize::MAX) {
        assert!(legal.contains(&line.pv[0]));
        let mut position = *game.position();
        for &mv in &line.pv {
            assert!(position.legal_moves(game.variant()).contains(&mv));
            position = position.play(game.variant(), mv);
        }
        let sum = line.wdl.win + line.wdl.draw + line.wdl.loss;
        assert!(
            (sum - 1.0).abs() < 1e-4 && line.q().abs() <= 1.0,
            "{line:?}"
        );
    }
}

#[test]
fn one_leaf_at_a_time_is_the_plain_search() {
    let game = game("falcon", "start");
    let mut evaluator = HashEvaluator(game.variant().clone());
    let mut search = fresh(&game);
    search_on(&mut search, 60, 1, &mut evaluator);
    let plain = run(&game, &puct(60), 1, &mut evaluator);
    assert_eq!(search.result().visits, plain.visits);
    assert_eq!(search.lines(1)[0].pv, plain.pv);
}

#[test]
fn leaves_in_flight_are_different_and_all_are_counted() {
    let game = game("falcon", "start");
    let mut evaluator = HashEvaluator(game.variant().clone());
    let mut search = fresh(&game);
    search_on(&mut search, 50, 1, &mut evaluator);
    let mut requests = Vec::new();
    search.gather_leaves(16, &mut requests);
    assert!(requests.len() > 8, "{} leaves", requests.len());
    let keys: std::collections::HashSet<u64> = requests.iter().map(|r| r.position.key()).collect();
    assert_eq!(keys.len(), requests.len(), "no leaf twice");
    let before = search.simulations();
    search.respond_all(evaluator.evaluate(&requests));
    assert_eq!(search.simulations(), before + requests.len() as u32);
    search_on(&mut search, 600, 16, &mut evaluator);
    check(&game, &search);
    // A batch loses some quality, but not the moves that matter.
    let mut one = fresh(&game);
    search_on(&mut one, 600, 1, &mut evaluator);
    let best = one
        .lines(3)
        .iter()
        .map(|line| line.pv[0])
        .collect::<Vec<_>>();
    assert!(best.contains(&search.lines(1)[0].pv[0]));
}

#[test]
fn a_batch_proves_mates_as_well() {
    let game = game("falcon", "10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1");
    for batch in [1, 8, 64] {
        let mut search = fresh(&game);
        search_on(&mut search, 50_000, batch, &mut UniformEvaluator);
        let best = search.lines(1).remove(0);
        assert_eq!(best.proven, Some(Proven::Win(3)), "batches of {batch}");
        assert_eq!(
            game.variant().move_text(game.position(), best.pv[0]),
            "e1c4"
        );
        assert!(search.is_finished());
    }
}

/// A kept tree is the tree below the moves played: the same visits and values, and the search goes on from there.
#[test]
fn a_kept_tree_is_what_was_known() {
    let mut game = game("falcon-hunter", "start");
    let mut evaluator = HashEvaluator(game.variant().clone());
    let mut search = fresh(&game);
    let mut kept = 0;
    for _ in 0..30 {
        if game.status() != Status::Ongoing {
            break;
        }
        search_on(&mut search, 300, 4, &mut evaluator);
        check(&game, &search);
        let line = search.lines(1).remove(0);
        let moves: Vec<Move> = line.pv.iter().copied().take(2).collect();
        moves.iter().for_each(|&mv| game.play(mv));
        if game.status() != Status::Ongoing {
            break;
        }
        let before = line.visits;
        if search.advance(&moves, &game) {
            kept += 1;
            assert!(search.simulations() == 0 || search.is_proven());
            assert!(search.visits() <= before && search.has_result());
            check(&game, &search);
        } else {
            search.restart(&game, endless(), 1);
        }
    }
    assert!(kept > 5, "{kept} trees kept");
}

#[test]
fn a_position_that_was_not_searched_is_not_kept() {
    let mut game = game("chess", "start");
    let mut search = fresh(&game);
    search_on(&mut search, 10, 1, &mut UniformEvaluator);
    let [first, second] = [0, 1].map(|index| game.position().legal_moves(game.variant())[index]);
    let other = Game::new(
        game.variant().clone(),
        game.position().play(game.variant(), second),
    );
    assert!(
        !search.advance(&[first], &other),
        "another position than the moves lead to"
    );
    let last = game.position().legal_moves(game.variant())[19];
    let mut after = game.clone();
    after.play(last);
    assert!(!search.advance(&[last], &after), "not searched yet");
    game.play(first);
    assert!(
        search.advance(&[first], &game),
        "nothing has changed before"
    );
}

/// The second occurrence that was a draw inside the searched line is none once the first lies in the past.
#[test]
fn assumed_draws_do_not_outlive_their_line() {
    let mut game = game("chess", "start");
    let mut search = fresh(&game);
    let knight = |text: &str, game: &Game| {
        let mv = game.variant().parse_move(game.position(), text);
        mv.expect("a legal move")
    };
    let mut evaluator = WhiteEvaluator(0.9);
    for text in ["g1f3", "g8f6", "f3g1"] {
        search_on(&mut search, 4000, 1, &mut evaluator);
        let mv = knight(text, &game);
        game.play(mv);
        if !search.advance(&[mv], &game) {
            search.restart(&game, endless(), 1);
        }
    }
    search_on(&mut search, 3000, 1, &mut evaluator);
    // Black, who is badly off, would like the repetition f6g8; it is only the second, and no draw.
    let back = knight("f6g8", &game);
    let line = search
        .lines(usize::MAX)
        .into_iter()
        .find(|line| line.pv[0] == back);
    let line = line.expect("a move that has been searched");
    assert_eq!(line.proven, None);
    assert!(line.q() < -0.5, "{line:?}");
}

#[test]
fn memory_is_bounded() {
    let game = game("falcon", "start");
    let mut search = fresh(&game);
    search.limit_memory(4 << 20);
    assert!(search.fullness() < 0.01);
    search_on(&mut search, 1_000_000, 8, &mut UniformEvaluator);
    assert!(
        search.is_full() && search.fullness() > 0.9,
        "{}",
        search.fullness()
    );
    assert!(search.simulations() > 1000 && search.simulations() < 10_000);
    let mut requests = Vec::new();
    search.gather_leaves(8, &mut requests);
    assert!(requests.is_empty());
    check(&game, &search);
    search.restart(&game, endless(), 1);
    assert!(!search.is_full());
}

#[test]
fn only_the_root_moves_asked_for_are_searched() {
    let game = game("chess", "start");
    let mut search = fresh(&game);
    let legal = game.position().legal_moves(game.variant());
    search.restrict_root(vec![legal[3], legal[7]]);
    search_on(&mut search, 50, 1, &mut UniformEvaluator);
    let lines = search.lines(usize::MAX);
    assert_eq!(lines.len(), 2);
    assert!(
        lines
            .iter()
            .all(|line| [legal[3], legal[7]].contains(&line.pv[0]))
    );
    let mut after = game.clone();
    after.play(legal[3]);
    assert!(
        !search.advance(&[legal[3]], &after),
        "the root was not complete"
    );
}

/// A root whose every line ends must not keep the driver from stopping.
#[test]
fn ends_of_games_leave_the_driver_a_chance() {
    // Bare kings and a pawn that can be taken: the lines are short, and many are drawn by rule.
    let game = game("chess", "8/8/8/3k4/8/3p4/8/3K4 w - - 98 80");
    let mut search = fresh(&game);
    for _ in 0..200 {
        let mut requests = Vec::new();
        search.gather_leaves(1, &mut requests);
        search.respond_all(UniformEvaluator.evaluate(&requests));
    }
    assert!(search.has_result());
    check(&game, &search);
}
