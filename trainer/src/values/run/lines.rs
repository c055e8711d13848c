//! Games that run into each other.
//!
//! Searches without noise play on from the same position in the same way, whoever came there how. What such games have in
//! common is one observation and not many: a bootstrap that took them for independent ones would promise far too narrow
//! intervals.

use selfplay::record::GameRecord;
use std::collections::HashSet;
use twox_hash::XxHash64;

/// The games, each as far as it goes a way of its own: up to the first position that an earlier one had. Those of which less
/// than half is left are left out.
pub(super) fn own_lines(games: Vec<GameRecord>) -> Vec<GameRecord> {
    let mut seen: HashSet<u64> = HashSet::new();
    let mut own = Vec::with_capacity(games.len());
    for mut game in games {
        let keys: Vec<u64> = game.plies.iter().map(|ply| key(&ply.fen)).collect();
        let joins = keys.iter().position(|key| seen.contains(key));
        let length = joins.unwrap_or(keys.len());
        seen.extend(&keys[..length]);
        if 2 * length >= keys.len() {
            game.plies.truncate(length);
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
        let games = vec![
            game("first", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"),
            // By other moves into the first one, at once and late.
            game("early", "g1f3 b8c6 e2e4 e7e5 f1b5 a7a6 b5a4 g8f6"),
            game("late", "d2d3 e7e5 d3d4 b8c6 e2e4 e5d4 e4e5 d4d3 e5e6 d3d2"),
            game("own", "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7"),
        ];
        let mut late_twin = games[2].clone();
        late_twin.plies[..4].clone_from_slice(&games[3].plies[..4]);
        late_twin.plies[..4]
            .iter_mut()
            .for_each(|ply| ply.fen.insert(0, 'x'));
        let own = own_lines([&games[..], &[late_twin]].concat());
        let lengths: Vec<(&str, usize)> = own
            .iter()
            .map(|game| (&game.game_id[..], game.plies.len()))
            .collect();
        assert_eq!(
            lengths,
            [("first", 6), ("late", 8), ("own", 6), ("late", 4)]
        );
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
