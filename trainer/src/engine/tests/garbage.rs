//! Anything at all on the input.

use super::uniform;
use proptest::prelude::*;

/// Words of both protocols, so that garbage gets beyond the first word.
const WORDS: [&str; 56] = [
    "uci",
    "xboard",
    "isready",
    "ucinewgame",
    "setoption",
    "name",
    "value",
    "position",
    "startpos",
    "fen",
    "moves",
    "go",
    "stop",
    "ponderhit",
    "protover",
    "new",
    "variant",
    "setboard",
    "usermove",
    "force",
    "playother",
    "?",
    "undo",
    "remove",
    "result",
    "level",
    "st",
    "sd",
    "time",
    "ping",
    "post",
    "hard",
    "analyze",
    "exit",
    ".",
    "option",
    "memory",
    "cores",
    "nodes",
    "depth",
    "infinite",
    "ponder",
    "wtime",
    "searchmoves",
    "e2e4",
    "e7e5",
    "F@b1",
    "falcon",
    "UCI_Variant",
    "Hash",
    "Threads",
    "=",
    "0",
    "1",
    "-1",
    "99999999999999999999",
];

fn line() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8);
    prop_oneof![
        6 => words.prop_map(|words| words.join(" ").into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => "[ -~]{0,40}".prop_map(String::into_bytes),
        1 => "\\PC{0,20}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The engine takes it all, still answers, and ends when it is told to.
    #[test]
    fn no_input_breaks_the_engine(
        first in prop::sample::select(&["uci", "xboard"][..]),
        lines in prop::collection::vec(line(), 0..25),
    ) {
        let mut client = uniform("falcon-hunter");
        client.send(first);
        for mut line in lines {
            let has_quit = String::from_utf8_lossy(&line).contains("quit");
            // Large memories and thousands of threads are fine, but not for a test.
            let is_costly = ["Hash", "Threads", "memory", "cores"]
                .iter()
                .any(|word| String::from_utf8_lossy(&line).contains(word));
            if !has_quit && !is_costly {
                line.push(b'\n');
                client.send_bytes(&line);
            }
        }
        match first {
            "uci" => {
                client.send("isready");
                client.expect("readyok");
                client.send("position startpos");
                client.send("go nodes 1");
                client.send("stop");
                client.expect("bestmove ");
            }
            _ => {
                client.send("force");
                client.send("ping 77");
                client.expect("pong 77");
            }
        }
        client.close();
        client.expect_end();
    }
}
