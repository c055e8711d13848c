//! The kernels in instructions of x86.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::super::kernel::{WIDEST, inset, kernel_rows};
use super::{After, BLOCK, NarrowJob};

/// Multiplies and adds one tap of the pixels `$from..$to` with all words of the inputs.
macro_rules! tap {
    ($sums:ident, $job:ident, $place:expr, $cells:ident, $weights:expr, $pixels:expr,
     $words:ident, $strip:ident, $lanes:literal x $vectors:literal,
     $zero:ident, $splat:ident, $load:ident, $dot:ident) => {
        let inputs = $job.inputs * $words / BLOCK;
        let mut done = 0;
        while done < inputs {
            let count = (inputs - done).min($words);
            // SAFETY: the pixels from `$place` on are within the border of the block of word
            // `done`; the weights of this tap have `inputs` groups of a strip, of which `done`
            // are used up.
            unsafe {
                let x = $job.input.as_ptr();
                let x = x.add((done / $words * $cells + $place) * $words);
                let w = $weights.add(done * $strip);
                for i in 0..count {
                    let mut ws = [$zero(); $vectors];
                    for v in 0..$vectors {
                        ws[v] = $load(w.add(i * $strip + v * $lanes).cast());
                    }
                    for p in $pixels {
                        let x = $splat(*x.add(p * $words + i) as i32);
                        for v in 0..$vectors {
                            $sums[p][v] = $dot($sums[p][v], x, ws[v]);
                        }
                    }
                }
            }
            done += count;
        }
    };
}

/// Writes the kernel for one kind of vector. `$vectors` of `$lanes` sums make a strip.
macro_rules! kernel {
    ($name:ident, $features:literal, $vector:ty, $lanes:literal x $vectors:literal,
     words $per_block:literal, $zero:ident, $sum_zero:ident, $splat:ident, $load:ident,
     $dot:ident, $finish:ident, $narrow:ident,
     $float_zero:ident, $float_load:ident, $float_store:ident, $add:ident, $max:ident) => {
        /// # Safety
        /// The CPU has the features, and `job` has passed the checks of [`super::run`].
        #[target_feature(enable = $features)]
        pub unsafe fn $name<const TAPS: usize, const FILES: usize>(mut job: NarrowJob) {
            const STRIP: usize = $lanes * $vectors;
            const WORDS: usize = $per_block;
            let row = FILES + 2;
            let cells = (job.ranks + 2) * row;
            let tap = job.inputs * WORDS / BLOCK * STRIP;
            let wide = job.sums.wide.as_mut().map(|wide| wide.as_mut_ptr());
            let narrow = job.sums.narrow.as_mut();
            let narrow = narrow.map(|(words, factors)| (words.as_mut_ptr(), factors.as_ptr()));
            let mut done = Row([[$sum_zero(); $vectors]; WIDEST]);
            for strip in 0..job.out_blocks * BLOCK / STRIP {
                let lane = strip * STRIP;
                // SAFETY: `strip` counts the strips that weights, scale and bias have.
                let (weights, scale, bias) = unsafe {
                    (
                        job.weights.as_ptr().add(strip * TAPS * TAPS * tap),
                        job.sums.scale.as_ptr().add(lane),
                        job.sums.bias.as_ptr().add(lane),
                    )
                };
                for y in 0..job.ranks {
                    let mut sums: [[$vector; $vectors]; FILES] = [[$sum_zero(); $vectors]; FILES];
                    for ky in kernel_rows::<TAPS>(y, job.ranks) {
                        let first = (y + ky + inset(TAPS)) * row + inset(TAPS);
                        // SAFETY: there are TAPS² taps.
                        let weights = unsafe { weights.add(ky * TAPS * tap) };
                        macro_rules! tap_of {
                                                ($kx:expr, $pixels:expr) => {
                                                    tap!(
                                                        sums, job, first + $kx, cells,
                                                        weights.wrapping_add($kx * tap), $pixels,
                                                        WORDS, STRIP, $lanes x $vectors,
                                                        $zero, $splat, $load, $dot
                                                    );
                                                };
                                            }
                        if TAPS == 1 {
                            tap_of!(0, 0..FILES);
                        } else {
                            tap_of!(0, 1..FILES);
                            tap_of!(1, 0..FILES);
                            tap_of!(2, 0..FILES - 1);
                        }
                    }
                    // Through memory, so that the loop over all that is done to a result need
                    // not be unrolled for the sums above to stay in registers.
                    for p in 0..FILES {
                        for v in 0..$vectors {
                            done.0[p][v] = sums[p][v];
                        }
                    }
                    let place = lane / BLOCK * cells + (y + 1) * row + 1;
                    for (p, sums) in done.0.iter().enumerate().take(FILES) {
                        for (v, &sum) in sums.iter().enumerate() {
                            let at = (place + p) * BLOCK + lane % BLOCK + v * $lanes;
                            // SAFETY: pixel `p` of rank `y` is on the board, and the strip is
                            // within one of the blocks that the outputs, scale, bias and
                            // factors have.
                            unsafe {
                                let shift = v * $lanes;
                                let mut sum = $finish(sum, scale.add(shift), bias.add(shift));
                                if let (After::AddRelu, Some(wide)) = (job.sums.after, wide) {
                                    sum = $add(sum, $float_load(wide.add(at)));
                                }
                                if job.sums.after != After::Keep {
                                    sum = $max(sum, $float_zero());
                                }
                                if let Some(wide) = wide {
                                    $float_store(wide.add(at), sum);
                                }
                                if let Some((words, factors)) = narrow {
                                    $narrow(words, at, sum, factors.add(lane + shift));
                                }
                            }
                        }
                    }
                }
            }
        }
    };
}

/// A row of the board on a cache line's border.
#[repr(align(64))]
struct Row<T>([T; WIDEST]);

kernel!(
    int8_vnni, "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni", __m512i, 16 x 2, words 8,
    _mm512_setzero_si512, _mm512_setzero_si512, _mm512_set1_epi32, _mm512_loadu_si512,
    dot_bytes, scaled_512, store_bytes,
    _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_max_ps
);

kernel!(
    bf16, "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16", __m512, 16 x 2, words 16,
    _mm512_setzero_si512, _mm512_setzero_ps, _mm512_set1_epi32, _mm512_loadu_si512,
    dot_bf16, biased, store_bf16,
    _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_max_ps
);

kernel!(
    int8_avx2, "avx2,fma", __m256i, 8 x 1, words 16,
    _mm256_setzero_si256, _mm256_setzero_si256, _mm256_set1_epi32, _mm256_loadu_si256,
    dot_shorts, scaled_256, store_shorts,
    _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_max_ps
);

/// sum + the four products of bytes of each word.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dot_bytes(sum: __m512i, x: __m512i, w: __m512i) -> __m512i {
    _mm512_dpbusd_epi32(sum, x, w)
}

/// sum + the two products of each word.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn dot_bf16(sum: __m512, x: __m512i, w: __m512i) -> __m512 {
    // SAFETY: both types are 512 bits of plain data.
    let (x, w) = unsafe {
        (
            transmute::<__m512i, __m512bh>(x),
            transmute::<__m512i, __m512bh>(w),
        )
    };
    _mm512_dpbf16_ps(sum, x, w)
}

/// sum + the two products of each word.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_shorts(sum: __m256i, x: __m256i, w: __m256i) -> __m256i {
    _mm256_add_epi32(sum, _mm256_madd_epi16(x, w))
}

/// sum · scale + bias, both roundings done as in the portable kernel.
///
/// # Safety
/// There are as many scales and biases as sums.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn scaled_512(sum: __m512i, scale: *const f32, bias: *const f32) -> __m512 {
    // SAFETY: the caller's promise.
    let (scale, bias) = unsafe { (_mm512_loadu_ps(scale), _mm512_loadu_ps(bias)) };
    _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale), bias)
}

/// As [`scaled_512`].
///
/// # Safety
/// There are as many scales and biases as sums.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn scaled_256(sum: __m256i, scale: *const f32, bias: *const f32) -> __m256 {
    // SAFETY: the caller's promise.
    let (scale, bias) = unsafe { (_mm256_loadu_ps(scale), _mm256_loadu_ps(bias)) };
    _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale), bias)
}

/// sum + bias.
///
/// # Safety
/// There are as many biases as sums.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn biased(sum: __m512, _scale: *const f32, bias: *const f32) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe { _mm512_add_ps(sum, _mm512_loadu_ps(bias)) }
}

/// Stores numbers that are not negative, times their factors, as bytes from channel `at` on.
///
/// # Safety
/// There are as many factors, and as many channels in `out`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_bytes(out: *mut u32, at: usize, x: __m512, factors: *const f32) {
    // SAFETY: the caller's promise.
    unsafe {
        let rounded = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_loadu_ps(factors)));
        // What is too large for 32 bits has become 2³¹, which saturates as well.
        let out = out.cast::<u8>().add(at);
        _mm_storeu_si128(out.cast(), _mm512_cvtusepi32_epi8(rounded));
    }
}

/// As [`store_bytes`], with 16 bits for each.
///
/// # Safety
/// There are as many factors, and as many channels in `out`.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn store_shorts(out: *mut u32, at: usize, x: __m256, factors: *const f32) {
    // SAFETY: the caller's promise.
    unsafe {
        let scaled = _mm256_mul_ps(x, _mm256_loadu_ps(factors));
        let rounded = _mm256_cvtps_epi32(_mm256_min_ps(scaled, _mm256_set1_ps(255.0)));
        let (low, high) = (
            _mm256_castsi256_si128(rounded),
            _mm256_extracti128_si256::<1>(rounded),
        );
        let out = out.cast::<u16>().add(at);
        _mm_storeu_si128(out.cast(), _mm_packus_epi32(low, high));
    }
}

/// Stores numbers rounded to bfloat16 from channel `at` on.
///
/// # Safety
/// There are as many channels in `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn store_bf16(out: *mut u32, at: usize, x: __m512, _factors: *const f32) {
    // SAFETY: the caller's promise; both types are 256 bits of plain data.
    unsafe {
        let short = transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(x));
        _mm256_storeu_si256(out.cast::<u16>().add(at).cast(), short);
    }
}
