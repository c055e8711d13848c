//! XBoard's Chess Engine Communication Protocol, version 2, from XBoard's side.

mod features;

use super::client::{
    Answer, Client, Course, Deadline, Fault, Patience, q_of_centipawns, quoted, quoted_reason,
};
use super::clock::{Clocks, Limit};
use super::dialect::Dialect;
use super::process::{EngineProcess, Silence};
use super::spec::EngineSpec;
use crate::arena::result::Forfeit;
use anyhow::{anyhow, bail, ensure};
use features::Features;
use rules::{Outcome, Variant};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an engine that does not say `done` may take to name its features.
const FEATURES: Duration = Duration::from_secs(2);
/// How long a move may come after the result that an engine claims with it.
const AFTER_CLAIM: Duration = Duration::from_secs(1);
/// Memory that an engine is told to use, in MB; what engines take if they are not told is often very little.
const MEMORY: u32 = 64;

/// An engine that speaks XBoard's protocol.
pub struct Cecp {
    process: EngineProcess,
    variant: Arc<Variant>,
    /// The name by which the engine knows the variant.
    variant_name: String,
    patience: Patience,
    features: Features,
    /// Moves of the game that the engine knows.
    told: usize,
    /// Whether it only records moves, and waits for `go`.
    forced: bool,
    pings: u32,
    /// What the engine has complained of since it was last asked for something.
    complaint: Option<String>,
}

impl Cecp {
    /// Starts an engine, sets its options and checks that it plays the variant.
    ///
    /// # Errors
    /// If it does not start or does not know the variant.
    pub fn start(
        spec: &EngineSpec,
        variant: &Arc<Variant>,
        patience: Patience,
    ) -> anyhow::Result<Cecp> {
        let name = spec.variant_name(variant);
        let mut cecp = Cecp {
            process: EngineProcess::start(&spec.command)?,
            variant: Arc::clone(variant),
            variant_name: if name == "chess" { "normal" } else { name }.to_owned(),
            patience,
            features: Features::default(),
            told: 0,
            forced: true,
            pings: 0,
            complaint: None,
        };
        let failed = |fault: Fault| anyhow!(fault.reason);
        cecp.greet().map_err(failed)?;
        for (name, value) in &spec.options {
            ensure!(
                cecp.features.options.contains(name),
                "it has no option `{name}`"
            );
            cecp.send(&format!("option {name}={value}"))
                .map_err(failed)?;
        }
        if cecp.features.smp {
            cecp.send("cores 1").map_err(failed)?;
        }
        if cecp.features.memory {
            cecp.send(&format!("memory {MEMORY}")).map_err(failed)?;
        }
        if !cecp.features.variants.contains(&cecp.variant_name) {
            bail!(
                "it does not know the variant `{}`, only {}; give the name by which it knows it",
                cecp.variant_name,
                cecp.features.variants.join(", ")
            );
        }
        cecp.choose_variant().map_err(failed)?;
        cecp.synchronize().map_err(failed)?;
        if let Some(complaint) = &cecp.complaint {
            bail!(
                "it does not play `{}`: {}",
                cecp.variant_name,
                quoted_reason(complaint)
            );
        }
        Ok(cecp)
    }

    /// Sets up the variant's board.
    fn choose_variant(&mut self) -> Result<(), Fault> {
        self.send("new")?;
        match self.variant_name.as_str() {
            "normal" => Ok(()),
            name => self.send(&format!("variant {name}")),
        }
    }

    /// Says hello and hears what the engine can do.
    fn greet(&mut self) -> Result<(), Fault> {
        self.send("xboard")?;
        self.send("protover 2")?;
        let start = Instant::now();
        loop {
            // `done=0` asks for patience, `done=1` ends the list; an old engine says nothing.
            let allowed = match self.features.done {
                Some(true) => return Ok(()),
                Some(false) => self.patience.longest,
                None => FEATURES.min(self.patience.longest),
            };
            match self.process.receive(start + allowed) {
                Ok(line) => {
                    if let Some(list) = line.text.strip_prefix("feature ") {
                        self.features.hear(list);
                    }
                }
                Err(Silence::Timeout) if self.features.done.is_none() => return Ok(()),
                Err(silence) => return Err(Fault::silent(silence, "`protover 2`", allowed)),
            }
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Fault> {
        self.process
            .send(line)
            .map_err(|silence| Fault::silent(silence, &quoted(line), self.patience.longest))
    }

    /// Waits until everything before has been dealt with, if the engine can tell.
    ///
    /// # Errors
    /// If it does not answer, or has refused a move.
    fn synchronize(&mut self) -> Result<(), Fault> {
        if !self.features.ping {
            return Ok(());
        }
        self.pings += 1;
        self.send(&format!("ping {}", self.pings))?;
        let pong = format!("pong {}", self.pings);
        let deadline = Instant::now() + self.patience.longest;
        let complaint = &mut self.complaint;
        let refused = self.process.wait_for(deadline, |line| {
            if line.text == pong {
                return Some(None);
            }
            if is_complaint(&line.text) {
                *complaint = Some(line.text.clone());
            }
            line.text
                .starts_with("Illegal move")
                .then(|| Some(line.text.clone()))
        });
        match refused {
            Ok(None) => Ok(()),
            Ok(Some(refusal)) => Err(self.refused(&refusal)),
            Err(silence) => Err(Fault::silent(silence, "`ping`", self.patience.longest)),
        }
    }

    fn refused(&self, refusal: &str) -> Fault {
        Fault::new(
            Forfeit::Protocol,
            format!(
                "it refused a legal move of {}: {}",
                self.variant.name(),
                quoted(refusal)
            ),
        )
    }

    /// Tells the moves that the engine has not seen; before the last one, its time.
    fn tell(&mut self, course: &Course, clocks: &Clocks) -> Result<(), Fault> {
        for (index, (position, mv)) in course.played.iter().enumerate().skip(self.told) {
            if !self.forced && index + 1 == course.played.len() {
                self.send_time(course, clocks)?;
            }
            let text = Dialect::Cecp.text(&self.variant, position, *mv);
            let line = match self.features.usermove {
                true => format!("usermove {text}"),
                false => text,
            };
            self.send(&line)?;
        }
        self.told = course.played.len();
        Ok(())
    }

    fn send_time(&mut self, course: &Course, clocks: &Clocks) -> Result<(), Fault> {
        let (Limit::Clock(_), true) = (clocks.limit(), self.features.time) else {
            return Ok(());
        };
        let turn = course.game.position().turn();
        let hundredths = |color| clocks.remaining(color).as_millis() / 10;
        self.send(&format!("time {}", hundredths(turn)))?;
        self.send(&format!("otim {}", hundredths(!turn)))
    }
}

/// What an engine has said about a search of its.
enum Said {
    Move(String, Instant),
    Claim(String),
    Resigns,
    /// A legal move.
    Refuses(String),
    /// To search.
    Fails(String),
}

impl Client for Cecp {
    fn name(&self) -> Option<&str> {
        self.features.name.as_deref()
    }

    fn new_game(&mut self, limit: Limit) -> Result<(), Fault> {
        // Whatever the engine was doing, it is to stop before the board is set up.
        self.send("force")?;
        self.synchronize()?;
        self.choose_variant()?;
        self.send("force")?;
        self.send("easy")?;
        self.send("post")?;
        for line in limit_commands(limit) {
            self.send(&line)?;
        }
        self.told = 0;
        self.forced = true;
        self.synchronize()
    }

    fn think(&mut self, course: &Course, clocks: &Clocks) -> Result<Answer, Fault> {
        let position = *course.game.position();
        self.process.skip_pending();
        self.complaint = None;
        if self.forced {
            self.tell(course, clocks)?;
            self.synchronize()?;
            self.send_time(course, clocks)?;
        }
        let deadline = Deadline::new(clocks.remaining(position.turn()), self.patience);
        if self.forced {
            self.send("go")?;
            self.forced = false;
        } else {
            self.tell(course, clocks)?;
        }
        let mut q = None;
        let mut claim: Option<(String, Instant)> = None;
        loop {
            let end = match &claim {
                Some((_, at)) => deadline.end().min(*at + AFTER_CLAIM),
                None => deadline.end(),
            };
            let complaint = &mut self.complaint;
            let said = self.process.wait_for(end, |line| {
                q = score(&line.text).or(q);
                let said = said(&line.text, line.at);
                if said.is_none() && is_complaint(&line.text) {
                    *complaint = Some(line.text.clone());
                }
                said
            });
            match (said, claim) {
                (Ok(Said::Move(text, at)), _) => {
                    let mv = Dialect::Cecp.parse(&self.variant, &position, &text);
                    let mv = mv.ok_or_else(|| {
                        let fen = position.fen(&self.variant);
                        Fault::new(Forfeit::IllegalMove, format!("{} in {fen}", quoted(&text)))
                    })?;
                    self.told += 1;
                    let elapsed = deadline.elapsed(at);
                    return Ok(Answer { mv, q, elapsed });
                }
                (Ok(Said::Resigns), _) => {
                    return Err(Fault::new(Forfeit::Resigned, "the engine resigned"));
                }
                (Ok(Said::Refuses(text)), _) => return Err(self.refused(&text)),
                (Ok(Said::Claim(text)), _) => claim = Some((text, Instant::now())),
                (Err(Silence::Timeout), Some((text, _))) => {
                    return Err(false_claim(&text, position.turn()));
                }
                (Ok(Said::Fails(text)), _) => {
                    let reason = format!("it does not search: {}", quoted_reason(&text));
                    let fault = Fault::new(Forfeit::Protocol, reason);
                    return Err(fault.with_complaint(self.complaint.as_deref()));
                }
                (Err(silence), _) => {
                    let fault = deadline.missed(silence);
                    return Err(fault.with_complaint(self.complaint.as_deref()));
                }
            }
        }
    }

    fn game_over(&mut self, outcome: Outcome) {
        let result = outcome.pgn();
        // If the engine has gone meanwhile, the next game will show.
        let _ = self.send(&format!("result {result} {{the referee's decision}}"));
        let _ = self.send("force");
    }
}

/// The lines that set the limit of a game's searches.
fn limit_commands(limit: Limit) -> Vec<String> {
    match limit {
        Limit::Clock(control) => {
            let base = control.base.as_secs();
            let moves = control.moves.unwrap_or(0);
            let increment = control.increment.as_secs_f64();
            vec![format!(
                "level {moves} {}:{:02} {increment}",
                base / 60,
                base % 60
            )]
        }
        Limit::MoveTime(time) => vec![format!("st {}", time.as_secs_f64())],
        Limit::Depth(depth) => vec!["level 0 600 0".to_owned(), format!("sd {depth}")],
        Limit::Nodes(_) => Vec::new(),
    }
}

/// Checks that the protocol can express a limit.
///
/// # Errors
/// If it cannot, with what to use instead.
pub fn check_limit(limit: Limit) -> anyhow::Result<()> {
    match limit {
        Limit::Nodes(_) => {
            bail!("XBoard's protocol cannot limit the nodes of a search; use --tc, --st or --depth")
        }
        Limit::MoveTime(time) => ensure!(
            time.as_secs() >= 1 && time.subsec_nanos() == 0,
            "XBoard's protocol counts the time for a move in whole seconds; use such a --st, or --tc"
        ),
        Limit::Clock(control) => ensure!(
            control.base.as_secs() >= 1,
            "XBoard's protocol counts the clock in whole seconds; give a base of 1 or more"
        ),
        Limit::Depth(_) => {}
    }
    Ok(())
}

/// An engine has claimed a result that it does not have, and has not moved.
fn false_claim(text: &str, turn: rules::Color) -> Fault {
    let own_loss = match turn {
        rules::Color::White => "0-1",
        rules::Color::Black => "1-0",
    };
    match text.starts_with(own_loss) {
        true => Fault::new(
            Forfeit::Resigned,
            format!("the engine gave up: {}", quoted(text)),
        ),
        false => Fault::new(
            Forfeit::Protocol,
            format!(
                "it claimed a result that the rules do not give: {}",
                quoted(text)
            ),
        ),
    }
}

/// Whether an engine speaks of something that is wrong.
fn is_complaint(line: &str) -> bool {
    ["tellusererror ", "tellerror ", "Error ("]
        .iter()
        .any(|word| line.starts_with(word))
}

fn said(line: &str, at: Instant) -> Option<Said> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word {
        "move" => {
            let text = rest.split_whitespace().next().unwrap_or_default();
            Some(Said::Move(text.to_owned(), at))
        }
        "resign" => Some(Said::Resigns),
        "1-0" | "0-1" | "1/2-1/2" => Some(Said::Claim(line.to_owned())),
        "Error" if rest.ends_with(": go") => Some(Said::Fails(line.to_owned())),
        "Illegal" if rest.starts_with("move") => Some(Said::Refuses(line.to_owned())),
        _ => None,
    }
}

/// What a line of thinking output, `ply score time nodes pv`, expects: −1 to 1. Mates are scores of 100 000 and more.
fn score(line: &str) -> Option<f32> {
    let mut words = line.split_whitespace();
    let ply = words.next()?.trim_end_matches(['.', '+', '-', '&']);
    ply.parse::<u32>().ok()?;
    let score: i32 = words.next()?.parse().ok()?;
    words.next()?.parse::<u64>().ok()?;
    words.next()?.parse::<u64>().ok()?;
    Some(q_of_centipawns(score as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::external::clock::TimeControl;

    #[test]
    fn thinking_output_has_a_score_and_chatter_has_none() {
        assert_eq!(score("5 0 12 3456 e2e4 e7e5"), Some(0.0));
        assert_eq!(score(" 9. 400 1 1  e2e4"), Some(q_of_centipawns(400.0)));
        assert_eq!(score("12 -100003 55 99 mate"), Some(-1.0));
        for none in ["", "move e2e4", "# 1 2 3", "1 2", "tellics say 5"] {
            assert_eq!(score(none), None, "{none}");
        }
    }

    #[test]
    fn limits_are_told_or_refused() {
        let clock = |text| Limit::Clock(TimeControl::parse(text).expect("a time control"));
        assert_eq!(limit_commands(clock("40/75+2")), ["level 40 1:15 2"]);
        assert_eq!(limit_commands(clock("5+0.1")), ["level 0 0:05 0.1"]);
        let second = Limit::MoveTime(Duration::from_secs(1));
        assert_eq!(limit_commands(second), ["st 1"]);
        assert!(check_limit(second).is_ok());
        assert!(check_limit(Limit::MoveTime(Duration::from_millis(500))).is_err());
        assert!(check_limit(Limit::Nodes(5)).is_err());
        assert!(check_limit(clock("0.5")).is_err());
    }

    #[test]
    fn a_claim_of_defeat_is_a_resignation() {
        let white = rules::Color::White;
        assert_eq!(
            false_claim("0-1 {White resigns}", white).kind,
            Forfeit::Resigned
        );
        assert_eq!(false_claim("1/2-1/2 {Draw}", white).kind, Forfeit::Protocol);
        assert_eq!(false_claim("1-0 {I win}", white).kind, Forfeit::Protocol);
    }
}
