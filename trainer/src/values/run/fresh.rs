//! Fresh games: played for the estimators' sake, by the current net alone and with longer searches than it learns from.
//!
//! Games of self-play are made to learn from: their nets change, most of their searches are cheap and their moves are
//! noisy, so that a man is worth in them what weak players make of it. McGrath et al. and Tomašev et al. (2020, arXiv
//! 2009.04374) therefore let AlphaZero play its final net against itself before they fitted values, and so does this.
//!
//! Finished games are kept in the run, so that a study that was broken off goes on where it was.

use super::matches::NetFile;
use super::{OnProgress, Sources, ValuesConfig, ValuesStage};
use anyhow::{Context, ensure};
use model::Evaluator;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selfplay::game::{GameConfig, GameIdentity, SelfPlayConfig, SelfPlayGame};
use selfplay::layout::RunPaths;
use selfplay::record::{GameRecord, from_bytes, to_bytes};
use selfplay::search::SearchConfig;
use selfplay::starts::{Archive, StartConfig, StartGenerator};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use twox_hash::XxHash64;

/// Games that a thread keeps going at once.
const PARALLEL_GAMES: usize = 64;
/// Games are written at least this often while they end.
const BETWEEN_FILES: Duration = Duration::from_secs(10);

/// The fresh games of this net and these settings, so many at most: those that the run has, and new ones for the rest.
/// Fewer if `stop` is raised meanwhile.
///
/// # Errors
/// If the storage fails or the net cannot be loaded.
pub(super) fn fresh_games(
    sources: &Sources<'_>,
    config: &ValuesConfig,
    (net, net_id): (&NetFile, &str),
    on_progress: &mut OnProgress<'_>,
) -> anyhow::Result<Vec<GameRecord>> {
    let game = game_config(sources, config);
    let folder = format!(
        "{}/{net_id}-{}-{}-{:016x}",
        RunPaths::FRESH_GAMES,
        config.simulations,
        config.seed,
        fingerprint(sources, &game)
    );
    let most = config.fresh_games;
    let mut games = stored(sources, &folder)?;
    let wanted: HashSet<String> = (0..most as u64).map(game_id).collect();
    games.retain(|game| wanted.contains(&game.game_id));
    let known: HashSet<String> = games.iter().map(|game| game.game_id.clone()).collect();
    let missing = (0..most as u64).filter(|&number| !known.contains(&game_id(number)));
    let missing: Vec<u64> = missing.collect();
    if missing.is_empty() {
        return Ok(games);
    }
    let table = Table {
        sources,
        starts: StartGenerator::new(sources.variant, starts()).with_tables(sources.tables.cloned()),
        game: Arc::new(game),
        seed: config.seed,
        net_id,
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let evaluators = (0..threads).map(|_| net.evaluator(sources));
    let evaluators = evaluators.collect::<anyhow::Result<Vec<_>>>()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for (thread, mut evaluator) in evaluators.into_iter().enumerate() {
            let (sender, table) = (sender.clone(), &table);
            let mut numbers = missing.iter().copied().skip(thread).step_by(threads);
            scope.spawn(move || table.play(evaluator.as_mut(), &mut numbers, &sender));
        }
        drop(sender);
        let mut unwritten = Vec::new();
        let mut written = Instant::now();
        on_progress(ValuesStage::FreshGames, games.len(), most);
        for game in receiver {
            unwritten.push(game);
            on_progress(ValuesStage::FreshGames, games.len() + unwritten.len(), most);
            if written.elapsed() > BETWEEN_FILES {
                write(sources, &folder, &unwritten)?;
                games.append(&mut unwritten);
                written = Instant::now();
            }
        }
        if !unwritten.is_empty() {
            write(sources, &folder, &unwritten)?;
            games.append(&mut unwritten);
        }
        anyhow::Ok(())
    })?;
    sort(&mut games);
    if games.len() < most {
        tracing::warn!(
            "{} of {most} fresh games were finished, the short ones first; run the same again to play the others",
            games.len()
        );
    }
    ensure!(
        !games.is_empty(),
        "no fresh game was finished; run the same again to go on"
    );
    Ok(games)
}

/// From the array, often without some men: equal armies alone would say little about unequal ones. Searches without noise
/// would play the same game again from the same position, so some random plies come first in every game; drawn from the
/// net's policy, many of them would lead into the same line.
fn starts() -> StartConfig {
    StartConfig {
        opening_share: 0.6,
        odds_share: 0.4,
        few_men_share: 0.0,
        archive_share: 0.0,
        tablebase_share: 0.0,
        opening_plies: [5, 12],
        sampled_share: 0.0,
        odds_plies: [3, 8],
        ..StartConfig::default()
    }
}

/// Full searches without noise; the openings give variety enough.
fn game_config(sources: &Sources<'_>, config: &ValuesConfig) -> GameConfig {
    GameConfig {
        search: SearchConfig {
            simulations: config.simulations,
            gumbel_scale: 0.0,
            ..SearchConfig::default()
        },
        selfplay: SelfPlayConfig {
            full_search_share: 1.0,
            ..SelfPlayConfig::default()
        },
        tablebases: sources.tables.cloned(),
    }
}

/// A number that changes with whatever else decides how the games go, so that games of different settings are kept apart.
fn fingerprint(sources: &Sources<'_>, game: &GameConfig) -> u64 {
    let tables = sources.tables.map(|tables| tables.keys().count());
    let (search, selfplay) = (&game.search, &game.selfplay);
    let text = format!(
        "{search:?} {selfplay:?} {:?} {tables:?} {:?}",
        starts(),
        sources.inference
    );
    XxHash64::oneshot(0, text.as_bytes())
}

fn game_id(number: u64) -> String {
    format!("fresh-{number:06}")
}

/// The readable games in a folder, in the order of their numbers.
fn stored(sources: &Sources<'_>, folder: &str) -> anyhow::Result<Vec<GameRecord>> {
    let mut games: Vec<GameRecord> = Vec::new();
    for object in sources.storage.list(folder)? {
        match from_bytes(sources.storage.get(&object.name)?) {
            Ok(read) => games.extend(read),
            Err(error) => tracing::warn!(
                "{} is left out: {error}",
                sources.storage.object_url(&object.name)
            ),
        }
    }
    sort(&mut games);
    games.dedup_by(|one, other| one.game_id == other.game_id);
    Ok(games)
}

fn sort(games: &mut [GameRecord]) {
    games.sort_by(|one, other| one.game_id.cmp(&other.game_id));
}

/// A new file for some games, named after the first of them.
fn write(sources: &Sources<'_>, folder: &str, games: &[GameRecord]) -> anyhow::Result<()> {
    let name = format!("{folder}/{}.parquet", games[0].game_id);
    let bytes = to_bytes(games).context("a fresh game is not fit for a record")?;
    sources.storage.put(&name, bytes)?;
    Ok(())
}

/// Where games are played.
struct Table<'a> {
    sources: &'a Sources<'a>,
    starts: StartGenerator,
    game: Arc<GameConfig>,
    seed: u64,
    net_id: &'a str,
}

impl Table<'_> {
    /// Plays the games with these numbers, many at once, and sends them as they end.
    fn play(
        &self,
        evaluator: &mut dyn Evaluator,
        numbers: &mut dyn Iterator<Item = u64>,
        finished: &mpsc::Sender<GameRecord>,
    ) {
        let stop: &AtomicBool = self.sources.stop;
        let mut games: Vec<SelfPlayGame> = Vec::new();
        let mut requests = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let free = PARALLEL_GAMES - games.len();
            games.extend(numbers.take(free).map(|number| self.begin(number)));
            requests.clear();
            while let Some(game) = games.get_mut(requests.len()) {
                match game.gather() {
                    Some(request) => requests.push(request),
                    None => {
                        let game = games.swap_remove(requests.len());
                        if finished.send(game.into_record()).is_err() {
                            return;
                        }
                    }
                }
            }
            if games.is_empty() {
                return;
            }
            let evaluations = evaluator.evaluate(&requests);
            for (game, evaluation) in games.iter_mut().zip(evaluations) {
                game.respond(evaluation);
            }
        }
    }

    /// The game with this number; it depends on nothing else but the net and the settings.
    fn begin(&self, number: u64) -> SelfPlayGame {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        let seed = rng.random();
        let start = self.starts.generate(seed, &Archive::new(0));
        let identity = GameIdentity {
            game_id: game_id(number),
            worker_id: "values".to_owned(),
            net_id: self.net_id.to_owned(),
            seed,
        };
        SelfPlayGame::new(
            self.sources.variant,
            start,
            Arc::clone(&self.game),
            identity,
        )
    }
}
