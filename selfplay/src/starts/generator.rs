//! Draws the start of a game.

use std::sync::Arc;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::tablebase::Tablebases;
use rules::{Position, Status, Variant};

use super::few_men::FewMen;
use super::odds::remove_men;
use super::tablebase::draw_position;
use super::{Archive, StartConfig, StartKind};

/// Where a game begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// How the position was made.
    pub kind: StartKind,
    /// The position; its game is not over.
    pub position: Position,
    /// Plies to be drawn from the net's policy before the first searched one.
    pub sampled_plies: u16,
    /// Temperature of those draws, above 0.
    pub sampled_temperature: f32,
}

/// Makes starts for one variant.
///
/// ```
/// use selfplay::starts::{Archive, StartConfig, StartGenerator};
///
/// let variant = rules::Variant::by_name("falcon").expect("a built-in variant");
/// let generator = StartGenerator::new(&variant, StartConfig::default());
/// let start = generator.generate(7, &Archive::new(0));
/// println!("{}: {}", start.kind, start.position.fen(&variant));
/// ```
#[derive(Clone, Debug)]
pub struct StartGenerator {
    variant: Arc<Variant>,
    config: StartConfig,
    few_men: FewMen,
    tables: Option<Arc<Tablebases>>,
}

/// The stream of a game's seed that starts use; the game itself uses stream 0.
const START_STREAM: u64 = 1;

impl StartGenerator {
    /// A generator; `config` is taken to be valid.
    pub fn new(variant: &Arc<Variant>, config: StartConfig) -> Self {
        Self {
            variant: Arc::clone(variant),
            config,
            few_men: FewMen::new(variant),
            tables: None,
        }
    }

    /// The same generator with tables to draw endgames from.
    pub fn with_tables(self, tables: Option<Arc<Tablebases>>) -> Self {
        Self { tables, ..self }
    }

    /// The start of the game with this seed. It depends on nothing else, except for the contents of the archive.
    pub fn generate(&self, seed: u64, archive: &Archive) -> Start {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(START_STREAM);
        let made = match self.draw_kind(&mut rng) {
            StartKind::Opening => None,
            StartKind::MaterialOdds => self.odds(&mut rng),
            StartKind::FewMen => self.few_men(&mut rng),
            StartKind::Archive => archive
                .positions()
                .choose(&mut rng)
                .map(|&p| (StartKind::Archive, p)),
            StartKind::Tablebase => {
                let position = self
                    .tables
                    .as_ref()
                    .and_then(|tables| draw_position(tables, &mut rng));
                position.map(|position| (StartKind::Tablebase, position))
            }
        };
        match made {
            Some((kind, position)) => Start {
                kind,
                position,
                sampled_plies: 0,
                sampled_temperature: self.config.sampled_temperature,
            },
            None => self.opening(&mut rng),
        }
    }

    fn draw_kind(&self, rng: &mut ChaCha8Rng) -> StartKind {
        let StartConfig {
            opening_share,
            odds_share,
            few_men_share,
            archive_share,
            tablebase_share,
            ..
        } = self.config;
        let shares = [
            opening_share,
            odds_share,
            few_men_share,
            archive_share,
            tablebase_share,
        ];
        let mut point = rng.random::<f32>() * shares.iter().sum::<f32>();
        for (kind, share) in StartKind::ALL.into_iter().zip(shares) {
            if point < share {
                return kind;
            }
            point -= share;
        }
        StartKind::Opening
    }

    fn opening(&self, rng: &mut ChaCha8Rng) -> Start {
        let [least, greatest] = self.config.opening_plies;
        let plies = rng.random_range(least..=greatest);
        let sampled = rng.random::<f32>() < self.config.sampled_share;
        let random_plies = if sampled { 0 } else { plies };
        Start {
            kind: StartKind::Opening,
            position: self.play_randomly(self.variant.start(), random_plies, rng),
            sampled_plies: plies - random_plies,
            sampled_temperature: self.config.sampled_temperature,
        }
    }

    /// `None` if the position is over already, which takes an odd variant.
    fn odds(&self, rng: &mut ChaCha8Rng) -> Option<(StartKind, Position)> {
        let [least, greatest] = self.config.odds_men;
        let weaker = rng.random_range(least..=greatest);
        let position = remove_men(&self.variant, usize::from(weaker), rng);
        let [least, greatest] = self.config.odds_plies;
        let plies = rng.random_range(least..=greatest);
        let is_playable = position.status(&self.variant) == Status::Ongoing;
        is_playable.then(|| {
            (
                StartKind::MaterialOdds,
                self.play_randomly(position, plies, rng),
            )
        })
    }

    fn few_men(&self, rng: &mut ChaCha8Rng) -> Option<(StartKind, Position)> {
        let [least, greatest] = self.config.few_men;
        let count = usize::from(rng.random_range(least..=greatest));
        let lopsided = rng.random::<f32>() < self.config.lopsided_share;
        let position = self.few_men.generate(&self.variant, count, lopsided, rng)?;
        Some((StartKind::FewMen, position))
    }

    /// Plays uniformly random legal moves, and stops early where one would end the game.
    fn play_randomly(&self, mut position: Position, plies: u16, rng: &mut ChaCha8Rng) -> Position {
        for _ in 0..plies {
            let moves = position.legal_moves(&self.variant);
            let Some(&mv) = moves.choose(rng) else { break };
            let next = position.play(&self.variant, mv);
            if next.status(&self.variant) != Status::Ongoing {
                break;
            }
            position = next;
        }
        position
    }
}
