use super::super::census::census;
use super::super::estimate::Method;
use super::super::odds::OddsConfig;
use super::super::test_games::random_game;
use super::*;
use model::{Net, NetConfig, NetMeta, NetShape, save_net};
use selfplay::layout::RunPaths;
use selfplay::record::to_bytes;

fn chess() -> Arc<Variant> {
    Variant::by_name("chess").expect("a shipped variant")
}

/// White's expected score where a queen is worth 8, a rook 4, a bishop and a knight 2 and a pawn 1.
fn planted(variant: &Variant, position: &Position) -> f64 {
    let census = census(variant, position);
    let worth = |letter: char, worth: f64| {
        let index = variant.role_by_letter(letter).expect("a role").index();
        worth * (f64::from(census.white[index]) - f64::from(census.black[index]))
    };
    let sum =
        worth('Q', 8.0) + worth('R', 4.0) + worth('B', 2.0) + worth('N', 2.0) + worth('P', 1.0);
    1.0 / (1.0 + (-0.4 * sum).exp())
}

fn put_games(storage: &Storage, variant: &Variant, chunk: u32, games: std::ops::Range<u64>) {
    let games: Vec<_> = games
        .map(|seed| random_game(variant, seed, 160, &|position| planted(variant, position)))
        .collect();
    storage
        .put(
            &RunPaths::chunk("w1", chunk),
            to_bytes(&games).expect("valid games"),
        )
        .expect("written");
}

fn quick() -> ValuesConfig {
    ValuesConfig {
        share: 1.0,
        probe_positions: 60,
        resamples: 40,
        ..ValuesConfig::default()
    }
}

fn table_of(
    storage: &Storage,
    variant: &Arc<Variant>,
    config: &ValuesConfig,
    on_progress: &mut OnProgress<'_>,
) -> anyhow::Result<ValueTable> {
    let sources = Sources {
        storage,
        variant,
        device: DeviceChoice::Cpu,
        inference: Inference::Auto,
        tables: None,
        stop: &AtomicBool::new(false),
    };
    first_table(&sources, config, on_progress)
}

#[test]
fn games_on_disk_become_values_in_the_right_order() {
    let variant = chess();
    let storage = Storage::in_memory();
    for chunk in 0..20u32 {
        put_games(
            &storage,
            &variant,
            chunk,
            u64::from(chunk) * 40..u64::from(chunk + 1) * 40,
        );
    }
    storage
        .put(&RunPaths::chunk("w2", 0), "not a chunk")
        .expect("written");
    let mut stages = Vec::new();
    let table = table_of(&storage, &variant, &quick(), &mut |stage, done, all| {
        assert!(done <= all);
        stages.push(stage);
    });
    let table = table.expect("there are games");
    assert!(stages.contains(&ValuesStage::Reading) && stages.contains(&ValuesStage::Fitting));
    let [regression] = &table.estimates[..] else {
        panic!("without a net there is one estimate: {table}")
    };
    assert_eq!(
        (regression.method, regression.games),
        (Method::OutcomeRegression, 800)
    );
    let pawns = |letter| {
        regression
            .of(letter)
            .and_then(|value| value.pawns)
            .expect("bounded")
            .value
    };
    let knight = pawns('N');
    assert!(
        pawns('Q') > pawns('R') && pawns('R') > knight && knight > 1.0,
        "{table}"
    );
}

fn publish_net(storage: &Storage, variant: &Variant) {
    let config = NetConfig::new(32, 1);
    let net = Net::new(
        config,
        NetShape::new(variant),
        1,
        &DeviceChoice::Cpu.device().expect("a CPU"),
    );
    let net = net.expect("a valid size");
    let bytes = save_net(&net, &NetMeta::new(variant, config, "000007", 7)).expect("a net file");
    let current = CurrentNet {
        id: "000007".to_owned(),
        step: 7,
    };
    current.publish(storage, bytes).expect("published");
}

#[test]
fn the_current_net_is_probed() {
    let variant = chess();
    let storage = Storage::in_memory();
    put_games(&storage, &variant, 0, 0..40);
    publish_net(&storage, &variant);
    let config = ValuesConfig {
        odds: OddsConfig {
            games: 4,
            games_per_match: 2,
            ..OddsConfig::default()
        },
        simulations: 2,
        probe_positions: 240,
        ..quick()
    };
    let table = table_of(&storage, &variant, &config, &mut |_, _, _| ());
    let table = table.expect("there are games");
    assert_eq!(table.net.as_deref(), Some("000007"));
    let [_, probe, odds] = &table.estimates[..] else {
        panic!("three estimates: {table}")
    };
    assert_eq!((odds.method, odds.games), (Method::MaterialOdds, 4));
    assert!(!table.matches.is_empty() && !table.slices.is_empty());
    assert!(!table.rulings.is_empty() && table.first_moves.len() == 20);
    assert_eq!(probe.method, Method::CounterfactualProbe);
    assert!(
        probe.positions > 20 && probe.positions <= 240 && probe.games >= 20,
        "{table}"
    );
    assert!(probe.of('N').is_some_and(|knight| knight.logits.is_some()));
}

#[test]
fn fresh_games_are_played_once_and_kept() {
    let variant = chess();
    let storage = Storage::in_memory();
    let config = ValuesConfig {
        fresh_games: 6,
        simulations: 2,
        probe_positions: 0,
        ..quick()
    };
    let run = |config: &ValuesConfig| {
        let mut last = 0;
        let table = table_of(&storage, &variant, config, &mut |stage, done, _| {
            if stage == ValuesStage::FreshGames {
                last = done;
            }
        });
        (table, last)
    };
    let (none, _) = run(&config);
    assert!(none.expect_err("no net").to_string().contains("no net yet"));
    publish_net(&storage, &variant);
    let (four, _) = run(&ValuesConfig {
        fresh_games: 4,
        ..config.clone()
    });
    assert!(four.is_ok(), "{four:?}");
    // Counted in the files, since the shortest games have no position that the estimators take.
    let stored = || -> usize {
        let files = storage.list(RunPaths::FRESH_GAMES).expect("listed");
        let games = |name: &str| from_bytes(storage.get(name).expect("read")).expect("games");
        files.iter().map(|file| games(&file.name).len()).sum()
    };
    assert_eq!(stored(), 4);
    let files = || storage.list(RunPaths::FRESH_GAMES).expect("listed").len();
    let before = files();
    let (table, played) = run(&config);
    let table = table.expect("a net that plays");
    assert_eq!((stored(), played), (6, 6));
    assert_eq!(table.fresh_simulations, Some(2));
    assert!(files() > before);
    let (again, played) = run(&config);
    assert_eq!(again.expect("all games are there"), table);
    assert_eq!(played, 0, "nothing was left to play");
    assert_eq!(files(), before + 1);
}

#[test]
fn a_run_without_games_is_explained() {
    let error = table_of(&Storage::in_memory(), &chess(), &quick(), &mut |_, _, _| ());
    assert!(
        error
            .expect_err("no games")
            .to_string()
            .contains("no finished games")
    );
    let bad = ValuesConfig {
        share: 0.0,
        ..quick()
    };
    assert!(bad.validate(&chess()).is_err());
}

/// A resumed run's workers have just begun chunks, and the games are in the older ones.
#[test]
fn chunks_without_games_do_not_hide_those_with_games() {
    let variant = chess();
    let storage = Storage::in_memory();
    put_games(&storage, &variant, 0, 0..20);
    put_games(&storage, &variant, 1, 0..0);
    let newest = newest_chunks(&storage, 0.5).expect("listed");
    assert!(newest.contains(&RunPaths::chunk("w1", 0)), "{newest:?}");
    put_games(&storage, &variant, 2, 20..40);
    put_games(&storage, &variant, 3, 40..60);
    let newest = newest_chunks(&storage, 0.3).expect("listed");
    assert!(!newest.contains(&RunPaths::chunk("w1", 0)), "{newest:?}");
}
