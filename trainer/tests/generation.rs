//! One generation of self-play and one training step for every variant there is, and for the examples of user variants:
//! encoding, policy index, search, records, samples and losses fit each of them.

use model::{DeviceChoice, Inference, NetConfig, NetMeta, NetShape, load_evaluator, save_net};
use rules::Variant;
use selfplay::games::GameStream;
use selfplay::layout::CurrentNet;
use selfplay::record::GameRecord;
use selfplay::starts::StartConfig;
use selfplay::storage::Storage;
use selfplay::worker::{WorkerConfig, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trainer::config::RunConfig;
use trainer::learn::Learner;
use trainer::learn::batch::Batcher;
use trainer::learn::sample::{Sample, samples};
use trainer::pgn;

/// Games that every variant is played at least.
const GAMES: usize = 6;

/// The smallest net that there can be.
const NET: NetConfig = NetConfig {
    channels: 16,
    blocks: 1,
    policy_dim: 8,
    value_channels: 8,
    value_hidden: 8,
};

fn learner(variant: &Variant) -> Learner {
    let config = RunConfig::default().learn;
    let device = DeviceChoice::Cpu.device().unwrap();
    Learner::new(&config, NET, NetShape::new(variant), 1, &device).unwrap()
}

fn net_file(variant: &Variant, learner: &Learner, id: &str) -> Vec<u8> {
    let meta = NetMeta::new(variant, NET, id, 0);
    save_net(&learner.averaged_net(), &meta).unwrap()
}

/// Short games from the array and from few men, with the fewest simulations.
fn worker_config(variant: &Arc<Variant>) -> WorkerConfig {
    let mut config = WorkerConfig::new(variant.clone());
    config.run_seed = 3;
    config.device = DeviceChoice::Cpu;
    config.games_in_parallel = GAMES;
    config.game.search.simulations = 4;
    config.game.selfplay.cheap_simulations = 2;
    config.game.selfplay.full_search_share = 0.5;
    config.game.selfplay.max_plies = 12;
    config.starts = StartConfig {
        opening_share: 1.0,
        odds_share: 1.0,
        few_men_share: 1.0,
        archive_share: 0.0,
        ..StartConfig::default()
    };
    config
}

/// Plays until there are enough games.
fn play(storage: &Storage, variant: &Arc<Variant>) -> Vec<GameRecord> {
    let stop = AtomicBool::new(false);
    let mut games = Vec::new();
    let mut stream = GameStream::new(storage);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| run(storage, &worker_config(variant), &stop, &mut |_| {}));
        let begun = std::time::Instant::now();
        while games.len() < GAMES && begun.elapsed().as_secs() < 60 && !worker.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(5));
            games.extend(stream.scan().unwrap().games);
        }
        stop.store(true, Ordering::SeqCst);
        worker.join().unwrap().unwrap();
    });
    assert!(
        games.len() >= GAMES,
        "{} games of {}",
        games.len(),
        variant.name()
    );
    games
}

/// A net plays, its games become samples, a step learns from them, and the new net is fit to play.
fn generation(variant: &Arc<Variant>) {
    let name = variant.name();
    let storage = Storage::in_memory();
    let mut learner = learner(variant);
    let first = CurrentNet {
        id: "000000".to_owned(),
        step: 0,
    };
    first
        .publish(&storage, net_file(variant, &learner, "000000"))
        .unwrap();

    let games = play(&storage, variant);
    for game in &games {
        assert!(
            pgn::of_record(variant, game)
                .unwrap()
                .contains(&format!("[Variant \"{name}\"]"))
        );
    }
    let all: Vec<Sample> = games
        .iter()
        .flat_map(|game| samples(variant, game, None).unwrap())
        .collect();
    let batch: Vec<&Sample> = all.iter().take(24).collect();
    assert!(
        batch.iter().any(|sample| sample.policy_target.is_some()),
        "{name}"
    );
    let batch = Batcher::new(variant.clone(), 0.5).batch(&batch, &learner.device());
    let report = learner.step(&batch, 0.0);
    for loss in [
        report.policy_loss,
        report.value_loss,
        report.moves_left_loss,
        report.gradient_norm,
    ] {
        assert!(loss.is_finite() && loss >= 0.0, "{name}: {report:?}");
    }
    assert!(report.gradient_norm > 0.0, "{name}: {report:?}");

    let net = net_file(variant, &learner, "000001");
    let mut evaluator = load_evaluator(
        &net,
        "the new net",
        variant,
        DeviceChoice::Cpu,
        Inference::Auto,
    )
    .unwrap();
    let requests = model::sample_requests(variant, 8, 1);
    for (request, evaluation) in requests.iter().zip(evaluator.evaluate(&requests)) {
        assert_eq!(
            evaluation.policy_logits.len(),
            request.moves.len(),
            "{name}"
        );
        assert!(
            evaluation
                .policy_logits
                .iter()
                .all(|logit| logit.is_finite()),
            "{name}"
        );
    }
}

#[test]
fn every_built_in_variant_plays_and_learns() {
    for name in Variant::builtin_names() {
        generation(&Variant::by_name(name).unwrap());
    }
}

#[test]
fn the_examples_play_and_learn() {
    for text in [
        include_str!("../../configs/examples/bison-riders.toml"),
        include_str!("../../configs/examples/capablanca.toml"),
        include_str!("../../configs/examples/grand-style.toml"),
    ] {
        generation(&Variant::from_toml(text).unwrap());
    }
}
