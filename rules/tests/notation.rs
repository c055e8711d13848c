//! Move text for people: written so that it reads back, and as chess players expect.

mod every_variant;

use every_variant::every_variant;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Outcome, Position, Variant};

#[test]
fn san_reads_back_in_every_variant() {
    for variant in every_variant() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut position = variant.start();
        for _ in 0..80 {
            let moves = position.legal_moves(&variant);
            if moves.is_empty() {
                break;
            }
            for &mv in moves.iter().step_by(9) {
                let san = variant.san(&position, mv);
                assert_eq!(
                    variant.parse_san(&position, &san).unwrap(),
                    mv,
                    "{} {san}",
                    variant.name()
                );
            }
            position = position.play(&variant, moves[rng.random_range(0..moves.len())]);
        }
    }
}

#[test]
fn san_is_what_players_write() {
    let cases = [
        ("chess", "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exd5"),
        ("chess", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O"),
        ("chess", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O"),
        ("chess", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1a8", "Ra8+"),
        ("chess", "4k3/8/8/8/R7/8/8/R3K3 w - - 0 1", "a1a2", "R1a2"),
        ("chess", "4k3/8/8/8/8/N3N3/8/4K3 w - - 0 1", "a3c4", "Nac4"),
        ("chess", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", "Ra8#"),
        ("chess", "8/8/8/2pP4/8/8/K7/4k3 w - c6 0 1", "d5c6", "dxc6"),
        (
            "falcon",
            "10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1",
            "c7c8f",
            "c8=F#",
        ),
        (
            "falcon-free",
            "r4k3r/10/10/10/10/10/10/R4K3R w KQkq - 0 1",
            "f1g1/j1",
            "O-O/f1g1/j1+",
        ),
        (
            "falcon-hunter",
            "4k3/8/8/8/8/8/3PPP2/r3K3[FHfh] w - - 0 1 +1+0",
            "H@b1",
            "H@b1",
        ),
        (
            "hunter-chess",
            "4k3/8/8/8/8/8/4K3/3Q3H[Ffh] w DH - 0 1 +1+0",
            "d1f1/h1",
            "QO-O",
        ),
    ];
    for (name, fen, text, expected) in cases {
        let variant = Variant::by_name(name).unwrap();
        let position = Position::from_fen(&variant, fen).unwrap();
        let mv = variant.parse_move(&position, text).unwrap();
        assert_eq!(variant.san(&position, mv), expected, "{fen}");
    }
}

#[test]
fn pgn_has_tags_and_numbers() {
    let chess = Variant::by_name("chess").unwrap();
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2";
    let start = Position::from_fen(&chess, fen).unwrap();
    let mate = chess.parse_san(&start, "Qh4").unwrap();
    let pgn = chess.pgn(
        &[("Black", "a \"fool\"")],
        &start,
        &[mate],
        Some(Outcome::BlackWins),
    );
    let expected = format!(
        "[Black \"a \\\"fool\\\"\"]\n[Variant \"chess\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n[Result \"0-1\"]\n\n2... Qh4# 0-1\n"
    );
    assert_eq!(pgn, expected);
}
