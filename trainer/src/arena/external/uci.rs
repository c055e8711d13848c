//! The Universal Chess Interface, from the side of whoever runs the engine.

use super::client::{
    Answer, Client, Course, Deadline, Fault, Patience, q_of_centipawns, quoted, quoted_reason,
};
use super::clock::{Clocks, Limit};
use super::dialect::Dialect;
use super::process::{EngineProcess, Line};
use super::spec::EngineSpec;
use crate::arena::result::Forfeit;
use anyhow::{anyhow, bail};
use rules::{Color, Outcome, Variant};
use std::sync::Arc;
use std::time::Instant;

/// How engines begin a line about what is wrong, for want of a word in UCI.
const COMPLAINT: &str = "info string error";

/// An engine that speaks UCI.
pub struct Uci {
    process: EngineProcess,
    variant: Arc<Variant>,
    patience: Patience,
    name: Option<String>,
}

impl Uci {
    /// Starts an engine, sets its options and tells it the variant.
    ///
    /// # Errors
    /// If it does not start, does not answer, or does not know the variant.
    pub fn start(
        spec: &EngineSpec,
        variant: &Arc<Variant>,
        patience: Patience,
    ) -> anyhow::Result<Uci> {
        let mut uci = Uci {
            process: EngineProcess::start(&spec.command)?,
            variant: Arc::clone(variant),
            patience,
            name: None,
        };
        let mut offered = Vec::new();
        uci.exchange("uci", |line| {
            if let Some(name) = line.strip_prefix("id name ") {
                return Some(Told::Name(name.to_owned()));
            }
            if let Some(option) = line.strip_prefix("option name ") {
                offered.push(option.to_owned());
            }
            (line == "uciok").then_some(Told::End)
        })?;
        let offers = |name: &str| {
            offered.iter().any(|option| {
                option
                    .split(" type ")
                    .next()
                    .is_some_and(|known| known.eq_ignore_ascii_case(name))
            })
        };
        for (name, value) in &spec.options {
            if !offers(name) {
                bail!("it has no option `{name}`");
            }
            uci.set_option(name, value)?;
        }
        uci.pass_on_remarks(spec)?;
        let is_set = |name: &str| {
            spec.options
                .iter()
                .any(|(set, _)| set.eq_ignore_ascii_case(name))
        };
        for (name, value) in [("Threads", "1"), ("Ponder", "false")] {
            if offers(name) && !is_set(name) {
                uci.set_option(name, value)?;
            }
        }
        let named = spec.variant_name(variant);
        match offers("UCI_Variant") {
            true => uci.choose_variant(named)?,
            false if named == "chess" => {
                uci.synchronize().map_err(|fault| anyhow!(fault.reason))?
            }
            false => bail!("it plays chess only: it has no option `UCI_Variant`"),
        }
        Ok(uci)
    }

    fn set_option(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let line = match value.is_empty() {
            true => format!("setoption name {name}"),
            false => format!("setoption name {name} value {value}"),
        };
        self.send(&line).map_err(|fault| anyhow!(fault.reason))
    }

    /// Warns of what the engine says about the options that were set: there is no other sign that it refuses a value.
    fn pass_on_remarks(&mut self, spec: &EngineSpec) -> anyhow::Result<()> {
        if spec.options.is_empty() {
            return Ok(());
        }
        self.exchange("isready", |line| {
            if line == "readyok" {
                return Some(Told::End);
            }
            if !line.trim().is_empty() {
                tracing::warn!(
                    "`{}`, when its options were set: {line}",
                    spec.command.join(" ")
                );
            }
            None
        })
    }

    /// Sets `UCI_Variant`. Fairy-Stockfish tells then which variant it plays from which position; an unknown name is
    /// ignored, which would only show when the game goes wrong. An engine that speaks of an error would lose every game.
    fn choose_variant(&mut self, named: &str) -> anyhow::Result<()> {
        self.set_option("UCI_Variant", named)?;
        let (mut told, mut complaint) = (None, None);
        self.exchange("isready", |line| {
            if line.starts_with(COMPLAINT) {
                complaint.get_or_insert_with(|| line.to_owned());
            }
            if let Some(about) = line.strip_prefix("info string variant ") {
                told = Some(about.to_owned());
            }
            (line == "readyok").then_some(Told::End)
        })?;
        if let Some(complaint) = complaint {
            bail!("it does not play `{named}`: {}", quoted_reason(&complaint));
        }
        let Some(about) = told else {
            return Ok(());
        };
        let name = about.split_whitespace().next().unwrap_or_default();
        if name != named {
            bail!(
                "it does not know the variant `{named}` and would play `{name}`; give the file with its rules as an option, or the name by which it knows the variant"
            );
        }
        let board = |fen: &str| fen.split_whitespace().next().unwrap_or_default().to_owned();
        let plain = |fen: &str| board(fen).split('[').next().unwrap_or_default().to_owned();
        if let Some((_, start)) = about.split_once("startpos ")
            && plain(start) != plain(self.variant.start_fen())
        {
            bail!(
                "its `{named}` begins with {}, ours with {}",
                plain(start),
                plain(self.variant.start_fen())
            );
        }
        Ok(())
    }

    /// Sends a line and reads until `heard` has had the end of the answer.
    fn exchange(
        &mut self,
        line: &str,
        mut heard: impl FnMut(&str) -> Option<Told>,
    ) -> anyhow::Result<()> {
        self.send(line).map_err(|fault| anyhow!(fault.reason))?;
        let deadline = Instant::now() + self.patience.longest;
        loop {
            let told = self.process.wait_for(deadline, |line| heard(&line.text));
            match told {
                Ok(Told::End) => return Ok(()),
                Ok(Told::Name(name)) => self.name = Some(name),
                Err(silence) => {
                    let fault = Fault::silent(silence, &format!("`{line}`"), self.patience.longest);
                    bail!(fault.reason)
                }
            }
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Fault> {
        let command = line
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        self.process.send(line).map_err(|silence| {
            Fault::silent(silence, &format!("`{command}`"), self.patience.longest)
        })
    }

    /// Waits until everything before has been dealt with.
    fn synchronize(&mut self) -> Result<(), Fault> {
        self.send("isready")?;
        let deadline = Instant::now() + self.patience.longest;
        self.process
            .wait_for(deadline, |line| (line.text == "readyok").then_some(()))
            .map_err(|silence| Fault::silent(silence, "`isready`", self.patience.longest))
    }

    fn position(&self, course: &Course) -> String {
        let mut line = "position startpos".to_owned();
        for (index, (position, mv)) in course.played.iter().enumerate() {
            line.push_str(if index == 0 { " moves " } else { " " });
            line.push_str(&Dialect::Uci.text(&self.variant, position, *mv));
        }
        line
    }
}

enum Told {
    Name(String),
    End,
}

impl Client for Uci {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn new_game(&mut self, _limit: Limit) -> Result<(), Fault> {
        self.send("ucinewgame")?;
        self.synchronize()
    }

    fn think(&mut self, course: &Course, clocks: &Clocks) -> Result<Answer, Fault> {
        let position = course.game.position();
        self.process.skip_pending();
        self.send(&self.position(course))?;
        let deadline = Deadline::new(clocks.remaining(position.turn()), self.patience);
        self.send(&go(clocks, position.turn()))?;
        let mut q = None;
        let mut complaint = None;
        let bestmove = |line: &Line| {
            let text = line.text.as_str();
            if text.starts_with(COMPLAINT) {
                complaint = Some(text.to_owned());
            }
            if text.starts_with("info ") {
                q = score(text).or(q);
            }
            let best = text.strip_prefix("bestmove")?;
            let best = best.split_whitespace().next().unwrap_or_default();
            Some((best.to_owned(), line.at))
        };
        let answer = self
            .process
            .wait_for(deadline.end(), bestmove)
            .map_err(|silence| deadline.missed(silence));
        let (text, at) = answer.map_err(|fault| fault.with_complaint(complaint.as_deref()))?;
        let mv = Dialect::Uci
            .parse(&self.variant, position, &text)
            .ok_or_else(|| {
                let fen = position.fen(&self.variant);
                let reason = format!("{} in {fen}", quoted(&text));
                Fault::new(Forfeit::IllegalMove, reason).with_complaint(complaint.as_deref())
            })?;
        Ok(Answer {
            mv,
            q,
            elapsed: deadline.elapsed(at),
        })
    }

    fn game_over(&mut self, _outcome: Outcome) {}
}

fn go(clocks: &Clocks, turn: Color) -> String {
    match clocks.limit() {
        Limit::Clock(control) => {
            let [white, black] = Color::ALL.map(|color| clocks.remaining(color).as_millis());
            let increment = control.increment.as_millis();
            let mut line =
                format!("go wtime {white} btime {black} winc {increment} binc {increment}");
            if let Some(moves) = clocks.moves_to_go(turn) {
                line.push_str(&format!(" movestogo {moves}"));
            }
            line
        }
        Limit::MoveTime(time) => format!("go movetime {}", time.as_millis()),
        Limit::Nodes(nodes) => format!("go nodes {nodes}"),
        Limit::Depth(depth) => format!("go depth {depth}"),
    }
}

/// What an `info` line expects, −1 to 1, if it says so.
fn score(line: &str) -> Option<f32> {
    let mut words = line.split_whitespace().skip_while(|&word| word != "score");
    let kind = words.nth(1)?;
    let value: f32 = words.next()?.parse().ok()?;
    match kind {
        "cp" if value.is_finite() => Some(q_of_centipawns(value)),
        "mate" => Some(if value > 0.0 { 1.0 } else { -1.0 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::external::clock::TimeControl;
    use std::time::Duration;

    #[test]
    fn scores_are_read_and_nonsense_is_not() {
        assert_eq!(score("info depth 3 score cp 0 nodes 9"), Some(0.0));
        assert_eq!(score("info score mate -3 pv e2e4"), Some(-1.0));
        assert_eq!(score("info score mate 2"), Some(1.0));
        for none in [
            "info depth 3",
            "info score",
            "info score cp",
            "info score cp x",
            "info score cp nan",
        ] {
            assert_eq!(score(none), None, "{none}");
        }
    }

    #[test]
    fn limits_become_go_commands() {
        let control = TimeControl::parse("40/60+0.5").expect("a time control");
        let mut clocks = Clocks::new(Limit::Clock(control));
        clocks.press(Color::White, Duration::from_millis(1500));
        let line = "go wtime 59000 btime 60000 winc 500 binc 500 movestogo 39";
        assert_eq!(go(&clocks, Color::White), line);
        let clocks = Clocks::new(Limit::MoveTime(Duration::from_millis(200)));
        assert_eq!(go(&clocks, Color::White), "go movetime 200");
        assert_eq!(
            go(&Clocks::new(Limit::Nodes(77)), Color::Black),
            "go nodes 77"
        );
        assert_eq!(
            go(&Clocks::new(Limit::Depth(5)), Color::Black),
            "go depth 5"
        );
    }
}
