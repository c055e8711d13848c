//! Sessions in UCI.

use super::pipe::Client;
use super::{setup, uniform};
use crate::engine::NetShelf;
use crate::engine::notation::Notation;
use model::{DeviceChoice, Net, NetConfig, NetMeta, NetShape, save_net};
use rules::{Game, Position, Status, Variant};
use std::path::PathBuf;
use std::sync::Arc;

fn greet(client: &mut Client) {
    client.send("uci");
    client.expect("uciok");
}

/// The move of `bestmove`.
fn best(client: &mut Client) -> String {
    let line = client.expect("bestmove ");
    line.split(' ').nth(1).expect("a move").to_owned()
}

/// An untrained net in a file.
fn net_file(folder: &tempfile::TempDir, variant: &str) -> PathBuf {
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

/// Duke's problems: a net is not needed to prove them.
#[test]
fn mates_are_announced_and_played() {
    let mut client = uniform("falcon");
    greet(&mut client);
    let text = std::fs::read_to_string("../data/mates.txt").expect("the problems");
    let mut problems = 0;
    for problem in text.split("\nproblem ").skip(1) {
        let field = |name: &str| {
            let line = problem.lines().find_map(|line| line.strip_prefix(name));
            line.expect("a field").trim().to_owned()
        };
        let (mate, key) = (field("mate "), field("key "));
        client.send(&format!("position fen {}", field("fen ")));
        client.send(&format!("go mate {mate}"));
        let lines = client.until("bestmove ");
        let last = lines
            .iter()
            .rfind(|line| line.starts_with("info depth "))
            .expect("a line");
        assert!(last.contains(&format!(" score mate {mate} ")), "{last}");
        assert!(
            lines[lines.len() - 1].starts_with(&format!("bestmove {key}")),
            "{lines:#?}"
        );
        problems += 1;
    }
    assert_eq!(problems, 5);
    // After the key of problem D the other side sees the mate coming.
    client.send("position fen 10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1 moves e1c4");
    client.send("go nodes 3000");
    let lines = client.until("bestmove ");
    assert!(
        lines[lines.len() - 2].contains(" score mate -1 "),
        "{lines:#?}"
    );
}

#[test]
fn several_lines_are_shown_with_their_chances() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("setoption name MultiPV value 3");
    client.send("setoption name UCI_ShowWDL value true");
    client.send("position startpos");
    client.send("go nodes 100 searchmoves e2e4 d2d4 g1f3 a2a3");
    let lines = client.until("bestmove ");
    let shown: Vec<&String> = lines[lines.len() - 4..lines.len() - 1].iter().collect();
    for (index, line) in shown.iter().enumerate() {
        assert!(line.contains(&format!(" multipv {} ", index + 1)), "{line}");
        assert!(line.contains(" nodes 100 "), "{line}");
        assert!(
            line.contains(" score cp ") && line.contains(" wdl "),
            "{line}"
        );
        let first = line
            .split(" pv ")
            .nth(1)
            .and_then(|pv| pv.split(' ').next());
        assert!(
            ["e2e4", "d2d4", "g1f3", "a2a3"].contains(&first.expect("a move")),
            "{line}"
        );
    }
    client.send("go nodes 10 searchmoves e2e5");
    client.expect("info string error: searchmoves: `e2e5` is not legal");
    client.expect("bestmove (none)");
}

/// `infinite` and `ponder` answer only when they are told to, even when everything is clear.
#[test]
fn searches_without_end_wait_for_their_word() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("position fen 6k1/5ppp/8/8/8/8/8/1R2K3 w - - 0 1");
    for (go, word) in [
        ("go infinite", "stop"),
        ("go ponder movetime 10", "ponderhit"),
        ("go ponder wtime 1000 btime 1000", "stop"),
    ] {
        client.send(go);
        client.expect("info depth 1 seldepth 1 multipv 1 score mate 1 ");
        client.send("isready");
        let lines = client.until("readyok");
        assert!(
            !lines.iter().any(|line| line.starts_with("bestmove")),
            "{lines:#?}"
        );
        client.send(word);
        assert_eq!(best(&mut client), "b1b8");
    }
    // Nothing to stop is no error, and every `go` has its answer.
    client.send("stop");
    client.send("ponderhit");
    client.send("position startpos");
    client.send("go infinite");
    client.send("go nodes 5");
    best(&mut client);
    best(&mut client);
    client.send("isready");
    assert_eq!(client.until("readyok").len(), 1);
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
fn games_that_are_over_are_told_and_drawn_ones_may_go_on() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("position startpos moves f2f3 e7e5 g2g4 d8h4");
    client.send("go nodes 10");
    client.expect("info string the game is over: Black mates");
    client.expect("bestmove (none)");
    let shuffle = " g1f3 g8f6 f3g1 f6g8".repeat(2);
    client.send(&format!("position startpos moves{shuffle}"));
    client.send("go nodes 10");
    assert_ne!(best(&mut client), "(none)");
    client.send("position fen 4k3/8/8/8/8/8/8/R3K3 w - - 100 80");
    client.send("go nodes 10");
    client.expect("info string the game is over: too many moves");
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
    let line = client.expect("info string error: ");
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

/// Threads, batches and a tree that is kept must not change what is legal.
#[test]
fn threads_and_batches_play_a_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = net_file(&folder, "falcon-hunter");
    let variant = Variant::by_name("falcon-hunter").expect("a built-in variant");
    let mut client = Client::start(setup("falcon-hunter", &[&net.to_string_lossy()]));
    greet(&mut client);
    client.send("setoption name Threads value 2");
    client.send("setoption name MinibatchSize value 7");
    let mut game = Game::new(Arc::clone(&variant), variant.start());
    let mut moves = String::from("position startpos moves");
    while game.status() == Status::Ongoing && game.position().fullmove_number() < 20 {
        client.send(&moves);
        client.send("go nodes 40");
        let text = best(&mut client);
        let mv = Notation::uci(&variant).read(&variant, game.position(), &text);
        game.play(mv.unwrap_or_else(|| panic!("{text} after {moves}")));
        moves += &format!(" {text}");
    }
}

#[test]
fn the_end_of_the_input_ends_a_search() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("go infinite");
    client.expect("info depth ");
    client.send_bytes(b"halt if you");
    client.close();
    let last = client.expect_end();
    assert!(
        last.iter()
            .any(|line| line.contains("unknown command") || line.contains("ended")),
        "{last:#?}"
    );
}
