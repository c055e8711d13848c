//! The engine: a net and a search behind the protocols that chess programs speak.
//!
//! [`run`] reads lines, tells from the first one which protocol is spoken, and leaves the rest to `uci` or `cecp`.
//! Both are thin: what they have in common is in the `session` (variant, game, options, net), which hands searches
//! to the `thinker`, a thread of its own. All that happens reaches the one loop here as an `Event`, so a protocol
//! needs no locks and never waits.
//!
//! ```text
//! input thread ── Event::Line ──┐                        ┌── lines of the protocol ── output
//!                               ├── loop: uci or cecp ───┤
//! thinker ── Event::Info, Done ─┘                        └── jobs ── thinker
//! ```

mod cecp;
mod control;
mod event;
mod input;
mod lag;
mod limits;
mod nets;
mod notation;
mod options;
mod outbox;
mod refusal;
mod score;
mod session;
mod solved;
mod team;
mod thinker;
mod time;
mod uci;
mod variants;

pub use nets::NetShelf;
pub use options::Settings;
pub use refusal::refuse;
pub use score::centipawns;
pub use session::Setup;

use event::{Event, LineError};
use outbox::Outbox;
use session::Session;
use std::io::{self, BufRead, Write};
use std::sync::mpsc;

/// What a protocol does with what happens.
trait Protocol {
    /// A line of input, without its end.
    fn line(&mut self, line: &str) -> Flow;
    /// A line that could not be read.
    fn bad_line(&mut self, error: LineError);
    /// The input has ended.
    fn end(&mut self);
    /// What a search thinks so far.
    fn info(&mut self, report: event::Report);
    /// What a search has found.
    fn done(&mut self, report: event::Report);
    /// Something went wrong that the user should know.
    fn warn(&mut self, message: &str);
}

/// Whether the engine goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

/// Serves one client until it says `quit`, closes the input, or reads no more.
///
/// # Errors
/// If the output cannot be written for another reason than that the client reads no more.
pub fn run(
    setup: Setup,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let (sender, events) = mpsc::channel();
    let outbox = Outbox::new(output);
    let mut session = Some(Session::new(setup, sender.clone()));
    input::spawn(input, sender);
    let mut protocol: Option<Box<dyn Protocol>> = None;
    while let Ok(event) = events.recv() {
        let flow = match (&mut protocol, event) {
            (Some(protocol), event) => dispatch(protocol.as_mut(), event),
            (None, Event::Line(line)) => {
                match (line.trim(), session.take()) {
                    ("uci", Some(session)) => {
                        protocol = Some(Box::new(uci::Uci::start(session, outbox.clone())));
                    }
                    ("xboard", Some(session)) => {
                        protocol = Some(Box::new(cecp::Cecp::start(session, outbox.clone())));
                    }
                    ("quit" | "exit", _) => break,
                    (other, waiting) => {
                        session = waiting;
                        explain(&outbox, other);
                    }
                }
                Flow::Continue
            }
            (None, Event::End) => break,
            (None, Event::BadLine(error)) => {
                outbox.line(format_args!("info string error: {error}"));
                Flow::Continue
            }
            (None, Event::Info(_) | Event::Done(_) | Event::Warning(_)) => Flow::Continue,
        };
        if flow == Flow::Quit || outbox.is_closed() {
            break;
        }
    }
    outbox.outcome()
}

/// What to say before the client has chosen a protocol.
fn explain(outbox: &Outbox, line: &str) {
    if !line.is_empty() {
        outbox.line(format_args!(
            "info string error: the first command must be `uci` or `xboard`, not `{}`",
            event::excerpt(line)
        ));
    }
}

fn dispatch(protocol: &mut dyn Protocol, event: Event) -> Flow {
    match event {
        Event::Line(line) => return protocol.line(&line),
        Event::BadLine(error) => protocol.bad_line(error),
        Event::Info(report) => protocol.info(report),
        Event::Done(report) => protocol.done(report),
        Event::Warning(message) => protocol.warn(&message),
        Event::End => {
            protocol.end();
            return Flow::Quit;
        }
    }
    Flow::Continue
}

#[cfg(test)]
mod tests;
