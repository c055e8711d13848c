//! Game files keep every bit of a record, and nothing that is not a game file gets through.

mod common;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float32Array, Int8Array, ListArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use common::{game, games};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use selfplay::record::{FORMAT_KEY, RecordError, from_bytes, to_bytes};

#[test]
fn records_round_trip_bit_for_bit() {
    for count in [0, 1, 5] {
        let games = games(count, 30);
        assert_eq!(from_bytes(to_bytes(&games).unwrap()).unwrap(), games);
    }
}

#[test]
fn the_columns_are_what_the_documentation_promises() {
    let (batch, metadata) = open(&to_bytes(&games(1, 3)).unwrap());
    let columns: Vec<String> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| format!("{}: {}", field.name(), field.data_type()))
        .collect();
    let golden = [
        "game_id: Utf8",
        "variant: Utf8",
        "start_kind: Utf8",
        "ply: UInt32",
        "fen: Utf8",
        "move: Utf8",
        "repetitions: UInt8",
        "policy_moves: List(non-null Utf8, field: 'element')",
        "policy_probs: List(non-null Float32, field: 'element')",
        "root_q: Float32",
        "raw_win: Float32",
        "raw_draw: Float32",
        "raw_loss: Float32",
        "visits: UInt32",
        "full_search: Boolean",
        "outcome: Int8",
        "end_reason: Utf8",
        "would_resign: Int8",
        "plies_left: UInt32",
        "net_id: Utf8",
        "worker_id: Utf8",
        "seed: UInt64",
    ];
    assert_eq!(columns, golden);
    let version = metadata.iter().find(|pair| pair.key == "falconzero.games");
    assert_eq!(version.and_then(|pair| pair.value.as_deref()), Some("1"));
    let plies_left = batch.column_by_name("plies_left").unwrap();
    let plies_left = plies_left.as_primitive::<arrow_array::types::UInt32Type>();
    assert_eq!(plies_left.values(), &[3, 2, 1]);
}

#[test]
fn a_truncated_or_scribbled_file_is_an_error_or_sound_but_never_a_panic() {
    let bytes = to_bytes(&games(3, 20)).unwrap();
    for length in 0..bytes.len() {
        let error = from_bytes(bytes[..length].to_vec()).unwrap_err();
        assert!(
            matches!(error, RecordError::Parquet(_)),
            "{length}: {error}"
        );
    }
    // A flipped bit anywhere in the data is noticed. In the footer it may hit something that
    // nobody reads, such as a column's statistics; then the games must be the right ones.
    let games = games(3, 20);
    let (_, metadata) = open(&bytes);
    let checksum = metadata
        .iter()
        .find(|p| p.key == "falconzero.checksum")
        .unwrap();
    let data: usize = checksum
        .value
        .as_ref()
        .unwrap()
        .split(':')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!(data > bytes.len() / 2);
    for position in 0..bytes.len() {
        let mut scribbled = bytes.clone();
        scribbled[position] ^= 1 << (position % 8);
        if let Ok(read) = from_bytes(scribbled) {
            assert!(position >= data, "unnoticed at {position} of {data}");
            assert_eq!(read.len(), games.len());
        }
    }
    for foreign in [
        &b""[..],
        b"PAR1",
        b"PAR1PAR1",
        b"PAR1\xff\xff\xff\xffPAR1",
        b"\x00",
    ] {
        assert!(from_bytes(foreign.to_vec()).is_err());
    }
}

#[test]
fn another_version_or_another_program_s_file_is_refused_by_name() {
    let (batch, _) = open(&to_bytes(&games(1, 3)).unwrap());
    let other = write(&batch, Some("2"));
    let message = from_bytes(other).unwrap_err().to_string();
    assert!(message.contains("version 2"), "{message}");
    assert_eq!(from_bytes(write(&batch, None)), Err(RecordError::NoVersion));
}

#[test]
fn other_columns_are_refused_by_name() {
    let (batch, _) = open(&to_bytes(&games(1, 3)).unwrap());
    let all: Vec<usize> = (0..batch.num_columns()).collect();

    let without_fen: Vec<usize> = all.iter().copied().filter(|i| *i != 4).collect();
    let error = from_bytes(write(&batch.project(&without_fen).unwrap(), Some("1"))).unwrap_err();
    assert_eq!(
        error,
        RecordError::Schema("column \"fen\" is missing".into())
    );

    let renamed = with_field(&batch, "visits", |f| f.clone().with_name("nodes"));
    let message = from_bytes(write(&renamed, Some("1")))
        .unwrap_err()
        .to_string();
    assert!(message.contains("\"visits\" is missing"), "{message}");

    let doubled = replaced(&batch, "root_q", Arc::new(Int8Array::from(vec![0, 0, 0])));
    let message = from_bytes(write(&doubled, Some("1")))
        .unwrap_err()
        .to_string();
    assert!(message.contains("\"root_q\" holds Int8"), "{message}");
}

#[test]
fn impossible_rows_are_refused_with_their_place() {
    let (batch, _) = open(&to_bytes(&games(2, 3)).unwrap());
    let text = |words: [&str; 6]| Arc::new(StringArray::from(words.to_vec())) as ArrayRef;
    let real = |numbers: [f32; 6]| Arc::new(Float32Array::from(numbers.to_vec())) as ArrayRef;
    let nan = f32::NAN;
    let probs: &ListArray = batch.column_by_name("policy_probs").unwrap().as_list();
    let mut shorter_by_one =
        arrow_array::builder::ListBuilder::new(arrow_array::builder::Float32Builder::new())
            .with_field(Field::new(
                "element",
                arrow_schema::DataType::Float32,
                false,
            ));
    let mut with_nan =
        arrow_array::builder::ListBuilder::new(arrow_array::builder::Float32Builder::new())
            .with_field(Field::new(
                "element",
                arrow_schema::DataType::Float32,
                false,
            ));
    for row in 0..probs.len() {
        let values = probs.value(row);
        let values = values.as_primitive::<arrow_array::types::Float32Type>();
        let cut = values.len() - usize::from(row == 4);
        shorter_by_one.append_value(values.values()[..cut].iter().map(|v| Some(*v)));
        with_nan.append_value(
            values
                .values()
                .iter()
                .map(|v| Some(if row == 1 { nan } else { *v })),
        );
    }
    let cases: [(&str, ArrayRef, &str); 9] = [
        (
            "policy_probs",
            Arc::new(shorter_by_one.finish()),
            "row 4: policy_moves has",
        ),
        (
            "policy_probs",
            Arc::new(with_nan.finish()),
            "ply 1: policy_probs has the entry NaN",
        ),
        (
            "root_q",
            real([0., nan, 0., 0., 0., 0.]),
            "ply 1: root_q is NaN",
        ),
        ("raw_win", real([9.0; 6]), "raw_win"),
        (
            "start_kind",
            text([
                "opening", "opening", "moon", "opening", "opening", "opening",
            ]),
            "row 2: start_kind: `moon`",
        ),
        (
            "outcome",
            Arc::new(Int8Array::from(vec![1, 1, 1, 3, 3, 3])),
            "row 3: outcome is 3",
        ),
        (
            "outcome",
            Arc::new(Int8Array::from(vec![1, 0, 1, 1, 1, 1])),
            "row 1: ply 1 of game",
        ),
        (
            "game_id",
            text(["a", "a", "b", "b", "b", "b"]),
            "row 2: ply 2 of game \"b\"",
        ),
        (
            "game_id",
            text(["", "", "", "b", "b", "b"]),
            "game_id is empty",
        ),
    ];
    for (column, array, expected) in cases {
        let bytes = write(&replaced(&batch, column, array), Some("1"));
        let message = from_bytes(bytes).unwrap_err().to_string();
        assert!(message.contains(expected), "{column}: {message}");
    }
    let cut = from_bytes(write(&batch.slice(0, 5), Some("1"))).unwrap_err();
    assert!(
        cut.to_string().contains("stops after 2 of 3 plies"),
        "{cut}"
    );
}

#[test]
fn unsound_records_are_not_written() {
    let broken = |change: &dyn Fn(&mut selfplay::record::GameRecord)| {
        let mut game = game(0, 3);
        change(&mut game);
        to_bytes(&[game]).unwrap_err().to_string()
    };
    assert!(broken(&|g| g.plies.clear()).contains("no plies"));
    assert!(broken(&|g| g.plies[1].policy[0].1 = f32::NAN).contains("ply 1: policy_probs"));
    assert!(broken(&|g| g.plies[0].policy.clear()).contains("full search"));
    assert!(broken(&|g| g.plies[1].repetitions = 0).contains("repetitions"));
    assert!(broken(&|g| g.plies[1].root_q = -1.5).contains("root_q is -1.5"));
}

/// A chunk is rewritten whenever a game finishes; that must stay far below a second.
#[test]
fn writing_a_full_chunk_is_quick() {
    let games = games(32, 150);
    let begun = std::time::Instant::now();
    let bytes = to_bytes(&games).unwrap();
    let written = begun.elapsed();
    let read = from_bytes(bytes.clone()).unwrap();
    println!(
        "{} plies: {} KiB, written in {written:?}, read in {:?}",
        32 * 150,
        bytes.len() / 1024,
        begun.elapsed() - written
    );
    assert_eq!(read.len(), 32);
    assert!(written.as_secs_f32() < 2.0, "{written:?}");
}

fn open(bytes: &[u8]) -> (RecordBatch, Vec<KeyValue>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(bytes)).unwrap();
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let metadata = metadata.cloned().unwrap_or_default();
    let mut reader = builder.build().unwrap();
    (reader.next().unwrap().unwrap(), metadata)
}

fn write(batch: &RecordBatch, version: Option<&str>) -> Vec<u8> {
    let pairs = version.map(|v| vec![KeyValue::new(FORMAT_KEY.to_owned(), v.to_owned())]);
    let properties = WriterProperties::builder()
        .set_key_value_metadata(pairs)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn replaced(batch: &RecordBatch, column: &str, array: ArrayRef) -> RecordBatch {
    let with_type = with_type(batch, column, &array);
    let index = batch.schema().index_of(column).unwrap();
    let mut columns = batch.columns().to_vec();
    columns[index] = array;
    RecordBatch::try_new(with_type, columns).unwrap()
}

fn with_type(batch: &RecordBatch, column: &str, array: &ArrayRef) -> Arc<Schema> {
    fields(batch, column, |f| {
        f.clone().with_data_type(array.data_type().clone())
    })
}

fn with_field(batch: &RecordBatch, column: &str, change: impl Fn(&Field) -> Field) -> RecordBatch {
    RecordBatch::try_new(fields(batch, column, change), batch.columns().to_vec()).unwrap()
}

fn fields(batch: &RecordBatch, column: &str, change: impl Fn(&Field) -> Field) -> Arc<Schema> {
    let changed = batch
        .schema()
        .fields()
        .iter()
        .map(|f| match f.name() == column {
            true => change(f),
            false => f.as_ref().clone(),
        })
        .collect::<Vec<_>>();
    Arc::new(Schema::new(changed))
}
