//! Parquet to records, distrusting every byte.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int8Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, BooleanArray, Float32Array, Int8Array, ListArray, RecordBatch, StringArray, UInt8Array,
    UInt32Array, UInt64Array,
};
use arrow_schema::Schema;
use bytes::Bytes;
use model::Wdl;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;

use super::checksum::Checksum;
use super::names::{color_from, outcome_from};
use super::validate::validate;
use super::{FORMAT_KEY, FORMAT_VERSION, GameRecord, PlyRecord, RecordError, schema};

/// The games of a Parquet file that [`super::to_bytes`] wrote.
///
/// # Errors
/// A [`RecordError`] that says where and how the bytes depart from the format. Truncated,
/// foreign and damaged files are errors, never panics.
pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Vec<GameRecord>, RecordError> {
    let bytes = bytes.into();
    // The Parquet reader trusts sizes and offsets in a damaged file and then panics.
    catch_unwind(AssertUnwindSafe(|| read(bytes))).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(RecordError::Parquet(format!(
            "it confuses the reader ({})",
            said.unwrap_or("no further word")
        )))
    })
}

fn read(bytes: Bytes) -> Result<Vec<GameRecord>, RecordError> {
    let broken = |error: &dyn std::fmt::Display| RecordError::Parquet(error.to_string());
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(|error| broken(&error))?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let pairs = pairs.map_or(&[][..], Vec::as_slice);
    check_version(pairs)?;
    Checksum::check(pairs, &bytes)?;
    check_schema(builder.schema())?;
    let reader = builder.build().map_err(|error| broken(&error))?;

    let mut games = Games::default();
    for batch in reader {
        let batch = batch.map_err(|error| broken(&error))?;
        let columns = Columns::of(&batch);
        for row in 0..batch.num_rows() {
            games.push(&columns, row)?;
        }
    }
    games.finish()
}

fn check_version(pairs: &[KeyValue]) -> Result<(), RecordError> {
    let found = pairs
        .iter()
        .find(|pair| pair.key == FORMAT_KEY)
        .and_then(|pair| pair.value.as_deref())
        .ok_or(RecordError::NoVersion)?;
    if found == FORMAT_VERSION.to_string() {
        Ok(())
    } else {
        Err(RecordError::Version {
            found: found.to_owned(),
        })
    }
}

fn check_schema(found: &Schema) -> Result<(), RecordError> {
    let wanted = schema();
    for field in wanted.fields() {
        let name = field.name();
        let Ok(other) = found.field_with_name(name) else {
            return Err(RecordError::Schema(format!("column {name:?} is missing")));
        };
        if other.data_type() != field.data_type() || other.is_nullable() {
            return Err(RecordError::Schema(format!(
                "column {name:?} holds {}{} instead of {}",
                if other.is_nullable() { "nullable " } else { "" },
                other.data_type(),
                field.data_type()
            )));
        }
    }
    let extra = found
        .fields()
        .iter()
        .find(|field| wanted.field_with_name(field.name()).is_err());
    match extra {
        Some(field) => Err(RecordError::Schema(format!(
            "unknown column {:?}",
            field.name()
        ))),
        None => Ok(()),
    }
}

/// A batch's columns. The schema has been checked, so every cast fits.
struct Columns<'a> {
    game_id: &'a StringArray,
    variant: &'a StringArray,
    start_kind: &'a StringArray,
    ply: &'a UInt32Array,
    fen: &'a StringArray,
    mv: &'a StringArray,
    repetitions: &'a UInt8Array,
    policy_moves: &'a ListArray,
    policy_probs: &'a ListArray,
    root_q: &'a Float32Array,
    raw_win: &'a Float32Array,
    raw_draw: &'a Float32Array,
    raw_loss: &'a Float32Array,
    visits: &'a UInt32Array,
    full_search: &'a BooleanArray,
    outcome: &'a Int8Array,
    end_reason: &'a StringArray,
    would_resign: &'a Int8Array,
    plies_left: &'a UInt32Array,
    net_id: &'a StringArray,
    worker_id: &'a StringArray,
    seed: &'a UInt64Array,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Self {
        let column = |name: &str| match batch.column_by_name(name) {
            Some(column) => column,
            None => unreachable!("the schema check found column {name}"),
        };
        Self {
            game_id: column("game_id").as_string(),
            variant: column("variant").as_string(),
            start_kind: column("start_kind").as_string(),
            ply: column("ply").as_primitive::<UInt32Type>(),
            fen: column("fen").as_string(),
            mv: column("move").as_string(),
            repetitions: column("repetitions").as_primitive::<UInt8Type>(),
            policy_moves: column("policy_moves").as_list(),
            policy_probs: column("policy_probs").as_list(),
            root_q: column("root_q").as_primitive::<Float32Type>(),
            raw_win: column("raw_win").as_primitive::<Float32Type>(),
            raw_draw: column("raw_draw").as_primitive::<Float32Type>(),
            raw_loss: column("raw_loss").as_primitive::<Float32Type>(),
            visits: column("visits").as_primitive::<UInt32Type>(),
            full_search: column("full_search").as_boolean(),
            outcome: column("outcome").as_primitive::<Int8Type>(),
            end_reason: column("end_reason").as_string(),
            would_resign: column("would_resign").as_primitive::<Int8Type>(),
            plies_left: column("plies_left").as_primitive::<UInt32Type>(),
            net_id: column("net_id").as_string(),
            worker_id: column("worker_id").as_string(),
            seed: column("seed").as_primitive::<UInt64Type>(),
        }
    }

    /// What the row says about its game, without plies.
    fn game(&self, row: usize) -> Result<GameRecord, String> {
        let outcome = self.outcome.value(row);
        let would_resign = self.would_resign.value(row);
        Ok(GameRecord {
            game_id: self.game_id.value(row).to_owned(),
            variant: self.variant.value(row).to_owned(),
            start_kind: word("start_kind", self.start_kind.value(row))?,
            worker_id: self.worker_id.value(row).to_owned(),
            seed: self.seed.value(row),
            outcome: outcome_from(outcome)
                .ok_or_else(|| format!("outcome is {outcome} instead of 1, 0 or -1"))?,
            end: word("end_reason", self.end_reason.value(row))?,
            would_resign: color_from(would_resign)
                .ok_or_else(|| format!("would_resign is {would_resign} instead of 1, 0 or -1"))?,
            plies: Vec::new(),
        })
    }

    fn ply(&self, row: usize) -> Result<PlyRecord, String> {
        let moves = self.policy_moves.value(row);
        let probs = self.policy_probs.value(row);
        if moves.len() != probs.len() {
            return Err(format!(
                "policy_moves has {} entries but policy_probs has {}",
                moves.len(),
                probs.len()
            ));
        }
        let moves = moves.as_string::<i32>();
        let probs = probs.as_primitive::<Float32Type>();
        let policy = (0..moves.len())
            .map(|i| (moves.value(i).to_owned(), probs.value(i)))
            .collect();
        Ok(PlyRecord {
            fen: self.fen.value(row).to_owned(),
            mv: self.mv.value(row).to_owned(),
            repetitions: self.repetitions.value(row),
            policy,
            root_q: self.root_q.value(row),
            raw_value: Wdl {
                win: self.raw_win.value(row),
                draw: self.raw_draw.value(row),
                loss: self.raw_loss.value(row),
            },
            visits: self.visits.value(row),
            full_search: self.full_search.value(row),
            net_id: self.net_id.value(row).to_owned(),
        })
    }
}

/// Gathers rows into games.
#[derive(Default)]
struct Games {
    finished: Vec<GameRecord>,
    /// The game being read, and `ply + plies_left` of its rows: its length.
    open: Option<(GameRecord, usize)>,
    rows: usize,
}

impl Games {
    fn push(&mut self, columns: &Columns<'_>, row: usize) -> Result<(), RecordError> {
        let number = self.rows;
        self.rows += 1;
        self.push_row(columns, row).map_err(|reason| match reason {
            Departure::Row(reason) => RecordError::Row {
                row: number,
                reason,
            },
            Departure::Game(error) => error,
        })
    }

    fn push_row(&mut self, columns: &Columns<'_>, row: usize) -> Result<(), Departure> {
        let header = columns.game(row)?;
        let ply = columns.ply(row)?;
        let index = columns.ply.value(row) as usize;
        let length = index + columns.plies_left.value(row) as usize;
        if index == 0 {
            self.close()?;
            self.open = Some((header, length));
        } else {
            let same = self.open.as_ref().is_some_and(|(game, open_length)| {
                same_game(game, &header) && game.plies.len() == index && *open_length == length
            });
            if !same {
                return Err(Departure::Row(format!(
                    "ply {index} of game {:?} does not follow on the row before",
                    header.game_id
                )));
            }
        }
        if let Some((game, _)) = &mut self.open {
            game.plies.push(ply);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Departure> {
        if let Some((game, length)) = self.open.take() {
            if game.plies.len() != length {
                return Err(Departure::Row(format!(
                    "game {:?} stops after {} of {length} plies",
                    game.game_id,
                    game.plies.len()
                )));
            }
            validate(&game).map_err(Departure::Game)?;
            self.finished.push(game);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<GameRecord>, RecordError> {
        let row = self.rows;
        self.close().map_err(|departure| match departure {
            Departure::Row(reason) => RecordError::Row { row, reason },
            Departure::Game(error) => error,
        })?;
        Ok(self.finished)
    }
}

enum Departure {
    Row(String),
    Game(RecordError),
}

impl From<String> for Departure {
    fn from(reason: String) -> Self {
        Self::Row(reason)
    }
}

fn same_game(game: &GameRecord, header: &GameRecord) -> bool {
    let key = |game: &GameRecord| {
        (
            game.start_kind,
            game.seed,
            game.outcome,
            game.end,
            game.would_resign,
        )
    };
    game.game_id == header.game_id
        && game.variant == header.variant
        && game.worker_id == header.worker_id
        && key(game) == key(header)
}

/// One of an enum's words.
fn word<T>(column: &str, text: &str) -> Result<T, String>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error: T::Err| format!("{column}: {error}"))
}
