//! Who plays the matches.

use super::Handicap;
use crate::arena::adjudication::Agreement;
use crate::arena::config::{Adjudication, MatchConfig};
use crate::arena::contestant::{Contestant, Turn};
use crate::arena::openings::Openings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Color, Game, Outcome, Variant};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Scores of the first side in the two games of a pair: 0, ½ or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairScores {
    /// With White.
    pub as_white: f64,
    /// With Black.
    pub as_black: f64,
}

/// Whoever can play a match with unequal armies.
pub trait Players {
    /// Plays `pairs` pairs of games; fewer, if it is stopped or the rules forbid an array.
    fn play(&mut self, handicap: &Handicap, pairs: usize, seed: u64) -> Vec<PairScores>;
}

/// One net (or other contestant) against itself.
pub struct NetPlayers<'a> {
    variant: Arc<Variant>,
    /// One a thread.
    contestants: Vec<Box<dyn Contestant>>,
    /// Games end early when the side to move and its opponent agree, and count as drawn after `max_plies`.
    config: MatchConfig,
    stop: &'a AtomicBool,
}

impl<'a> NetPlayers<'a> {
    /// Players for one thread each. No more pairs are played once `stop` is raised.
    pub fn new(
        variant: &Arc<Variant>,
        contestants: Vec<Box<dyn Contestant>>,
        stop: &'a AtomicBool,
    ) -> NetPlayers<'a> {
        let config = MatchConfig {
            opening_plies: 4,
            max_plies: 300,
            adjudication: Some(Adjudication { q: 0.9, plies: 6 }),
            ..MatchConfig::default()
        };
        NetPlayers {
            variant: Arc::clone(variant),
            contestants,
            config,
            stop,
        }
    }
}

impl Players for NetPlayers<'_> {
    fn play(&mut self, handicap: &Handicap, pairs: usize, seed: u64) -> Vec<PairScores> {
        let boards: Vec<[Board; 2]> = (0..pairs)
            .filter_map(|number| pair(&self.variant, handicap, &self.config, seed, number as u64))
            .collect();
        let threads = self.contestants.len();
        let mut shares: Vec<Vec<[Board; 2]>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, pair) in boards.into_iter().enumerate() {
            shares[number % threads].push(pair);
        }
        let (config, stop) = (&self.config, self.stop);
        std::thread::scope(|scope| {
            for (contestant, share) in self.contestants.iter_mut().zip(&mut shares) {
                scope.spawn(move || play_out(contestant.as_mut(), share, config, seed, stop));
            }
        });
        let finished = shares.iter().flatten().filter_map(|[white, black]| {
            Some(PairScores {
                as_white: f64::from(white.outcome?.score(Color::White)),
                as_black: f64::from(black.outcome?.score(Color::Black)),
            })
        });
        finished.collect()
    }
}

/// A game under way.
struct Board {
    game: Game,
    number: u64,
    plies: u32,
    agreement: Agreement,
    outcome: Option<Outcome>,
}

/// The two games of a pair after a few random plies; `None` if the rules do not allow the arrays.
fn pair(
    variant: &Arc<Variant>,
    handicap: &Handicap,
    config: &MatchConfig,
    seed: u64,
    number: u64,
) -> Option<[Board; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    let arrays = handicap.arrays(variant, &mut rng)?;
    let mut board = |at: usize| {
        let seed = rng.random();
        let openings =
            Openings::from_position(Arc::clone(variant), arrays[at], config.opening_plies, seed);
        let opening = openings.opening(0);
        Board {
            plies: opening.moves.len() as u32,
            game: opening.game,
            number: 2 * number + at as u64,
            agreement: Agreement::default(),
            outcome: None,
        }
    };
    Some([board(0), board(1)])
}

/// Plays all games of a share, ply by ply side by side.
fn play_out(
    contestant: &mut dyn Contestant,
    share: &mut [[Board; 2]],
    config: &MatchConfig,
    seed: u64,
    stop: &AtomicBool,
) {
    while !stop.load(Ordering::Relaxed) {
        let mut open: Vec<&mut Board> = share
            .iter_mut()
            .flatten()
            .filter(|board| board.outcome.is_none())
            .collect();
        if open.is_empty() {
            return;
        }
        let turns: Vec<Turn<'_>> = open
            .iter()
            .map(|board| Turn {
                game: &board.game,
                seed: seed ^ (board.number << 32 | u64::from(board.plies)),
            })
            .collect();
        let choices = contestant.choose(&turns);
        for (board, choice) in open.iter_mut().zip(choices) {
            let mover = board.game.position().turn();
            board.game.play(choice.mv);
            board.plies += 1;
            board.agreement.hear(mover, choice.q, config);
            board.outcome = board
                .game
                .outcome()
                .or_else(|| board.agreement.verdict(config).map(Outcome::won_by))
                .or_else(|| (board.plies >= config.max_plies).then_some(Outcome::Draw));
        }
    }
}
