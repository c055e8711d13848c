//! Late positions of earlier games.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rules::{Outcome, Position, Variant};

use crate::record::GameRecord;

/// A sample of late positions from the games seen so far, of bounded size (reservoir sampling, so every position
/// offered has the same chance to be in it).
#[derive(Clone, Debug)]
pub struct Archive {
    positions: Vec<Position>,
    capacity: usize,
    offered: u64,
}

impl Archive {
    /// An empty archive for at most `capacity` positions.
    pub fn new(capacity: usize) -> Self {
        Self {
            positions: Vec::new(),
            capacity,
            offered: 0,
        }
    }

    /// The positions held.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Offers one position from the last third of a decisive game.
    ///
    /// Drawn games are passed over: their ends are mostly moves to and fro.
    pub fn offer(&mut self, variant: &Variant, game: &GameRecord, rng: &mut ChaCha8Rng) {
        if game.outcome == Outcome::Draw || game.plies.is_empty() {
            return;
        }
        let first = game.plies.len() * 2 / 3;
        let ply = &game.plies[rng.random_range(first..game.plies.len())];
        if let Ok(position) = Position::from_fen(variant, &ply.fen) {
            self.insert(position, rng);
        }
    }

    fn insert(&mut self, position: Position, rng: &mut ChaCha8Rng) {
        self.offered += 1;
        if self.positions.len() < self.capacity {
            self.positions.push(position);
            return;
        }
        let slot = rng.random_range(0..self.offered);
        if let Some(held) = usize::try_from(slot)
            .ok()
            .and_then(|slot| self.positions.get_mut(slot))
        {
            *held = position;
        }
    }
}
