//! The Chess Engine Communication Protocol, version 2, as XBoard and WinBoard speak it.

mod board;
mod clock;
mod format;
mod parse;

use super::event::{LineError, Report, excerpt};
use super::limits::Limits;
use super::notation::Notation;
use super::outbox::Outbox;
use super::session::{NoSearch, Session};
use super::{Flow, Protocol};
use clock::Clocks;
use parse::Command;
use rules::{Color, Move, export};

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It notes moves and makes none.
    Force,
    /// It plays a side.
    Playing(Color),
    /// It thinks about the position, whoever is to move.
    Analyzing,
}

/// Why a search is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Its result will be played.
    Move,
    /// Its result is only shown: analysis, or thinking on the opponent's time.
    Thought,
}

/// A client that speaks CECP.
pub(super) struct Cecp {
    session: Session,
    outbox: Outbox,
    mode: Mode,
    purpose: Purpose,
    clocks: Clocks,
    posts: bool,
    ponders: bool,
    /// `ping`s to be answered when the engine has moved.
    pings: Vec<String>,
    /// The last report of the search under way, for `.`.
    last: Option<Report>,
    /// Own moves in a row that looked lost.
    lost_moves: u32,
}

impl Cecp {
    /// Answers the first `xboard`; what the engine can do is told at `protover`.
    pub fn start(session: Session, outbox: Outbox) -> Cecp {
        Cecp {
            session,
            outbox,
            mode: Mode::Playing(Color::Black),
            purpose: Purpose::Thought,
            clocks: Clocks::default(),
            posts: false,
            ponders: false,
            pings: Vec::new(),
            last: None,
            lost_moves: 0,
        }
    }

    fn say(&self, text: std::fmt::Arguments) {
        self.outbox.line(text);
    }

    /// A message that the client shows to its user.
    fn tell_error(&self, message: &str) {
        let message = message.replace('\n', " ");
        self.say(format_args!("tellusererror {message}"));
    }

    fn notation(&self) -> Notation {
        Notation::cecp(&self.session.variant)
    }

    fn obey(&mut self, command: Command, line: &str) -> Result<Flow, String> {
        match command {
            Command::Protover(_) => {
                for line in format::features(&self.session) {
                    self.say(format_args!("{line}"));
                }
            }
            Command::New => self.new_game(),
            Command::Variant(name) => self.set_variant(name),
            Command::SetBoard(fen) => self.set_board(fen),
            Command::Move(text) => self.user_move(text),
            Command::Force => {
                self.halt();
                self.mode = Mode::Force;
            }
            Command::Go => {
                self.halt();
                self.mode = Mode::Playing(self.turn());
                self.go_on();
            }
            Command::PlayOther => {
                self.halt();
                self.mode = Mode::Playing(!self.turn());
                self.go_on();
            }
            Command::MoveNow => {
                if self.purpose == Purpose::Move {
                    self.session.stop();
                }
            }
            Command::Undo => self.take_back(1, line)?,
            Command::Remove => self.take_back(2, line)?,
            Command::Result => {
                self.halt();
                self.mode = Mode::Force;
            }
            Command::Level(level) => self.clocks.set_level(level),
            Command::MoveTime(time) => self.clocks.set_move_time(time),
            Command::Depth(plies) => self.clocks.set_depth(plies),
            Command::Time(time) => self.clocks.set_time(time),
            Command::Ping(number) => self.ping(number),
            Command::Post(posts) => self.posts = posts,
            Command::Ponder(ponders) => self.set_ponder(ponders),
            Command::Analyze => {
                self.halt();
                self.mode = Mode::Analyzing;
                self.go_on();
            }
            Command::Exit => {
                self.halt();
                self.mode = Mode::Force;
            }
            Command::Status => self.show_status(),
            Command::Option { name, value } => self.set_option(name, value)?,
            Command::Memory(mib) => self.set_option("Hash", mib)?,
            Command::Cores(threads) => self.set_option("Threads", threads)?,
            Command::Quit => {
                self.session.stop();
                return Ok(Flow::Quit);
            }
            Command::Ignored => {}
        }
        Ok(Flow::Continue)
    }

    fn turn(&self) -> Color {
        self.session.record.position().turn()
    }

    /// Ends whatever search is under way, without a move.
    fn halt(&mut self) {
        self.session.stop();
        self.purpose = Purpose::Thought;
        self.answer_pings();
    }

    /// The protocol wants orthodox chess after `new`; another variant is named right after it.
    fn new_game(&mut self) {
        self.halt();
        // Chess is built in, so that it is always found.
        let _always_there = self.session.set_variant("chess");
        self.session.new_game();
        self.mode = Mode::Playing(Color::Black);
        self.clocks.new_game();
        self.lost_moves = 0;
    }

    fn set_variant(&mut self, name: &str) {
        self.halt();
        let own_name = export::xboard_own_name(name);
        if let Err(error) = self.session.set_variant(own_name) {
            self.say(format_args!("Error (unknown variant): {}", excerpt(name)));
            return self.tell_error(&error);
        }
        match export::xboard(&self.session.variant) {
            Ok(setup) => {
                for line in setup.lines() {
                    self.say(format_args!("{line}"));
                }
            }
            Err(error) => self.say(format_args!("# {error}")),
        }
        self.prepare();
    }

    /// Gets the net ready and tells if there is none.
    fn prepare(&mut self) {
        match self.session.prepare() {
            Ok(None) => {}
            Ok(Some(net)) => {
                self.say(format_args!("# net: {}", net.name));
                if let Some(problem) = net.problem {
                    self.say(format_args!("telluser {problem}"));
                }
            }
            Err(error) => self.tell_error(&error),
        }
    }

    /// Thinks if it is the engine's turn, or in analysis, or on the opponent's time.
    fn go_on(&mut self) {
        match self.mode {
            Mode::Playing(side) if side == self.turn() => self.think(),
            Mode::Playing(_) | Mode::Analyzing | Mode::Force => self.go_on_thinking(),
        }
    }

    /// As [`go_on`](Cecp::go_on), for when the engine must not move.
    fn go_on_thinking(&mut self) {
        let wanted = match self.mode {
            Mode::Analyzing => true,
            Mode::Playing(side) => {
                self.ponders && side != self.turn() && self.session.record.plies() > 0
            }
            Mode::Force => false,
        };
        if !wanted {
            return;
        }
        self.purpose = Purpose::Thought;
        match self.session.search(Limits::infinite()) {
            Ok(_) | Err(NoSearch::Over(..)) => {}
            Err(NoSearch::NoNet(error)) => self.tell_error(&error),
        }
    }

    fn think(&mut self) {
        self.purpose = Purpose::Move;
        let own_moves = self.session.record.plies() / 2;
        match self.session.search(self.clocks.limits(own_moves)) {
            Ok(_) => {}
            Err(NoSearch::Over(any)) => {
                // Drawn by a rule, but the client has not ended the game.
                self.purpose = Purpose::Thought;
                match any {
                    Some(mv) => self.play(mv),
                    None => drop(self.tell_result()),
                }
            }
            Err(NoSearch::NoNet(error)) => {
                self.purpose = Purpose::Thought;
                self.mode = Mode::Force;
                self.tell_error(&error);
                self.say(format_args!("Error (no net): go"));
            }
        }
    }

    /// Makes the engine's own move.
    fn play(&mut self, mv: Move) {
        let position = *self.session.record.position();
        let text = format::write_move(&self.session.variant, self.notation(), &position, mv);
        self.say(format_args!("move {text}"));
        self.session.record.play(mv);
        self.clocks.moved();
        self.answer_pings();
        if !self.tell_result() {
            self.go_on_thinking();
        }
    }

    /// Whether to give up after a search with this report.
    fn resigns(&mut self, report: &Report) -> bool {
        const LOST: f32 = -0.97;
        const MOVES: u32 = 3;
        let q = report.lines.first().map_or(0.0, |line| line.q());
        self.lost_moves = if q < LOST { self.lost_moves + 1 } else { 0 };
        self.session.settings.resign && self.lost_moves >= MOVES
    }

    fn ping(&mut self, number: &str) {
        if self.purpose == Purpose::Move && self.session.is_searching() {
            self.pings.push(number.to_owned());
        } else {
            self.say(format_args!("pong {}", excerpt(number)));
        }
    }

    fn answer_pings(&mut self) {
        for number in std::mem::take(&mut self.pings) {
            self.say(format_args!("pong {}", excerpt(&number)));
        }
    }

    fn set_ponder(&mut self, ponders: bool) {
        self.ponders = ponders;
        if !ponders && self.purpose == Purpose::Thought && self.mode != Mode::Analyzing {
            self.session.stop();
        }
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        if let Some(news) = self.session.set_option(name, value)? {
            self.say(format_args!("# {news}"));
        }
        Ok(())
    }

    fn show_status(&self) {
        if let Some(report) = self
            .last
            .as_ref()
            .filter(|r| self.session.is_current(r.job))
        {
            self.say(format_args!("{}", format::status(report)));
        }
    }
}

impl Protocol for Cecp {
    fn line(&mut self, line: &str) -> Flow {
        let done = match parse::command(line) {
            Ok(Some(command)) => self.obey(command, line),
            Ok(None) => Ok(Flow::Continue),
            Err(reason) => Err(reason),
        };
        done.unwrap_or_else(|reason| {
            self.say(format_args!("Error ({reason}): {}", excerpt(line.trim())));
            Flow::Continue
        })
    }

    fn bad_line(&mut self, error: LineError) {
        self.say(format_args!("Error (unreadable): {error}"));
    }

    fn end(&mut self) {
        if self.session.is_searching() {
            self.say(format_args!(
                "Error (the input has ended in the middle of a search): end of file"
            ));
            self.session.stop();
        }
    }

    fn info(&mut self, report: Report) {
        if !self.session.is_current(report.job) {
            return;
        }
        // Lines thought on the opponent's time begin with the opponent's move, which clients do not expect.
        let is_own = self.purpose == Purpose::Move || self.mode == Mode::Analyzing;
        if self.posts && is_own {
            for line in format::thinking(&report) {
                self.say(format_args!("{line}"));
            }
        }
        self.last = Some(report);
    }

    fn done(&mut self, report: Report) {
        let is_current = self.session.finish(report.job);
        if !is_current || self.purpose != Purpose::Move {
            return;
        }
        self.purpose = Purpose::Thought;
        if self.resigns(&report) {
            self.say(format_args!("resign"));
            self.mode = Mode::Force;
            self.answer_pings();
        } else if let Some(mv) = report.best_move() {
            self.play(mv);
        }
    }

    fn warn(&mut self, message: &str) {
        self.tell_error(message);
    }
}
