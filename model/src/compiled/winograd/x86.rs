//! The kernels in instructions of x86.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::kernel::{FloatSums, WinogradJob, convolve_floats};
use super::vector::{FloatVector, Numbers, Vector};

/// Implements a vector by intrinsics.
macro_rules! vector {
    ($vector:ty, $lanes:literal, $zero:ident, $load:ident, $store:ident,
     $add:ident, $sub:ident, $max:ident) => {
        // SAFETY, of all functions: the caller's promises.
        impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                unsafe { $sub(self, other) }
            }
        }

        impl FloatVector for $vector {
            #[inline(always)]
            unsafe fn relu(self) -> Self {
                unsafe { $max(self, $zero()) }
            }
        }
    };
}

vector!(
    __m256,
    8,
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_max_ps
);

vector!(
    __m512,
    16,
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_max_ps
);

/// Two vectors as one, which fill a vector of narrow numbers.
#[derive(Clone, Copy)]
pub struct Twice<V>(pub V, pub V);

// SAFETY, of all functions: the caller's promises.
impl<V: Vector> Vector for Twice<V> {
    const LANES: usize = 2 * V::LANES;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Twice(V::zero(), V::zero()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        unsafe { Twice(V::load(from), V::load(from.add(V::LANES))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe {
            self.0.store(to);
            self.1.store(to.add(V::LANES));
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe { Twice(self.0.add(other.0), self.1.add(other.1)) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        unsafe { Twice(self.0.sub(other.0), self.1.sub(other.1)) }
    }
}

/// Implements numbers by intrinsics, and writes the kernel for them.
macro_rules! kernel {
    ($numbers:ident, $kernel:ident, $features:literal, $tiles:literal tiles,
     $inputs:ty, $sums:ty, $words:ty: $per_word:literal inputs,
     $splat:ident, $load:ident, |$x:ident, $to:ident| $store:expr,
     |$sum:ident, $input:ident, $weight:ident| $multiply_add:expr) => {
        pub struct $numbers;

        // SAFETY, of all functions: the caller's promises.
        impl Numbers for $numbers {
            type Inputs = $inputs;
            type Sums = $sums;
            type Words = $words;
            const INPUTS_PER_WORD: usize = $per_word;
            const TILES: usize = $tiles;

            #[inline(always)]
            unsafe fn store_inputs($x: $inputs, $to: *mut u32) {
                unsafe { $store }
            }

            #[inline(always)]
            unsafe fn load(from: *const u32) -> $words {
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn splat(word: u32) -> $words {
                unsafe { $splat(word as i32) }
            }

            #[inline(always)]
            unsafe fn multiply_add($sum: $sums, $input: $words, $weight: $words) -> $sums {
                unsafe { $multiply_add }
            }

            #[inline(always)]
            unsafe fn prefetch(address: *const u32) {
                unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
            }
        }

        /// # Safety
        /// The CPU has the features, and the job has passed the checks of [`super::kernel::run`].
        #[target_feature(enable = $features)]
        pub unsafe fn $kernel(job: WinogradJob<f32>, sums: FloatSums) {
            // SAFETY: the caller's promises.
            unsafe { convolve_floats::<$numbers>(job, sums) }
        }
    };
}

kernel!(
    Avx2, convolve_avx2, "avx2,fma", 6 tiles,
    __m256, __m256, __m256i: 1 inputs, _mm256_set1_epi32, _mm256_loadu_si256,
    |x, to| x.store(to.cast()),
    |sum, x, w| _mm256_fmadd_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(w), sum)
);

kernel!(
    Avx512, convolve_avx512, "avx512f", 12 tiles,
    __m512, __m512, __m512i: 1 inputs, _mm512_set1_epi32, _mm512_loadu_si512,
    |x, to| x.store(to.cast()),
    |sum, x, w| _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(w), sum)
);

kernel!(
    Bf16, convolve_bf16, "avx512f,avx512bf16", 12 tiles,
    Twice<__m512>, __m512, __m512i: 2 inputs, _mm512_set1_epi32, _mm512_loadu_si512,
    |x, to| _mm512_storeu_si512(
        to.cast(),
        transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(x.1, x.0)),
    ),
    |sum, x, w| _mm512_dpbf16_ps(
        sum,
        transmute::<__m512i, __m512bh>(x),
        transmute::<__m512i, __m512bh>(w),
    )
);
