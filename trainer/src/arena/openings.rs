//! Varied, balanced openings: a few random plies from the start array.

use super::material::MaterialTable;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Color, Game, Move, Position, Status, Variant};
use std::sync::Arc;

/// Openings whose settled material is this much better for a side than the start array's, in pawns, are drawn again.
const TOLERANCE: f64 = 0.5;
/// Depth to which captures are followed when an opening is weighed, in plies.
const SETTLING_DEPTH: u32 = 4;
/// Draws after which an opening is made one ply shorter.
const ATTEMPTS: u32 = 200;

/// An endless, numbered supply of openings of one variant.
#[derive(Debug, Clone)]
pub struct Openings {
    variant: Arc<Variant>,
    start: Position,
    table: MaterialTable,
    plies: u32,
    seed: u64,
}

/// The moves of an opening and the game after them.
#[derive(Debug, Clone)]
pub struct Opening {
    /// In the order in which they were played.
    pub moves: Vec<Move>,
    /// The game in which the opening has been played, with its history.
    pub game: Game,
}

impl Openings {
    /// Openings of `plies` random plies each.
    pub fn new(variant: Arc<Variant>, plies: u32, seed: u64) -> Openings {
        let start = variant.start();
        Openings::from_position(variant, start, plies, seed)
    }

    /// Openings from another position than the start array.
    pub fn from_position(
        variant: Arc<Variant>,
        start: Position,
        plies: u32,
        seed: u64,
    ) -> Openings {
        let table = MaterialTable::new(&variant);
        Openings {
            variant,
            start,
            table,
            plies,
            seed,
        }
    }

    /// The opening with this number: always the same for the same variant, number of plies and seed.
    ///
    /// Where no balanced game of the full length turns up, the opening is shorter.
    pub fn opening(&self, number: u64) -> Opening {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        (1..=self.plies)
            .rev()
            .flat_map(|plies| (0..ATTEMPTS).map(move |_| plies))
            .find_map(|plies| self.draw(plies, &mut rng))
            .unwrap_or_else(|| Opening {
                moves: Vec::new(),
                game: self.start(),
            })
    }

    fn start(&self) -> Game {
        Game::new(self.variant.clone(), self.start)
    }

    fn draw(&self, plies: u32, rng: &mut ChaCha8Rng) -> Option<Opening> {
        let mut opening = Opening {
            moves: Vec::new(),
            game: self.start(),
        };
        for _ in 0..plies {
            let moves = opening.game.position().legal_moves(&self.variant);
            if moves.is_empty() {
                return None;
            }
            let mv = moves[rng.random_range(0..moves.len())];
            opening.game.play(mv);
            opening.moves.push(mv);
        }
        let change = self.white_balance(&opening.game) - self.white_balance(&self.start());
        (opening.game.status() == Status::Ongoing && change.abs() <= TOLERANCE).then_some(opening)
    }

    /// Settled material from White's view, in pawns.
    fn white_balance(&self, game: &Game) -> f64 {
        let settled = self
            .table
            .settled_balance(&self.variant, game.position(), SETTLING_DEPTH);
        match game.position().turn() {
            Color::White => settled,
            Color::Black => -settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_varied_balanced_and_repeatable() {
        let variant = Variant::by_name("falcon").expect("a shipped variant");
        let openings = Openings::new(variant.clone(), 6, 9);
        let table = MaterialTable::new(&variant);
        let mut fens = std::collections::BTreeSet::new();
        for number in 0..20 {
            let opening = openings.opening(number);
            assert_eq!(opening.moves.len(), 6);
            assert_eq!(opening.game.status(), Status::Ongoing);
            assert_eq!(table.balance(opening.game.position()), 0.0);
            let fen = opening.game.position().fen(&variant);
            assert_eq!(openings.opening(number).game.position().fen(&variant), fen);
            fens.insert(fen);
        }
        assert_eq!(fens.len(), 20);
    }

    #[test]
    fn no_plies_give_the_start_array() {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let opening = Openings::new(variant.clone(), 0, 1).opening(3);
        assert!(opening.moves.is_empty());
        assert_eq!(*opening.game.position(), variant.start());
    }
}
