//! UCI's commands.

use crate::engine::event::excerpt;
use crate::engine::limits::{Clock, Limits};
use rules::{ByColor, Color};
use std::iter::Peekable;
use std::str::SplitWhitespace;
use std::time::Duration;

/// Time for a move whose limits have not been understood.
const NOT_UNDERSTOOD: Duration = Duration::from_millis(100);

/// A command from the client, with the words of its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command<'a> {
    Uci,
    IsReady,
    NewGame,
    SetOption {
        name: &'a str,
        value: &'a str,
    },
    Position {
        /// `None` is the start position.
        fen: Option<String>,
        moves: Vec<&'a str>,
    },
    Go(Go<'a>),
    Stop,
    PonderHit,
    Quit,
    /// A command that means nothing to this engine, but is part of the protocol.
    Ignored,
}

/// `go` as it is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Go<'a> {
    pub time: ByColor<Option<Duration>>,
    pub increment: ByColor<Duration>,
    pub moves_to_go: Option<u32>,
    pub move_time: Option<Duration>,
    pub nodes: Option<u32>,
    pub depth: Option<u32>,
    /// Whether a mate in so many moves is asked for. The search ends with the first mate that is proven, whatever its
    /// length.
    pub mate: Option<u32>,
    pub infinite: bool,
    pub ponder: bool,
    pub search_moves: Vec<&'a str>,
    /// Whether a clock is spoken of, be it only an increment or that of the other side.
    pub has_clock: bool,
    /// What has not been understood. The search begins nevertheless, since a client waits for its end.
    pub complaints: Vec<String>,
}

impl Go<'_> {
    /// The limits for the side to move. `go` with no bound at all goes on until `stop`, but for one whose bound was not
    /// understood or whose clock lacks the time of the side to move: that client waits for a move, which comes soon. A
    /// mate ends every search but an infinite one.
    pub fn limits(&self, turn: Color) -> Limits {
        let meant = !self.complaints.is_empty() || self.has_clock;
        let unbounded = self.time[turn].is_none()
            && self.move_time.is_none()
            && self.nodes.is_none()
            && self.depth.is_none()
            && self.mate.is_none()
            && !self.infinite;
        let clock = self.time[turn].map(|left| Clock {
            left,
            increment: self.increment[turn],
            moves_to_go: self.moves_to_go.filter(|&moves| moves > 0),
        });
        Limits {
            clock,
            move_time: match unbounded && meant {
                true => Some(NOT_UNDERSTOOD),
                false => self.move_time,
            },
            nodes: self.nodes,
            depth: self.depth,
            mate: self.mate,
            infinite: self.infinite,
            ponder: self.ponder,
            moves: Vec::new(),
        }
    }
}

/// Reads a line; `None` for an empty one.
///
/// # Errors
/// What is not understood, and what would be.
pub(super) fn command(line: &str) -> Result<Option<Command<'_>>, String> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    Ok(Some(match first {
        "" => return Ok(None),
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => set_option(rest)?,
        "position" => position(rest)?,
        "go" => Command::Go(go(rest)),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        "debug" | "register" => Command::Ignored,
        other => {
            return Err(format!(
                "unknown command `{}`; this is UCI: isready, ucinewgame, setoption, position, go, stop, ponderhit, quit",
                excerpt(other)
            ));
        }
    }))
}

/// `name NAME [value VALUE]`, where both may have spaces.
fn set_option(rest: &str) -> Result<Command<'_>, String> {
    let form = "setoption wants `name NAME value VALUE`";
    let rest = rest.strip_prefix("name").ok_or(form)?;
    let (name, value) = match rest.find(" value") {
        Some(at) => (&rest[..at], &rest[at + " value".len()..]),
        None => (rest, ""),
    };
    let (name, value) = (name.trim(), value.trim());
    match name.is_empty() {
        true => Err(form.to_owned()),
        false => Ok(Command::SetOption { name, value }),
    }
}

/// `startpos` or `fen FEN`, then `moves MOVE…`.
fn position(rest: &str) -> Result<Command<'_>, String> {
    let mut words = rest.split_whitespace();
    let fen = match words.next() {
        Some("startpos") => {
            return match words.next() {
                None | Some("moves") => Ok(Command::Position {
                    fen: None,
                    moves: words.collect(),
                }),
                Some(other) => Err(format!(
                    "position startpos is followed by `moves`, not by `{}`",
                    excerpt(other)
                )),
            };
        }
        Some("fen") => words.by_ref().take_while(|word| *word != "moves"),
        _ => return Err("position wants `startpos` or `fen FEN`, then `moves MOVE…`".to_owned()),
    };
    let fen = fen.collect::<Vec<_>>().join(" ");
    Ok(Command::Position {
        fen: Some(fen),
        moves: words.collect(),
    })
}

fn go(rest: &str) -> Go<'_> {
    let mut go = Go::default();
    let mut words = rest.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if let Err(complaint) = go.take(word, &mut words) {
            go.complaints.push(complaint);
        }
    }
    go
}

/// The keywords of a clock.
const CLOCK: [&str; 5] = ["wtime", "btime", "winc", "binc", "movestogo"];

type Words<'a> = Peekable<SplitWhitespace<'a>>;

impl<'a> Go<'a> {
    /// Takes in one keyword with what belongs to it.
    fn take(&mut self, word: &str, words: &mut Words<'a>) -> Result<(), String> {
        self.has_clock |= CLOCK.contains(&word);
        match word {
            "infinite" => self.infinite = true,
            "ponder" => self.ponder = true,
            "searchmoves" => {
                while let Some(text) = words.next_if(|word| !is_keyword(word)) {
                    self.search_moves.push(text);
                }
            }
            "wtime" => self.time.white = Some(millis(word, words.next())?),
            "btime" => self.time.black = Some(millis(word, words.next())?),
            "winc" => self.increment.white = millis(word, words.next())?,
            "binc" => self.increment.black = millis(word, words.next())?,
            "movetime" => self.move_time = Some(millis(word, words.next())?),
            "movestogo" => self.moves_to_go = Some(count(word, words.next())?),
            "nodes" => self.nodes = Some(count(word, words.next())?),
            "depth" => self.depth = Some(count(word, words.next())?),
            "mate" => self.mate = Some(count(word, words.next())?),
            other => return Err(format!("go: `{}` is not understood", excerpt(other))),
        }
        Ok(())
    }
}

fn is_keyword(word: &str) -> bool {
    const OTHERS: [&str; 7] = [
        "infinite",
        "ponder",
        "searchmoves",
        "movetime",
        "nodes",
        "depth",
        "mate",
    ];
    CLOCK.contains(&word) || OTHERS.contains(&word)
}

/// Milliseconds; a clock that is below zero counts as empty.
fn millis(name: &str, value: Option<&str>) -> Result<Duration, String> {
    let number = integer(name, value)?;
    Ok(Duration::from_millis(number.max(0).unsigned_abs()))
}

/// A count, cut off where it no longer matters.
fn count(name: &str, value: Option<&str>) -> Result<u32, String> {
    let number = integer(name, value)?;
    Ok(u32::try_from(number.max(0)).unwrap_or(u32::MAX - 1))
}

/// A number of milliseconds or nodes; larger ones than make sense are cut off.
fn integer(name: &str, value: Option<&str>) -> Result<i64, String> {
    const MOST: i64 = 1 << 40;
    let value = value.ok_or_else(|| format!("go: {name} wants a number after it"))?;
    match value.parse::<i128>() {
        Ok(number) => Ok(number.clamp(-i128::from(MOST), i128::from(MOST)) as i64),
        Err(_) => Err(format!(
            "go: {name} wants a whole number, not `{}`",
            excerpt(value)
        )),
    }
}

/// The square at the beginning of a move's text.
pub(in crate::engine) fn first_square(text: &str) -> Option<&str> {
    let digits = text.get(1..)?;
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    (end > 0).then(|| &text[..1 + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Command<'_> {
        command(line)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
            .unwrap_or_else(|| panic!("{line}: empty"))
    }

    #[test]
    fn names_and_values_of_options_may_have_spaces() {
        for (line, name, value) in [
            ("setoption name Hash value 64", "Hash", "64"),
            (
                "setoption name Move Overhead value 10",
                "Move Overhead",
                "10",
            ),
            (
                "setoption name EvalFile value /my nets/a b.safetensors ",
                "EvalFile",
                "/my nets/a b.safetensors",
            ),
            ("setoption name Clear Hash", "Clear Hash", ""),
            ("setoption name EvalFile value", "EvalFile", ""),
        ] {
            assert_eq!(read(line), Command::SetOption { name, value });
        }
    }

    #[test]
    fn positions_have_a_start_and_moves() {
        let moves = vec!["e2e4", "F@b1"];
        let line = "position  startpos moves e2e4 F@b1";
        assert_eq!(
            read(line),
            Command::Position {
                fen: None,
                moves: moves.clone()
            }
        );
        let fen = "8/8 w - - 0 1 +0+0";
        let line = format!("position fen {fen} moves e2e4 F@b1");
        let fen = Some(fen.to_owned());
        assert_eq!(read(&line), Command::Position { fen, moves });
        assert_eq!(
            read("position startpos"),
            Command::Position {
                fen: None,
                moves: vec![]
            }
        );
    }

    #[test]
    fn limits_are_those_of_the_side_to_move() {
        let line = "go wtime 1000 btime -5 winc 10 binc 20 movestogo 7 searchmoves e2e4 d2d4 depth 3 nodes 99999999999";
        let Command::Go(go) = read(line) else {
            panic!("not a go")
        };
        assert_eq!(go.search_moves, ["e2e4", "d2d4"]);
        let white = go.limits(Color::White);
        let clock = Clock {
            left: Duration::from_millis(1000),
            increment: Duration::from_millis(10),
            moves_to_go: Some(7),
        };
        assert_eq!((white.clock, white.depth), (Some(clock), Some(3)));
        assert_eq!(white.nodes, Some(u32::MAX - 1));
        let black = go.limits(Color::Black).clock.expect("a clock");
        assert_eq!(
            (black.left, black.increment.as_millis()),
            (Duration::ZERO, 20)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, part) in [
            ("castle", "unknown command `castle`"),
            ("position", "startpos"),
            ("position startpos e2e4", "not by `e2e4`"),
            ("setoption Hash 64", "name NAME"),
            ("setoption name  value 3", "name NAME"),
        ] {
            let error = command(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
        assert_eq!(command("   "), Ok(None));
    }

    /// A client waits for the end of every search, so a `go` is never refused.
    #[test]
    fn a_go_that_is_not_understood_is_told_and_obeyed() {
        for (line, part) in [
            ("go nodes 5 wtime", "wtime wants a number"),
            ("go wtime soon nodes 5", "not `soon`"),
            ("go fast nodes 5", "`fast` is not understood"),
        ] {
            let Command::Go(go) = read(line) else {
                panic!("not a go")
            };
            assert!(go.complaints[0].contains(part), "{line}: {go:?}");
            assert_eq!((go.nodes, go.complaints.len()), (Some(5), 1), "{line}");
        }
        for (line, is_bounded) in [
            ("go", false),
            ("go infinite fast", false),
            ("go wtime soon", true),
            ("go btime 300", true),
            ("go winc 100", true),
            ("go movestogo 5", true),
            ("go infinite btime 300", false),
        ] {
            let Command::Go(go) = read(line) else {
                panic!("not a go")
            };
            let limits = go.limits(Color::White);
            assert_eq!(limits.move_time.is_some(), is_bounded, "{line}");
        }
    }

    #[test]
    fn the_first_square_of_a_move() {
        assert_eq!(first_square("e10e9"), Some("e10"));
        assert_eq!(first_square("e2"), Some("e2"));
        assert_eq!(first_square("é2e4"), None);
        assert_eq!(first_square("F@b1"), None);
        assert_eq!(first_square(""), None);
    }
}
