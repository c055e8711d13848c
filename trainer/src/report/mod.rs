//! A run on one page: what was trained, how it went, what the men are worth, what is to be thought of the claims.
//!
//! 1. [`Report::gather`] collects everything as plain data, which is also the JSON form.
//! 2. [`page`] makes one self-contained HTML file of it, with [`plots`] as inline SVG; [`table`] the CSV.
//! 3. [`curves`] reads the run's TensorBoard logs, [`games`] picks sample games.

pub mod curves;
pub mod games;
pub mod page;
pub mod plots;
pub mod table;

use crate::arena::rating::{Ladder, RatedNet};
use crate::run::Run;
use crate::values::Sources;
use crate::values::history::{HistoryPoint, history};
use crate::values::table::ValueTable;
use curves::Curves;
use games::{SampleGame, sample_games};
use selfplay::layout::RunPaths;
use serde::Serialize;

/// The variant whose men everybody knows the worth of: the control.
pub const CONTROL: &str = "chess";
/// Version of the JSON form.
pub const REPORT_VERSION: u32 = 1;
/// Stretches of the run whose values are shown.
const STRETCHES: usize = 8;

/// Everything on the page.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// Name of the run's storage.
    pub run: String,
    /// The variant's title.
    pub title: String,
    /// The variant's description.
    pub description: String,
    /// The recipe, as TOML.
    pub recipe: String,
    /// The values and the claims.
    pub values: ValueTable,
    /// The same of a run of orthodox chess, the control, if one was given.
    pub control: Option<ValueTable>,
    /// Values over the course of the run.
    pub history: Vec<HistoryPoint>,
    /// Elo above the untrained net.
    pub elo: Vec<RatedNet>,
    /// Curves of the training, by TensorBoard's names.
    pub curves: Curves,
    /// Sample games.
    pub games: Vec<SampleGame>,
}

impl Report {
    /// Collects a run's report around its values.
    ///
    /// # Errors
    /// If the storage fails or the ladder cannot be read.
    pub fn gather(
        run: &Run,
        sources: &Sources<'_>,
        values: ValueTable,
        control: Option<ValueTable>,
    ) -> anyhow::Result<Report> {
        let curves = run
            .storage
            .local_dir()
            .map(|folder| curves::read(&folder.join(RunPaths::TENSORBOARD)));
        Ok(Report {
            version: REPORT_VERSION,
            run: run.storage.url().to_owned(),
            title: run.variant.title().to_owned(),
            description: run.variant.description().to_owned(),
            recipe: run.config.to_toml(),
            history: history(sources, STRETCHES, run.config.run.seed)?,
            elo: Ladder::read(&run.storage)?.curve(),
            curves: curves.unwrap_or_default(),
            games: sample_games(&run.storage, &run.variant)?,
            values,
            control,
        })
    }
}
