//! Quiet positions of recorded games: what the estimators look at.

use super::census::census;
use anyhow::Context;
use rules::{Position, Variant};
use selfplay::record::GameRecord;

/// Which positions of a game to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// First ply to take, counted from the start of the record; what comes before is much the same in all games.
    pub first_ply: usize,
    /// Least distance of two positions in plies. Neighbours say nearly the same.
    pub gap: usize,
    /// Most positions of one game; they are spread over its whole length.
    pub per_game: usize,
}

/// The quiet positions of a game, thinned.
///
/// A position is quiet if the side to move is not in check and the ply that was played changes nobody's material: in the
/// middle of an exchange the men on the board say little about who stands better.
///
/// # Errors
/// If a FEN is not one of the variant.
pub fn quiet_positions(
    variant: &Variant,
    game: &GameRecord,
    sampling: Sampling,
) -> anyhow::Result<Vec<Position>> {
    let plies = game.plies.len();
    let stride = sampling
        .gap
        .max(
            plies
                .saturating_sub(sampling.first_ply)
                .div_ceil(sampling.per_game.max(1)),
        )
        .max(1);
    let parse = |ply: usize| {
        Position::from_fen(variant, &game.plies[ply].fen).with_context(|| {
            format!(
                "game {} has a position that {} does not allow",
                game.game_id,
                variant.name()
            )
        })
    };
    let mut positions = Vec::new();
    for start in (sampling.first_ply..plies).step_by(stride) {
        // The last ply has no successor to compare with.
        for ply in start..(start + stride).min(plies.saturating_sub(1)) {
            let position = parse(ply)?;
            if !position.is_check(variant)
                && census(variant, &position) == census(variant, &parse(ply + 1)?)
            {
                positions.push(position);
                break;
            }
        }
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::super::test_games::record_of;
    use super::*;
    use rules::Outcome;

    const SAMPLING: Sampling = Sampling {
        first_ply: 0,
        gap: 1,
        per_game: 100,
    };

    fn fens(moves: &[&str], sampling: Sampling) -> Vec<String> {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let record = record_of(&variant, "g", moves, Outcome::Draw);
        let positions = quiet_positions(&variant, &record, sampling).expect("positions of chess");
        positions
            .iter()
            .map(|position| position.fen(&variant))
            .collect()
    }

    #[test]
    fn exchanges_and_checks_are_passed_over() {
        let fens = fens(
            &[
                "e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5e5", "g1e2", "a7a6",
            ],
            SAMPLING,
        );
        // Before e4 and d5 nothing happens, then two captures, then two quiet plies, then White is in check; the last
        // position has no successor.
        let turns: Vec<&str> = fens
            .iter()
            .filter_map(|fen| fen.split(' ').nth(1))
            .collect();
        assert_eq!(turns, ["w", "b", "w", "b"], "{fens:?}");
        assert!(
            fens[2].starts_with("rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKBNR"),
            "{fens:?}"
        );
    }

    #[test]
    fn positions_are_thinned_over_the_whole_game() {
        let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let moves: Vec<&str> = shuffle.iter().copied().cycle().take(41).collect();
        assert_eq!(fens(&moves, Sampling { gap: 8, ..SAMPLING }).len(), 5);
        assert_eq!(
            fens(
                &moves,
                Sampling {
                    per_game: 4,
                    ..SAMPLING
                }
            )
            .len(),
            4
        );
        assert_eq!(
            fens(
                &moves,
                Sampling {
                    first_ply: 39,
                    ..SAMPLING
                }
            )
            .len(),
            1
        );
        assert_eq!(
            fens(
                &moves,
                Sampling {
                    first_ply: 60,
                    ..SAMPLING
                }
            )
            .len(),
            0
        );
    }

    #[test]
    fn a_position_of_another_variant_is_an_error() {
        let chess = Variant::by_name("chess").expect("a shipped variant");
        let falcon = Variant::by_name("falcon").expect("a shipped variant");
        let record = record_of(&chess, "g17", &["e2e4", "e7e5", "g1f3"], Outcome::Draw);
        let error = quiet_positions(&falcon, &record, SAMPLING).expect_err("another board");
        assert!(error.to_string().contains("g17"), "{error}");
    }
}
