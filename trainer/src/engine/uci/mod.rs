//! The Universal Chess Interface, with `UCI_Variant`, `VariantPath` and `EvalFile` as Fairy-Stockfish has them.

mod format;
mod parse;

use super::event::{LineError, Report, excerpt};
use super::limits::Limits;
use super::notation::Notation;
use super::options::VARIANT;
use super::outbox::Outbox;
use super::session::{NoSearch, Record, Session, over_because, why_illegal};
use super::{Flow, Protocol};
pub(super) use parse::first_square;
use parse::{Command, Go};
use rules::Status;

/// A client that speaks UCI.
pub(super) struct Uci {
    session: Session,
    outbox: Outbox,
    /// Whether the last `position` was sound; without a position there is nothing to search.
    has_position: bool,
    /// The answer to a search without end that has nothing to search: it waits for `stop` as others do.
    held: Option<Held>,
}

/// An answer that is not due yet.
struct Held {
    text: String,
    /// Whether `ponderhit` makes it due.
    ponders: bool,
}

impl Uci {
    /// Answers the first `uci`.
    pub fn start(session: Session, outbox: Outbox) -> Uci {
        let uci = Uci {
            session,
            outbox,
            has_position: true,
            held: None,
        };
        uci.introduce();
        uci
    }

    fn introduce(&self) {
        self.say(format_args!(
            "id name falconzero {}",
            env!("CARGO_PKG_VERSION")
        ));
        self.say(format_args!("id author the falconzero developers"));
        for option in self.session.options() {
            self.say(format_args!("{}", format::option(&option)));
        }
        let names = self.session.variant_names();
        let current = self.session.variant.name();
        self.say(format_args!("{}", format::combo(VARIANT, current, &names)));
        self.say(format_args!("uciok"));
    }

    fn say(&self, text: std::fmt::Arguments) {
        self.outbox.line(text);
    }

    fn fail(&self, message: &str) {
        let message = message.replace('\n', " ");
        self.say(format_args!("info string error: {message}"));
    }

    fn notation(&self) -> Notation {
        Notation::uci(&self.session.variant)
    }

    fn set_option(&mut self, name: &str, value: &str) {
        match self.session.set_option(name, value) {
            Ok(None) => {}
            Ok(Some(news)) => self.say(format_args!("info string {news}")),
            Err(error) => return self.fail(&error),
        }
        if name.eq_ignore_ascii_case(VARIANT) {
            self.has_position = true;
            let variant = &self.session.variant;
            let text = format::variant(variant, self.notation());
            self.say(format_args!("info string {text}"));
        }
    }

    fn is_ready(&mut self) {
        self.prepare();
        self.say(format_args!("readyok"));
    }

    /// Gets the net ready and tells what came of it.
    fn prepare(&mut self) {
        match self.session.prepare() {
            Ok(None) => {}
            Ok(Some(net)) => {
                self.say(format_args!("info string net: {}", net.name));
                if let Some(problem) = net.problem {
                    self.say(format_args!("info string warning: {problem}"));
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    fn set_position(&mut self, fen: Option<&str>, moves: &[&str]) {
        match self.read_position(fen, moves) {
            Ok(record) => {
                self.session.record = record;
                self.has_position = true;
            }
            Err(error) => {
                self.has_position = false;
                self.fail(&error);
            }
        }
    }

    fn read_position(&self, fen: Option<&str>, moves: &[&str]) -> Result<Record, String> {
        let notation = self.notation();
        let variant = &self.session.variant;
        let fen = fen.map(|fen| notation.own_fen(fen));
        let mut record = self.session.record_from(fen.as_deref())?;
        for (index, text) in moves.iter().enumerate() {
            let position = *record.position();
            let mv = notation.read(variant, &position, text).ok_or_else(|| {
                let from = first_square(text);
                let from = from.and_then(|from| notation.parse_square(variant, from));
                format!(
                    "move {} of the position, `{}`, is not legal: {}",
                    index + 1,
                    excerpt(text),
                    why_illegal(record.game(), from, text)
                )
            })?;
            record.play(mv);
        }
        Ok(record)
    }

    /// Says the answer that is held, if there is one.
    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.say(format_args!("bestmove {}", held.text));
        }
    }

    fn go(&mut self, go: Go) {
        // Every `go` has its answer.
        self.release();
        let (waits, ponders) = (go.infinite || go.ponder, go.ponder && !go.infinite);
        let Some(text) = self.begin(go) else { return };
        self.held = Some(Held { text, ponders });
        if !waits {
            self.release();
        }
    }

    /// Begins a search; the answer if there is nothing to search.
    fn begin(&mut self, go: Go) -> Option<String> {
        let none = || Some("(none)".to_owned());
        for complaint in &go.complaints {
            self.fail(complaint);
        }
        if !self.has_position {
            self.fail("there is no position to search; the last one sent was refused");
            return none();
        }
        let is_restricted = !go.search_moves.is_empty();
        let limits = self.limits(go);
        if is_restricted && limits.moves.is_empty() {
            return none();
        }
        let game = self.session.record.game();
        let (status, position) = (game.status(), *game.position());
        if status != Status::Ongoing {
            let reason = over_because(status, position.turn());
            self.say(format_args!("info string the game is over: {reason}"));
        }
        match self.session.search(limits) {
            Ok(_) => None,
            Err(NoSearch::Over(Some(mv))) => {
                Some(self.notation().write(&self.session.variant, &position, mv))
            }
            Err(NoSearch::Over(None)) => none(),
            Err(NoSearch::NoNet(error)) => {
                self.fail(&error);
                none()
            }
        }
    }

    /// The limits with the moves of `searchmoves` read in the position; those that are not legal are told and left out.
    fn limits(&self, go: Go) -> Limits {
        let position = self.session.record.position();
        let mut limits = go.limits(position.turn());
        for text in go.search_moves {
            match self.notation().read(&self.session.variant, position, text) {
                Some(mv) if limits.moves.contains(&mv) => {}
                Some(mv) => limits.moves.push(mv),
                None => self.fail(&format!("searchmoves: `{}` is not legal", excerpt(text))),
            }
        }
        limits
    }
}

impl Protocol for Uci {
    fn line(&mut self, line: &str) -> Flow {
        match parse::command(line) {
            Ok(None) => {}
            Ok(Some(Command::Uci)) => self.introduce(),
            Ok(Some(Command::IsReady)) => self.is_ready(),
            Ok(Some(Command::NewGame)) => {
                self.session.new_game();
                self.has_position = true;
            }
            Ok(Some(Command::SetOption { name, value })) => self.set_option(name, value),
            Ok(Some(Command::Position { fen, moves })) => {
                self.set_position(fen.as_deref(), &moves);
            }
            Ok(Some(Command::Go(go))) => self.go(go),
            Ok(Some(Command::Stop)) => {
                self.release();
                self.session.stop();
            }
            Ok(Some(Command::PonderHit)) => {
                if self.held.as_ref().is_some_and(|held| held.ponders) {
                    self.release();
                }
                self.session.ponder_hit();
            }
            Ok(Some(Command::Ignored)) => {}
            Ok(Some(Command::Quit)) => {
                self.session.stop();
                return Flow::Quit;
            }
            Err(error) => {
                // What the client has in mind now is not what the last position was.
                if line.split_whitespace().next() == Some("position") {
                    self.has_position = false;
                }
                self.fail(&error);
            }
        }
        Flow::Continue
    }

    fn bad_line(&mut self, error: LineError) {
        self.fail(&error.to_string());
    }

    fn end(&mut self) {
        if self.session.is_searching() {
            self.fail("the input has ended in the middle of a search");
            self.session.stop();
        }
    }

    fn info(&mut self, report: Report) {
        for line in format::info(&report, self.session.settings.show_wdl) {
            self.say(format_args!("{line}"));
        }
    }

    fn done(&mut self, report: Report) {
        self.session.finish(report.job);
        let (variant, position) = (&report.variant, &report.position);
        let notation = Notation::uci(variant);
        let Some(best) = report.best_move() else {
            return self.say(format_args!("bestmove (none)"));
        };
        let text = notation.write(variant, position, best);
        let reply = report.lines.first().and_then(|line| line.pv.get(1));
        match reply {
            Some(&reply) => {
                let reply = notation.write(variant, &position.play(variant, best), reply);
                self.say(format_args!("bestmove {text} ponder {reply}"));
            }
            None => self.say(format_args!("bestmove {text}")),
        }
    }

    fn warn(&mut self, message: &str) {
        self.fail(message);
    }
}
