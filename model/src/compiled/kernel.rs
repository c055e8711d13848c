//! The inner loops of convolutions by definition in single precision, for each instruction set. All
//! `unsafe` of inference is here, in the kernels for narrow numbers and for minimal filtering
//! (`winograd`), and in the measurement of a core's peak.
//!
//! A kernel takes one row of the board at a time and keeps the sums of its up to ten pixels for a
//! strip of output channels in registers, while weights stream by and inputs are broadcast. Each
//! sum is one chain of fused multiply-adds in a fixed order, so AVX2 and AVX-512 give the same
//! bits.

use super::conv::{After, BLOCK};

/// Instruction sets that there are kernels for, fastest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// Whatever the target of the build has.
    Portable,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors: AVX-512 F, BW, DQ and VL, as every such CPU since 2017 has them.
    Avx512,
}

impl SimdLevel {
    /// The levels that this machine can run, slowest first.
    pub fn available() -> Vec<SimdLevel> {
        let mut levels = vec![SimdLevel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                levels.push(SimdLevel::Avx2);
            }
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
            let narrow =
                is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl");
            if wide && narrow {
                levels.push(SimdLevel::Avx512);
            }
        }
        levels
    }

    /// The fastest level that this machine can run.
    pub fn best() -> SimdLevel {
        SimdLevel::available().pop().unwrap_or(SimdLevel::Portable)
    }

    /// Runs plain Rust code with the vectors of this level: what is inlined into `work` is compiled
    /// for them. No sums are reordered or fused, so every level gives the same bits.
    #[inline]
    pub(crate) fn vectorize<R>(self, work: impl FnOnce() -> R) -> R {
        match self {
            SimdLevel::Portable => work(),
            // SAFETY: levels come from `SimdLevel::available`, which has asked the CPU.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { x86::with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { x86::with_avx512(work) },
            #[cfg(not(target_arch = "x86_64"))]
            SimdLevel::Avx2 | SimdLevel::Avx512 => work(),
        }
    }

    /// Output channels that a kernel computes at once; weights are packed in strips of as many.
    pub(super) fn strip(self) -> usize {
        match self {
            SimdLevel::Portable => 16,
            SimdLevel::Avx2 => 8,
            SimdLevel::Avx512 => 32,
        }
    }
}

/// One convolution of one position, all lengths checked by [`run`].
///
/// Activations are blocks of [`BLOCK`] channels, each block `[ranks + 2][files + 2][BLOCK]` with a
/// border of zeros. Weights are `[strips][taps²][inputs][strip]`.
pub struct Job<'a> {
    pub files: usize,
    pub ranks: usize,
    /// Input channels: a multiple of four, which may end within a block.
    pub inputs: usize,
    /// Blocks of output channels.
    pub out_blocks: usize,
    /// 3 for a 3×3 convolution, 1 for a 1×1.
    pub taps: usize,
    pub input: &'a [f32],
    pub weights: &'a [f32],
    /// One for each output channel.
    pub bias: &'a [f32],
    pub out: &'a mut [f32],
    pub after: After,
}

/// Runs a convolution with the kernel of `level`.
///
/// # Panics
/// If a slice is too short for the job or the board wider than ten files.
pub fn run(level: SimdLevel, job: Job) {
    let block = (job.files + 2) * (job.ranks + 2) * BLOCK;
    assert!(
        job.input.len() >= job.inputs.div_ceil(BLOCK) * block,
        "input of a convolution"
    );
    assert!(
        job.out.len() >= job.out_blocks * block,
        "output of a convolution"
    );
    assert_eq!(
        job.bias.len(),
        job.out_blocks * BLOCK,
        "bias of a convolution"
    );
    let weights = job.out_blocks * BLOCK * job.taps * job.taps * job.inputs;
    assert_eq!(job.weights.len(), weights, "weights of a convolution");
    match job.taps {
        1 => run_taps::<1>(level, job),
        3 => run_taps::<3>(level, job),
        taps => panic!("there is no kernel for {taps}x{taps} convolutions"),
    }
}

/// Files of the widest board.
pub(super) const WIDEST: usize = 10;

fn run_taps<const TAPS: usize>(level: SimdLevel, job: Job) {
    match job.files {
        1 => run_width::<TAPS, 1>(level, job),
        2 => run_width::<TAPS, 2>(level, job),
        3 => run_width::<TAPS, 3>(level, job),
        4 => run_width::<TAPS, 4>(level, job),
        5 => run_width::<TAPS, 5>(level, job),
        6 => run_width::<TAPS, 6>(level, job),
        7 => run_width::<TAPS, 7>(level, job),
        8 => run_width::<TAPS, 8>(level, job),
        9 => run_width::<TAPS, 9>(level, job),
        10 => run_width::<TAPS, 10>(level, job),
        files => panic!("there is no kernel for boards of {files} files"),
    }
}

fn run_width<const TAPS: usize, const FILES: usize>(level: SimdLevel, job: Job) {
    match level {
        SimdLevel::Portable => portable::<TAPS, FILES>(job),
        // SAFETY: levels come from `SimdLevel::available`, which has asked the CPU; `run` has
        // checked the lengths of all slices.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::avx2::<TAPS, FILES>(job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::avx512::<TAPS, FILES>(job) },
        #[cfg(not(target_arch = "x86_64"))]
        SimdLevel::Avx2 | SimdLevel::Avx512 => portable::<TAPS, FILES>(job),
    }
}

/// The taps of a 3×3 convolution's kernel rows that lie on the board for output rank `y`; the
/// border beyond is zero and would add nothing.
#[inline(always)]
pub(super) fn kernel_rows<const TAPS: usize>(y: usize, ranks: usize) -> std::ops::Range<usize> {
    match TAPS {
        1 => 0..1,
        _ => usize::from(y == 0)..TAPS - usize::from(y + 1 == ranks),
    }
}

/// Border pixels before the first tap: a 1×1 kernel starts inside the border.
pub(super) const fn inset(taps: usize) -> usize {
    if taps == 1 { 1 } else { 0 }
}

/// Adds to each sum its weights times the inputs, four inputs at a time: the shape that compilers
/// turn into vectors of any width without help from link-time optimisation.
#[inline(always)]
fn accumulate<const STRIP: usize>(
    sums: &mut [f32; STRIP],
    taps: &[[f32; STRIP]],
    inputs: &[f32; BLOCK],
) {
    for ([a, b, c, d], x) in taps
        .as_chunks::<4>()
        .0
        .iter()
        .zip(inputs.as_chunks::<4>().0)
    {
        for (t, sum) in sums.iter_mut().enumerate() {
            *sum = *sum + a[t] * x[0] + b[t] * x[1] + c[t] * x[2] + d[t] * x[3];
        }
    }
}

/// The kernel in plain Rust, one pixel at a time.
fn portable<const TAPS: usize, const FILES: usize>(job: Job) {
    const STRIP: usize = 16;
    let row = FILES + 2;
    let block = (job.ranks + 2) * row * BLOCK;
    for strip in 0..job.out_blocks * BLOCK / STRIP {
        let weights = &job.weights[strip * TAPS * TAPS * job.inputs * STRIP..];
        let bias = &job.bias[strip * STRIP..][..STRIP];
        for y in 0..job.ranks {
            let mut sums = [[0f32; STRIP]; FILES];
            for ky in kernel_rows::<TAPS>(y, job.ranks) {
                for kx in 0..TAPS {
                    let first = (y + ky + inset(TAPS)) * row + kx + inset(TAPS);
                    let taps =
                        &weights[(ky * TAPS + kx) * job.inputs * STRIP..][..job.inputs * STRIP];
                    for (b, taps) in taps.chunks(BLOCK * STRIP).enumerate() {
                        let input = &job.input[b * block + first * BLOCK..][..FILES * BLOCK];
                        let taps = taps.as_chunks::<STRIP>().0;
                        for (sum, pixel) in sums.iter_mut().zip(input.as_chunks::<BLOCK>().0) {
                            accumulate(sum, taps, pixel);
                        }
                    }
                }
            }
            let lane = strip * STRIP;
            let start = lane / BLOCK * block + ((y + 1) * row + 1) * BLOCK + lane % BLOCK;
            for (p, sum) in sums.iter().enumerate() {
                let out = &mut job.out[start + p * BLOCK..][..STRIP];
                for ((o, s), b) in out.iter_mut().zip(sum).zip(bias) {
                    *o = match job.after {
                        After::Keep => s + b,
                        After::Relu => (s + b).max(0.0),
                        After::AddRelu => (s + b + *o).max(0.0),
                    };
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{After, BLOCK, Job, WIDEST, inset, kernel_rows};

    /// A row of the board on a cache line's border.
    #[repr(align(64))]
    struct Row<T>([T; WIDEST]);

    /// # Safety
    /// The CPU has the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub unsafe fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// # Safety
    /// The CPU has the features.
    #[target_feature(enable = "avx2,fma")]
    pub unsafe fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// Multiplies and adds one tap of the pixels `$pixels` with all `$inputs`, where `$x` is the
    /// first pixel in the first block of channels and `$w` the first weight.
    macro_rules! tap {
        ($sums:ident, $inputs:expr, $x:ident, $block:ident, $w:ident, $pixels:expr, $strip:ident,
         $lanes:literal x $vectors:literal, $zero:ident, $splat:ident, $load:ident, $fma:ident) => {
            let mut done = 0;
            while done < $inputs {
                let count = ($inputs - done).min(BLOCK);
                // SAFETY: there is a block of channel `done` with these pixels, and the tap has
                // weights for `$inputs` channels, of which `done` are used up.
                unsafe {
                    let (x, w) = ($x.add(done / BLOCK * $block), $w.add(done * $strip));
                    for i in 0..count {
                        let mut ws = [$zero(); $vectors];
                        for v in 0..$vectors {
                            ws[v] = $load(w.add(i * $strip + v * $lanes));
                        }
                        for p in $pixels {
                            let x = $splat(*x.add(p * BLOCK + i));
                            for v in 0..$vectors {
                                $sums[p][v] = $fma(ws[v], x, $sums[p][v]);
                            }
                        }
                    }
                }
                done += count;
            }
        };
    }

    /// Writes the kernel for one kind of vector. `$vectors` of `$lanes` floats make a strip.
    macro_rules! kernel {
        ($name:ident, $features:literal, $vector:ty, $lanes:literal x $vectors:literal,
         $zero:ident, $splat:ident, $load:ident, $store:ident, $fma:ident, $add:ident, $max:ident) => {
            /// # Safety
            /// The CPU has the features, and `job` has passed the checks of [`super::run`].
            #[target_feature(enable = $features)]
            pub unsafe fn $name<const TAPS: usize, const FILES: usize>(job: Job) {
                const STRIP: usize = $lanes * $vectors;
                let row = FILES + 2;
                let block = (job.ranks + 2) * row * BLOCK;
                let tap = job.inputs * STRIP;
                let (input, out) = (job.input.as_ptr(), job.out.as_mut_ptr());
                let mut done = Row([[$zero(); $vectors]; WIDEST]);
                for strip in 0..job.out_blocks * BLOCK / STRIP {
                    let lane = strip * STRIP;
                    // SAFETY: `strip` counts the strips that weights and bias have.
                    let (weights, bias) = unsafe {
                        (
                            job.weights.as_ptr().add(strip * TAPS * TAPS * tap),
                            job.bias.as_ptr().add(lane),
                        )
                    };
                    for y in 0..job.ranks {
                        let mut sums = [[$zero(); $vectors]; FILES];
                        for ky in kernel_rows::<TAPS>(y, job.ranks) {
                            let first = (y + ky + inset(TAPS)) * row + inset(TAPS);
                            macro_rules! tap_of {
                                            ($kx:expr, $pixels:expr) => {
                                                // SAFETY: the pixels from `first + $kx` on are within the
                                                // border of each block of channels; the weights have TAPS²
                                                // taps.
                                                let (x, w) = unsafe {
                                                    (
                                                        input.add((first + $kx) * BLOCK),
                                                        weights.add((ky * TAPS + $kx) * tap),
                                                    )
                                                };
                                                tap!(
                                                    sums, job.inputs, x, block, w, $pixels, STRIP,
                                                    $lanes x $vectors, $zero, $splat, $load, $fma
                                                );
                                            };
                                        }
                            // The columns beyond the board would add nothing either.
                            if TAPS == 1 {
                                tap_of!(0, 0..FILES);
                            } else {
                                tap_of!(0, 1..FILES);
                                tap_of!(1, 0..FILES);
                                tap_of!(2, 0..FILES - 1);
                            }
                        }
                        let start =
                            lane / BLOCK * block + ((y + 1) * row + 1) * BLOCK + lane % BLOCK;
                        // Through memory, so that the loop over all that is done to a result need
                        // not be unrolled for the sums above to stay in registers.
                        for p in 0..FILES {
                            for v in 0..$vectors {
                                done.0[p][v] = sums[p][v];
                            }
                        }
                        for (p, sums) in done.0.iter().enumerate().take(FILES) {
                            for (v, &sum) in sums.iter().enumerate() {
                                // SAFETY: pixel `p` of rank `y` is on the board, and the strip is
                                // within one of the blocks that `out` has.
                                unsafe {
                                    let o = out.add(start + p * BLOCK + v * $lanes);
                                    let sum = $add(sum, $load(bias.add(v * $lanes)));
                                    let sum = match job.after {
                                        After::Keep => sum,
                                        After::Relu => $max(sum, $zero()),
                                        After::AddRelu => $max($add(sum, $load(o)), $zero()),
                                    };
                                    $store(o, sum);
                                }
                            }
                        }
                    }
                }
            }
        };
    }

    kernel!(
        avx512, "avx512f", __m512, 16 x 2,
        _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
        _mm512_fmadd_ps, _mm512_add_ps, _mm512_max_ps
    );

    kernel!(
        avx2, "avx2,fma", __m256, 8 x 1,
        _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
        _mm256_fmadd_ps, _mm256_add_ps, _mm256_max_ps
    );
}
