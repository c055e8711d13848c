//! The state machine.

use std::sync::Arc;

use model::{EvalRequest, Evaluation};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::tablebase::TableValue;
use rules::{ByColor, Color, Game, Move, Outcome, Status, Variant};

use super::{EndReason, GameConfig};
use crate::record::{GameRecord, PlyRecord};
use crate::search::{Proven, Search, SearchConfig, SearchResult};
use crate::starts::{Start, StartKind};

/// Moves with less of the root policy than this are left out of the record.
const LEAST_RECORDED_PROB: f32 = 1e-5;

/// What a game is called in its record, and its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameIdentity {
    /// Unique in the run.
    pub game_id: String,
    /// Who plays it.
    pub worker_id: String,
    /// The net that judges it.
    pub net_id: String,
    /// Decides every random choice of the game.
    pub seed: u64,
}

/// A game in which both sides are played by the same net and search.
///
/// The same start, seed, configuration and evaluations give the same game, whatever it is batched with.
///
/// ```
/// use std::sync::Arc;
///
/// use model::{Evaluator, UniformEvaluator};
/// use selfplay::game::{GameConfig, GameIdentity, SelfPlayGame};
/// use selfplay::starts::{Archive, StartConfig, StartGenerator};
///
/// let variant = rules::Variant::by_name("falcon").expect("a built-in variant");
/// let start = StartGenerator::new(&variant, StartConfig::default()).generate(7, &Archive::new(0));
/// let identity = GameIdentity {
///     game_id: "a".into(), worker_id: "w".into(), net_id: "none".into(), seed: 7,
/// };
/// let mut game = SelfPlayGame::new(&variant, start, Arc::new(GameConfig::default()), identity);
/// while let Some(request) = game.gather() {
///     game.respond(UniformEvaluator.evaluate(&[request]).remove(0));
/// }
/// println!("{} plies", game.into_record().plies.len());
/// ```
#[derive(Clone, Debug)]
pub struct SelfPlayGame {
    identity: GameIdentity,
    config: Arc<GameConfig>,
    start: Start,
    game: Game,
    rng: ChaCha8Rng,
    search: Search,
    phase: Phase,
    plies: Vec<PlyRecord>,
    /// Searches in a row in which each side found its position hopeless.
    hopeless: ByColor<u16>,
    is_played_out: bool,
    /// Whether tables may end the game: not if it begins in one.
    is_adjudicated: bool,
    would_resign: Option<Color>,
}

#[derive(Clone, Debug)]
enum Phase {
    /// So many plies are still to be drawn from the net's policy; the moves of a pending request.
    Sampling {
        left: u16,
        pending: Option<Vec<Move>>,
    },
    /// A search is going on.
    Searching { full: bool },
    /// The game is over.
    Finished { outcome: Outcome, end: EndReason },
}

impl SelfPlayGame {
    /// A game that has not begun.
    ///
    /// # Panics
    /// If the start's game is over.
    pub fn new(
        variant: &Arc<Variant>,
        start: Start,
        config: Arc<GameConfig>,
        identity: GameIdentity,
    ) -> Self {
        let game = Game::new(Arc::clone(variant), start.position);
        let mut rng = ChaCha8Rng::seed_from_u64(identity.seed);
        let is_played_out =
            is_endgame(start.kind) || rng.random::<f32>() < config.selfplay.resign_playout_share;
        let tables = config.tablebases.as_ref();
        let is_adjudicated = tables.is_some_and(|tables| tables.probe(&start.position).is_none());
        let mut search = Search::new(&game, config.search.clone(), 0);
        // A game that begins in the tables shows how to win there, or to hold out.
        search.set_tables(tables.cloned());
        let phase = Phase::Sampling {
            left: start.sampled_plies,
            pending: None,
        };
        Self {
            identity,
            config,
            start,
            game,
            rng,
            search,
            phase,
            plies: Vec::new(),
            hopeless: ByColor { white: 0, black: 0 },
            is_played_out,
            is_adjudicated,
            would_resign: None,
        }
    }

    /// The next position to evaluate; `None` when the game is over.
    ///
    /// # Panics
    /// If the last one has not been answered.
    pub fn gather(&mut self) -> Option<EvalRequest> {
        loop {
            match &mut self.phase {
                Phase::Sampling { left: 0, .. } => self.start_search(),
                Phase::Sampling { pending, .. } => {
                    assert!(
                        pending.is_none(),
                        "respond to the last request before gathering the next"
                    );
                    let request = EvalRequest {
                        position: *self.game.position(),
                        repetitions: self.game.repetitions(),
                        moves: self.game.position().legal_moves(self.game.variant()),
                    };
                    *pending = Some(request.moves.clone());
                    return Some(request);
                }
                Phase::Searching { full } => match self.search.gather() {
                    Some(request) => return Some(request),
                    None => {
                        let full = *full;
                        self.finish_search(full);
                    }
                },
                Phase::Finished { .. } => return None,
            }
        }
    }

    /// Takes the evaluation of the request gathered last.
    ///
    /// # Panics
    /// If there is none.
    pub fn respond(&mut self, evaluation: Evaluation) {
        match &mut self.phase {
            Phase::Sampling { left, pending } => {
                let moves = pending
                    .take()
                    .expect("a request that awaits its evaluation");
                let left = *left;
                self.play_sampled(left, &moves, &evaluation);
            }
            Phase::Searching { .. } => self.search.respond(evaluation),
            Phase::Finished { .. } => panic!("a finished game has no request"),
        }
    }

    /// Whether the game is over.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished { .. })
    }

    /// From now on `net_id` judges the game: it stands in the records of this and later plies.
    pub fn change_net(&mut self, net_id: &str) {
        net_id.clone_into(&mut self.identity.net_id);
    }

    /// Plies played and recorded so far.
    pub fn plies(&self) -> usize {
        self.plies.len()
    }

    /// The finished game.
    ///
    /// # Panics
    /// If the game goes on.
    pub fn into_record(self) -> GameRecord {
        let Phase::Finished { outcome, end } = self.phase else {
            panic!(
                "game {} is not over after {} plies",
                self.identity.game_id,
                self.plies.len()
            );
        };
        GameRecord {
            variant: self.game.variant().name().to_owned(),
            game_id: self.identity.game_id,
            start_kind: self.start.kind,
            worker_id: self.identity.worker_id,
            seed: self.identity.seed,
            outcome,
            end,
            would_resign: self.would_resign,
            plies: self.plies,
        }
    }

    /// Plays a move drawn from the net's policy, unless it would end the game before its first recorded ply.
    fn play_sampled(&mut self, left: u16, moves: &[Move], evaluation: &Evaluation) {
        let temperature = self.start.sampled_temperature;
        let logits = &evaluation.policy_logits;
        let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights = logits
            .iter()
            .map(|logit| ((logit - max) / temperature).exp());
        let mut next = self.game.clone();
        next.play(moves[draw(&mut self.rng, weights)]);
        let goes_on = next.status() == Status::Ongoing;
        if goes_on {
            self.game = next;
        }
        let left = if goes_on { left - 1 } else { 0 };
        self.phase = Phase::Sampling {
            left,
            pending: None,
        };
    }

    fn start_search(&mut self) {
        let full = self.rng.random::<f32>() < self.config.selfplay.full_search_share;
        self.begin_search(full);
    }

    fn begin_search(&mut self, full: bool) {
        let selfplay = &self.config.selfplay;
        let mut config = self.config.search.clone();
        if !full {
            config = SearchConfig {
                simulations: selfplay.cheap_simulations,
                gumbel_scale: selfplay.cheap_gumbel_scale,
                ..config
            };
        }
        self.search.restart(&self.game, config, self.rng.random());
        self.phase = Phase::Searching { full };
    }

    /// Plays and records the searched move, or ends the game; or looks more closely at what has surprised a cheap search.
    fn finish_search(&mut self, full: bool) {
        let result = self.search.result();
        let most = self.config.selfplay.full_search_surprise;
        if !full && most > 0.0 && result.surprise > most {
            return self.begin_search(true);
        }
        if self.resigns(&result) {
            self.phase = Phase::Finished {
                outcome: Outcome::won_by(!self.game.position().turn()),
                end: EndReason::Resignation,
            };
            return;
        }
        let mv = self.choose_move(&result);
        self.plies.push(self.ply_record(&result, mv, full));
        self.game.play(mv);
        let status = self.game.status();
        let ruled = status
            .outcome(self.game.position().turn())
            .zip(EndReason::of_status(status));
        match ruled.or_else(|| self.adjudication()) {
            Some((outcome, end)) => self.phase = Phase::Finished { outcome, end },
            None if self.plies.len() >= usize::from(self.config.selfplay.max_plies) => {
                self.phase = Phase::Finished {
                    outcome: Outcome::Draw,
                    end: EndReason::MaxPlies,
                };
            }
            None => self.start_search(),
        }
    }

    /// The result by the tables, if they know the position and there are moves enough before the fifty-move rule.
    fn adjudication(&self) -> Option<(Outcome, EndReason)> {
        let tables = self
            .config
            .tablebases
            .as_ref()
            .filter(|_| self.is_adjudicated)?;
        let position = self.game.position();
        let outcome = match tables.probe_in_play(position)? {
            TableValue::Draw => Outcome::Draw,
            TableValue::Win(_) => Outcome::won_by(position.turn()),
            TableValue::Loss(_) => Outcome::won_by(!position.turn()),
        };
        Some((outcome, EndReason::Tablebase))
    }

    /// Whether the side to move gives up now. Endgames are always played out: in them mating is learnt.
    fn resigns(&mut self, result: &SearchResult) -> bool {
        let selfplay = &self.config.selfplay;
        let side = self.game.position().turn();
        let count = &mut self.hopeless[side];
        *count = if result.q <= -selfplay.resign_q {
            count.saturating_add(1)
        } else {
            0
        };
        let gives_up = *count >= selfplay.resign_plies && !self.plies.is_empty();
        if gives_up && self.is_played_out && !is_endgame(self.start.kind) {
            self.would_resign.get_or_insert(side);
        }
        gives_up && !self.is_played_out
    }

    fn choose_move(&mut self, result: &SearchResult) -> Move {
        let selfplay = &self.config.selfplay;
        let is_early = self.plies.len() < usize::from(selfplay.temperature_plies);
        if !is_early || matches!(result.proven, Some(Proven::Win(_))) {
            return result.best_move;
        }
        let exponent = 1.0 / selfplay.temperature;
        let policy = &result.root_policy;
        // In proportion to the largest, so that a low temperature leaves that one at least.
        let largest = policy.iter().map(|&(_, p)| p).fold(0.0, f32::max);
        let weights = policy.iter().map(|(_, p)| (p / largest).powf(exponent));
        result.root_policy[draw(&mut self.rng, weights)].0
    }

    fn ply_record(&self, result: &SearchResult, mv: Move, full_search: bool) -> PlyRecord {
        let (variant, position) = (self.game.variant(), self.game.position());
        let recorded = result
            .root_policy
            .iter()
            .filter(|(_, p)| *p >= LEAST_RECORDED_PROB);
        let total: f32 = recorded.clone().map(|(_, p)| p).sum();
        PlyRecord {
            fen: position.fen(variant),
            mv: variant.move_text(position, mv),
            repetitions: self.game.repetitions(),
            policy: recorded
                .map(|&(mv, p)| (variant.move_text(position, mv), p / total))
                .collect(),
            root_q: result.q,
            raw_value: result.raw_value,
            visits: result.simulations,
            full_search,
            net_id: self.identity.net_id.clone(),
        }
    }
}

/// Whether a game begins with few men. Such games are played out: in them mating is learnt.
fn is_endgame(start: StartKind) -> bool {
    matches!(start, StartKind::FewMen | StartKind::Tablebase)
}

/// Draws an index in proportion to weights, of which at least one is above 0.
fn draw(rng: &mut ChaCha8Rng, weights: impl Iterator<Item = f32>) -> usize {
    let weights: Vec<f32> = weights.collect();
    let mut point = rng.random::<f32>() * weights.iter().sum::<f32>();
    let mut last = 0;
    for (index, &weight) in weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
    {
        if point < weight {
            return index;
        }
        point -= weight;
        last = index;
    }
    last
}
