//! A progress bar for work in stages.

use crate::logging;
use indicatif::{ProgressBar, ProgressStyle};

/// The bar; log lines keep clear of it.
pub struct StageBar(ProgressBar);

impl StageBar {
    /// An empty bar.
    ///
    /// # Panics
    /// Never: the template is well formed.
    pub fn new() -> StageBar {
        let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {msg} {pos}/{len}");
        let style = style.expect("the template is well formed");
        let bar = ProgressBar::new(0).with_style(style.progress_chars("=> "));
        logging::keep_clear_of(bar.clone());
        StageBar(bar)
    }

    /// Shows what is being done, and that `done` of `all` of it is.
    pub fn show(&self, stage: &'static str, done: usize, all: usize) {
        self.0.set_message(stage);
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
