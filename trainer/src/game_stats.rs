//! What self-play games are like: results, lengths, how they end and begin.

use rules::{Color, Outcome};
use selfplay::record::GameRecord;
use std::collections::BTreeMap;

/// Sums over games.
#[derive(Clone, Debug, Default)]
pub struct GameStats {
    games: u32,
    plies: u64,
    white_wins: u32,
    black_wins: u32,
    draws: u32,
    ends: BTreeMap<&'static str, u32>,
    starts: BTreeMap<&'static str, (u32, u32)>,
    would_resign: u32,
    false_resignations: u32,
    net_steps: u64,
    with_step: u32,
}

impl GameStats {
    /// Takes in a game, and the training step of the net that played its last ply.
    pub fn add(&mut self, record: &GameRecord, net_step: Option<u64>) {
        self.games += 1;
        self.net_steps += net_step.unwrap_or(0);
        self.with_step += u32::from(net_step.is_some());
        self.plies += record.plies.len() as u64;
        match record.outcome {
            Outcome::WhiteWins => self.white_wins += 1,
            Outcome::BlackWins => self.black_wins += 1,
            Outcome::Draw => self.draws += 1,
        }
        *self.ends.entry(record.end.as_str()).or_default() += 1;
        let start = self.starts.entry(record.start_kind.as_str()).or_default();
        start.0 += 1;
        start.1 += u32::from(record.outcome != Outcome::Draw);
        if let Some(side) = record.would_resign {
            self.would_resign += 1;
            self.false_resignations += u32::from(!lost(record.outcome, side));
        }
    }

    /// Games taken in.
    pub fn games(&self) -> u32 {
        self.games
    }

    /// Mean length in plies.
    pub fn mean_plies(&self) -> f32 {
        self.plies as f32 / self.games.max(1) as f32
    }

    /// Share of drawn games.
    pub fn draw_share(&self) -> f32 {
        self.share(self.draws)
    }

    /// Mean number of training steps that the players were behind `step`.
    pub fn staleness(&self, step: u64) -> f32 {
        let mean = self.net_steps as f64 / f64::from(self.with_step.max(1));
        (step as f64 - mean).max(0.0) as f32
    }

    /// Curves for TensorBoard.
    pub fn scalars(&self) -> Vec<(String, f32)> {
        let mut scalars = vec![
            ("games/plies".to_owned(), self.mean_plies()),
            ("games/white_wins".to_owned(), self.share(self.white_wins)),
            ("games/draws".to_owned(), self.draw_share()),
            ("games/black_wins".to_owned(), self.share(self.black_wins)),
        ];
        for (name, &count) in &self.ends {
            scalars.push((format!("ends/{name}"), self.share(count)));
        }
        for (name, &(count, decisive)) in &self.starts {
            scalars.push((format!("starts/{name}"), self.share(count)));
            scalars.push((
                format!("starts/{name}_decisive"),
                decisive as f32 / count.max(1) as f32,
            ));
        }
        if self.would_resign > 0 {
            let share = self.false_resignations as f32 / self.would_resign as f32;
            scalars.push(("games/false_resignations".to_owned(), share));
        }
        scalars
    }

    fn share(&self, count: u32) -> f32 {
        count as f32 / self.games.max(1) as f32
    }
}

fn lost(outcome: Outcome, side: Color) -> bool {
    match outcome {
        Outcome::WhiteWins => side == Color::Black,
        Outcome::BlackWins => side == Color::White,
        Outcome::Draw => false,
    }
}
