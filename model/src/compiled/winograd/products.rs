//! The products of matrices between the transforms.

#![expect(clippy::needless_range_loop, reason = "see `vector.rs`")]

use super::super::conv::BLOCK;
use super::ELEMENTS;
use super::kernel::GROUP;
use super::vector::{Numbers, VECTORS, Vector};

/// Groups of words by which weights are asked for ahead of their use. Each is read once for a group
/// of tiles, from a cache that is too far away to wait for.
const AHEAD: usize = 8;

/// Multiplies the transformed inputs of some tiles, `[elements][tiles][words of whole blocks]`, with
/// the weights of a strip, `[elements][words][strip]`, into `[elements][tiles][strip]`.
///
/// # Safety
/// The CPU has the instructions of `N`; memory of these sizes.
#[inline(always)]
pub unsafe fn multiply<N: Numbers>(
    tiles: usize,
    channels: usize,
    inputs: *const u32,
    weights: *const u32,
    sums: *mut f32,
) {
    let parts = tiles.div_ceil(N::TILES);
    for part in 0..parts {
        let first = part * tiles / parts;
        let count = (part + 1) * tiles / parts - first;
        let sizes = (tiles, channels);
        macro_rules! by_count {
            ($($count:literal)*) => {
                // The bound lets the compiler drop what would not fit into the registers.
                match count.min(N::TILES) {
                    // SAFETY: the caller's promises; the tiles from `first` on are among them.
                    $($count => unsafe {
                        multiply_tiles::<N, $count>(first, sizes, inputs, weights, sums);
                    },)*
                    _ => unreachable!("a group has 1 to {GROUP} tiles"),
                }
            };
        }
        by_count!(1 2 3 4 5 6 7 8 9 10 11 12);
    }
}

/// The products for the `TILES` tiles from `first` on, whose sums stay in registers.
///
/// # Safety
/// As for [`multiply`].
#[inline(always)]
unsafe fn multiply_tiles<N: Numbers, const TILES: usize>(
    first: usize,
    (tiles, channels): (usize, usize),
    inputs: *const u32,
    weights: *const u32,
    sums: *mut f32,
) {
    let lanes = N::Sums::LANES;
    let strip = VECTORS * lanes;
    let words = channels / N::INPUTS_PER_WORD;
    let stride = channels.next_multiple_of(BLOCK) / N::INPUTS_PER_WORD;
    for element in 0..ELEMENTS {
        // SAFETY: the caller's promises; `place` and the next tiles are among those of the element.
        unsafe {
            let place = element * tiles + first;
            let x = inputs.add(place * stride);
            let w = weights.add(element * words * strip);
            let mut totals = [[N::Sums::zero(); VECTORS]; TILES];
            for word in 0..words {
                let w = w.add(word * strip);
                for line in (0..strip).step_by(16) {
                    N::prefetch(w.wrapping_add(AHEAD * strip + line));
                }
                let w = [N::load(w), N::load(w.add(lanes))];
                for tile in 0..TILES {
                    let x = N::splat(*x.add(tile * stride + word));
                    for v in 0..VECTORS {
                        totals[tile][v] = N::multiply_add(totals[tile][v], x, w[v]);
                    }
                }
            }
            for tile in 0..TILES {
                for v in 0..VECTORS {
                    totals[tile][v].store(sums.add((place + tile) * strip + v * lanes));
                }
            }
        }
    }
}
