//! The gradient of a 3×3 convolution's weights by minimal filtering with F(3×3, 2×2).
//!
//! What a tile of 2×2 gradients y adds to it is that of the convolution itself, read backwards: with
//! the matrices of [`winograd`](crate::compiled::winograd),
//!
//! ```text
//! Gᵀ [(Bᵀ d B) ⊙ (A y Aᵀ)] G
//! ```
//!
//! where d are the 4×4 inputs that the tile saw. Gᵀ … G is done once for the sum over all tiles and
//! samples, so in between 16 products of a matrix `[inputs][tiles]` and a matrix `[tiles][outputs]`
//! are summed up, where the definition has nine of `[inputs][squares]` and `[squares][outputs]`.
//! Pairs that are multiplied by one instruction are two tiles, one above the other.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::kernel::{INPUTS, Sums};
use super::{BLOCK, GradientForm, GradientJob, Grid, PAIRS, Pair};
use crate::compiled::winograd::{ELEMENTS, times_b};

/// Samples whose products are added up in registers.
const SAMPLES: usize = 2;

/// Transformed tiles that wait for their products.
#[derive(Default)]
pub struct Tiles {
    /// Samples, all of this size.
    waiting: usize,
    size: Size,
    /// Of inputs, `[elements][SAMPLES · pairs of tiles][channels of whole blocks]`.
    inputs: Vec<u32>,
    /// Of gradients, in the same order.
    gradients: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Size {
    /// Pairs of tiles that cover a board.
    pairs: usize,
    inputs: usize,
    out_blocks: usize,
}

impl Size {
    fn in_channels(self) -> usize {
        self.inputs.next_multiple_of(BLOCK)
    }

    fn out_channels(self) -> usize {
        self.out_blocks * BLOCK
    }
}

impl Tiles {
    /// Adds a sample's share to the sums, `[out_blocks][elements][inputs][BLOCK]`, or has it wait.
    ///
    /// # Safety
    /// The CPU has the features, all lengths have been checked, and all samples until
    /// [`finish`](Tiles::finish) are of the same size.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub unsafe fn add(&mut self, job: GradientJob<Pair>, totals: &mut [f32]) {
        let Grid { files, ranks } = job.grid;
        self.size = Size {
            pairs: files.div_ceil(2) * ranks.div_ceil(4),
            inputs: job.inputs,
            out_blocks: job.out_blocks,
        };
        let (size, all) = (self.size, ELEMENTS * SAMPLES * self.size.pairs);
        self.inputs.resize(all * size.in_channels(), 0);
        self.gradients.resize(all * size.out_channels(), 0);
        let place = |channels| Place {
            first: self.waiting * size.pairs,
            pairs: size.pairs,
            channels,
        };
        let (of_inputs, of_gradients) = (place(size.in_channels()), place(size.out_channels()));
        // SAFETY: the caller's promises; there is room for this many samples.
        unsafe {
            transform::<false>(job.grid, job.input, of_inputs, &mut self.inputs);
            let out = &mut self.gradients;
            transform::<true>(job.grid, job.output_gradient, of_gradients, out);
        }
        self.waiting += 1;
        if self.waiting == SAMPLES {
            // SAFETY: as above.
            unsafe { self.finish(totals) };
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Adds what waits to the sums.
    ///
    /// # Panics
    /// If the sums are not of the samples' size.
    ///
    /// # Safety
    /// The CPU has the features.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn finish(&mut self, totals: &mut [f32]) {
        let Size {
            pairs,
            inputs,
            out_blocks,
        } = self.size;
        let (in_channels, out_channels) = (self.size.in_channels(), self.size.out_channels());
        let len = GradientForm::Tiles.sums_len(inputs, out_blocks);
        assert_eq!(totals.len(), len, "gradient of a convolution's weights");
        let waiting = std::mem::take(&mut self.waiting) * pairs;
        for element in 0..ELEMENTS {
            let first = element * SAMPLES * pairs;
            for block in 0..out_blocks {
                for group in (0..inputs).step_by(INPUTS) {
                    // SAFETY: the caller's promises.
                    unsafe {
                        let x = self.inputs.as_ptr().add(first * in_channels + group);
                        let g = (self.gradients.as_ptr()).add(first * out_channels + block * BLOCK);
                        let mut sums = Sums::default();
                        sums.add(waiting, (x, in_channels), (g, out_channels));
                        let place = ((block * ELEMENTS + element) * inputs + group) * BLOCK;
                        sums.add_to(totals.as_mut_ptr().add(place));
                    }
                }
            }
        }
    }
}

/// Where transformed tiles go.
#[derive(Clone, Copy)]
struct Place {
    /// The first pair of the sample.
    first: usize,
    pairs: usize,
    channels: usize,
}

/// Writes all transformed tiles of all channels: Bᵀ d B of inputs, or A y Aᵀ of `GRADIENTS`.
///
/// # Safety
/// The CPU has the features; `values` has the blocks of the channels and `out` room for all.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn transform<const GRADIENTS: bool>(
    grid: Grid,
    values: &[Pair],
    place: Place,
    out: &mut [u32],
) {
    let across = grid.files.div_ceil(2);
    // Inputs begin in the border.
    let (begin, rows, columns) = if GRADIENTS { (1, 4, 2) } else { (0, 6, 4) };
    for block in 0..place.channels / BLOCK {
        for pair in 0..place.pairs {
            let (y, x) = (4 * (pair / across) + begin, 2 * (pair % across) + begin);
            let inside = y + rows <= grid.ranks + 2 && x + columns <= grid.files + 2;
            for half in 0..2 {
                // SAFETY: the caller's promises; the first cell is on the board or its border.
                unsafe {
                    let from = Cells::new(grid, values.as_ptr(), (block, half), (y, x));
                    let out = place.of(out, pair, block * BLOCK + half * PAIRS);
                    match (GRADIENTS, inside) {
                        (false, true) => transform_input::<true>(from, out),
                        (false, false) => transform_input::<false>(from, out),
                        (true, true) => transform_gradient::<true>(from, out),
                        (true, false) => transform_gradient::<false>(from, out),
                    }
                }
            }
        }
    }
}

/// Writes Bᵀ d B of two tiles, one above the other.
///
/// # Safety
/// As for [`Cells::at`] and [`Out::column`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn transform_input<const INSIDE: bool>(from: Cells, out: Out) {
    let mut rows = [[_mm512_setzero_ps(); 4]; 6];
    for (row, elements) in rows.iter_mut().enumerate() {
        for (column, cell) in elements.iter_mut().enumerate() {
            // SAFETY: the caller's promises.
            *cell = unsafe { from.at::<INSIDE>(row, column) };
        }
        // SAFETY: as above.
        *elements = unsafe { times_b(*elements) };
    }
    let [a, b, c, d, e, f] = rows;
    for x in 0..4 {
        // SAFETY: the caller's promises.
        unsafe {
            let upper = times_b([a[x], b[x], c[x], d[x]]);
            let lower = times_b([c[x], d[x], e[x], f[x]]);
            out.column(x, upper, lower);
        }
    }
}

/// Writes A y Aᵀ of two tiles, one above the other.
///
/// # Safety
/// As for [`Cells::at`] and [`Out::column`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn transform_gradient<const INSIDE: bool>(from: Cells, out: Out) {
    let mut rows = [[_mm512_setzero_ps(); 4]; 4];
    for (row, elements) in rows.iter_mut().enumerate() {
        // SAFETY: the caller's promises.
        let [left, right] = unsafe { [from.at::<INSIDE>(row, 0), from.at::<INSIDE>(row, 1)] };
        *elements = times_a([left, right]);
    }
    let [a, b, c, d] = rows;
    for x in 0..4 {
        // SAFETY: the caller's promises.
        unsafe { out.column(x, times_a([a[x], b[x]]), times_a([c[x], d[x]])) };
    }
}

/// Half of the channels of a block, from a cell on.
#[derive(Clone, Copy)]
struct Cells {
    first: *const Pair,
    /// Rows and columns to the end of the border.
    rows: usize,
    columns: usize,
    /// Words from one row to the next.
    stride: usize,
    half: usize,
}

impl Cells {
    /// # Safety
    /// There is such a block, and a cell in this row and column of the board with its border.
    #[inline]
    unsafe fn new(
        grid: Grid,
        values: *const Pair,
        (block, half): (usize, usize),
        (row, column): (usize, usize),
    ) -> Cells {
        let cell = block * grid.bordered_cells() + row * (grid.files + 2) + column;
        Cells {
            // SAFETY: the caller's promise.
            first: unsafe { values.add(cell * PAIRS) },
            rows: grid.ranks + 2 - row,
            columns: grid.files + 2 - column,
            stride: (grid.files + 2) * PAIRS,
            half,
        }
    }

    /// Half of a cell, or zeros if it is beyond the border, which none is where all are `INSIDE`.
    ///
    /// # Safety
    /// The CPU has the features; the promise of `INSIDE` holds.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn at<const INSIDE: bool>(self, row: usize, column: usize) -> __m512 {
        if !INSIDE && (row >= self.rows || column >= self.columns) {
            return _mm512_setzero_ps();
        }
        // SAFETY: the caller's promises.
        let pairs = unsafe {
            let cell = self.first.add(row * self.stride + column * PAIRS);
            _mm512_loadu_si512(cell.cast())
        };
        _mm512_castsi512_ps(match self.half {
            0 => _mm512_slli_epi32::<16>(pairs),
            _ => _mm512_and_si512(pairs, _mm512_set1_epi32(0xffff_0000_u32 as i32)),
        })
    }
}

/// Where half of the channels of a pair of tiles go.
#[derive(Clone, Copy)]
struct Out {
    first: *mut u32,
    /// Words from one element to the next.
    stride: usize,
}

impl Place {
    /// # Safety
    /// `out` has such channels of the pair.
    #[inline]
    unsafe fn of(self, out: &mut [u32], pair: usize, channel: usize) -> Out {
        // SAFETY: the caller's promise.
        let first = unsafe {
            let pair = (self.first + pair) * self.channels;
            out.as_mut_ptr().add(pair + channel)
        };
        Out {
            first,
            stride: SAMPLES * self.pairs * self.channels,
        }
    }
}

impl Out {
    /// Writes a column of both tiles, rounded.
    ///
    /// # Safety
    /// The CPU has the features; there is room for all elements.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn column(self, x: usize, upper: [__m512; 4], lower: [__m512; 4]) {
        for y in 0..4 {
            let words = interleaved(upper[y], lower[y]);
            // SAFETY: the caller's promises.
            unsafe {
                let out = self.first.add((4 * y + x) * self.stride);
                _mm512_storeu_si512(out.cast(), words);
            }
        }
    }
}

/// Rounds numbers and puts those of the same channel side by side.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
fn interleaved(low: __m512, high: __m512) -> __m512i {
    const ORDER: [u16; 32] = {
        let mut order = [0; 32];
        let mut at = 0;
        while at < 32 {
            order[at] = (at / 2 + at % 2 * 16) as u16;
            at += 1;
        }
        order
    };
    // SAFETY: all of these types are 512 bits of plain data.
    let (order, words) = unsafe {
        (
            transmute::<[u16; 32], __m512i>(ORDER),
            transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low)),
        )
    };
    _mm512_permutexvar_epi16(order, words)
}

/// A times two numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn times_a([a, b]: [__m512; 2]) -> [__m512; 4] {
    let minus_b = _mm512_sub_ps(_mm512_setzero_ps(), b);
    [a, _mm512_add_ps(a, b), _mm512_sub_ps(a, b), minus_b]
}
