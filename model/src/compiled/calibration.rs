//! How far a net's activations reach.
//!
//! Numbers of 8 bits need a range for each channel of each layer. It is measured when a net is
//! loaded, on positions of random games: they are the same each time, so that a net file always
//! gives the same compiled net, and any net file will do, whatever made it. Random games lose men
//! faster than good ones, and so show the net crowded boards and empty ones alike.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Position, Status, Variant};

/// Positions that ranges are measured on.
const POSITIONS: usize = 192;
/// Plies from one of them to the next, odd so that both sides are to move.
const STRIDE: usize = 5;
/// Plies after which a random game is given up.
const LONGEST_GAME: usize = 300;
/// Plies of all games: a variant whose games are over at once gives fewer positions.
const MOST_PLIES: usize = 100_000;
/// Seed of the random games.
const SEED: u64 = 0x5eed;
/// Ranges of channels that are hardly ever active are at least this part of their layer's largest.
const SMALLEST_SHARE: f32 = 0.02;
/// By how much a range exceeds what has been seen. On trained nets the logits are off by least with
/// about this much, on average and at worst: good games show activations that random ones do not,
/// and what exceeds its range is cut off.
const MARGIN: f32 = 1.25;

/// Positions to measure ranges on, the start position among them.
pub fn positions(variant: &Variant) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut found = Vec::with_capacity(POSITIONS);
    let mut position = variant.start();
    let mut ply = 0;
    for _ in 0..MOST_PLIES {
        if found.len() == POSITIONS {
            break;
        }
        if ply % STRIDE == 0 {
            found.push(position);
        }
        let moves = position.legal_moves(variant);
        let over = moves.is_empty() || position.status(variant) != Status::Ongoing;
        if over || ply >= LONGEST_GAME {
            position = variant.start();
            ply = 1;
            continue;
        }
        position = position.play(variant, moves[rng.random_range(0..moves.len())]);
        ply += 1;
    }
    found
}

/// Largest activations seen, by layer and channel.
pub struct Ranges {
    tops: Vec<Vec<f32>>,
}

impl Ranges {
    /// Nothing seen of this many layers.
    pub fn new(layers: usize, channels: usize) -> Ranges {
        Ranges {
            tops: vec![vec![0.0; channels]; layers],
        }
    }

    /// Looks at the activations of a layer: cells of a block of channels at a time, border included.
    pub fn see<const BLOCK: usize>(&mut self, layer: usize, activations: &[f32], block: usize) {
        let blocks = activations.chunks_exact(block);
        for (tops, cells) in self.tops[layer].chunks_mut(BLOCK).zip(blocks) {
            let mut largest = [0f32; BLOCK];
            for cell in cells.as_chunks::<BLOCK>().0 {
                for (top, x) in largest.iter_mut().zip(cell) {
                    *top = top.max(*x);
                }
            }
            for (top, x) in tops.iter_mut().zip(largest) {
                *top = top.max(x);
            }
        }
    }

    /// The range of each channel of each layer.
    pub fn tops(self) -> Vec<Vec<f32>> {
        let layer = |tops: Vec<f32>| {
            let largest = tops.iter().fold(0f32, |a, &b| a.max(b));
            let range = |top: f32| (top * MARGIN).max(largest * SMALLEST_SHARE);
            tops.into_iter().map(range).collect()
        };
        self.tops.into_iter().map(layer).collect()
    }
}
