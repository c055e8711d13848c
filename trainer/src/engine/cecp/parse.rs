//! CECP's commands.

use crate::engine::event::excerpt;
use std::time::Duration;

/// A command from the client, with the words of its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command<'a> {
    Protover(u32),
    New,
    Variant(&'a str),
    SetBoard(&'a str),
    Move(&'a str),
    Force,
    Go,
    PlayOther,
    MoveNow,
    Undo,
    Remove,
    Result,
    Level(Level),
    /// `st`: time for each move.
    MoveTime(Duration),
    /// `sd`: plies.
    Depth(u32),
    /// `time`: the engine's own clock.
    Time(Duration),
    Ping(&'a str),
    /// `post`, `nopost`.
    Post(bool),
    /// `hard`, `easy`.
    Ponder(bool),
    Analyze,
    /// The end of `analyze`.
    Exit,
    /// `.`: how the analysis stands.
    Status,
    Option {
        name: &'a str,
        value: &'a str,
    },
    /// `memory`: MiB.
    Memory(&'a str),
    /// `cores`: threads.
    Cores(&'a str),
    Quit,
    /// Part of the protocol, but of no use to this engine.
    Ignored,
}

/// A time control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Moves of each session; 0 is the whole game.
    pub moves: u32,
    /// Time for each session.
    pub base: Duration,
    /// Added after each move.
    pub increment: Duration,
}

/// Reads a line; `None` for an empty one.
///
/// # Errors
/// The reason that goes between the brackets of `Error (reason): line`.
pub(super) fn command(line: &str) -> Result<Option<Command<'_>>, String> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    Ok(Some(match first {
        "" => return Ok(None),
        "protover" => Command::Protover(rest.parse().unwrap_or(1)),
        "new" => Command::New,
        "variant" => Command::Variant(rest),
        "setboard" => Command::SetBoard(rest),
        "usermove" => Command::Move(rest),
        "force" => Command::Force,
        "go" => Command::Go,
        "playother" => Command::PlayOther,
        "?" => Command::MoveNow,
        "undo" => Command::Undo,
        "remove" => Command::Remove,
        "result" => Command::Result,
        "level" => Command::Level(level(rest)?),
        "st" => Command::MoveTime(seconds(rest)?),
        "sd" => Command::Depth(whole(rest)?),
        "time" => Command::Time(centiseconds(rest)?),
        "ping" => Command::Ping(rest),
        "post" => Command::Post(true),
        "nopost" => Command::Post(false),
        "hard" => Command::Ponder(true),
        "easy" => Command::Ponder(false),
        "analyze" => Command::Analyze,
        "exit" => Command::Exit,
        "." => Command::Status,
        "option" => option(rest),
        "memory" => Command::Memory(rest),
        "cores" => Command::Cores(rest),
        "quit" => Command::Quit,
        "accepted" | "rejected" | "random" | "computer" | "otim" | "name" | "rating" | "ics"
        | "hint" | "bk" | "draw" | "xboard" | "host" | "egtpath" => Command::Ignored,
        other if looks_like_move(other) && rest.is_empty() => Command::Move(other),
        _ => return Err("unknown command".to_owned()),
    }))
}

/// Clients that have not heard of `usermove` send the bare move.
fn looks_like_move(word: &str) -> bool {
    let mut letters = word.chars();
    let is_file = |c: Option<char>| c.is_some_and(|c| ('a'..='j').contains(&c));
    is_file(letters.next())
        && letters.next().is_some_and(|c| c.is_ascii_digit())
        && word.len() >= 4
        && word.len() <= 12
}

/// `MOVES BASE INCREMENT`, the base in minutes or `minutes:seconds`, the increment in seconds.
fn level(rest: &str) -> Result<Level, String> {
    let form = "level wants MOVES MINUTES[:SECONDS] INCREMENT";
    let words: Vec<&str> = rest.split_whitespace().collect();
    let &[moves, base, increment] = words.as_slice() else {
        return Err(form.to_owned());
    };
    let (minutes, extra) = base.split_once(':').unwrap_or((base, "0"));
    let base = number(minutes)? * 60.0 + number(extra)?;
    Ok(Level {
        moves: whole(moves)?,
        base: Duration::from_secs_f64(base),
        increment: seconds(increment)?,
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    Ok(Duration::from_secs_f64(number(text)?))
}

fn centiseconds(text: &str) -> Result<Duration, String> {
    match text.parse::<i64>() {
        Ok(time) => Ok(Duration::from_millis(time.clamp(0, 1 << 32) as u64 * 10)),
        Err(_) => Err("not a number of centiseconds".to_owned()),
    }
}

/// A number of seconds or minutes, cut off at some years.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number < 0.0 => Err(format!("`{}` is below 0", excerpt(text))),
        Ok(number) if number.is_finite() => Ok(number.min(1e8)),
        _ => Err(format!("`{}` is not a number", excerpt(text))),
    }
}

fn whole(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{}` is not a whole number", excerpt(text)))
}

/// `NAME=VALUE`, or `NAME` for a button.
fn option(rest: &str) -> Command<'_> {
    let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
    Command::Option {
        name: name.trim(),
        value: value.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_come_in_several_forms() {
        let secs = Duration::from_secs_f64;
        for (line, moves, base, increment) in [
            ("level 40 5 0", 40, 300.0, 0.0),
            ("level 0 0:30 1", 0, 30.0, 1.0),
            ("level 0 0:01 0.1", 0, 1.0, 0.1),
        ] {
            let level = Level {
                moves,
                base: secs(base),
                increment: secs(increment),
            };
            assert_eq!(command(line), Ok(Some(Command::Level(level))));
        }
        let time = command("time 1234").expect("a time");
        assert_eq!(time, Some(Command::Time(secs(12.34))));
        assert_eq!(command("st 2"), Ok(Some(Command::MoveTime(secs(2.0)))));
    }

    #[test]
    fn moves_come_with_and_without_a_command() {
        assert_eq!(command("usermove F@b1"), Ok(Some(Command::Move("F@b1"))));
        assert_eq!(command("e1e4"), Ok(Some(Command::Move("e1e4"))));
        assert!(command("edit").is_err());
    }

    #[test]
    fn nonsense_has_a_reason() {
        for line in [
            "level",
            "level x y z",
            "level 0 inf 0",
            "level 0 -5 0",
            "level 0 5 -3",
            "st -1",
            "sd -1",
            "time soon",
            "st",
            "hello",
        ] {
            let reason = command(line).expect_err(line);
            assert!(!reason.is_empty());
        }
        assert_eq!(command(""), Ok(None));
        let option = Command::Option {
            name: "EvalFile",
            value: "a=b.safetensors",
        };
        assert_eq!(command("option EvalFile=a=b.safetensors"), Ok(Some(option)));
    }
}
