//! The transforms of inputs and of sums.

#![expect(clippy::needless_range_loop, reason = "see `vector.rs`")]

use super::super::conv::{After, BLOCK, Grid};
use super::kernel::Tiles;
use super::vector::{Numbers, VECTORS, Vector};

/// Writes Bᵀ d B of these tiles and all inputs to `out`, `[elements][tiles][words]`, with the words
/// of whole blocks of inputs.
///
/// # Safety
/// The CPU has the instructions of `N`; there are as many blocks of inputs, and room in `out`.
#[inline(always)]
pub unsafe fn transform_inputs<N: Numbers>(
    tiles: Tiles,
    input: *const f32,
    inputs: usize,
    out: *mut u32,
) {
    let grid = tiles.grid;
    let words = inputs.next_multiple_of(BLOCK) / N::INPUTS_PER_WORD;
    for channel in (0..inputs).step_by(N::Inputs::LANES) {
        // SAFETY: the caller's promises.
        unsafe {
            let block = input.add(channel / BLOCK * grid.block_floats() + channel % BLOCK);
            let mut left = [[N::Inputs::zero(); 4]; 2];
            for (index, place) in tiles.places().enumerate() {
                // Two columns are those of the tile to the left.
                if index == 0 || place.1 == 0 {
                    left = [column(grid, place, 0, block), column(grid, place, 1, block)];
                }
                let right = [column(grid, place, 2, block), column(grid, place, 3, block)];
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
/// The CPU has the instructions of `V`; the tile is one of the board, `block` a block of channels.
#[inline(always)]
unsafe fn column<V: Vector>(
    grid: Grid,
    (ty, tx): (usize, usize),
    x: usize,
    block: *const f32,
) -> [V; 4] {
    let row = grid.files + 2;
    // SAFETY: the caller's promises; there are `row` columns and `ranks + 2` rows.
    unsafe {
        let zero = V::zero();
        if 2 * tx + x == row {
            return [zero; 4];
        }
        let from = block.add((2 * ty * row + 2 * tx + x) * BLOCK);
        let last = match 2 * ty + 3 == grid.ranks + 2 {
            true => zero,
            false => V::load(from.add(3 * row * BLOCK)),
        };
        times_b([
            V::load(from),
            V::load(from.add(row * BLOCK)),
            V::load(from.add(2 * row * BLOCK)),
            last,
        ])
    }
}

/// Bᵀ times four numbers.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn times_b<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 4] {
    // SAFETY: the caller's promise.
    unsafe { [a.sub(c), b.add(c), c.sub(b), b.sub(d)] }
}

/// Writes Aᵀ M A + bias of these tiles to a strip of outputs, from sums M,
/// `[elements][tiles][strip]`.
///
/// # Safety
/// The CPU has the instructions of `V`; there are as many sums and a bias for each output, and
/// `out` is the strip's first channel in a block of outputs.
#[inline(always)]
pub unsafe fn transform_sums<V: Vector>(
    tiles: Tiles,
    sums: *const f32,
    bias: *const f32,
    out: *mut f32,
    after: After,
) {
    let (grid, strip) = (tiles.grid, VECTORS * V::LANES);
    for lane in (0..strip).step_by(V::LANES) {
        // SAFETY: the caller's promises; only cells of the board are written.
        unsafe {
            let bias = V::load(bias.add(lane));
            for (index, (ty, tx)) in tiles.places().enumerate() {
                let sums = sums.add(index * strip + lane);
                let mut columns = [[V::zero(); 2]; 4];
                for x in 0..4 {
                    let mut column = [V::zero(); 4];
                    for y in 0..4 {
                        column[y] = V::load(sums.add((4 * y + x) * tiles.count * strip));
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
                            finish(row[x].add(bias), out.add(cell * BLOCK + lane), after);
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

/// Stores results.
///
/// # Safety
/// The CPU has the instructions of `V`; `out` has a vector.
#[inline(always)]
unsafe fn finish<V: Vector>(sums: V, out: *mut f32, after: After) {
    // SAFETY: the caller's promises.
    unsafe {
        let result = match after {
            After::Keep => sums,
            After::Relu => sums.relu(),
            After::AddRelu => sums.add(V::load(out)).relu(),
        };
        result.store(out);
    }
}
