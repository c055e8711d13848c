//! Records to Parquet.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float32Builder, Int8Builder, ListBuilder, StringBuilder, UInt8Builder,
    UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::checksum::Checksum;
use super::names::{color_number, outcome_number};
use super::validate::validate;
use super::{FORMAT_KEY, FORMAT_VERSION, GameRecord, PlyRecord, RecordError, schema};

/// A Parquet file of the games, in their order. No games make a valid file without rows.
///
/// # Errors
/// [`RecordError::Game`] for a record that [`super::from_bytes`] would refuse.
pub fn to_bytes(games: &[GameRecord]) -> Result<Vec<u8>, RecordError> {
    let schema = Arc::new(schema());
    let mut columns = Columns::new(&schema);
    for game in games {
        validate(game)?;
        for (index, ply) in game.plies.iter().enumerate() {
            columns.push(game, index, ply);
        }
    }
    write(&schema, columns.finish(&schema)).map_err(|error| RecordError::Parquet(error.to_string()))
}

fn write(schema: &SchemaRef, columns: Vec<ArrayRef>) -> parquet::errors::Result<Vec<u8>> {
    let batch = RecordBatch::try_new(schema.clone(), columns)?;
    let version = KeyValue::new(FORMAT_KEY.to_owned(), FORMAT_VERSION.to_string());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        // Hardly a FEN or a probability occurs twice.
        .set_column_dictionary_enabled(ColumnPath::from("fen"), false)
        .set_column_dictionary_enabled(
            ColumnPath::from(vec!["policy_probs".into(), "list".into(), "element".into()]),
            false,
        )
        .set_key_value_metadata(Some(vec![version]))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
    writer.write(&batch)?;
    writer.flush()?;
    writer.sync()?;
    let checksum = Checksum::of(writer.inner());
    writer.append_key_value_metadata(checksum.to_pair());
    writer.into_inner()
}

/// One builder a column of [`schema()`].
struct Columns {
    game_id: StringBuilder,
    variant: StringBuilder,
    start_kind: StringBuilder,
    ply: UInt32Builder,
    fen: StringBuilder,
    mv: StringBuilder,
    repetitions: UInt8Builder,
    policy_moves: ListBuilder<StringBuilder>,
    policy_probs: ListBuilder<Float32Builder>,
    root_q: Float32Builder,
    raw_win: Float32Builder,
    raw_draw: Float32Builder,
    raw_loss: Float32Builder,
    visits: UInt32Builder,
    full_search: BooleanBuilder,
    outcome: Int8Builder,
    end_reason: StringBuilder,
    would_resign: Int8Builder,
    plies_left: UInt32Builder,
    net_id: StringBuilder,
    worker_id: StringBuilder,
    seed: UInt64Builder,
}

impl Columns {
    fn new(schema: &SchemaRef) -> Self {
        let element = |name: &str| match schema.field_with_name(name).map(|f| f.data_type()) {
            Ok(DataType::List(element)) => element.clone(),
            other => unreachable!("{name} is a list column, not {other:?}"),
        };
        Self {
            game_id: StringBuilder::new(),
            variant: StringBuilder::new(),
            start_kind: StringBuilder::new(),
            ply: UInt32Builder::new(),
            fen: StringBuilder::new(),
            mv: StringBuilder::new(),
            repetitions: UInt8Builder::new(),
            policy_moves: ListBuilder::new(StringBuilder::new())
                .with_field(element("policy_moves")),
            policy_probs: ListBuilder::new(Float32Builder::new())
                .with_field(element("policy_probs")),
            root_q: Float32Builder::new(),
            raw_win: Float32Builder::new(),
            raw_draw: Float32Builder::new(),
            raw_loss: Float32Builder::new(),
            visits: UInt32Builder::new(),
            full_search: BooleanBuilder::new(),
            outcome: Int8Builder::new(),
            end_reason: StringBuilder::new(),
            would_resign: Int8Builder::new(),
            plies_left: UInt32Builder::new(),
            net_id: StringBuilder::new(),
            worker_id: StringBuilder::new(),
            seed: UInt64Builder::new(),
        }
    }

    fn push(&mut self, game: &GameRecord, index: usize, ply: &PlyRecord) {
        self.game_id.append_value(&game.game_id);
        self.variant.append_value(&game.variant);
        self.start_kind.append_value(game.start_kind.as_str());
        self.ply.append_value(index as u32);
        self.fen.append_value(&ply.fen);
        self.mv.append_value(&ply.mv);
        self.repetitions.append_value(ply.repetitions);
        for (mv, prob) in &ply.policy {
            self.policy_moves.values().append_value(mv);
            self.policy_probs.values().append_value(*prob);
        }
        self.policy_moves.append(true);
        self.policy_probs.append(true);
        self.root_q.append_value(ply.root_q);
        self.raw_win.append_value(ply.raw_value.win);
        self.raw_draw.append_value(ply.raw_value.draw);
        self.raw_loss.append_value(ply.raw_value.loss);
        self.visits.append_value(ply.visits);
        self.full_search.append_value(ply.full_search);
        self.outcome.append_value(outcome_number(game.outcome));
        self.end_reason.append_value(game.end.as_str());
        self.would_resign
            .append_value(color_number(game.would_resign));
        self.plies_left
            .append_value((game.plies.len() - index) as u32);
        self.net_id.append_value(&ply.net_id);
        self.worker_id.append_value(&game.worker_id);
        self.seed.append_value(game.seed);
    }

    /// The arrays in the order of the schema.
    fn finish(mut self, schema: &SchemaRef) -> Vec<ArrayRef> {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.game_id.finish()),
            Arc::new(self.variant.finish()),
            Arc::new(self.start_kind.finish()),
            Arc::new(self.ply.finish()),
            Arc::new(self.fen.finish()),
            Arc::new(self.mv.finish()),
            Arc::new(self.repetitions.finish()),
            Arc::new(self.policy_moves.finish()),
            Arc::new(self.policy_probs.finish()),
            Arc::new(self.root_q.finish()),
            Arc::new(self.raw_win.finish()),
            Arc::new(self.raw_draw.finish()),
            Arc::new(self.raw_loss.finish()),
            Arc::new(self.visits.finish()),
            Arc::new(self.full_search.finish()),
            Arc::new(self.outcome.finish()),
            Arc::new(self.end_reason.finish()),
            Arc::new(self.would_resign.finish()),
            Arc::new(self.plies_left.finish()),
            Arc::new(self.net_id.finish()),
            Arc::new(self.worker_id.finish()),
            Arc::new(self.seed.finish()),
        ];
        assert_eq!(arrays.len(), schema.fields().len());
        arrays
    }
}
