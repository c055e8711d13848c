//! Follows a match while it is played: the bar, the games' file, and when to stop.

use crate::arena::config::MatchConfig;
use crate::arena::elo::EloEstimate;
use crate::arena::pgn;
use crate::arena::play::MatchProgress;
use crate::arena::sprt::Sprt;
use crate::logging;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use rules::Variant;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whoever follows a match.
pub struct Watch {
    variant: Arc<Variant>,
    names: [String; 2],
    sprt: Option<Sprt>,
    games: Option<Games>,
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
    failure: Option<anyhow::Error>,
}

/// The file that games go to.
struct Games {
    file: BufWriter<File>,
    shown: String,
}

impl Watch {
    /// Begins to follow a match between contestants of these names, which ends when `stop` is raised.
    ///
    /// # Errors
    /// If the file for the games cannot be opened.
    pub fn start(
        variant: &Arc<Variant>,
        config: &MatchConfig,
        names: [String; 2],
        sprt: Option<Sprt>,
        pgn: Option<&Path>,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<Watch> {
        let games = pgn.map(Games::open).transpose()?;
        let bar = progress_bar(config.pairs());
        logging::keep_clear_of(bar.clone());
        Ok(Watch {
            variant: Arc::clone(variant),
            names,
            sprt,
            games,
            bar,
            stop,
            failure: None,
        })
    }

    /// Takes in what has happened, and says whether to go on.
    pub fn hear(&mut self, news: &MatchProgress<'_>) -> ControlFlow<()> {
        let score = news.pentanomial.score().unwrap_or(0.5);
        self.bar.set_position(2 * news.pentanomial.pairs());
        self.bar.set_message(format!(
            "{:.1}%  Elo {}",
            100.0 * score,
            EloEstimate::of(&news.pentanomial)
        ));
        if let (Some(games), Some(pair)) = (&mut self.games, news.finished) {
            let names = (self.names[0].as_str(), self.names[1].as_str());
            let written = games.write(&pgn::of_pair(&self.variant, names, pair));
            if let Err(error) = written {
                self.failure.get_or_insert(error);
            }
        }
        let decided = self
            .sprt
            .is_some_and(|sprt| sprt.state(&news.pentanomial).verdict().is_some());
        match decided || self.failure.is_some() || self.stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Ends with the match; why games could not be written, if that ended it.
    pub fn finish(self) -> Option<anyhow::Error> {
        self.bar.finish_and_clear();
        self.failure
    }
}

impl Games {
    fn open(path: &Path) -> anyhow::Result<Games> {
        let shown = path.display().to_string();
        let file = File::create(path)
            .with_context(|| format!("cannot write '{shown}'; check that its folder exists"))?;
        Ok(Games {
            file: BufWriter::new(file),
            shown,
        })
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.flush());
        written.with_context(|| {
            format!(
                "cannot write games to '{}'; check that the disk has room",
                self.shown
            )
        })
    }
}

fn progress_bar(pairs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{elapsed_precise} [{bar:30}] {pos}/{len} games  {msg}  {eta} left",
    )
    .expect("the template is well formed");
    ProgressBar::new(2 * pairs as u64).with_style(style.progress_chars("=> "))
}
