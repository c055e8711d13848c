//! The match: each table plays one game at a time, several tables play at once.

use super::client::{Course, Fault};
use super::clock::{Clocks, Limit};
use super::player::Player;
use super::time_use::TimeUse;
use crate::arena::adjudication::Agreement;
use crate::arena::config::MatchConfig;
use crate::arena::openings::{Opening, Openings};
use crate::arena::play::{MatchProgress, score_for, take_in, turn_seed};
use crate::arena::result::{GameEnd, GameResult, MatchResult, PairResult};
use rules::{Color, Outcome, Variant};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Two players, the one whose score is counted first.
pub type Table = [Player; 2];

/// A pair and what the players used for it.
struct Played {
    pair: PairResult,
    time: [TimeUse; 2],
}

/// What all tables share.
struct Shared<'a> {
    variant: &'a Arc<Variant>,
    config: &'a MatchConfig,
    limit: Limit,
    openings: Openings,
    next: AtomicUsize,
    stop: AtomicBool,
}

/// Plays `config.games` games at `tables`, all of the same two players.
///
/// `on_progress` is called as by [`play_match`](crate::arena::play::play_match). The second part of the result is why the match
/// ended early, if an engine could not be started any more.
///
/// # Panics
/// If there is no table.
pub fn play_refereed(
    variant: &Arc<Variant>,
    config: &MatchConfig,
    limit: Limit,
    tables: Vec<Table>,
    on_progress: &mut dyn FnMut(&MatchProgress<'_>) -> ControlFlow<()>,
) -> (MatchResult, Option<anyhow::Error>) {
    assert!(!tables.is_empty(), "a match needs a table");
    let names = tables[0].each_ref().map(|player| player.name().to_owned());
    let shared = Shared {
        variant,
        config,
        limit,
        openings: Openings::new(Arc::clone(variant), config.opening_plies, config.seed),
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    };
    let mut time = [TimeUse::default(); 2];
    let mut failure = None;
    let pairs = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(0);
        for table in tables {
            let (sender, shared) = (sender.clone(), &shared);
            scope.spawn(move || shared.play(table, &sender));
        }
        drop(sender);
        let finished = |message| match message {
            Ok(Played { pair, time: used }) => {
                for (sum, used) in time.iter_mut().zip(&used) {
                    sum.merge(used);
                }
                Some(pair)
            }
            Err(error) => {
                shared.stop.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
                None
            }
        };
        take_in(config, &receiver, &shared.stop, finished, on_progress)
    });
    let [a, b] = names;
    let mut result = MatchResult::new(variant, config, (a, b), pairs);
    result.limit = Some(limit.to_string());
    result.time = Some(time);
    (result, failure)
}

impl Shared<'_> {
    fn play(&self, mut table: Table, finished: &mpsc::SyncSender<anyhow::Result<Played>>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.config.pairs() {
                return;
            }
            let message = match self.play_pair(&mut table, number) {
                Ok(Some(played)) => Ok(played),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let is_last = message.is_err();
            // Nobody listens only when the match has been given up.
            if finished.send(message).is_err() || is_last {
                return;
            }
        }
    }

    /// Both games of a pair; nothing if the match was stopped meanwhile.
    fn play_pair(&self, table: &mut Table, number: usize) -> anyhow::Result<Option<Played>> {
        let opening = self.openings.opening(number as u64);
        let mut time = [TimeUse::default(); 2];
        let mut games = Vec::with_capacity(2);
        for (index, a_color) in Color::ALL.into_iter().enumerate() {
            let mut sitting = Sitting {
                shared: self,
                table,
                time: &mut time,
                a_color,
                number: (2 * number + index) as u64,
            };
            match sitting.play(&opening)? {
                Some(game) => games.push(game),
                None => return Ok(None),
            }
        }
        let position = self.variant.start();
        let texts = opening.moves.iter().scan(position, |position, &mv| {
            let text = self.variant.move_text(position, mv);
            *position = position.play(self.variant, mv);
            Some(text)
        });
        let opening = texts.collect();
        Ok(<[GameResult; 2]>::try_from(games).ok().map(|games| Played {
            pair: PairResult {
                number,
                opening,
                games,
            },
            time,
        }))
    }
}

/// One game at a table.
struct Sitting<'a, 'b> {
    shared: &'a Shared<'b>,
    table: &'a mut Table,
    time: &'a mut [TimeUse; 2],
    a_color: Color,
    number: u64,
}

impl Sitting<'_, '_> {
    /// Plays the game; nothing if the match was stopped meanwhile.
    fn play(&mut self, opening: &Opening) -> anyhow::Result<Option<GameResult>> {
        let Shared {
            variant,
            config,
            limit,
            ..
        } = *self.shared;
        for player in self.table.iter_mut() {
            player.new_game(limit)?;
        }
        let mut course = Course::new(variant, &opening.moves);
        let mut clocks = Clocks::new(limit);
        let mut agreement = Agreement::default();
        loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let turn = course.game.position().turn();
            let ended = match self.ply(&mut course, &mut clocks, &mut agreement) {
                Err(fault) => Some((
                    Outcome::won_by(!turn),
                    GameEnd::Forfeit(fault.kind),
                    Some(fault),
                )),
                Ok(()) => {
                    let end = if let Some(outcome) = course.game.outcome() {
                        Some((outcome, GameEnd::Rules(course.game.status())))
                    } else if let Some(winner) = agreement.verdict(config) {
                        Some((Outcome::won_by(winner), GameEnd::Adjudicated))
                    } else {
                        let is_long = course.played.len() >= config.max_plies as usize;
                        is_long.then_some((Outcome::Draw, GameEnd::MaxPlies))
                    };
                    end.map(|(outcome, end)| (outcome, end, None))
                }
            };
            if let Some((outcome, end, fault)) = ended {
                for player in self.table.iter_mut() {
                    player.game_over(outcome);
                }
                return Ok(Some(GameResult {
                    score: score_for(self.a_color, outcome),
                    a_is_white: self.a_color == Color::White,
                    plies: course.played.len() as u32,
                    end,
                    reason: fault.map(|fault| fault.reason),
                    moves: course.played.iter().map(|&(_, mv)| mv).collect(),
                }));
            }
        }
    }

    /// One move.
    fn ply(
        &mut self,
        course: &mut Course,
        clocks: &mut Clocks,
        agreement: &mut Agreement,
    ) -> Result<(), Fault> {
        let turn = course.game.position().turn();
        let seat = usize::from(turn != self.a_color);
        let config = self.shared.config;
        let seed = turn_seed(config.seed, self.number, course.played.len() as u32);
        let player = &mut self.table[seat];
        let answer = player.think(course, clocks, seed)?;
        self.time[seat].add(answer.elapsed);
        if player.has_clock() {
            clocks.press(turn, answer.elapsed);
        }
        course.play(answer.mv);
        agreement.hear(turn, answer.q, config);
        Ok(())
    }
}
