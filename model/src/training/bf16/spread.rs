//! Means and spreads of the channels of one sample.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::kernel::Halves;
use crate::compiled::conv::BLOCK;
use crate::training::norm::Moments;

/// What a block's channels sum up to over the squares of a board. Distances are measured from the
/// first square, so that squares of large numbers need not be told apart (Chan, Golub & LeVeque
/// 1983, "Algorithms for computing the sample variance", section 2).
#[derive(Clone, Copy)]
pub struct Spread {
    first: Halves,
    distances: Halves,
    squares: Halves,
}

impl Default for Spread {
    fn default() -> Spread {
        // SAFETY: all bits zero is the number zero in every lane.
        unsafe { std::mem::zeroed() }
    }
}

impl Spread {
    /// Adds a square.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn add(&mut self, is_first: bool, square: Halves) {
        if is_first {
            self.first = square;
            return;
        }
        for (half, &numbers) in square.iter().enumerate() {
            let distance = _mm512_sub_ps(numbers, self.first[half]);
            self.distances[half] = _mm512_add_ps(self.distances[half], distance);
            self.squares[half] = _mm512_fmadd_ps(distance, distance, self.squares[half]);
        }
    }

    /// Adds what `count` squares gave to the moments of a block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn finish(&self, block: usize, count: usize, moments: &mut Moments) {
        let share = _mm512_set1_ps(1.0 / count as f32);
        let (mut mean, mut squares) = (self.first, self.squares);
        for half in 0..2 {
            let distance = _mm512_mul_ps(self.distances[half], share);
            mean[half] = _mm512_add_ps(mean[half], distance);
            // Rounding must not make it negative.
            let rest = _mm512_fnmadd_ps(distance, self.distances[half], squares[half]);
            squares[half] = _mm512_max_ps(rest, _mm512_setzero_ps());
        }
        moments.add(block, count, &floats(mean), &floats(squares));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn floats(halves: Halves) -> [f32; BLOCK] {
    // SAFETY: both types are 1024 bits of plain data.
    unsafe { transmute::<Halves, [f32; BLOCK]>(halves) }
}
