//! Sessions in UCI.

use super::pipe::Client;
use super::{setup, uniform};
use crate::engine::NetShelf;
use crate::engine::notation::Notation;
use model::{DeviceChoice, Net, NetConfig, NetMeta, NetShape, save_net};
use rules::{Game, Position, Status, Variant};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn greet(client: &mut Client) {
    client.send("uci");
    client.expect("uciok");
}

/// The move of `bestmove`.
pub(super) fn best(client: &mut Client) -> String {
    let line = client.expect("bestmove ");
    line.split(' ').nth(1).expect("a move").to_owned()
}

/// An untrained net in a file.
pub(super) fn net_file(folder: &tempfile::TempDir, variant: &str) -> PathBuf {
    let variant = Variant::by_name(variant).expect("a built-in variant");
    let config = NetConfig::new(16, 1);
    let device = DeviceChoice::Cpu.device().expect("a CPU");
    let net = Net::new(config, NetShape::new(&variant), 1, &device).expect("a valid size");
    let meta = NetMeta::new(&variant, config, "untrained", 0);
    let path = folder
        .path()
        .join(format!("{}.safetensors", variant.name()));
    let bytes = save_net(&net, &meta).expect("a net file");
    std::fs::write(&path, bytes).expect("written");
    path
}

/// Clients of chess never name it.
#[test]
fn the_first_net_says_what_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = net_file(&folder, "chess");
    let shelf = NetShelf::read(["uniform", &path.to_string_lossy()]).expect("readable nets");
    let variant = shelf.variant().expect("a net's variant");
    assert_eq!(variant.name(), "chess");
    let without = NetShelf::read(["uniform"]).expect("no file");
    assert!(without.variant().is_none());
}

#[test]
fn options_and_variants_are_announced() {
    let mut client = uniform("falcon");
    client.send("uci");
    let lines = client.until("uciok");
    let variants = lines
        .iter()
        .find(|line| line.contains("UCI_Variant"))
        .expect("the variants");
    assert!(variants.contains(" default falcon "), "{variants}");
    for name in Variant::builtin_names() {
        assert!(
            variants.split(" var ").any(|var| var == *name),
            "{name}: {variants}"
        );
    }
    for name in [
        "Hash",
        "Threads",
        "MultiPV",
        "Ponder",
        "VariantPath",
        "EvalFile",
        "Move Overhead",
    ] {
        let option = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&option)), "{name}");
    }
}

/// Self-play in every variant with whatever limits; every move must be legal and every line must hold up.
#[test]
fn all_variants_play_some_plies() {
    let mut client = uniform("chess");
    greet(&mut client);
    let limits = [
        "nodes 30",
        "depth 2",
        "movetime 4",
        "wtime 60 btime 60 winc 4 binc 4",
        "mate 1 nodes 10",
    ];
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name).expect("a built-in variant");
        let notation = Notation::uci(&variant);
        client.send("ucinewgame");
        client.send(&format!("setoption name UCI_Variant value {name}"));
        client.expect(&format!(
            "info string variant {name} files {}",
            variant.files()
        ));
        let mut game = Game::new(Arc::clone(&variant), variant.start());
        let mut moves = String::new();
        for limit in limits.iter().cycle().take(12) {
            client.send(&format!("position startpos{moves}"));
            client.send(&format!("go {limit}"));
            let lines = client.until("bestmove ");
            let texts: Vec<&str> = lines[lines.len() - 1].split(' ').collect();
            let mv = notation.read(&variant, game.position(), texts[1]);
            let mv = mv.unwrap_or_else(|| panic!("{name}: {} after{moves}", texts[1]));
            check_lines(&variant, game.position(), &lines);
            moves += &format!(
                "{} {}",
                if moves.is_empty() { " moves" } else { "" },
                texts[1]
            );
            game.play(mv);
            if game.status() != Status::Ongoing {
                break;
            }
        }
    }
}

/// Every principal variation is playable, and the fields that clients need are there.
fn check_lines(variant: &Variant, start: &Position, lines: &[String]) {
    let infos: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("info depth "))
        .collect();
    assert!(!infos.is_empty(), "{lines:#?}");
    for info in infos {
        for field in [
            " seldepth ",
            " multipv 1 score ",
            " nodes ",
            " nps ",
            " hashfull ",
            " time ",
        ] {
            assert!(info.contains(field), "{field}: {info}");
        }
        let (_, pv) = info.split_once(" pv ").expect("a line");
        let mut position = *start;
        for text in pv.split(' ') {
            let mv = Notation::uci(variant).read(variant, &position, text);
            position = position.play(variant, mv.unwrap_or_else(|| panic!("{text} in {info}")));
        }
    }
}

#[test]
fn bad_positions_are_explained_and_not_searched() {
    let mut client = uniform("falcon");
    greet(&mut client);
    for (position, part) in [
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "board"),
        ("position fen", "missing"),
        (
            "position fen 4k5/10/10/10/10/10/10/4K5 x - - 0 1",
            "side to move",
        ),
        (
            "position fen 4k5/10/10/10/4R5/10/10/4K5 w - - 0 1",
            "king attacked",
        ),
        (
            "position startpos moves e2e4 d2d4",
            "move 2 of the position, `d2d4`, is not legal: it is Black's turn",
        ),
        ("position startpos moves e2e5", "the pawn does not go there"),
        ("position startpos moves e4e5", "no man on that square"),
        ("position startpos moves castle", "is not a move"),
        ("position startpos moves F@b1", "nothing may be entered"),
        (
            "position fne 4k5/10/10/10/10/10/10/4K5 w - - 0 1",
            "position",
        ),
        ("position startpos e2e4", "position"),
    ] {
        client.send(position);
        let line = client.expect("info string error: ");
        assert!(line.contains(part), "{position}: {line}");
        client.send("go nodes 1");
        client.expect("info string error: there is no position to search");
        client.expect("bestmove (none)");
    }
    client.send("position startpos");
    client.send("go nodes 1");
    assert_ne!(best(&mut client), "(none)");
}

#[test]
fn nets_are_found_by_variant_and_bad_ones_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (falcon, chess) = (net_file(&folder, "falcon"), net_file(&folder, "falcon-8x8"));
    let broken = folder.path().join("broken.safetensors");
    std::fs::write(&broken, &std::fs::read(&falcon).expect("a net")[..5000]).expect("written");
    let mut client = Client::start(setup("falcon", &[]));
    greet(&mut client);
    let set = |client: &mut Client, value: String| {
        client.send(&format!("setoption name EvalFile value {value}"));
    };
    set(
        &mut client,
        format!("{} ; {}", chess.display(), falcon.display()),
    );
    client.send("isready");
    client.expect("info string net: falcon");
    client.expect("readyok");
    client.send("go nodes 20");
    best(&mut client);
    client.send("setoption name UCI_Variant value falcon-8x8");
    client.send("isready");
    client.expect("info string net: falcon-8x8");
    client.send("setoption name UCI_Variant value falcon-9x10");
    client.send("go nodes 20");
    let line = client.expect("info string error: ");
    assert!(line.contains("no net for variant `falcon-9x10`"), "{line}");
    assert!(line.contains("is for `falcon-8x8`"), "{line}");
    client.expect("bestmove (none)");
    // Where a net is shipped it plays, but not in silence.
    client.send("setoption name UCI_Variant value chess");
    client.send("isready");
    client.expect("info string net: shipped net for chess");
    let line = client.expect("info string warning: ");
    let parts = ["is for `falcon-8x8`", "so the shipped net for chess plays"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    set(&mut client, broken.display().to_string());
    client.send("isready");
    let line = client.expect("info string error: ");
    assert!(line.contains("not a readable net"), "{line}");
    client.expect("readyok");
    // The nets from before are still there.
    client.send("setoption name UCI_Variant value falcon-8x8");
    client.send("go nodes 20");
    assert_ne!(best(&mut client), "(none)");
    set(&mut client, "no/such.safetensors".to_owned());
    let line = client.expect("info string error: ");
    assert!(line.contains("no/such.safetensors"), "{line}");
    set(&mut client, "uniform".to_owned());
    client.send("go nodes 20");
    assert_ne!(best(&mut client), "(none)");
}

#[test]
fn variants_of_the_user_are_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    let chess = Variant::by_name("chess").expect("a built-in variant");
    let text = chess.toml().replace("name = \"chess\"", "name = \"mine\"");
    std::fs::write(&path, text).expect("written");
    let mut client = uniform("falcon");
    greet(&mut client);
    client.send("setoption name UCI_Variant value mine");
    client.expect("info string error: there is no variant `mine`");
    client.send("setoption name VariantPath value no/such.toml");
    client.expect("info string error: cannot read the variant file 'no/such.toml'");
    client.send(&format!(
        "setoption name VariantPath value {}",
        path.display()
    ));
    client.expect("info string variants added: mine");
    let taken = folder.path().join("taken.toml");
    let other = chess.toml().replacen("betza = \"R\"", "betza = \"Q\"", 1);
    std::fs::write(&taken, other).expect("written");
    client.send(&format!(
        "setoption name VariantPath value {}",
        taken.display()
    ));
    let line = client.expect("info string error: ");
    assert!(line.contains("chess is a built-in variant"), "{line}");
    client.send(&format!(
        "setoption name VariantPath value {0};{0}",
        path.display()
    ));
    let line = client.expect("info string error: ");
    assert!(line.contains("another file before it"), "{line}");
    client.send("setoption name UCI_Variant value mine");
    client.expect("info string variant mine files 8");
    client.send("go nodes 20");
    assert_ne!(best(&mut client), "(none)");
}
