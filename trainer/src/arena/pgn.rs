//! The games of a match as PGN.

use super::pentanomial::GameScore;
use super::result::{GameResult, PairResult};
use rules::{Outcome, Variant};

/// Both games of a pair, one after the other, between contestants of these names.
pub fn of_pair(variant: &Variant, names: (&str, &str), pair: &PairResult) -> String {
    let games = pair.games.iter().enumerate();
    let texts = games.map(|(index, game)| {
        let round = format!("{}.{}", pair.number + 1, index + 1);
        of_game(variant, names, &round, game) + "\n"
    });
    texts.collect()
}

fn of_game(variant: &Variant, names: (&str, &str), round: &str, game: &GameResult) -> String {
    let (white, black) = match game.a_is_white {
        true => names,
        false => (names.1, names.0),
    };
    let outcome = match (game.score, game.a_is_white) {
        (GameScore::Draw, _) => Outcome::Draw,
        (GameScore::Win, true) | (GameScore::Loss, false) => Outcome::WhiteWins,
        (GameScore::Win, false) | (GameScore::Loss, true) => Outcome::BlackWins,
    };
    let termination = match &game.reason {
        Some(reason) => format!("{}: {reason}", game.end.name()),
        None => game.end.name().to_owned(),
    };
    let tags = [
        ("Event", "falconzero arena"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", round),
        ("White", white),
        ("Black", black),
        ("Termination", &termination),
    ];
    variant.pgn(&tags, &variant.start(), &game.moves, Some(outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::result::{Forfeit, GameEnd};

    #[test]
    fn a_lost_game_tells_why() {
        let variant = Variant::by_name("falcon").expect("built in");
        let start = variant.start();
        let mv = variant.parse_move(&start, "e2e4").expect("legal");
        let game = |a_is_white| GameResult {
            score: GameScore::Win,
            a_is_white,
            plies: 1,
            end: GameEnd::Forfeit(Forfeit::IllegalMove),
            reason: Some("`e9e9`".to_owned()),
            moves: vec![mv],
        };
        let pair = PairResult {
            number: 2,
            opening: Vec::new(),
            games: [game(true), game(false)],
        };
        let pgn = of_pair(&variant, ("us", "them"), &pair);
        let games: Vec<&str> = pgn.split("[Event ").skip(1).collect();
        assert_eq!(games.len(), 2);
        for part in [
            "[Round \"3.1\"]",
            "[White \"us\"]",
            "[Result \"1-0\"]",
            "illegal-move: `e9e9`",
            "1. e4 1-0",
        ] {
            assert!(
                games[0].contains(part),
                "'{part}' is missing in {}",
                games[0]
            );
        }
        assert!(games[1].contains("[Black \"us\"]") && games[1].contains("0-1"));
    }
}
