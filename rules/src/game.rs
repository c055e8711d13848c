//! A game: a position and what repetition needs to know of its past.

use std::sync::Arc;

use crate::{Move, Outcome, Position, Status, Variant};

/// A position with the keys of the positions before it, back to the last capture or pawn move.
///
/// ```
/// use rules::{Game, Status, Variant};
/// let chess = Variant::by_name("chess").unwrap();
/// let mut game = Game::new(chess.clone(), chess.start());
/// for text in ["f2f3", "e7e5", "g2g4", "d8h4"] {
///     game.play(chess.parse_move(game.position(), text).unwrap());
/// }
/// assert_eq!(game.status(), Status::Checkmate);
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    variant: Arc<Variant>,
    position: Position,
    keys: Vec<u64>,
}

impl Game {
    /// A game that starts with a position, as if nothing had gone before.
    pub fn new(variant: Arc<Variant>, position: Position) -> Game {
        Game {
            variant,
            keys: vec![position.key()],
            position,
        }
    }

    /// The current position.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The rules of the game.
    pub fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// Makes a legal move.
    ///
    /// # Panics
    /// As [`Position::play`].
    pub fn play(&mut self, mv: Move) {
        self.position = self.position.play(&self.variant, mv);
        if self.position.halfmove_clock() == 0 {
            self.keys.clear();
        }
        self.keys.push(self.position.key());
    }

    /// How often the current position has stood, this time included; at least 1.
    pub fn repetitions(&self) -> u8 {
        let key = self.position.key();
        let count = self.keys.iter().filter(|&&known| known == key).count();
        count.min(u8::MAX.into()) as u8
    }

    /// Keys since the last capture or pawn move, oldest first, the current one last.
    pub fn history_keys(&self) -> &[u64] {
        &self.keys
    }

    /// How the game stands, repetition included; mate and stalemate go first.
    pub fn status(&self) -> Status {
        match self.position.status(&self.variant) {
            Status::Ongoing if self.repetitions() >= 3 => Status::ThreefoldRepetition,
            status => status,
        }
    }

    /// The result; `None` while the game goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.status().outcome(self.position.turn())
    }
}
