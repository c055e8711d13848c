//! The match itself: colour-swapped pairs, many at once.
//!
//! Each team (a copy of both contestants) plays its share of the pairs on a thread of its own, all of its games in
//! lockstep: every game in which the first contestant is to move goes to it in one batch, then every game of the
//! second. A pair's course depends on the configuration and its number only, so the result is the same however many
//! teams there are.

use super::adjudication::Agreement;
use super::config::MatchConfig;
use super::contestant::{Choice, Contestant, Turn};
use super::openings::Openings;
use super::pentanomial::{GameScore, Pentanomial};
use super::result::{GameEnd, GameResult, MatchResult, PairResult};
use rules::{Color, Game, Move, Outcome, Variant};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Longest time between two reports of progress.
const HEARTBEAT: Duration = Duration::from_millis(200);

/// One copy of each contestant, for one thread.
pub struct Team {
    /// The contestant whose score is counted.
    pub a: Box<dyn Contestant>,
    /// Its opponent.
    pub b: Box<dyn Contestant>,
}

/// What is known while a match is on.
#[derive(Debug, Clone, Copy)]
pub struct MatchProgress<'a> {
    /// Finished pairs from the first contestant's view.
    pub pentanomial: Pentanomial,
    /// Pairs that the match will have.
    pub pairs: usize,
    /// The pair that has just been finished, if that is the news.
    pub finished: Option<&'a PairResult>,
}

/// Plays `config.games` games between the contestants of `teams`, which must all be copies of the same two.
///
/// `on_progress` hears of every finished pair, and a few times a second anyway. When it breaks, the match ends with the pairs finished so far and
/// [`MatchResult::complete`] is false.
///
/// # Panics
/// If there is no team, or a contestant plays an illegal move.
pub fn play_match(
    variant: &Arc<Variant>,
    config: &MatchConfig,
    teams: Vec<Team>,
    on_progress: &mut dyn FnMut(&MatchProgress<'_>) -> ControlFlow<()>,
) -> MatchResult {
    assert!(!teams.is_empty(), "a match needs a team");
    let names = (teams[0].a.name().to_owned(), teams[0].b.name().to_owned());
    let openings = Openings::new(variant.clone(), config.opening_plies, config.seed);
    let stop = AtomicBool::new(false);
    let team_count = teams.len();
    let pairs = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(0);
        for (share, team) in teams.into_iter().enumerate() {
            let (sender, openings, stop) = (sender.clone(), &openings, &stop);
            let numbers = (share..config.pairs()).step_by(team_count);
            scope.spawn(move || Table::new(config, openings, team).play(numbers, stop, &sender));
        }
        drop(sender);
        take_in(config, &receiver, &stop, Some, on_progress)
    });
    MatchResult::new(variant, config, names, pairs)
}

/// Takes in pairs, in the order of their numbers, until all who send have ended. `finished` makes of a message the pair that it brings, if any;
/// when `on_progress` breaks, `stop` is raised.
pub(super) fn take_in<M>(
    config: &MatchConfig,
    receiver: &Receiver<M>,
    stop: &AtomicBool,
    mut finished: impl FnMut(M) -> Option<PairResult>,
    on_progress: &mut dyn FnMut(&MatchProgress<'_>) -> ControlFlow<()>,
) -> Vec<PairResult> {
    let mut pairs: Vec<PairResult> = Vec::with_capacity(config.pairs());
    let mut pentanomial = Pentanomial::default();
    loop {
        let pair = match receiver.recv_timeout(HEARTBEAT) {
            Ok(message) => finished(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(pair) = &pair {
            pentanomial.record(pair.games[0].score, pair.games[1].score);
        }
        let progress = MatchProgress {
            pentanomial,
            pairs: config.pairs(),
            finished: pair.as_ref(),
        };
        if on_progress(&progress).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
        pairs.extend(pair);
    }
    pairs.sort_by_key(|pair| pair.number);
    pairs
}

/// The games that one team has under way.
struct Table<'a> {
    config: &'a MatchConfig,
    openings: &'a Openings,
    team: Team,
    pairs: Vec<Pair>,
}

struct Pair {
    number: usize,
    opening: Vec<String>,
    games: [Board; 2],
}

/// One game under way.
struct Board {
    game: Game,
    /// The colour of the first contestant.
    a_color: Color,
    plies: u32,
    /// The opening's included.
    moves: Vec<Move>,
    agreement: Agreement,
    result: Option<GameResult>,
}

impl<'a> Table<'a> {
    fn new(config: &'a MatchConfig, openings: &'a Openings, team: Team) -> Table<'a> {
        Table {
            config,
            openings,
            team,
            pairs: Vec::new(),
        }
    }

    fn play(
        mut self,
        numbers: impl Iterator<Item = usize>,
        stop: &AtomicBool,
        finished: &mpsc::SyncSender<PairResult>,
    ) {
        let mut waiting = numbers;
        let capacity = (self.config.parallel_games as usize / 2).max(1);
        while !stop.load(Ordering::Relaxed) {
            let free = capacity - self.pairs.len();
            for number in waiting.by_ref().take(free) {
                self.pairs
                    .push(Pair::new(number, self.openings, self.config));
            }
            if self.pairs.is_empty() {
                return;
            }
            self.ply(true);
            self.ply(false);
            for pair in self.pairs.extract_if(.., |pair| {
                pair.games.iter().all(|board| board.result.is_some())
            }) {
                // Nobody listens only when the match has been given up.
                let _ = finished.send(pair.into_result());
            }
        }
    }

    /// Lets one contestant move in all games in which it is to move.
    fn ply(&mut self, first: bool) {
        let config = self.config;
        let contestant = if first {
            &mut self.team.a
        } else {
            &mut self.team.b
        };
        let mut boards: Vec<(u64, &mut Board)> = self
            .pairs
            .iter_mut()
            .flat_map(|pair| {
                let number = pair.number as u64;
                pair.games
                    .iter_mut()
                    .enumerate()
                    .map(move |(index, board)| (2 * number + index as u64, board))
            })
            .filter(|(_, board)| board.result.is_none() && board.is_turn_of_first() == first)
            .collect();
        if boards.is_empty() {
            return;
        }
        let turns: Vec<Turn<'_>> = boards
            .iter()
            .map(|(number, board)| Turn {
                game: &board.game,
                seed: turn_seed(config.seed, *number, board.plies),
            })
            .collect();
        let choices = contestant.choose(&turns);
        assert_eq!(
            choices.len(),
            boards.len(),
            "{} answered another number of turns",
            contestant.name()
        );
        for ((_, board), choice) in boards.iter_mut().zip(choices) {
            board.play(choice, config);
        }
    }
}

impl Pair {
    fn new(number: usize, openings: &Openings, config: &MatchConfig) -> Pair {
        let opening = openings.opening(number as u64);
        let variant = opening.game.variant().clone();
        let mut position = variant.start();
        let mut texts = Vec::with_capacity(opening.moves.len());
        for &mv in &opening.moves {
            texts.push(variant.move_text(&position, mv));
            position = position.play(&variant, mv);
        }
        let board = |a_color| Board {
            game: opening.game.clone(),
            a_color,
            plies: opening.moves.len() as u32,
            moves: opening.moves.clone(),
            agreement: Agreement::default(),
            result: None,
        };
        debug_assert!(opening.moves.len() <= config.opening_plies as usize);
        Pair {
            number,
            opening: texts,
            games: [board(Color::White), board(Color::Black)],
        }
    }

    fn into_result(self) -> PairResult {
        let games = self
            .games
            .map(|board| board.result.expect("both games of the pair are over"));
        PairResult {
            number: self.number,
            opening: self.opening,
            games,
        }
    }
}

impl Board {
    fn is_turn_of_first(&self) -> bool {
        self.game.position().turn() == self.a_color
    }

    fn play(&mut self, choice: Choice, config: &MatchConfig) {
        let mover = self.game.position().turn();
        self.game.play(choice.mv);
        self.moves.push(choice.mv);
        self.plies += 1;
        self.agreement.hear(mover, choice.q, config);
        let ended = if let Some(outcome) = self.game.outcome() {
            Some((outcome, GameEnd::Rules(self.game.status())))
        } else if let Some(winner) = self.agreement.verdict(config) {
            Some((Outcome::won_by(winner), GameEnd::Adjudicated))
        } else {
            (self.plies >= config.max_plies).then_some((Outcome::Draw, GameEnd::MaxPlies))
        };
        self.result = ended.map(|(outcome, end)| GameResult {
            score: score_for(self.a_color, outcome),
            a_is_white: self.a_color == Color::White,
            plies: self.plies,
            end,
            reason: None,
            moves: std::mem::take(&mut self.moves),
        });
    }
}

/// An outcome as the score of whoever had a colour.
pub(super) fn score_for(color: Color, outcome: Outcome) -> GameScore {
    match (outcome, color) {
        (Outcome::Draw, _) => GameScore::Draw,
        (Outcome::WhiteWins, Color::White) | (Outcome::BlackWins, Color::Black) => GameScore::Win,
        (Outcome::WhiteWins, Color::Black) | (Outcome::BlackWins, Color::White) => GameScore::Loss,
    }
}

/// A well-mixed seed for one move of one game (the finaliser of SplitMix64).
pub(super) fn turn_seed(seed: u64, game: u64, ply: u32) -> u64 {
    [game, u64::from(ply)]
        .into_iter()
        .fold(seed, |state, part| {
            let mut z =
                state.wrapping_add(part.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
}

#[cfg(test)]
mod tests;
