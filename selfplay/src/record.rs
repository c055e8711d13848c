//! What a self-play game leaves behind.
//!
//! A [`GameRecord`] holds all that learning and analysis need: no move has to be replayed, and
//! other training targets can be computed later from the raw search results. On disk it is
//! Parquet, a row a ply, every row self-contained, so that DuckDB, polars or pandas open it as
//! it is; [`to_bytes`] and [`from_bytes`] convert, [`schema()`] lists the columns.

mod checksum;
mod decode;
mod encode;
mod names;
mod schema;
mod validate;

use model::Wdl;
use rules::{Color, Outcome};

use crate::game::EndReason;
use crate::starts::StartKind;

pub use decode::from_bytes;
pub use encode::to_bytes;
pub use schema::{FORMAT_KEY, FORMAT_VERSION, schema};
pub(crate) use validate::validate as check;

/// One finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// Unique in the run.
    pub game_id: String,
    /// Name of the variant.
    pub variant: String,
    /// Where the game began.
    pub start_kind: StartKind,
    /// Who played it.
    pub worker_id: String,
    /// All of the game's random choices come from it.
    pub seed: u64,
    /// The result.
    pub outcome: Outcome,
    /// How the result came about.
    pub end: EndReason,
    /// In a game that was played out to measure false resignations: the side that would have
    /// resigned first.
    pub would_resign: Option<Color>,
    /// Every ply from the start position on; never empty.
    pub plies: Vec<PlyRecord>,
}

/// One position of a game, the search made in it, and the move played.
#[derive(Clone, Debug, PartialEq)]
pub struct PlyRecord {
    /// The position before the move.
    pub fen: String,
    /// The move played, in the rules' notation.
    pub mv: String,
    /// How often the position has occurred, this time included; at least 1.
    pub repetitions: u8,
    /// The search-improved policy over the legal moves, as probabilities that add up to 1.
    /// Empty only for cheap searches.
    pub policy: Vec<(String, f32)>,
    /// Backed-up mean value for the side to move, −1 to 1.
    pub root_q: f32,
    /// The net's own value for the side to move.
    pub raw_value: Wdl,
    /// Simulations at the root.
    pub visits: u32,
    /// Whether the search had the full budget. Only these plies make samples.
    pub full_search: bool,
    /// The net that evaluated the search.
    pub net_id: String,
}

/// Why bytes are no game records, or game records cannot be written.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordError {
    /// Not a Parquet file, or a damaged or truncated one.
    #[error("not a readable Parquet file: {0}")]
    Parquet(String),
    /// Bytes have changed since the file was written.
    #[error("the data is damaged: its checksum is not the one in the file's metadata")]
    Checksum,
    /// A Parquet file that another program wrote.
    #[error("no game records: the file's metadata lacks {FORMAT_KEY:?}")]
    NoVersion,
    /// Game records of another version of the format.
    #[error(
        "game records of format version {found}, but this program reads version {FORMAT_VERSION}"
    )]
    Version {
        /// What the file says.
        found: String,
    },
    /// The columns are not those of the format.
    #[error("the columns differ from the format: {0}")]
    Schema(String),
    /// A row contradicts itself or its neighbours.
    #[error("row {row}: {reason}")]
    Row {
        /// Counted from 0 over the whole file.
        row: usize,
        /// The column and what is wrong with it.
        reason: String,
    },
    /// A game contradicts itself.
    #[error("game {game_id:?}, ply {ply}: {reason}")]
    Game {
        /// Which game.
        game_id: String,
        /// Which ply.
        ply: usize,
        /// The field and what is wrong with it.
        reason: String,
    },
}

impl GameRecord {
    /// Number of samples the game makes: its plies with a full search.
    pub fn samples(&self) -> usize {
        self.plies.iter().filter(|ply| ply.full_search).count()
    }
}
