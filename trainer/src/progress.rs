//! What a run shows while it works: a live line on a terminal, a line every few seconds elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between lines when the output is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Where a run is.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Share of the time that is used up, 0 to 1.
    pub progress: f64,
    /// Time that is left.
    pub left: Duration,
    /// Finished games.
    pub games: u64,
    /// Positions for training that the games have made.
    pub positions: u64,
    /// Positions that the workers evaluate, a second.
    pub evaluations_per_second: f64,
    /// Workers that run.
    pub workers: usize,
    /// Training steps.
    pub steps: u64,
    /// Training steps a second.
    pub steps_per_second: f64,
    /// Samples used, each as often as it was used.
    pub samples_used: u64,
    /// Policy and value loss of the last steps in nats, once there are any.
    pub losses: Option<(f32, f32)>,
    /// Elo above the untrained net and half the width of its 95% interval, once measured.
    pub elo: Option<(f64, f64)>,
    /// Who waits for whom.
    pub waiting: Waiting,
}

/// Who waits for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Both work.
    #[default]
    Nobody,
    /// The trainer has used up what the workers made.
    Trainer,
    /// The workers are far enough ahead.
    Workers,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = self.left.as_secs();
        write!(f, "{}:{:02} left", seconds / 60, seconds % 60)?;
        write!(
            f,
            " | {} games, {} positions",
            self.games,
            thousands(self.positions as f64)
        )?;
        write!(
            f,
            ", {} evaluations/s by {} workers",
            thousands(self.evaluations_per_second),
            self.workers
        )?;
        write!(
            f,
            " | step {} ({:.1}/s), {} samples",
            self.steps,
            self.steps_per_second,
            thousands(self.samples_used as f64)
        )?;
        if let Some((policy, value)) = self.losses {
            write!(f, ", policy {policy:.3}, value {value:.3}")?;
        }
        if let Some((elo, error)) = self.elo {
            write!(f, " | Elo {elo:+.0} ±{error:.0}")?;
        }
        match self.waiting {
            Waiting::Nobody => Ok(()),
            Waiting::Trainer => f.write_str(" | trainer waits for games"),
            Waiting::Workers => f.write_str(" | workers wait for the trainer"),
        }
    }
}

/// Shows a run's status.
pub struct Display {
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Display {
    /// A live line if stderr is a terminal, else plain lines.
    pub fn new() -> Display {
        let bar = std::io::stderr().is_terminal().then(live_bar);
        if let Some(bar) = &bar {
            crate::logging::keep_clear_of(bar.clone());
        }
        Display {
            bar,
            last_line: None,
        }
    }

    /// Shows the status; plain lines are printed only every few seconds.
    pub fn show(&mut self, status: &Status) {
        match &self.bar {
            Some(bar) => {
                bar.set_position((status.progress * 1000.0) as u64);
                // Short lines, so that nothing is cut off on a narrow terminal.
                bar.set_message(status.to_string().replace(" | ", "\n  "));
            }
            None => self.print(status),
        }
    }

    /// Tells how many of a run's games have been read.
    pub fn reading(&mut self, games: u64) {
        let text = format!("reading the run's games: {games}");
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None => self.print(&text),
        }
    }

    /// Prints a line if the last one is old enough.
    fn print(&mut self, line: &dyn fmt::Display) {
        if self.last_line.is_none_or(|at| at.elapsed() >= LINE_EVERY) {
            self.last_line = Some(Instant::now());
            eprintln!("{line}");
        }
    }

    /// Prints a line that stays.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Takes the live line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Default for Display {
    fn default() -> Display {
        Display::new()
    }
}

fn live_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} [{bar:24}] {msg}");
    let style = style
        .expect("the template is well formed")
        .progress_chars("=> ");
    let bar =
        ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr()).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// 1234567 as `1.23M`, 12345 as `12.3k`, 123 as `123`.
fn thousands(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{:.2}M", n / 1e6),
        n if n >= 1e4 => format!("{:.1}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line says what it must, and leaves out what is not known yet.
    #[test]
    fn status_reads_well() {
        let mut status = Status {
            left: Duration::from_secs(61),
            games: 3,
            positions: 12_345,
            ..Status::default()
        };
        let text = status.to_string();
        assert!(
            text.starts_with("1:01 left | 3 games, 12.3k positions"),
            "{text}"
        );
        assert!(!text.contains("Elo") && !text.contains("policy"), "{text}");
        status.elo = Some((123.4, 56.7));
        status.waiting = Waiting::Trainer;
        assert!(
            status
                .to_string()
                .ends_with("| Elo +123 ±57 | trainer waits for games"),
            "{status}"
        );
    }
}
