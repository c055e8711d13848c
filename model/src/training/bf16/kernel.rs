//! The inner loops in bfloat16.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::direct::Bf16Conv;
use super::spread::Spread;
use super::{BLOCK, GradientJob, Grid, Moments, PAIRS, Pair};

/// sum + low · low + high · high, for each pair.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_add(sum: __m512, a: __m512i, b: __m512i) -> __m512 {
    // SAFETY: both types are 512 bits of plain data.
    let (a, b) = unsafe {
        (
            transmute::<__m512i, __m512bh>(a),
            transmute::<__m512i, __m512bh>(b),
        )
    };
    _mm512_dpbf16_ps(sum, a, b)
}

/// The numbers of a square in a block, channels 0 to 15 and 16 to 31.
pub(super) type Halves = [__m512; 2];

/// # Safety
/// The CPU has the features, `input` has the blocks of the convolution's inputs and `out` room for
/// its outputs, on a board of `FILES` × `ranks` with its border.
#[target_feature(enable = "avx512f,avx512bf16")]
pub unsafe fn convolve<const FILES: usize>(
    conv: &Bf16Conv,
    ranks: usize,
    input: &[Pair],
    out: &mut [Pair],
    mut moments: Option<&mut Moments>,
) {
    let row = FILES + 2;
    for block in 0..conv.out_blocks {
        let mut spread = Spread::default();
        for y in 0..ranks {
            // SAFETY: the promises are this function's own; rank `y` is on the board.
            unsafe {
                let sums = convolve_row::<FILES>(conv, (block, y, ranks), input);
                let first = (block * (ranks + 2) + y + 1) * row + 1;
                let out = out.as_mut_ptr().add(first * PAIRS);
                for (p, &halves) in sums.iter().enumerate() {
                    _mm512_storeu_si512(out.add(p * PAIRS).cast(), paired(halves));
                }
                if moments.is_some() {
                    for (p, &square) in sums.iter().enumerate() {
                        spread.add(y + p == 0, square);
                    }
                }
            }
        }
        if let Some(moments) = &mut moments {
            spread.finish(block, ranks * FILES, moments);
        }
    }
}

/// One rank of a block of outputs.
///
/// # Safety
/// As for [`convolve`]; the rank is on the board.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn convolve_row<const FILES: usize>(
    conv: &Bf16Conv,
    (block, y, ranks): (usize, usize, usize),
    input: &[u32],
) -> [Halves; FILES] {
    let row = FILES + 2;
    let cells = (ranks + 2) * row;
    let tap_len = conv.in_blocks * PAIRS * BLOCK;
    let mut sums = [[_mm512_setzero_ps(); 2]; FILES];
    // Kernel rows beyond the board would add zeros.
    for ky in usize::from(y == 0)..3 - usize::from(y + 1 == ranks) {
        for kx in 0..3 {
            for b in 0..conv.in_blocks {
                // SAFETY: `FILES` squares from column `kx` of row `y + ky` are within the border;
                // the weights have this tap and these inputs.
                unsafe {
                    let first = b * cells + (y + ky) * row + kx;
                    let x = input.as_ptr().add(first * PAIRS).cast::<i32>();
                    let tap = (block * 9 + ky * 3 + kx) * tap_len;
                    let w = conv.weights.as_ptr().add(tap + b * PAIRS * BLOCK);
                    for i in 0..PAIRS {
                        let w = w.add(i * BLOCK);
                        let low = _mm512_loadu_si512(w.cast());
                        let high = _mm512_loadu_si512(w.add(16).cast());
                        for (p, sums) in sums.iter_mut().enumerate() {
                            let x = _mm512_set1_epi32(*x.add(p * PAIRS + i));
                            sums[0] = multiply_add(sums[0], low, x);
                            sums[1] = multiply_add(sums[1], high, x);
                        }
                    }
                }
            }
        }
    }
    sums
}

/// Rounds numbers to 16 bits, each in the low half of 32.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn rounded(half: __m512) -> __m512i {
    // SAFETY: both types are 256 bits of plain data.
    let short = unsafe { transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(half)) };
    _mm512_cvtepu16_epi32(short)
}

/// Rounds the numbers of a square to pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) fn paired([low, high]: Halves) -> __m512i {
    _mm512_or_si512(rounded(low), _mm512_slli_epi32::<16>(rounded(high)))
}

/// Writes a square's numbers with those of its right neighbour, from pairs of channels.
///
/// # Safety
/// The CPU has the features; there are two squares at `squares` and room for `BLOCK` pairs at `out`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn pair_squares(squares: *const u32, out: *mut u32) {
    // SAFETY: the promises are this function's own.
    unsafe {
        let here = _mm512_loadu_si512(squares.cast());
        let right = _mm512_loadu_si512(squares.add(PAIRS).cast());
        let low_half = _mm512_set1_epi32(0xffff);
        let low = _mm512_and_si512(here, low_half);
        let low = _mm512_or_si512(low, _mm512_slli_epi32::<16>(right));
        let high = _mm512_andnot_si512(low_half, right);
        let high = _mm512_or_si512(high, _mm512_srli_epi32::<16>(here));
        _mm512_storeu_si512(out.cast(), low);
        _mm512_storeu_si512(out.add(PAIRS).cast(), high);
    }
}

/// # Safety
/// The CPU has the features, `job.input` and `out` have all blocks of inputs.
#[target_feature(enable = "avx512f")]
pub unsafe fn pair_input(job: &GradientJob<u32>, out: &mut [u32]) {
    let squares = job.inputs.div_ceil(BLOCK) * job.grid.block_floats() / BLOCK;
    // The last square is in the border and has no neighbour.
    for square in 0..squares - 1 {
        // SAFETY: `square` and the next one are among the squares of the input.
        unsafe {
            let from = job.input.as_ptr().add(square * PAIRS);
            pair_squares(from, out.as_mut_ptr().add(square * BLOCK));
        }
    }
}

/// # Safety
/// The CPU has the features, `job.output_gradient` and `out` have all blocks of outputs.
#[target_feature(enable = "avx512f")]
pub unsafe fn pair_gradient(job: &GradientJob<u32>, out: &mut [u32]) {
    let Grid { files, ranks } = job.grid;
    let width = files.div_ceil(2);
    for row in 0..job.out_blocks * ranks {
        let (block, rank) = (row / ranks, row % ranks);
        let first = (block * (ranks + 2) + rank + 1) * (files + 2) + 1;
        for pair in 0..width {
            // SAFETY: both squares are on the board, or the second in its border, which is zero.
            unsafe {
                let from = (job.output_gradient.as_ptr()).add((first + 2 * pair) * PAIRS);
                let to = out.as_mut_ptr().add((row * width + pair) * BLOCK);
                pair_squares(from, to);
            }
        }
    }
}

/// Inputs whose sums are in registers together.
pub(super) const INPUTS: usize = 8;

/// Sums of products of some inputs and a block of outputs' gradients.
pub(super) struct Sums([Halves; INPUTS]);

impl Default for Sums {
    #[inline]
    fn default() -> Sums {
        // SAFETY: all bits zero is the number zero in every lane.
        unsafe { std::mem::zeroed() }
    }
}

impl Sums {
    /// Adds the products of `count` pairs, each of which lies a number of words before the next.
    ///
    /// # Safety
    /// The CPU has the features; there are as many pairs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub(super) unsafe fn add(
        &mut self,
        count: usize,
        (x, next_x): (*const u32, usize),
        (mut g, next_g): (*const u32, usize),
    ) {
        let mut x = x.cast::<i32>();
        for _ in 0..count {
            // SAFETY: the caller's promises.
            unsafe {
                let low = _mm512_loadu_si512(g.cast());
                let high = _mm512_loadu_si512(g.add(16).cast());
                for (i, sums) in self.0.iter_mut().enumerate() {
                    let x = _mm512_set1_epi32(*x.add(i));
                    sums[0] = multiply_add(sums[0], low, x);
                    sums[1] = multiply_add(sums[1], high, x);
                }
            }
            g = g.wrapping_add(next_g);
            x = x.wrapping_add(next_x);
        }
    }

    /// Adds them to what is there.
    ///
    /// # Safety
    /// The CPU has the features; there are as many totals.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn add_to(self, totals: *mut f32) {
        for (i, [low, high]) in self.0.into_iter().enumerate() {
            // SAFETY: the caller's promises.
            unsafe {
                let out = totals.add(i * BLOCK);
                _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), low));
                let out = out.add(16);
                _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), high));
            }
        }
    }
}

/// # Safety
/// The CPU has the features, `totals` has room for the gradient of the weights, `input` and
/// `gradient` have been packed from `job`.
#[target_feature(enable = "avx512f,avx512bf16")]
pub unsafe fn weight_gradient(
    job: GradientJob<u32>,
    input: &[u32],
    gradient: &[u32],
    totals: &mut [f32],
) {
    let Grid { files, ranks } = job.grid;
    let (row, width) = (files + 2, files.div_ceil(2));
    let cells = (ranks + 2) * row;
    for block in 0..job.out_blocks {
        for tap in 0..9 {
            let (ky, kx) = (tap / 3, tap % 3);
            for group in (0..job.inputs).step_by(INPUTS) {
                let mut sums = Sums::default();
                // SAFETY: all places are on the board, its border, or the square after it,
                // which `input` has.
                unsafe {
                    let lane = group / BLOCK * cells * BLOCK + group % BLOCK;
                    for y in usize::from(ky == 0)..ranks - usize::from(ky == 2) {
                        let place = (block * ranks + y) * width * BLOCK;
                        let g = gradient.as_ptr().add(place);
                        let first = lane + ((y + ky) * row + kx) * BLOCK;
                        let x = input.as_ptr().add(first);
                        sums.add(width, (x, 2 * BLOCK), (g, BLOCK));
                    }
                    let place = ((block * 9 + tap) * job.inputs + group) * BLOCK;
                    sums.add_to(totals.as_mut_ptr().add(place));
                }
            }
        }
    }
}
