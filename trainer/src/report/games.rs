//! Sample games, made ready to be stepped through.

use rules::{Color, Outcome, Position, Variant};
use selfplay::games::chunks;
use selfplay::record::{GameRecord, from_bytes};
use selfplay::starts::StartKind;
use selfplay::storage::Storage;
use serde::Serialize;

/// Games shown.
const GAMES: usize = 3;
/// Chunks looked at, the newest first.
const CHUNKS: usize = 12;

/// A game as a row of boards.
#[derive(Debug, Clone, Serialize)]
pub struct SampleGame {
    /// Result and reason.
    pub title: String,
    /// The board field of each position's FEN, the last one included.
    pub boards: Vec<String>,
    /// The move after each board but the last, in SAN where it is legal.
    pub moves: Vec<String>,
    /// The net's win less loss for White before each move, −1 to 1.
    pub q: Vec<f32>,
}

/// A few games from the array out of the newest, those that ended in mate first, the longer ones first among equals.
///
/// # Errors
/// If the storage cannot be listed. What cannot be read is passed over.
pub fn sample_games(storage: &Storage, variant: &Variant) -> anyhow::Result<Vec<SampleGame>> {
    let mut games: Vec<GameRecord> = chunks(storage)?
        .iter()
        .rev()
        .take(CHUNKS)
        .filter_map(|chunk| from_bytes(storage.get(&chunk.name).ok()?).ok())
        .flatten()
        .filter(|game| game.start_kind == StartKind::Opening)
        .collect();
    let rank = |game: &GameRecord| {
        let is_mate = game.end == selfplay::game::EndReason::Checkmate;
        let length = game.plies.len().min(120);
        (is_mate, game.outcome != Outcome::Draw, length)
    };
    games.sort_by_key(|game| std::cmp::Reverse(rank(game)));
    Ok(games
        .iter()
        .filter_map(|game| steps(variant, game))
        .take(GAMES)
        .collect())
}

/// `None` if a position or move is not one of the variant.
fn steps(variant: &Variant, game: &GameRecord) -> Option<SampleGame> {
    let result = match game.outcome {
        Outcome::WhiteWins => "White wins",
        Outcome::BlackWins => "Black wins",
        Outcome::Draw => "Drawn",
    };
    let mut sample = SampleGame {
        title: format!(
            "{result} ({}), {} plies",
            game.end.as_str().replace('_', " "),
            game.plies.len()
        ),
        boards: Vec::new(),
        moves: Vec::new(),
        q: Vec::new(),
    };
    let board = |position: &Position| {
        position
            .fen(variant)
            .split(' ')
            .next()
            .unwrap_or("")
            .to_owned()
    };
    let mut last = None;
    for ply in &game.plies {
        let position = Position::from_fen(variant, &ply.fen).ok()?;
        let mv = variant.parse_move(&position, &ply.mv).ok()?;
        sample.boards.push(board(&position));
        sample.moves.push(variant.san(&position, mv));
        sample.q.push(match position.turn() {
            Color::White => ply.root_q,
            Color::Black => -ply.root_q,
        });
        last = Some(position.play(variant, mv));
    }
    sample.boards.push(board(&last?));
    Some(sample)
}
