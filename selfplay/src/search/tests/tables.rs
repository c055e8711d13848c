//! Searches that have endgame tables.

use super::*;
use rules::tablebase::{TableValue, Tablebases};

fn search(tables: &Arc<Tablebases>, game: &Game, simulations: u32) -> Search {
    let config = SearchConfig {
        simulations,
        gumbel_scale: 0.0,
        ..SearchConfig::default()
    };
    let mut search = Search::new(game, config, 1);
    search.set_tables(Some(Arc::clone(tables)));
    search
}

fn run(search: &mut Search) -> SearchResult {
    while let Some(request) = search.gather() {
        search.respond(UniformEvaluator.evaluate(&[request]).remove(0));
    }
    search.result()
}

fn game(variant: &Arc<Variant>, fen: &str) -> Game {
    Game::new(
        Arc::clone(variant),
        Position::from_fen(variant, fen).expect("a FEN"),
    )
}

/// One evaluation, that of the root, is enough for each move of a solved ending, and each brings the mate nearer.
#[test]
fn solved_endings_are_won_without_searching() {
    for (name, fen) in [
        ("chess", "8/8/8/3k4/8/8/8/R3K3 w - - 0 1"),
        ("falcon-8x8", "8/8/8/3k4/8/8/8/F3K3 w - - 0 1"),
    ] {
        let variant = Variant::by_name(name).expect("built in");
        let tables = Arc::new(Tablebases::three_men(&variant).expect("solved"));
        let mut game = game(&variant, fen);
        let Some(TableValue::Win(plies)) = tables.probe(game.position()) else {
            panic!("{name}: a win");
        };
        for left in (1..=plies).rev() {
            let mut search = search(&tables, &game, 1);
            let result = run(&mut search);
            let won = match left % 2 == plies % 2 {
                true => Proven::Win(left),
                false => Proven::Loss(left),
            };
            assert_eq!(
                result.proven,
                Some(won),
                "{}",
                game.position().fen(&variant)
            );
            game.play(result.best_move);
        }
        assert_eq!(game.status(), rules::Status::Checkmate, "{name}");
    }
}

/// A capture that leads into the tables proves the position before it.
#[test]
fn moves_into_the_tables_are_certain() {
    let chess = Variant::by_name("chess").expect("built in");
    let tables = Arc::new(Tablebases::three_men(&chess).expect("solved"));
    let game = game(&chess, "4k3/8/8/8/8/8/n7/R3K3 w - - 0 1");
    let result = run(&mut search(&tables, &game, 200));
    let after = game.position().play(&chess, result.best_move);
    assert_eq!(chess.move_text(game.position(), result.best_move), "a1a2");
    let Some(TableValue::Loss(plies)) = tables.probe(&after) else {
        panic!("a loss");
    };
    assert_eq!(result.proven, Some(Proven::Win(plies + 1)));
    assert!(result.simulations < 200, "{}", result.simulations);
}

/// The loser's moves are certain only as far as the fifty-move rule lets them be; the search goes on with the others.
#[test]
fn the_fifty_move_rule_is_minded() {
    let chess = Variant::by_name("chess").expect("built in");
    let tables = Arc::new(Tablebases::three_men(&chess).expect("solved"));
    let mut proofs = Vec::new();
    for clock in [0, 60, 75, 80, 85, 90, 99] {
        let fen = format!("8/8/8/3k4/8/8/8/R3K3 b - - {clock} 80");
        let game = game(&chess, &fen);
        let result = run(&mut search(&tables, &game, 32));
        let is_lost = matches!(result.proven, Some(Proven::Loss(_)));
        let known = tables.probe_in_play(game.position());
        assert!(
            !is_lost || matches!(known, Some(TableValue::Loss(_))),
            "{clock}"
        );
        proofs.push(is_lost);
    }
    assert!(proofs[0] && !proofs[6], "{proofs:?}");
}
