//! The columns of a game file.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};

/// Key of the format's version in the Parquet file's key-value metadata.
pub const FORMAT_KEY: &str = "falconzero.games";

/// Version of the columns and of their meaning.
pub const FORMAT_VERSION: u32 = 1;

/// The columns, in the order of the file. None is nullable.
///
/// | column | meaning |
/// |---|---|
/// | `game_id` | unique in the run |
/// | `variant` | name of the variant |
/// | `start_kind` | `opening`, `material_odds`, `few_men`, `tablebase` or `archive` |
/// | `ply` | from 0 |
/// | `fen` | the position before the move |
/// | `move` | the move played |
/// | `repetitions` | how often the position has occurred, from 1 |
/// | `policy_moves`, `policy_probs` | policy target, two lists of equal length |
/// | `root_q` | searched value for the side to move, −1 to 1 |
/// | `raw_win`, `raw_draw`, `raw_loss` | the net's value for the side to move |
/// | `visits` | simulations at the root |
/// | `full_search` | whether the ply is a sample |
/// | `outcome` | White's result: +1, 0, −1 |
/// | `end_reason` | how the game ended |
/// | `would_resign` | who would have resigned in a game played out: +1 White, −1 Black, 0 nobody |
/// | `plies_left` | plies from this position to the end of the game; 1 in the last row |
/// | `net_id` | the net that evaluated the search |
/// | `worker_id` | who played |
/// | `seed` | of the game's random choices |
pub fn schema() -> Schema {
    let list = |of: DataType| DataType::List(Arc::new(Field::new("element", of, false)));
    let columns = [
        ("game_id", DataType::Utf8),
        ("variant", DataType::Utf8),
        ("start_kind", DataType::Utf8),
        ("ply", DataType::UInt32),
        ("fen", DataType::Utf8),
        ("move", DataType::Utf8),
        ("repetitions", DataType::UInt8),
        ("policy_moves", list(DataType::Utf8)),
        ("policy_probs", list(DataType::Float32)),
        ("root_q", DataType::Float32),
        ("raw_win", DataType::Float32),
        ("raw_draw", DataType::Float32),
        ("raw_loss", DataType::Float32),
        ("visits", DataType::UInt32),
        ("full_search", DataType::Boolean),
        ("outcome", DataType::Int8),
        ("end_reason", DataType::Utf8),
        ("would_resign", DataType::Int8),
        ("plies_left", DataType::UInt32),
        ("net_id", DataType::Utf8),
        ("worker_id", DataType::Utf8),
        ("seed", DataType::UInt64),
    ];
    Schema::new(
        columns
            .into_iter()
            .map(|(name, kind)| Field::new(name, kind, false))
            .collect::<Vec<_>>(),
    )
}
