//! What must hold in every position of every variant, tried on random games.
//!
//! Protects the bookkeeping that perft cannot see: FEN round trips, keys kept up to date move by
//! move, colour symmetry, counting against listing, move text, editing.

mod every_variant;

use std::collections::HashSet;

use every_variant::every_variant;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Bitboard, Color, Game, Move, Piece, Position, Role, Square, Status, Variant};

const GAMES: u64 = 24;
const PLIES: usize = 160;

/// Plays random games of every variant and shows each position to `visit`.
///
/// Captures are preferred half the time, so that entries, promotions and bare boards occur.
fn random_games(games: u64, mut visit: impl FnMut(&Variant, &Game, &[Move])) {
    for variant in every_variant() {
        for seed in 0..games {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut game = Game::new(variant.clone(), variant.start());
            for _ in 0..PLIES {
                let moves = game.position().legal_moves(&variant);
                visit(&variant, &game, &moves);
                if moves.is_empty() {
                    break;
                }
                game.play(choose(&mut rng, game.position(), &moves));
            }
        }
    }
}

fn choose(rng: &mut impl Rng, position: &Position, moves: &[Move]) -> Move {
    let enemy = position.by_color(!position.turn());
    let sharp = |mv: &&Move| {
        enemy.contains(mv.to()) || mv.promotion().is_some() || !matches!(mv, Move::Step { .. })
    };
    let sharp: Vec<&Move> = moves.iter().filter(sharp).collect();
    if !sharp.is_empty() && rng.random_bool(0.5) {
        return *sharp[rng.random_range(0..sharp.len())];
    }
    moves[rng.random_range(0..moves.len())]
}

fn mirrored(variant: &Variant, mv: Move) -> Move {
    let flip =
        |square: Square| Square::new(square.file(), variant.ranks() - 1 - square.rank()).unwrap();
    match mv {
        Move::Step {
            from,
            to,
            promotion,
        } => Move::Step {
            from: flip(from),
            to: flip(to),
            promotion,
        },
        Move::Castle {
            from,
            to,
            partner_from,
            partner_to,
        } => Move::Castle {
            from: flip(from),
            to: flip(to),
            partner_from: flip(partner_from),
            partner_to: flip(partner_to),
        },
        Move::Drop { role, to } => Move::Drop { role, to: flip(to) },
    }
}

#[test]
fn fen_round_trip_restores_position_and_key() {
    let mut seen = 0;
    random_games(GAMES, |variant, game, _| {
        let position = game.position();
        let fen = position.fen(variant);
        let again = Position::from_fen(variant, &fen).unwrap();
        assert_eq!(&again, position, "{} {fen}", variant.name());
        seen += 1;
    });
    assert!(seen > 20_000, "only {seen} positions");
}

#[test]
fn mirrored_positions_have_mirrored_moves() {
    random_games(GAMES, |variant, game, moves| {
        let position = game.position();
        let mirror = position.mirror(variant);
        let sorted = |mut moves: Vec<Move>| {
            moves.sort();
            moves
        };
        let expected = moves.iter().map(|&mv| mirrored(variant, mv)).collect();
        assert_eq!(
            sorted(mirror.legal_moves(variant)),
            sorted(expected),
            "{} {}",
            variant.name(),
            position.fen(variant)
        );
        assert_eq!(&mirror.mirror(variant), position);
        let status = position.status(variant);
        assert_eq!(mirror.status(variant), status);
    });
}

#[test]
fn legal_moves_keep_the_rules() {
    random_games(GAMES, |variant, game, moves| {
        let position = game.position();
        let fen = position.fen(variant);
        let us = position.turn();
        assert_eq!(
            moves.len() as u64,
            position.legal_move_count(variant),
            "{fen}"
        );
        let distinct: HashSet<Move> = moves.iter().copied().collect();
        assert_eq!(distinct.len(), moves.len(), "a move occurs twice in {fen}");
        for &mv in moves {
            let after = position.play(variant, mv);
            assert!(!after.is_king_left_in_danger(variant), "{fen} {mv:?}");
            assert_eq!(after.turn(), !us);
            assert!((after.by_color(Color::White) & after.by_color(Color::Black)).is_empty());
            assert_eq!(after.occupied() & !variant.board(), Bitboard::EMPTY);
            let men: u32 = (0..variant.roles().len())
                .filter_map(Role::from_index)
                .flat_map(|role| Color::ALL.map(|color| after.pieces(color, role).count()))
                .sum();
            assert_eq!(men, after.occupied().count(), "{fen} {mv:?}");
            assert!(after.occupied().count() <= position.occupied().count() + 1);
            assert_eq!(after.rights() & !after.occupied(), Bitboard::EMPTY);
        }
    });
}

#[test]
fn move_texts_are_distinct_and_read_back() {
    random_games(3, |variant, game, moves| {
        let position = game.position();
        let mut texts = HashSet::new();
        for &mv in moves {
            let text = variant.move_text(position, mv);
            assert!(texts.insert(text.clone()), "`{text}` names two moves");
        }
        for &mv in moves.iter().take(3) {
            let text = variant.move_text(position, mv);
            assert_eq!(variant.parse_move(position, &text).unwrap(), mv);
        }
    });
}

#[test]
fn keys_tell_positions_apart() {
    for variant in every_variant() {
        let mut known = std::collections::HashMap::new();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut position = variant.start();
        for _ in 0..3000 {
            let moves = position.legal_moves(&variant);
            if moves.is_empty() {
                position = variant.start();
                continue;
            }
            position = position.play(&variant, choose(&mut rng, &position, &moves));
            // Everything that a repetition asks for; the en passant square counts only if it
            // changes the moves.
            let fen = position.fen(&variant);
            let fields: Vec<&str> = fen.split(' ').collect();
            let mut moves = position.legal_moves(&variant);
            moves.sort();
            let same = (
                fields[..3].join(" "),
                fields.get(6).map(|s| s.to_string()),
                moves,
            );
            if let Some(before) = known.insert(position.key(), same.clone()) {
                assert_eq!(
                    before,
                    same,
                    "{}: two positions with one key",
                    variant.name()
                );
            }
        }
    }
}

#[test]
fn editing_gives_positions_that_can_stand() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut done, mut refused) = (0, 0);
    random_games(4, |variant, game, _| {
        let position = game.position();
        let square = Square::from_index(rng.random_range(0..100)).unwrap();
        let role = Role::from_index(rng.random_range(0..variant.roles().len())).unwrap();
        let color = Color::ALL[rng.random_range(0..2)];
        let piece = rng.random_bool(0.5).then_some(Piece { color, role });
        match position.with_piece(variant, square, piece) {
            Ok(edited) => {
                done += 1;
                assert_eq!(edited.piece_at(square), piece);
                assert!(!edited.is_king_left_in_danger(variant));
                let again = Position::from_fen(variant, &edited.fen(variant)).unwrap();
                assert_eq!(again, edited);
                edited.status(variant);
            }
            Err(_) => refused += 1,
        }
    });
    assert!(
        done > 1000 && refused > 1000,
        "{done} done, {refused} refused"
    );
}

#[test]
fn random_games_reach_mates_and_dead_draws() {
    let mut seen = HashSet::new();
    random_games(GAMES, |_, game, _| {
        seen.insert(game.status());
    });
    for status in [
        Status::Ongoing,
        Status::Checkmate,
        Status::Stalemate,
        Status::InsufficientMaterial,
    ] {
        assert!(seen.contains(&status), "no random game came to {status:?}");
    }
}
