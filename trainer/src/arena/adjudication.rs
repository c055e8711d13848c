//! When a game ends early because both contestants agree on the winner.

use super::config::MatchConfig;
use rules::Color;

/// How long the contestants have agreed on the winner.
#[derive(Debug, Default)]
pub struct Agreement {
    winner: Option<Color>,
    plies: u32,
}

impl Agreement {
    /// Takes in what the side that has just moved expects for itself, −1 to 1.
    pub fn hear(&mut self, mover: Color, q: Option<f32>, config: &MatchConfig) {
        let Some(adjudication) = config.adjudication else {
            return;
        };
        let winner = match q {
            Some(q) if q >= adjudication.q => Some(mover),
            Some(q) if q <= -adjudication.q => Some(!mover),
            Some(_) | None => None,
        };
        self.plies = if winner == self.winner {
            self.plies + 1
        } else {
            1
        };
        self.winner = winner;
    }

    /// The winner, if they have agreed for long enough.
    pub fn verdict(&self, config: &MatchConfig) -> Option<Color> {
        self.winner.filter(|_| {
            config
                .adjudication
                .is_some_and(|adjudication| self.plies >= adjudication.plies)
        })
    }
}
