//! Positions of endgame tablebases.

use rand::RngExt;
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;
use rules::tablebase::Tablebases;
use rules::{Position, Status};

/// Names of cells that stand for no position, or for one that is over, are drawn again so often.
const ATTEMPTS: usize = 1000;

/// A random position of a random table whose game goes on, with either side the stronger one.
///
/// Tables count alike, whatever their size, and so do the cells of a table. `None` if there is no table with such a position.
pub fn draw_position(tables: &Tablebases, rng: &mut ChaCha8Rng) -> Option<Position> {
    let variant = tables.variant();
    (0..ATTEMPTS).find_map(|_| {
        let key = tables.keys().filter(|key| key.men() > 2).choose(rng)?;
        let table = tables.get(key)?;
        let (position, _) = table.entry(tables, rng.random_range(0..table.cells()))?;
        let mirrored = position.mirror(variant);
        let is_answered = rng.random_bool(0.5) && tables.probe(&mirrored).is_some();
        let position = if is_answered { mirrored } else { position };
        (position.status(variant) == Status::Ongoing).then_some(position)
    })
}
