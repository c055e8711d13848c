//! Games that run into each other.
//!
//! Searches without noise play on from the same position in the same way, whoever came there how. What such games have in
//! common is one observation and not many: a bootstrap that took them for independent ones would promise far too narrow
//! intervals.

use selfplay::record::GameRecord;
use std::collections::HashSet;
use twox_hash::XxHash64;

/// The games that never come to a position that an earlier one of them had.
pub(super) fn own_lines(games: Vec<GameRecord>) -> Vec<GameRecord> {
    let mut seen: HashSet<u64> = HashSet::new();
    let mut own = Vec::with_capacity(games.len());
    for game in games {
        let keys: Vec<u64> = game.plies.iter().map(|ply| key(&ply.fen)).collect();
        if !keys.iter().any(|key| seen.contains(key)) {
            seen.extend(keys);
            own.push(game);
        }
    }
    own
}

/// A hash of all of a FEN but its two counters.
fn key(fen: &str) -> u64 {
    let mut words: Vec<&str> = fen.split_whitespace().collect();
    words.drain(4.min(words.len())..6.min(words.len()));
    XxHash64::oneshot(0, words.join(" ").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::super::test_games::record_of;
    use super::*;
    use rules::{Outcome, Variant};

    #[test]
    fn what_games_have_in_common_counts_once() {
        let chess = Variant::by_name("chess").expect("a shipped variant");
        let game = |id: &str, moves: &str| {
            let moves: Vec<&str> = moves.split(' ').collect();
            let mut game = record_of(&chess, id, &moves, Outcome::Draw);
            // The openings are not in the records of games that begin with random plies.
            game.plies.drain(..2);
            game
        };
        let games = [
            game("first", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"),
            // By other moves into the first one.
            game("joined", "g1f3 b8c6 e2e4 e7e5 f1b5 a7a6 b5a4 g8f6"),
            game("own", "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7"),
        ];
        // Its own way until its last position.
        let mut late = games[2].clone();
        late.game_id = "late".to_owned();
        let last = late.plies.len() - 1;
        for ply in &mut late.plies[..last] {
            ply.fen.insert(0, 'x');
        }
        let own = own_lines([&games[..], &[late]].concat());
        let ids: Vec<&str> = own.iter().map(|game| &game.game_id[..]).collect();
        assert_eq!(ids, ["first", "own"]);
    }

    #[test]
    fn counters_tell_no_positions_apart_but_all_else_does() {
        let key_of = |tail: &str| key(&format!("8/8/8/4k3/8/8/8/4K3{tail}"));
        assert_eq!(key_of(" w - - 0 1"), key_of(" w - - 14 40"));
        assert_eq!(key_of("[Fh] w - - 0 1 +1+0"), key_of("[Fh] w - - 3 9 +1+0"));
        assert_ne!(key_of("[Fh] w - - 0 1 +1+0"), key_of("[Fh] w - - 0 1 +0+0"));
        assert_ne!(key_of("[Fh] w - - 0 1 +1+0"), key_of("[F] w - - 0 1 +1+0"));
        assert_ne!(key_of(" w - - 0 1"), key_of(" b - - 0 1"));
        key("no FEN");
    }
}
