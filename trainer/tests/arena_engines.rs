//! Matches against engines that behave and engines that do not, as a user plays them.
//!
//! The engines are this very test program: started again with `FAKE_ENGINE` set, its test `fake_engine` speaks UCI or CECP and
//! misbehaves in the way that the variable names. What the test harness prints before is noise that a referee has to bear.

#![cfg(unix)]

use rules::{Position, Variant};
use serde_json::Value;
use std::io::{BufRead, Write};
use std::process::Command;
use std::time::Duration;
use trainer::arena::external::dialect::Dialect;

/// Moves after which an engine misbehaves.
const WELL_BEHAVED: u32 = 2;

/// Everything that a fake engine knows.
struct Fake {
    behaviour: String,
    variant: std::sync::Arc<Variant>,
    position: Position,
    moves: u32,
    forced: bool,
}

/// The engine, if this process is one; otherwise nothing.
#[test]
fn fake_engine() {
    let Ok(role) = std::env::var("FAKE_ENGINE") else {
        return;
    };
    let (protocol, behaviour) = role.split_once(':').expect("protocol and behaviour");
    let variant = Variant::by_name("falcon").expect("built in");
    let mut fake = Fake {
        behaviour: behaviour.to_owned(),
        position: variant.start(),
        variant,
        moves: 0,
        forced: true,
    };
    println!();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        match protocol {
            "uci" => fake.hear_uci(&line),
            _ => fake.hear_cecp(&line),
        }
        std::io::stdout().flush().expect("a reader");
    }
    std::process::exit(0);
}

impl Fake {
    fn hear_uci(&mut self, line: &str) {
        match line.split_whitespace().next() {
            Some("uci") if self.behaviour == "deaf" => {}
            Some("uci") => {
                println!(
                    "id name Fake\noption name UCI_Variant type combo default chess var falcon"
                );
                println!("option name Threads type spin default 4 min 1 max 8\nuciok");
            }
            Some("isready") => println!("readyok"),
            Some("position") => {
                self.position = self.variant.start();
                let moves = line.split_once(" moves ").map_or("", |(_, moves)| moves);
                moves
                    .split_whitespace()
                    .for_each(|text| self.play(Dialect::Uci, text));
            }
            Some("go") => self.think(Dialect::Uci),
            Some("quit") => std::process::exit(0),
            _ => {}
        }
    }

    fn hear_cecp(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("protover") => {
                println!("feature done=0 myname=\"Fake\" usermove=1 ping=1 setboard=0");
                println!("feature variants=\"normal,falcon\" done=1");
            }
            Some("ping") => println!("pong {}", words.next().unwrap_or("")),
            Some("new") => {
                self.position = self.variant.start();
                self.forced = false;
            }
            Some("force" | "result") => self.forced = true,
            Some("usermove") => {
                self.play(Dialect::Cecp, words.next().expect("a move"));
                if !self.forced {
                    self.think(Dialect::Cecp);
                }
            }
            Some("go") => {
                self.forced = false;
                self.think(Dialect::Cecp);
            }
            Some("quit") => std::process::exit(0),
            _ => {}
        }
    }

    fn play(&mut self, dialect: Dialect, text: &str) {
        let mv = dialect.parse(&self.variant, &self.position, text);
        let mv = mv.unwrap_or_else(|| panic!("the referee sent {text}"));
        self.position = self.position.play(&self.variant, mv);
    }

    fn think(&mut self, dialect: Dialect) {
        self.moves += 1;
        if self.behaviour == "garbage" {
            let noise: Vec<u8> = (0..200_000u32).map(|i| (i * i % 251) as u8).collect();
            std::io::stdout().write_all(&noise).expect("a reader");
            println!("\ninfo score cp nan\nbestmov e2e4\nmoved\nfeature x=\"\n-1 -1 -1 -1");
        }
        if self.moves > WELL_BEHAVED {
            match self.behaviour.as_str() {
                "hang" => std::thread::sleep(Duration::from_secs(30)),
                "slow" => std::thread::sleep(Duration::from_millis(1500)),
                "crash" => {
                    eprintln!("out of memory");
                    std::process::exit(3);
                }
                "illegal" => return self.answer(dialect, "a1a1"),
                "resign" => return println!("resign"),
                "claim" => return println!("1/2-1/2 {{I say so}}"),
                "refuse" => return println!("Illegal move: x"),
                _ => {}
            }
        }
        let moves = self.position.legal_moves(&self.variant);
        let mv = moves[self.moves as usize * 13 % moves.len()];
        let text = dialect.text(&self.variant, &self.position, mv);
        self.position = self.position.play(&self.variant, mv);
        self.answer(dialect, &text);
    }

    fn answer(&self, dialect: Dialect, text: &str) {
        match dialect {
            Dialect::Uci => println!("info depth 1 score cp 30 pv {text}\nbestmove {text}"),
            Dialect::Cecp => println!("1 30 1 1 {text}\nmove {text}"),
        }
    }
}

/// A contestant for the command line.
fn engine(protocol: &str, behaviour: &str) -> String {
    let own = std::env::current_exe().expect("a test program");
    format!(
        "{protocol}:env FAKE_ENGINE={protocol}:{behaviour} '{}' --exact fake_engine --nocapture",
        own.display()
    )
}

/// Our engine with no net but the shipped ones.
fn own_engine(protocol: &str) -> String {
    format!("{protocol}:'{}' engine", env!("CARGO_BIN_EXE_falconzero"))
}

/// Arguments of a match that says nothing else.
fn defaults(arguments: &[&str]) -> Vec<&'static str> {
    let all = [
        ("--variant", "falcon"),
        ("--b", "random"),
        ("--max-plies", "30"),
        ("--games", "4"),
        ("--threads", "2"),
        ("--patience", "20"),
    ];
    let missing = all.iter().filter(|(name, _)| !arguments.contains(name));
    missing.flat_map(|&(name, value)| [name, value]).collect()
}

/// What a match prints, and its result if there is one.
fn arena(a: &str, arguments: &[&str]) -> (String, Option<Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("match.json");
    let output = Command::new(env!("CARGO_BIN_EXE_falconzero"))
        .args(["arena", "--a", a])
        .args(arguments)
        .args(defaults(arguments))
        .arg("--json")
        .arg(&json)
        .output()
        .expect("the program runs");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let result = std::fs::read_to_string(&json).ok();
    let result = result.map(|text| serde_json::from_str(&text).expect("JSON"));
    (text, result)
}

/// Checks that the engine lost all games in this way.
fn loses(protocol: &str, behaviour: &str, limit: &[&str], end: &str, reason: &str) {
    let (text, result) = arena(&engine(protocol, behaviour), limit);
    let result = result.unwrap_or_else(|| panic!("{protocol} {behaviour}: {text}"));
    assert_eq!(result["complete"], true, "{protocol} {behaviour}: {text}");
    assert_eq!(result["ends"][end], 4, "{protocol} {behaviour}: {text}");
    assert_eq!(result["losses"], 4, "{protocol} {behaviour}: {text}");
    assert!(text.contains(reason), "{protocol} {behaviour}: {text}");
}

#[test]
fn engines_that_behave_play_whole_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = folder.path().join("games.pgn");
    let path = pgn.to_string_lossy();
    for (protocol, behaviour, limit) in [
        ("uci", "good", ["--tc", "60+0.1"]),
        ("uci", "garbage", ["--nodes", "5"]),
        ("cecp", "good", ["--tc", "40/60"]),
        ("cecp", "garbage", ["--st", "9"]),
    ] {
        let arguments = [limit[0], limit[1], "--pgn", &path];
        let (text, result) = arena(&engine(protocol, behaviour), &arguments);
        let result = result.unwrap_or_else(|| panic!("{protocol} {behaviour}: {text}"));
        assert_eq!(result["complete"], true, "{text}");
        assert_eq!(result["ends"]["max-plies"], 4, "{text}");
        assert_eq!(result["a"], "Fake", "{text}");
        // 24 of the 30 plies are played, half of them by the engine.
        assert_eq!(result["time"][0]["moves"], 48, "{text}");
        let games = std::fs::read_to_string(&pgn).expect("games");
        assert_eq!(games.matches("[White \"Fake\"]").count(), 2, "{games}");
        assert_eq!(
            games.matches("[Termination \"max-plies\"]").count(),
            4,
            "{games}"
        );
    }
}

#[test]
fn a_crash_or_an_illegal_move_loses_with_the_reason_and_the_match_goes_on() {
    let limit = ["--tc", "60+1"];
    loses("uci", "crash", &limit, "crashed", "out of memory");
    loses("cecp", "crash", &limit, "crashed", "out of memory");
    loses("uci", "illegal", &limit, "illegal-move", "`a1a1` in ");
    loses("cecp", "illegal", &limit, "illegal-move", "`a1a1` in ");
    loses("cecp", "resign", &limit, "resigned", "resigned");
    loses("cecp", "claim", &limit, "protocol", "I say so");
    loses("cecp", "refuse", &limit, "protocol", "refused a legal move");
}

#[test]
fn an_engine_that_is_slow_or_hangs_loses_on_time() {
    loses(
        "uci",
        "slow",
        &["--st", "0.7"],
        "time",
        "no move within 0.95 s",
    );
    loses(
        "cecp",
        "slow",
        &["--st", "1"],
        "time",
        "no move within 1.25 s",
    );
    loses(
        "uci",
        "hang",
        &["--tc", "1", "--grace", "0"],
        "time",
        "on the clock",
    );
    let patient = ["--depth", "3", "--patience", "1"];
    loses("uci", "hang", &patient, "silent", "no answer within 1.0 s");
    loses("cecp", "hang", &patient, "silent", "no answer within 1.0 s");
}

#[test]
fn what_cannot_be_played_is_refused_before_the_match() {
    for (a, arguments, reason) in [
        (
            engine("uci", "deaf"),
            vec!["--patience", "1"],
            "no answer within 1.0 s to `uci`",
        ),
        (
            engine("cecp", "good"),
            vec!["--nodes", "9"],
            "cannot limit the nodes",
        ),
        (engine("cecp", "good"), vec!["--st", "0.5"], "whole seconds"),
        (
            engine("cecp", "good"),
            vec!["--a-variant", "gothic"],
            "does not know the variant `gothic`",
        ),
        (
            engine("uci", "good"),
            vec!["--a-option", "Hash=1"],
            "no option `Hash`",
        ),
        (
            own_engine("uci"),
            vec!["--variant", "falcon-8x8"],
            "there is no net for variant `falcon-8x8`",
        ),
        (
            own_engine("cecp"),
            vec!["--variant", "falcon-8x8", "--a-variant", "fz-falcon-8x8"],
            "there is no net for variant `falcon-8x8`",
        ),
        ("uci:no-such-engine".to_owned(), vec![], "no-such-engine"),
        ("cecp:true".to_owned(), vec![], "does not get started"),
        ("random".to_owned(), vec!["--a-option", "Hash=1"], "options"),
        (
            engine("uci", "good"),
            vec!["--sprt", "9", "0"],
            "smaller first",
        ),
    ] {
        let (text, result) = arena(&a, &arguments);
        assert!(
            result.is_none() && text.contains("error:") && text.contains(reason),
            "{text}"
        );
    }
}

/// One program against itself, as options are compared: every mention tells which of the two is meant.
#[test]
fn namesakes_are_told_apart() {
    let own = format!("{} --net uniform", own_engine("uci"));
    let limits = ["--games", "2", "--nodes", "2", "--max-plies", "8", "--b"];
    let (text, result) = arena(&own, &[&limits[..], &[own.as_str()]].concat());
    let result = result.unwrap_or_else(|| panic!("{text}"));
    for (player, sign) in [("a", " (a)"), ("b", " (b)")] {
        let name = result[player].as_str().expect("a name");
        assert!(name.ends_with(sign), "{name}: {text}");
    }
}

#[test]
fn a_sequential_test_ends_the_match_early() {
    let sprt = ["--sprt", "0", "300", "--games", "400", "--threads", "8"];
    let (text, result) = arena(
        &engine("uci", "illegal"),
        &[&sprt[..], &["--st", "5"]].concat(),
    );
    let result = result.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(result["complete"], false, "{text}");
    assert!(text.contains("+0 accepted against +300"), "{text}");
}
