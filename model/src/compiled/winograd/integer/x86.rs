//! The kernel in instructions of AVX2.

use std::arch::x86_64::*;

use super::super::kernel::{WinogradJob, convolve};
use super::super::vector::{Destination, FloatVector, Layout, Numbers, Vector};
use super::{PER_WORD, WORDS};
use crate::compiled::conv::{After, BLOCK};
use crate::compiled::narrow_kernel::NarrowSums;
use crate::compiled::narrow_kernel::x86::{scaled_256, store_shorts};

/// # Safety
/// The CPU has the features, and the job has passed the checks of [`super::run`].
#[target_feature(enable = "avx2,fma")]
pub unsafe fn convolve_avx2(job: WinogradJob<u32>, sums: NarrowSums) {
    // SAFETY: the caller's promises.
    unsafe {
        match (sums.after, sums.wide.is_some(), sums.narrow.is_some()) {
            (After::Keep, ..) => convolve_into::<KEEP, true, false>(job, sums),
            (After::Relu, true, true) => convolve_into::<RELU, true, true>(job, sums),
            (After::Relu, true, false) => convolve_into::<RELU, true, false>(job, sums),
            (After::Relu, false, _) => convolve_into::<RELU, false, true>(job, sums),
            (After::AddRelu, _, true) => convolve_into::<ADD_RELU, true, true>(job, sums),
            (After::AddRelu, _, false) => convolve_into::<ADD_RELU, true, false>(job, sums),
        }
    }
}

const KEEP: u8 = After::Keep as u8;
const RELU: u8 = After::Relu as u8;
const ADD_RELU: u8 = After::AddRelu as u8;

/// # Safety
/// As for [`convolve_avx2`], and the sums have the outputs that are said.
#[target_feature(enable = "avx2,fma")]
unsafe fn convolve_into<const AFTER: u8, const WIDE: bool, const NARROW: bool>(
    job: WinogradJob<u32>,
    sums: NarrowSums,
) {
    let (words, factors) = sums.narrow.unwrap_or_default();
    let mut destination = Cells::<AFTER, WIDE, NARROW> {
        block: job.grid.block_floats(),
        scale: sums.scale.as_ptr(),
        bias: sums.bias.as_ptr(),
        wide: sums.wide.unwrap_or_default().as_mut_ptr(),
        words: words.as_mut_ptr(),
        factors: factors.as_ptr(),
    };
    // SAFETY: the caller's promises; the destination has all outputs.
    unsafe { convolve::<Numbers16, Pairs, _>(job, &mut destination) }
}

/// Sixteen integers of 16 bits.
#[derive(Clone, Copy)]
struct Shorts(__m256i);

/// Eight integers of 32 bits, kept in memory for floats.
#[derive(Clone, Copy)]
struct Ints(__m256i);

/// Implements a vector of integers by intrinsics.
macro_rules! vector {
    ($vector:ident, $lanes:literal, $add:ident, $sub:ident) => {
        // SAFETY, of all functions: the caller's promises.
        impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $vector(_mm256_setzero_si256()) }
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                unsafe { $vector(_mm256_loadu_si256(from.cast())) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                unsafe { _mm256_storeu_si256(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                unsafe { $vector($add(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                unsafe { $vector($sub(self.0, other.0)) }
            }
        }
    };
}

vector!(Shorts, 16, _mm256_add_epi16, _mm256_sub_epi16);
vector!(Ints, 8, _mm256_add_epi32, _mm256_sub_epi32);

/// Pairs of neighbouring channels.
struct Pairs;

impl Layout<Shorts> for Pairs {
    type Word = u32;
    const WORDS: usize = WORDS;

    #[inline(always)]
    unsafe fn load(cell: *const u32, channel: usize) -> Shorts {
        // SAFETY: the caller's promises.
        unsafe { Shorts(_mm256_loadu_si256(cell.add(channel / PER_WORD).cast())) }
    }
}

/// Integers of 16 bits with AVX2.
struct Numbers16;

// SAFETY, of all functions: the caller's promises.
impl Numbers for Numbers16 {
    type Inputs = Shorts;
    type Sums = Ints;
    type Words = __m256i;
    const INPUTS_PER_WORD: usize = PER_WORD;
    const TILES: usize = 6;

    #[inline(always)]
    unsafe fn store_inputs(inputs: Shorts, to: *mut u32) {
        unsafe { _mm256_storeu_si256(to.cast(), inputs.0) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m256i {
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m256i {
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn multiply_add(sums: Ints, inputs: __m256i, weights: __m256i) -> Ints {
        unsafe { Ints(_mm256_add_epi32(sums.0, _mm256_madd_epi16(inputs, weights))) }
    }

    #[inline(always)]
    unsafe fn prefetch(address: *const u32) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
}

/// [`NarrowSums`] for the kernel: what is done to sums, and which outputs there are.
struct Cells<const AFTER: u8, const WIDE: bool, const NARROW: bool> {
    /// Numbers of a block.
    block: usize,
    scale: *const f32,
    bias: *const f32,
    wide: *mut f32,
    words: *mut u32,
    factors: *const f32,
}

impl<const AFTER: u8, const WIDE: bool, const NARROW: bool> Destination
    for Cells<AFTER, WIDE, NARROW>
{
    type Sums = Ints;

    #[inline(always)]
    unsafe fn put(&mut self, channel: usize, cell: usize, sums: Ints) {
        // SAFETY: the caller's promises.
        unsafe {
            let place = channel / BLOCK * self.block + cell * BLOCK + channel % BLOCK;
            let sums = _mm256_srai_epi32::<2>(sums.0);
            let mut result = scaled_256(sums, self.scale.add(channel), self.bias.add(channel));
            if AFTER == ADD_RELU {
                result = result.add(__m256::load(self.wide.add(place)));
            }
            if AFTER != KEEP {
                result = result.relu();
            }
            if WIDE {
                result.store(self.wide.add(place));
            }
            if NARROW {
                store_shorts(self.words, place, result, self.factors.add(channel));
            }
        }
    }
}
