//! The inner loops of the convolutions with numbers of 8 and 16 bits, for each instruction set.
//!
//! They work as those in single precision do: one row of the board at a time, the sums of its up to
//! ten pixels for a strip of output channels in registers, weights streaming by, inputs broadcast.
//! What is broadcast is a 32-bit *word* of two or four neighbouring channels, and an instruction
//! multiplies and adds as many at once. The taps of the left and right columns beyond the board are
//! left out like those of the ranks beyond it.
//!
//! Sums of integers are exact, and what is made of them takes the same roundings in the same order
//! everywhere, so that all kernels for 8 bits give the same bits. The kernel for bfloat16 adds two
//! products at a time, rounds each sum to the nearest, and takes denormal numbers for zero, as the
//! instruction does.

#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use super::conv::{After, BLOCK};
use super::kernel::{SimdLevel, inset, kernel_rows};
use super::precision::Precision;

/// The kernels, of which each has its own order of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NarrowKernel {
    /// AVX-512 BF16.
    Bf16,
    /// AVX-512 VNNI: words of four bytes.
    Int8Vnni,
    /// AVX2, which has no exact products of bytes: inputs and weights are kept in 16 bits.
    Int8Avx2,
    /// Plain Rust, with numbers of 16 bits as well.
    Int8Portable,
}

impl NarrowKernel {
    /// The kernel for this precision at this level, if the machine has the instructions.
    pub fn choose(precision: Precision, level: SimdLevel) -> Option<NarrowKernel> {
        match (precision, level) {
            (Precision::F32, _) => None,
            (Precision::Bf16, SimdLevel::Avx512) => has_bf16().then_some(NarrowKernel::Bf16),
            (Precision::Bf16, _) => None,
            (Precision::Int8, SimdLevel::Avx512) if has_vnni() => Some(NarrowKernel::Int8Vnni),
            (Precision::Int8, SimdLevel::Avx512 | SimdLevel::Avx2) => Some(NarrowKernel::Int8Avx2),
            (Precision::Int8, SimdLevel::Portable) => Some(NarrowKernel::Int8Portable),
        }
    }

    /// Input channels in a word.
    #[inline]
    pub fn inputs_per_word(self) -> usize {
        match self {
            NarrowKernel::Int8Vnni => 4,
            NarrowKernel::Bf16 | NarrowKernel::Int8Avx2 | NarrowKernel::Int8Portable => 2,
        }
    }

    /// Words of a block of channels of one cell.
    #[inline]
    pub fn words(self) -> usize {
        BLOCK / self.inputs_per_word()
    }

    /// Output channels that the kernel computes at once; weights are packed in strips of as many.
    pub fn strip(self) -> usize {
        match self {
            NarrowKernel::Bf16 | NarrowKernel::Int8Vnni => 32,
            NarrowKernel::Int8Avx2 => 8,
            NarrowKernel::Int8Portable => 16,
        }
    }
}

fn has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

fn has_vnni() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// One convolution of one position, all lengths checked by [`run`].
///
/// Inputs are blocks of [`BLOCK`] channels, each `[ranks + 2][files + 2]` cells of
/// [`words`](NarrowKernel::words) with a border of zeros; weights are
/// `[strips][taps²][words of inputs][strip]`.
pub struct NarrowJob<'a> {
    pub files: usize,
    pub ranks: usize,
    /// Input channels: a multiple of eight, which may end within a block.
    pub inputs: usize,
    /// Blocks of output channels.
    pub out_blocks: usize,
    /// 3 for a 3×3 convolution, 1 for a 1×1.
    pub taps: usize,
    pub input: &'a [u32],
    pub weights: &'a [u32],
    pub sums: NarrowSums<'a>,
}

/// What becomes of the sums of a convolution.
pub struct NarrowSums<'a> {
    /// What a unit of an integer sum is worth, one for each output channel; not used by bfloat16.
    pub scale: &'a [f32],
    /// One for each output channel.
    pub bias: &'a [f32],
    pub after: After,
    /// Where results go in single precision; what they are added to with [`After::AddRelu`].
    pub wide: Option<&'a mut [f32]>,
    /// Where results go in the format of the inputs, and by what they are multiplied before they
    /// are rounded to integers, one for each output channel; not with [`After::Keep`].
    pub narrow: Option<(&'a mut [u32], &'a [f32])>,
}

impl NarrowSums<'_> {
    /// Checks all lengths for so many blocks of outputs of so many cells, border included.
    ///
    /// # Panics
    /// If a slice is too short, or there is no place for the results.
    pub fn check(&self, kernel: NarrowKernel, out_blocks: usize, cells: usize) {
        let channels = out_blocks * BLOCK;
        assert_eq!(
            (self.scale.len(), self.bias.len()),
            (channels, channels),
            "scale and bias of a convolution"
        );
        if let Some(wide) = &self.wide {
            assert!(wide.len() >= channels * cells, "output of a convolution");
        }
        if let Some((narrow, factors)) = &self.narrow {
            assert!(
                narrow.len() >= out_blocks * kernel.words() * cells && factors.len() == channels,
                "narrow output of a convolution"
            );
        }
        let fits = match self.after {
            After::Keep => self.narrow.is_none() && self.wide.is_some(),
            After::Relu => self.narrow.is_some() || self.wide.is_some(),
            After::AddRelu => self.wide.is_some(),
        };
        assert!(fits, "outputs of a convolution with {:?}", self.after);
    }
}

/// Runs a convolution.
///
/// # Panics
/// If a slice is too short for the job, the board wider than ten files, or there is no place for
/// the results.
pub fn run(kernel: NarrowKernel, job: NarrowJob) {
    let cells = (job.files + 2) * (job.ranks + 2);
    let words = kernel.words() * cells;
    assert!(
        job.input.len() >= job.inputs.div_ceil(BLOCK) * words,
        "input of a convolution"
    );
    let inputs = job.inputs / kernel.inputs_per_word();
    assert_eq!(
        job.weights.len(),
        job.out_blocks * BLOCK * job.taps * job.taps * inputs,
        "weights of a convolution"
    );
    job.sums.check(kernel, job.out_blocks, cells);
    match job.taps {
        1 => run_taps::<1>(kernel, job),
        3 => run_taps::<3>(kernel, job),
        taps => panic!("there is no kernel for {taps}x{taps} convolutions"),
    }
}

fn run_taps<const TAPS: usize>(kernel: NarrowKernel, job: NarrowJob) {
    match job.files {
        1 => run_width::<TAPS, 1>(kernel, job),
        2 => run_width::<TAPS, 2>(kernel, job),
        3 => run_width::<TAPS, 3>(kernel, job),
        4 => run_width::<TAPS, 4>(kernel, job),
        5 => run_width::<TAPS, 5>(kernel, job),
        6 => run_width::<TAPS, 6>(kernel, job),
        7 => run_width::<TAPS, 7>(kernel, job),
        8 => run_width::<TAPS, 8>(kernel, job),
        9 => run_width::<TAPS, 9>(kernel, job),
        10 => run_width::<TAPS, 10>(kernel, job),
        files => panic!("there is no kernel for boards of {files} files"),
    }
}

fn run_width<const TAPS: usize, const FILES: usize>(kernel: NarrowKernel, job: NarrowJob) {
    match kernel {
        NarrowKernel::Int8Portable => portable::<TAPS, FILES>(job),
        // SAFETY: kernels come from `NarrowKernel::choose`, which has asked the CPU for the
        // instruction, and whose levels come from `SimdLevel::available`, which has asked for the
        // vectors; `run` has checked the lengths of all slices.
        #[cfg(target_arch = "x86_64")]
        NarrowKernel::Bf16 => unsafe { x86::bf16::<TAPS, FILES>(job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        NarrowKernel::Int8Vnni => unsafe { x86::int8_vnni::<TAPS, FILES>(job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        NarrowKernel::Int8Avx2 => unsafe { x86::int8_avx2::<TAPS, FILES>(job) },
        #[cfg(not(target_arch = "x86_64"))]
        kernel => unreachable!("{kernel:?} is chosen only where the CPU has it"),
    }
}

/// The nearest integer in 0..=255, ties to even, of a number that is not NaN.
#[inline(always)]
pub fn byte(x: f32) -> u32 {
    // Adding 1.5 · 2²³ leaves no bits for a fraction, and the integer in the lowest ones.
    (x.clamp(0.0, 255.0) + 12_582_912.0).to_bits() & 0xff
}

/// Both halves of a word.
#[inline(always)]
fn halves(word: u32) -> (i32, i32) {
    (i32::from(word as i16), word as i32 >> 16)
}

/// The kernel for 8 bits in plain Rust, one pixel at a time.
fn portable<const TAPS: usize, const FILES: usize>(mut job: NarrowJob) {
    const STRIP: usize = 16;
    const WORDS: usize = BLOCK / 2;
    let row = FILES + 2;
    let cells = (job.ranks + 2) * row;
    let tap_len = job.inputs / 2 * STRIP;
    for strip in 0..job.out_blocks * BLOCK / STRIP {
        let weights = &job.weights[strip * TAPS * TAPS * tap_len..];
        for y in 0..job.ranks {
            let mut sums = [[0i32; STRIP]; FILES];
            for ky in kernel_rows::<TAPS>(y, job.ranks) {
                for kx in 0..TAPS {
                    let first = (y + ky + inset(TAPS)) * row + kx + inset(TAPS);
                    let taps = &weights[(ky * TAPS + kx) * tap_len..][..tap_len];
                    for (b, taps) in taps.chunks(WORDS * STRIP).enumerate() {
                        let input = &job.input[(b * cells + first) * WORDS..][..FILES * WORDS];
                        for (sum, pixel) in sums.iter_mut().zip(input.as_chunks::<WORDS>().0) {
                            for (taps, &x) in taps.as_chunks::<STRIP>().0.iter().zip(pixel) {
                                let x = halves(x);
                                for (sum, &w) in sum.iter_mut().zip(taps) {
                                    let w = halves(w);
                                    *sum += w.0 * x.0 + w.1 * x.1;
                                }
                            }
                        }
                    }
                }
            }
            let lane = strip * STRIP;
            let place = lane / BLOCK * cells + (y + 1) * row + 1;
            for (p, sums) in sums.iter().enumerate() {
                store(&mut job.sums, sums, lane, place + p);
            }
        }
    }
}

/// Stores a pixel's sums of the output channels from `lane` on at cell `place`.
pub fn store<const STRIP: usize>(
    to: &mut NarrowSums,
    sums: &[i32; STRIP],
    lane: usize,
    place: usize,
) {
    let mut results = [0f32; STRIP];
    for (i, result) in results.iter_mut().enumerate() {
        *result = sums[i] as f32 * to.scale[lane + i] + to.bias[lane + i];
    }
    if let Some(wide) = &mut to.wide {
        let wide = &mut wide[place * BLOCK + lane % BLOCK..][..STRIP];
        for (result, o) in results.iter_mut().zip(wide) {
            match to.after {
                After::Keep => {}
                After::Relu => *result = result.max(0.0),
                After::AddRelu => *result = (*result + *o).max(0.0),
            }
            *o = *result;
        }
    }
    if let Some((narrow, factors)) = &mut to.narrow {
        let words = &mut narrow[(place * BLOCK + lane % BLOCK) / 2..][..STRIP / 2];
        let scaled = |i: usize| byte(results[i] * factors[lane + i]);
        for (i, word) in words.iter_mut().enumerate() {
            *word = scaled(2 * i) | scaled(2 * i + 1) << 16;
        }
    }
}
