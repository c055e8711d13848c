//! A worker from its start to its last game, with a fake net and tiny searches.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Evaluator, ModelError, UniformEvaluator};
use rules::{Position, Variant};
use selfplay::games::GameStream;
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::lease::{TrainerCounters, TrainerStatus};
use selfplay::pace::{PaceConfig, WorkerProgress};
use selfplay::record::GameRecord;
use selfplay::starts::StartKind;
use selfplay::storage::{Storage, StorageError};
use selfplay::worker::{WorkerConfig, WorkerError, run, run_with};

/// Short games: a few plies of four simulations.
fn config(worker_id: &str) -> WorkerConfig {
    let mut config = WorkerConfig::new(Variant::by_name("falcon").unwrap());
    config.worker_id = worker_id.to_owned();
    config.run_seed = 7;
    config.games_in_parallel = 6;
    config.games_per_chunk = 4;
    config.game.search.simulations = 4;
    config.game.selfplay.cheap_simulations = 2;
    config.game.selfplay.max_plies = 12;
    config.net_patience = Duration::from_secs(20);
    config
}

fn publish(storage: &Storage, id: &str, bytes: &'static [u8]) {
    let net = CurrentNet {
        id: id.to_owned(),
        step: 0,
    };
    net.publish(storage, bytes).unwrap();
}

/// Any bytes but `bad` are the uniform net.
fn load(bytes: &[u8], source: &str) -> Result<Box<dyn Evaluator>, ModelError> {
    match bytes {
        b"bad" => Err(ModelError::Device {
            device: source.to_owned(),
            reason: "bad".to_owned(),
        }),
        _ => Ok(Box::new(UniformEvaluator)),
    }
}

/// Runs a worker in this thread until `done` says so, which is asked from another.
fn play(
    storage: &Storage,
    config: &WorkerConfig,
    mut done: impl FnMut() -> bool + Send,
) -> WorkerProgress {
    struct StopAtTheEnd<'a>(&'a AtomicBool);
    impl Drop for StopAtTheEnd<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let at_the_end = StopAtTheEnd(&stop);
        scope.spawn(move || {
            let _at_the_end = at_the_end;
            let begun = Instant::now();
            while !done() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        run_with(storage, config, &mut load, &stop, &mut |_| {}).unwrap()
    })
}

/// All games in storage.
fn stored(storage: &Storage) -> Vec<GameRecord> {
    let mut stream = GameStream::new(storage);
    let mut games = Vec::new();
    loop {
        let scan = stream.scan().unwrap();
        assert!(scan.unusable.is_empty(), "{:?}", scan.unusable);
        games.extend(scan.games);
        if !scan.more {
            return games;
        }
    }
}

fn counted(storage: &Storage) -> usize {
    stored(storage).len()
}

#[test]
fn a_worker_fills_chunks_with_games_that_anyone_can_replay() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(dir.path().to_str().unwrap()).unwrap();
    publish(&storage, "000000", b"net");
    let progress = play(&storage, &config("w"), || counted(&storage) >= 10);

    let games = stored(&storage);
    assert_eq!(progress.games, games.len() as u64);
    assert_eq!(
        progress.samples,
        games.iter().map(|game| game.samples() as u64).sum::<u64>()
    );
    assert!(progress.positions_evaluated > progress.samples && progress.ended);
    let all = WorkerProgress::read_all(&storage).unwrap();
    let [read] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (read.games, read.updated_ms),
        (progress.games, progress.updated_ms)
    );
    assert!(read.ended);
    let ids: HashSet<&str> = games.iter().map(|game| game.game_id.as_str()).collect();
    let seeds: HashSet<u64> = games.iter().map(|game| game.seed).collect();
    assert_eq!((ids.len(), seeds.len()), (games.len(), games.len()));
    let chunks = storage.list(RunPaths::GAMES).unwrap();
    assert!(
        chunks.len() > games.len() / 4 - 1,
        "{} chunks",
        chunks.len()
    );

    let variant = Variant::by_name("falcon").unwrap();
    for game in &games {
        let mut expected: Option<Position> = None;
        for ply in &game.plies {
            assert_eq!(ply.net_id, "000000");
            let position = Position::from_fen(&variant, &ply.fen).unwrap();
            assert_eq!(
                expected.map_or_else(|| ply.fen.clone(), |p| p.fen(&variant)),
                ply.fen
            );
            let mv = variant.parse_move(&position, &ply.mv).unwrap();
            expected = Some(position.play(&variant, mv));
        }
    }
}

/// Same seed, same worker, same start: the same games, though batch and timing differ.
#[test]
fn games_depend_on_their_seed_and_not_on_the_batch() {
    let games = [2, 9].map(|games_in_parallel| {
        let storage = Storage::in_memory();
        publish(&storage, "000000", b"net");
        let mut config = config("w");
        config.games_in_parallel = games_in_parallel;
        // Archive starts depend on which games ended before.
        config.starts.archive_share = 0.0;
        play(&storage, &config, || counted(&storage) >= 12);
        let mut games = stored(&storage);
        games.sort_by(|a, b| a.game_id.cmp(&b.game_id));
        games
    });
    let [few, many] = &games;
    let common: Vec<_> = few
        .iter()
        .filter_map(|game| Some((game, many.iter().find(|g| g.game_id == game.game_id)?)))
        .collect();
    assert!(common.len() >= 5, "{} common games", common.len());
    for (a, b) in common {
        assert_eq!(a, b);
    }
}

#[test]
fn a_second_start_continues_and_begins_games_where_earlier_ones_ended() {
    let storage = Storage::in_memory();
    publish(&storage, "000000", b"net");
    let mut config = config("w");
    config.starts.few_men_share = 1.0;
    config.starts.opening_share = 0.0;
    config.game.selfplay.max_plies = 60;
    let decisive = |games: &[GameRecord]| {
        games
            .iter()
            .any(|game| game.outcome != rules::Outcome::Draw)
    };
    play(&storage, &config, || decisive(&stored(&storage)));
    let before = stored(&storage);
    assert!(decisive(&before));

    config.starts.archive_share = 1e9;
    play(&storage, &config, || counted(&storage) > before.len());
    let after = stored(&storage);
    assert!(after.len() > before.len());
    for game in &before {
        assert!(after.contains(game), "{} is gone", game.game_id);
    }
    let new = after.iter().filter(|game| !before.contains(game));
    assert!(
        new.clone()
            .all(|game| game.start_kind == StartKind::Archive)
    );
    assert_eq!(WorkerProgress::read_all(&storage).unwrap().len(), 2);
}

#[test]
fn a_newer_net_is_picked_up_and_a_bad_one_is_not() {
    let storage = Storage::in_memory();
    publish(&storage, "000000", b"net");
    let mut stream = GameStream::new(&storage);
    let mut met = HashSet::new();
    let mut has_met = |id: &str| {
        let games = stream.scan().unwrap().games;
        let plies = games.into_iter().flat_map(|game| game.plies);
        met.extend(plies.map(|ply| ply.net_id));
        met.contains(id)
    };
    let mut all_published = false;
    let mut config = config("w");
    config.games_per_chunk = 500;
    // A slow net, so that there are not too many games.
    config.game.search.simulations = 64;
    let progress = play(&storage, &config, || {
        if !all_published && has_met("000000") {
            publish(&storage, "000010", b"bad");
            std::thread::sleep(Duration::from_millis(1500));
            publish(&storage, "000020", b"net");
            all_published = true;
        }
        all_published && has_met("000020")
    });
    assert_eq!(progress.net_id, "000020");
    let ids: HashSet<String> = stored(&storage)
        .into_iter()
        .flat_map(|game| game.plies)
        .map(|ply| ply.net_id)
        .collect();
    assert_eq!(
        ids,
        HashSet::from(["000000".to_owned(), "000020".to_owned()])
    );
}

#[test]
fn a_worker_that_is_far_ahead_waits_for_the_trainer() {
    let storage = Storage::in_memory();
    publish(&storage, "000000", b"net");
    let trainer = |samples_used| TrainerStatus {
        instance: "t".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        beat: samples_used,
        released: false,
        counters: TrainerCounters {
            positions: 100,
            samples_used,
            ..Default::default()
        },
    };
    let mut config = config("w");
    config.pace = Some(PaceConfig {
        samples_per_position: 1.0,
        min_positions: 10,
        batch_size: 8,
        ahead_positions: 20,
    });
    storage.put_json(RunPaths::TRAINER, &trainer(0)).unwrap();
    let begun = Instant::now();
    let progress = play(&storage, &config, || {
        begun.elapsed() > Duration::from_millis(600)
    });
    assert_eq!((progress.games, progress.positions_evaluated), (0, 0));
    assert!(progress.waiting_seconds > 0.2, "{progress:?}");

    storage.put_json(RunPaths::TRAINER, &trainer(90)).unwrap();
    let progress = play(&storage, &config, || counted(&storage) > 0);
    assert!(progress.games > 0);
}

#[test]
fn without_a_usable_net_a_worker_says_so() {
    let storage = Storage::in_memory();
    let mut config = config("w");
    config.net_patience = Duration::ZERO;
    let go = |stop: bool| {
        run_with(
            &storage,
            &config,
            &mut load,
            &AtomicBool::new(stop),
            &mut |_| {},
        )
    };
    let message = go(false).unwrap_err().to_string();
    assert!(
        message.contains("nets/current.json") && message.contains("start the trainer"),
        "{message}"
    );
    assert_eq!(go(true).unwrap().games, 0);

    publish(&storage, "000000", b"no safetensors");
    let error = run(&storage, &config, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(matches!(error, WorkerError::Net(_)));
    assert!(
        error.to_string().contains("nets/000000.safetensors"),
        "{error}"
    );
    storage.delete(&RunPaths::net("000000")).unwrap();
    let error = run(&storage, &config, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(matches!(
        error,
        WorkerError::Storage(StorageError::NotFound { .. })
    ));
}
