//! Searches in UCI: limits, mates, lines, and what is kept from one to the next.

use super::pipe::Client;
use super::uci::{best, greet, net_file};
use super::{setup, uniform};
use crate::engine::notation::Notation;
use rules::{Game, Status, Variant};
use std::sync::Arc;

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
    client.send("go nodes 10 searchmoves e2e4 e2e5");
    client.expect("info string error: searchmoves: `e2e5` is not legal");
    assert_eq!(best(&mut client), "e2e4");
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

/// Where there is nothing to search, the answer to a search without end still waits for its word.
#[test]
fn an_answer_without_a_search_waits_too() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
    for (go, word) in [
        ("go infinite", "stop"),
        ("go ponder movetime 10", "ponderhit"),
        ("go ponder", "stop"),
        ("go infinite searchmoves e2e5", "stop"),
    ] {
        client.send(go);
        client.send("isready");
        let lines = client.until("readyok");
        let is_answer = |line: &String| line.starts_with("bestmove");
        assert!(!lines.iter().any(is_answer), "{go}: {lines:#?}");
        client.send(word);
        assert_eq!(best(&mut client), "(none)", "{go}");
    }
    client.send("go infinite");
    client.send("go nodes 1");
    assert_eq!([best(&mut client), best(&mut client)], ["(none)", "(none)"]);
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

/// What a search has learnt is there for the next one on its line: a single simulation sees as far as before, less the
/// plies played, where after `ucinewgame` it sees no further than its own.
#[test]
fn the_tree_is_kept_along_the_game() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("position startpos");
    client.send("go nodes 2000");
    let expected = last_line(&mut client);
    assert!(expected.len() >= 5, "{expected:?}");
    let position = format!("position startpos moves {}", expected[..2].join(" "));
    client.send(&position);
    client.send("go nodes 1");
    assert_eq!(last_line(&mut client)[..3], expected[2..5]);
    client.send("ucinewgame");
    client.send(&position);
    client.send("go nodes 1");
    let alone = last_line(&mut client);
    assert!(alone.len() <= 2, "{alone:?}");
}

/// The moves that the search under way expects when it ends.
fn last_line(client: &mut Client) -> Vec<String> {
    let lines = client.until("bestmove ");
    let info = lines.iter().rfind(|line| line.starts_with("info depth "));
    let (_, pv) = (info.expect("news").split_once(" pv ")).expect("a line of moves");
    pv.split(' ').map(str::to_owned).collect()
}
