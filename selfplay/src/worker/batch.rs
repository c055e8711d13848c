//! The lockstep batch of games.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rules::Variant;
use twox_hash::XxHash64;

use super::WorkerConfig;
use super::nets::Nets;
use crate::game::{GameConfig, GameIdentity, SelfPlayGame};
use crate::games::chunks;
use crate::record::{GameRecord, from_bytes};
use crate::starts::{Archive, StartGenerator};
use crate::storage::{Storage, StorageError};

/// Chunks of earlier games from which the archive is filled at the start.
const RECALLED_CHUNKS: usize = 16;

/// Games that are played side by side, and where the next ones begin.
pub(super) struct Batch {
    variant: Arc<Variant>,
    config: Arc<GameConfig>,
    starts: StartGenerator,
    archive: Archive,
    archive_rng: ChaCha8Rng,
    worker_id: String,
    run_seed: u64,
    first_chunk: u32,
    games: Vec<SelfPlayGame>,
    size: usize,
    /// Games begun so far.
    begun: u64,
    /// The net that the running games know of.
    net_id: String,
}

/// What a round has brought.
pub(super) struct Round {
    pub finished: Vec<GameRecord>,
    /// Positions that the net has evaluated.
    pub evaluated: u64,
    /// Time spent in the net.
    pub net_time: Duration,
}

impl Batch {
    pub fn new(config: &WorkerConfig, first_chunk: u32) -> Self {
        let seed = seed(config.run_seed, &config.worker_id, first_chunk, u64::MAX);
        Self {
            variant: config.variant.clone(),
            config: Arc::new(config.game.clone()),
            starts: StartGenerator::new(&config.variant, config.starts.clone())
                .with_tables(config.game.tablebases.clone()),
            archive: Archive::new(config.archive_positions),
            archive_rng: ChaCha8Rng::seed_from_u64(seed),
            worker_id: config.worker_id.clone(),
            run_seed: config.run_seed,
            first_chunk,
            games: Vec::new(),
            size: config.games_in_parallel.max(1),
            begun: 0,
            net_id: String::new(),
        }
    }

    /// Fills the archive from the run's newest chunks, whoever played them. A convenience: what
    /// cannot be read is left out, and the trainer will say why.
    pub fn recall(&mut self, storage: &Storage) {
        let chunks = match newest_chunks(storage) {
            Ok(chunks) => chunks,
            Err(error) => {
                tracing::warn!("no earlier games to start from: {error}");
                return;
            }
        };
        for name in chunks {
            let games = storage
                .get(&name)
                .ok()
                .and_then(|bytes| from_bytes(bytes).ok());
            for game in games.into_iter().flatten() {
                self.remember(&game);
            }
        }
    }

    /// One leaf of each game, one evaluation of them all. Finished games give way to new ones.
    pub fn play_round(&mut self, nets: &mut Nets<'_>) -> Round {
        self.change_net(nets.id());
        let mut finished = Vec::new();
        let mut requests = Vec::with_capacity(self.size);
        for slot in 0..self.size {
            if slot == self.games.len() {
                let game = self.begin();
                self.games.push(game);
            }
            let request = loop {
                match self.games[slot].gather() {
                    Some(request) => break request,
                    None => {
                        let next = self.begin();
                        let game = std::mem::replace(&mut self.games[slot], next).into_record();
                        self.remember(&game);
                        finished.push(game);
                    }
                }
            };
            requests.push(request);
        }
        let begun = Instant::now();
        let (evaluations, evaluated) = nets.evaluate(&requests);
        let net_time = begun.elapsed();
        assert_eq!(
            evaluations.len(),
            requests.len(),
            "one evaluation for each request"
        );
        for (game, evaluation) in self.games.iter_mut().zip(evaluations) {
            game.respond(evaluation);
        }
        Round {
            finished,
            evaluated,
            net_time,
        }
    }

    fn change_net(&mut self, net_id: &str) {
        if self.net_id != net_id {
            self.net_id = net_id.to_owned();
            for game in &mut self.games {
                game.change_net(net_id);
            }
        }
    }

    fn begin(&mut self) -> SelfPlayGame {
        let number = self.begun;
        self.begun += 1;
        let seed = seed(self.run_seed, &self.worker_id, self.first_chunk, number);
        let start = self.starts.generate(seed, &self.archive);
        let identity = GameIdentity {
            game_id: format!("{}-{:06}-{number:06}", self.worker_id, self.first_chunk),
            worker_id: self.worker_id.clone(),
            net_id: self.net_id.clone(),
            seed,
        };
        SelfPlayGame::new(&self.variant, start, self.config.clone(), identity)
    }

    fn remember(&mut self, game: &GameRecord) {
        self.archive
            .offer(&self.variant, game, &mut self.archive_rng);
    }
}

/// The seed of a game: the same in every run of the same seed, and another for each game in it.
fn seed(run_seed: u64, worker_id: &str, first_chunk: u32, number: u64) -> u64 {
    let text = format!("{worker_id}/{first_chunk}/{number}");
    XxHash64::oneshot(run_seed, text.as_bytes())
}

fn newest_chunks(storage: &Storage) -> Result<Vec<String>, StorageError> {
    let newest_first = chunks(storage)?.into_iter().rev();
    Ok(newest_first
        .take(RECALLED_CHUNKS)
        .map(|info| info.name)
        .collect())
}
