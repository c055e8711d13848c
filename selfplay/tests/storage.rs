//! Storage behaves alike on a local folder and in memory, and its errors say what to do.

use selfplay::layout::{CurrentNet, RunInfo, RunPaths, safe_segment};
use selfplay::storage::{Fetched, Storage, StorageError};

fn both(test: impl Fn(&Storage)) {
    let dir = tempfile::tempdir().unwrap();
    test(&Storage::open(dir.path().to_str().unwrap()).unwrap());
    test(&Storage::in_memory());
}

#[test]
fn objects_are_created_replaced_listed_and_deleted() {
    both(|storage| {
        assert!(!storage.exists("games/w1/000000.parquet").unwrap());
        storage.put("games/w1/000000.parquet", "one").unwrap();
        storage.put("games/w1/000000.parquet", "two!").unwrap();
        storage.put("games/w10/000000.parquet", "x").unwrap();
        storage.put("trainer.json", "{}").unwrap();
        assert_eq!(
            &storage.get("games/w1/000000.parquet").unwrap()[..],
            b"two!"
        );

        let names = |prefix: &str| -> Vec<(String, u64)> {
            let infos = storage.list(prefix).unwrap();
            infos.into_iter().map(|i| (i.name, i.size)).collect()
        };
        assert_eq!(names("games/w1"), [("games/w1/000000.parquet".into(), 4)]);
        assert_eq!(names("games").len(), 2);
        assert_eq!(names("").len(), 3);
        assert!(names("nowhere").is_empty());

        storage.delete("trainer.json").unwrap();
        storage.delete("trainer.json").unwrap();
        assert_eq!(storage.find("trainer.json").unwrap(), None);
    });
}

#[test]
fn only_one_of_two_creates_an_object() {
    both(|storage| {
        let made: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|i| scope.spawn(move || storage.put_if_absent("lock", vec![i]).unwrap()))
                .collect();
            threads
                .into_iter()
                .map(|t| usize::from(t.join().unwrap()))
                .sum()
        });
        assert_eq!(made, 1);
    });
}

#[test]
fn an_unchanged_object_is_not_read_again() {
    both(|storage| {
        assert_eq!(storage.get_if_changed("a", None).unwrap(), Fetched::Missing);
        storage.put("a", "1").unwrap();
        let version = storage.head("a").unwrap().unwrap().version;
        let Fetched::Changed(bytes, seen) = storage.get_if_changed("a", None).unwrap() else {
            panic!("a new object counts as changed");
        };
        assert_eq!((&bytes[..], &seen), (&b"1"[..], &version));
        assert_eq!(
            storage.get_if_changed("a", Some(&version)).unwrap(),
            Fetched::Unchanged
        );
        // Same length, other bytes.
        storage.put("a", "2").unwrap();
        assert!(matches!(
            storage.get_if_changed("a", Some(&version)).unwrap(),
            Fetched::Changed(..)
        ));
    });
}

#[test]
fn what_a_killed_writer_left_is_invisible_and_in_nobody_s_way() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(dir.path().to_str().unwrap()).unwrap();
    storage.put("games/w/000000.parquet", "whole").unwrap();
    std::fs::write(dir.path().join("games/w/000000.parquet#1"), "ha").unwrap();
    assert_eq!(storage.list("games").unwrap().len(), 1);
    storage.put("games/w/000000.parquet", "newer").unwrap();
    assert_eq!(
        &storage.get("games/w/000000.parquet").unwrap()[..],
        b"newer"
    );
}

#[test]
fn errors_name_the_object_and_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let url = dir.path().to_str().unwrap();
    let storage = Storage::open(url).unwrap();
    let message = storage.get("nets/7.safetensors").unwrap_err().to_string();
    assert!(
        message.contains(&format!("{url}/nets/7.safetensors")),
        "{message}"
    );
    assert!(message.contains("does not exist"), "{message}");

    storage.put("trainer.json", "{ half").unwrap();
    let error = storage.find_json::<CurrentNet>("trainer.json").unwrap_err();
    assert!(matches!(error, StorageError::Malformed { .. }));
    assert!(
        error.to_string().contains("trainer.json is damaged"),
        "{error}"
    );

    storage.put("file", "x").unwrap();
    let inside = storage.put("file/inside", "x").unwrap_err().to_string();
    assert!(inside.contains("file/inside"), "{inside}");

    for (location, hint) in [
        ("", "folder"),
        ("file://relative", "three slashes"),
        ("gs://bucket/run", "s3://bucket/prefix"),
        #[cfg(not(feature = "s3"))]
        ("s3://bucket/run", "--features s3"),
    ] {
        let message = Storage::open(location).unwrap_err().to_string();
        assert!(message.contains(hint), "{location}: {message}");
    }
    let below_a_file = Storage::open(&format!("{url}/file/run")).unwrap_err();
    assert!(below_a_file.to_string().contains("cannot be created"));
}

#[test]
fn a_location_may_be_a_file_url() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file://{}/deep/run/", dir.path().display());
    let storage = Storage::open(&url).unwrap();
    storage.put("a", "1").unwrap();
    assert!(dir.path().join("deep/run/a").is_file());
    assert!(storage.local_dir().unwrap().ends_with("deep/run"));
}

#[test]
fn a_run_begins_once_and_keeps_its_version() {
    both(|storage| {
        assert_eq!(RunInfo::read(storage).unwrap(), None);
        assert!(RunInfo::new("falcon", 7).create(storage).unwrap());
        assert!(!RunInfo::new("chess", 8).create(storage).unwrap());
        assert_eq!(
            RunInfo::read(storage).unwrap(),
            Some(RunInfo::new("falcon", 7))
        );
        storage
            .put(
                RunPaths::RUN,
                r#"{"layout_version": 99, "variant": "falcon", "seed": 7}"#,
            )
            .unwrap();
        let message = RunInfo::read(storage).unwrap_err().to_string();
        assert!(message.contains("version 99"), "{message}");
    });
}

#[test]
fn chunk_names_round_trip_and_foreign_names_are_no_chunks() {
    assert_eq!(RunPaths::chunk("w-1", 12), "games/w-1/000012.parquet");
    assert_eq!(
        RunPaths::parse_chunk("games/w-1/000012.parquet"),
        Some(("w-1", 12))
    );
    let million = RunPaths::chunk("w", 1_234_567);
    assert_eq!(RunPaths::parse_chunk(&million), Some(("w", 1_234_567)));
    for name in [
        "games/w/12.parquet",
        "games/000012.parquet",
        "games/w/000012.parquet.tmp",
        "games/w/00001x.parquet",
        "nets/w/000012.parquet",
    ] {
        assert_eq!(RunPaths::parse_chunk(name), None, "{name}");
    }
    assert_eq!(safe_segment("my host/ü#1"), "my-host---1");
    assert_eq!(safe_segment(".."), "x");
}
