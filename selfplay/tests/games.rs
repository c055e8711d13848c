//! Every finished game is read exactly once, whatever happens to workers, readers and files.

mod common;

use common::{game, games};
use selfplay::games::GameStream;
use selfplay::layout::RunPaths;
use selfplay::record::{FORMAT_KEY, GameRecord, to_bytes};
use selfplay::storage::Storage;
use selfplay::worker::ChunkWriter;

fn ids(games: &[GameRecord]) -> Vec<&str> {
    games.iter().map(|game| game.game_id.as_str()).collect()
}

/// A worker killed at any moment leaves its finished games; the next start touches none of them.
#[test]
fn a_growing_chunk_is_read_game_by_game_and_survives_its_worker() {
    let storage = Storage::in_memory();
    let mut stream = GameStream::new(&storage);
    let mut writer = ChunkWriter::start(&storage, "w1", 3).unwrap();
    assert!(stream.scan().unwrap().games.is_empty());
    for number in 0..7 {
        writer.add(game(number, 5)).unwrap();
        writer.flush().unwrap();
        assert_eq!(stream.scan().unwrap().games, [game(number, 5)]);
        assert!(stream.scan().unwrap().games.is_empty());
    }
    drop(writer);
    let mut second = ChunkWriter::start(&storage, "w1", 3).unwrap();
    assert_eq!(second.first_chunk(), 3);
    second.add(game(7, 5)).unwrap();
    second.flush().unwrap();
    assert_eq!(ids(&stream.scan().unwrap().games), ["w1-000000-000007"]);

    let names: Vec<String> = storage
        .list("games")
        .unwrap()
        .into_iter()
        .map(|i| i.name)
        .collect();
    let chunks: Vec<String> = (0..4).map(|n| RunPaths::chunk("w1", n)).collect();
    assert_eq!(names, chunks);
    let all = GameStream::new(&storage).scan().unwrap();
    assert_eq!(all.games, games(8, 5));
    assert!(!all.more);
}

#[test]
fn two_workers_of_one_name_do_not_overwrite_each_other() {
    let storage = Storage::in_memory();
    let mut first = ChunkWriter::start(&storage, "w", 2).unwrap();
    let mut second = ChunkWriter::start(&storage, "w", 2).unwrap();
    assert_ne!(first.first_chunk(), second.first_chunk());
    for number in 0..6 {
        let writer = if number % 2 == 0 {
            &mut first
        } else {
            &mut second
        };
        writer.add(game(number, 2)).unwrap();
        writer.flush().unwrap();
    }
    assert_eq!(GameStream::new(&storage).scan().unwrap().games.len(), 6);
}

/// A disk that is full for a while costs no game.
#[test]
fn games_that_cannot_be_written_are_kept_until_they_can() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(dir.path().to_str().unwrap()).unwrap();
    let mut writer = ChunkWriter::start(&storage, "w", 2).unwrap();
    // A file in the place of the worker's folder makes every write fail.
    let folder = dir.path().join("games/w");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    for number in 0..5 {
        writer.add(game(number, 2)).unwrap();
        assert!(writer.flush().is_err());
    }
    assert_eq!(writer.unwritten(), 5);
    std::fs::remove_file(&folder).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.unwritten(), 0);
    assert_eq!(GameStream::new(&storage).scan().unwrap().games, games(5, 2));
}

#[test]
fn a_damaged_chunk_is_set_aside_by_the_holder_with_its_reason_and_reading_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(dir.path().to_str().unwrap()).unwrap();
    let whole = to_bytes(&games(2, 5)).unwrap();
    storage
        .put(&RunPaths::chunk("a", 0), whole[..whole.len() / 2].to_vec())
        .unwrap();
    storage
        .put(&RunPaths::chunk("b", 0), whole.clone())
        .unwrap();
    storage.put("games/b/notes.txt", "not a chunk").unwrap();

    // Whoever only reads leaves it.
    let read = GameStream::new(&storage).scan().unwrap();
    assert_eq!(read.games, games(2, 5));
    assert_eq!(read.unusable[0].kept_at, None);
    assert!(storage.exists(&RunPaths::chunk("a", 0)).unwrap());
    assert_eq!(storage.list("aside").unwrap(), []);

    let mut stream = GameStream::of_holder(&storage);
    let scan = stream.scan().unwrap();
    assert_eq!(scan.games, games(2, 5));
    let [aside] = &scan.unusable[..] else {
        panic!("{:?}", scan.unusable);
    };
    assert!(aside.chunk.ends_with("games/a/000000.parquet"), "{aside:?}");
    assert!(aside.reason.contains("Parquet"), "{aside:?}");
    assert!(!storage.exists(&RunPaths::chunk("a", 0)).unwrap());
    let kept = storage.list("aside").unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(storage.get(&kept[0].name).unwrap().len(), whole.len() / 2);
    let note = storage.get(&kept[1].name).unwrap();
    assert!(std::str::from_utf8(&note).unwrap().contains(&aside.reason));

    // Its worker lives and rewrites the chunk: the games are taken then.
    let rewritten = [game(10, 5), game(11, 5)];
    storage
        .put(&RunPaths::chunk("a", 0), to_bytes(&rewritten).unwrap())
        .unwrap();
    let scan = stream.scan().unwrap();
    assert_eq!(
        (scan.games.as_slice(), scan.unusable.len()),
        (&rewritten[..], 0)
    );
}

/// Another version of the program may have written it, and that one can read it.
#[test]
fn a_chunk_of_another_format_version_stays_where_it_is() {
    let storage = Storage::in_memory();
    let chunk = RunPaths::chunk("a", 0);
    let mut bytes = to_bytes(&games(2, 5)).unwrap();
    let key = FORMAT_KEY.as_bytes();
    let at = bytes.windows(key.len()).position(|part| part == key);
    // Behind the key: the value's field, its length, and the value.
    let digit = &mut bytes[at.unwrap() + key.len() + 2];
    assert_eq!(*digit, b'1');
    *digit = b'7';
    storage.put(&chunk, bytes).unwrap();
    let scan = GameStream::of_holder(&storage).scan().unwrap();
    assert_eq!(scan.unusable[0].kept_at, None);
    assert!(scan.unusable[0].reason.contains("version 7"), "{scan:?}");
    assert!(storage.exists(&chunk).unwrap());
}

/// A run has thousands of closed chunks; a look at them must cost no more than their listing.
#[test]
fn closed_chunks_are_not_read_again() {
    let storage = Storage::in_memory();
    for number in 0..2_000u32 {
        let bytes = match number % 100 {
            0 => to_bytes(&[game(u64::from(number), 1)]).unwrap(),
            _ => to_bytes(&[]).unwrap(),
        };
        storage
            .put(&RunPaths::chunk(&format!("w{}", number % 7), number), bytes)
            .unwrap();
    }
    let mut stream = GameStream::new(&storage);
    let mut read = 0;
    loop {
        let scan = stream.scan().unwrap();
        read += scan.games.len();
        if !scan.more {
            break;
        }
    }
    assert_eq!(read, 20);
    let begun = std::time::Instant::now();
    assert!(stream.scan().unwrap().games.is_empty());
    let took = begun.elapsed();
    println!("listing 2000 chunks took {took:?}");
    assert!(took.as_secs_f32() < 0.5, "{took:?}");
}
