//! The transforms of inputs and of sums.

#![expect(clippy::needless_range_loop, reason = "see `vector.rs`")]

use super::super::conv::{BLOCK, Grid};
use super::kernel::Tiles;
use super::vector::{Destination, Layout, Numbers, Vector};

/// Writes Bᵀ d B of these tiles and all inputs to `out`, `[elements][tiles][words]`, with the words
/// of whole blocks of inputs.
///
/// # Safety
/// The CPU has the instructions of `N`; there are as many blocks of inputs, and room in `out`.
#[inline(always)]
pub unsafe fn transform_inputs<N: Numbers, L: Layout<N::Inputs>>(
    tiles: Tiles,
    input: *const L::Word,
    inputs: usize,
    out: *mut u32,
) {
    let grid = tiles.grid;
    let words = inputs.next_multiple_of(BLOCK) / N::INPUTS_PER_WORD;
    for channel in (0..inputs).step_by(N::Inputs::LANES) {
        // SAFETY: the caller's promises.
        unsafe {
            let block = input.add(channel / BLOCK * grid.bordered_cells() * L::WORDS);
            let from = (block, channel % BLOCK);
            let mut left = [[N::Inputs::zero(); 4]; 2];
            for (index, place) in tiles.places().enumerate() {
                // Two columns are those of the tile to the left.
                if index == 0 || place.1 == 0 {
                    left = [
                        column::<N::Inputs, L>(grid, place, 0, from),
                        column::<N::Inputs, L>(grid, place, 1, from),
                    ];
                }
                let right = [
                    column::<N::Inputs, L>(grid, place, 2, from),
                    column::<N::Inputs, L>(grid, place, 3, from),
                ];
                for y in 0..4 {
                    let row = times_b([left[0][y], left[1][y], right[0][y], right[1][y]]);
                    for x in 0..4 {
                        let place = ((4 * y + x) * tiles.count + index) * words;
                        N::store_inputs(row[x], out.add(place + channel / N::INPUTS_PER_WORD));
                    }
                }
                left = right;
            }
        }
    }
}

/// Bᵀ times column `x` of the inputs of a tile. They are within the border, but for a last row or
/// column of zeros next to the border of a board of odd size.
///
/// # Safety
/// The CPU has the instructions of `V`; the tile is one of the board, `block` a block that has
/// the channels from `channel` on.
#[inline(always)]
unsafe fn column<V: Vector, L: Layout<V>>(
    grid: Grid,
    (ty, tx): (usize, usize),
    x: usize,
    (block, channel): (*const L::Word, usize),
) -> [V; 4] {
    let row = grid.files + 2;
    // SAFETY: the caller's promises; there are `row` columns and `ranks + 2` rows.
    unsafe {
        let zero = V::zero();
        if 2 * tx + x == row {
            return [zero; 4];
        }
        let from = block.add((2 * ty * row + 2 * tx + x) * L::WORDS);
        let last = match 2 * ty + 3 == grid.ranks + 2 {
            true => zero,
            false => L::load(from.add(3 * row * L::WORDS), channel),
        };
        times_b([
            L::load(from, channel),
            L::load(from.add(row * L::WORDS), channel),
            L::load(from.add(2 * row * L::WORDS), channel),
            last,
        ])
    }
}

/// Bᵀ times four numbers.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub unsafe fn times_b<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 4] {
    // SAFETY: the caller's promise.
    unsafe { [a.sub(c), b.add(c), c.sub(b), b.sub(d)] }
}

/// Gives Aᵀ M A of these tiles and of the strip of outputs from `first` on to their destination,
/// from sums M, `[elements][tiles][strip]`.
///
/// # Safety
/// The CPU has the instructions of `D`, `strip` is a multiple of its vectors' length, there are as
/// many sums, and the destination has the outputs.
#[inline(always)]
pub unsafe fn transform_sums<D: Destination>(
    tiles: Tiles,
    sums: *const f32,
    (first, strip): (usize, usize),
    destination: &mut D,
) {
    let grid = tiles.grid;
    for lane in (0..strip).step_by(D::Sums::LANES) {
        // SAFETY: the caller's promises; only cells of the board are written.
        unsafe {
            for (index, (ty, tx)) in tiles.places().enumerate() {
                let sums = sums.add(index * strip + lane);
                let mut columns = [[D::Sums::zero(); 2]; 4];
                for x in 0..4 {
                    let mut column = [D::Sums::zero(); 4];
                    for y in 0..4 {
                        column[y] = D::Sums::load(sums.add((4 * y + x) * tiles.count * strip));
                    }
                    columns[x] = times_a(column);
                }
                let [a, b, c, d] = columns;
                for y in 0..2 {
                    let row = times_a([a[y], b[y], c[y], d[y]]);
                    for x in 0..2 {
                        let (rank, file) = (2 * ty + y, 2 * tx + x);
                        if rank < grid.ranks && file < grid.files {
                            let cell = (rank + 1) * (grid.files + 2) + file + 1;
                            destination.put(first + lane, cell, row[x]);
                        }
                    }
                }
            }
        }
    }
}

/// Aᵀ times four numbers.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn times_a<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 2] {
    // SAFETY: the caller's promise.
    unsafe { [a.add(b).add(c), b.sub(c).sub(d)] }
}
