//! Game records for tests.

use model::Wdl;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Outcome, Position, Variant};
use selfplay::game::EndReason;
use selfplay::record::{GameRecord, PlyRecord};
use selfplay::starts::StartKind;

/// A game from the start array with these moves.
pub fn record_of(variant: &Variant, id: &str, moves: &[&str], outcome: Outcome) -> GameRecord {
    let mut position = variant.start();
    let mut plies = Vec::new();
    for text in moves {
        plies.push(ply(variant, &position, text));
        let mv = variant.parse_move(&position, text).expect("a legal move");
        position = position.play(variant, mv);
    }
    record(variant, id, plies, outcome)
}

/// A game of random moves, whose outcome is drawn with White's expected score at its last position, as `score` sees it.
pub fn random_game(
    variant: &Variant,
    seed: u64,
    plies: usize,
    score: &dyn Fn(&Position) -> f64,
) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut position = variant.start();
    let mut records = Vec::new();
    for _ in 0..plies {
        let moves = position.legal_moves(variant);
        if moves.is_empty() {
            break;
        }
        let mv = moves[rng.random_range(0..moves.len())];
        records.push(ply(variant, &position, &variant.move_text(&position, mv)));
        position = position.play(variant, mv);
    }
    let outcome = if rng.random_bool(score(&position)) {
        Outcome::WhiteWins
    } else {
        Outcome::BlackWins
    };
    record(variant, &format!("g{seed}"), records, outcome)
}

fn ply(variant: &Variant, position: &Position, mv: &str) -> PlyRecord {
    PlyRecord {
        fen: position.fen(variant),
        mv: mv.to_owned(),
        repetitions: 1,
        policy: vec![(mv.to_owned(), 1.0)],
        root_q: 0.0,
        raw_value: Wdl::UNKNOWN,
        visits: 1,
        full_search: true,
        net_id: "000000".to_owned(),
    }
}

fn record(variant: &Variant, id: &str, plies: Vec<PlyRecord>, outcome: Outcome) -> GameRecord {
    GameRecord {
        game_id: id.to_owned(),
        variant: variant.name().to_owned(),
        start_kind: StartKind::Opening,
        worker_id: "w".to_owned(),
        seed: 1,
        outcome,
        end: EndReason::MaxPlies,
        would_resign: None,
        plies,
    }
}
