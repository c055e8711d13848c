//! The kernels and their choice at run time.

use std::marker::PhantomData;

use super::super::conv::{After, BLOCK, Grid};
use super::super::kernel::SimdLevel;
use super::super::narrow_kernel::NarrowKernel;
use super::super::precision::Precision;
use super::products::multiply;
use super::transform::{transform_inputs, transform_sums};
use super::vector::{Destination, FloatVector, Floats, Layout, Numbers, Portable, VECTORS, Vector};
use super::{ELEMENTS, WinogradScratch};

/// The kernels, of which each has its own order of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WinogradKernel {
    /// Floats in plain Rust.
    Portable,
    /// Floats with AVX2 and FMA.
    Avx2,
    /// Floats with AVX-512.
    Avx512,
    /// Transformed inputs and weights rounded to bfloat16, with AVX-512 BF16.
    Bf16,
}

impl WinogradKernel {
    /// The kernel for this precision at this level, if there is one.
    pub fn choose(precision: Precision, level: SimdLevel) -> Option<WinogradKernel> {
        match (precision, level) {
            (Precision::F32, SimdLevel::Portable) => Some(WinogradKernel::Portable),
            (Precision::F32, SimdLevel::Avx2) => Some(WinogradKernel::Avx2),
            (Precision::F32, SimdLevel::Avx512) => Some(WinogradKernel::Avx512),
            (Precision::Bf16, level) => {
                NarrowKernel::choose(Precision::Bf16, level).map(|_| WinogradKernel::Bf16)
            }
            // Integers are for `integer.rs`.
            (Precision::Int8, _) => None,
        }
    }

    /// Output channels that are computed at once; weights are packed in strips of as many.
    pub fn strip(self) -> usize {
        match self {
            WinogradKernel::Portable | WinogradKernel::Avx2 => 16,
            WinogradKernel::Avx512 | WinogradKernel::Bf16 => 32,
        }
    }

    /// Input channels in a word.
    pub fn inputs_per_word(self) -> usize {
        match self {
            WinogradKernel::Portable | WinogradKernel::Avx2 | WinogradKernel::Avx512 => 1,
            WinogradKernel::Bf16 => 2,
        }
    }
}

/// One convolution of one position.
pub struct WinogradJob<'a, W> {
    pub grid: Grid,
    /// Input channels, an even number.
    pub inputs: usize,
    /// Blocks of output channels.
    pub out_blocks: usize,
    /// Blocks of cells with their border.
    pub input: &'a [W],
    /// `[strips][elements][words of inputs][strip]`
    pub weights: &'a [u32],
    pub scratch: &'a mut WinogradScratch,
}

impl<W> WinogradJob<'_, W> {
    /// Checks all lengths for so many inputs in a word of transformed ones and of weights; `words` are
    /// those of a cell in a block.
    ///
    /// # Panics
    /// If a slice is too short for the job.
    pub fn check(&self, inputs_per_word: usize, words: usize) {
        let (in_blocks, channels) = (self.inputs.div_ceil(BLOCK), self.out_blocks * BLOCK);
        assert!(
            self.input.len() >= in_blocks * self.grid.bordered_cells() * words,
            "input of a convolution"
        );
        let words = self.inputs / inputs_per_word;
        assert_eq!(
            self.weights.len(),
            channels * ELEMENTS * words,
            "weights of a convolution"
        );
        assert!(
            self.scratch.fits(self.inputs),
            "scratch memory of a convolution"
        );
    }
}

/// Where the sums of floats go: with a bias for each channel into blocks of cells.
pub struct FloatSums<'a> {
    pub bias: &'a [f32],
    pub out: &'a mut [f32],
    pub after: After,
}

/// Runs a convolution of floats.
///
/// # Panics
/// If a slice is too short for the job.
pub fn run(kernel: WinogradKernel, job: WinogradJob<f32>, sums: FloatSums) {
    job.check(kernel.inputs_per_word(), BLOCK);
    assert!(
        sums.out.len() >= job.out_blocks * job.grid.block_floats(),
        "output of a convolution"
    );
    assert_eq!(
        sums.bias.len(),
        job.out_blocks * BLOCK,
        "bias of a convolution"
    );
    match kernel {
        // SAFETY: all lengths have been checked; plain Rust needs no features.
        WinogradKernel::Portable => unsafe { convolve_floats::<Portable>(job, sums) },
        // SAFETY: all lengths have been checked; kernels come from `WinogradKernel::choose`, whose
        // levels come from `SimdLevel::available`, which has asked the CPU.
        #[cfg(target_arch = "x86_64")]
        WinogradKernel::Avx2 => unsafe { super::x86::convolve_avx2(job, sums) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        WinogradKernel::Avx512 => unsafe { super::x86::convolve_avx512(job, sums) },
        // SAFETY: as above; `NarrowKernel::choose` has asked the CPU for the instruction.
        #[cfg(target_arch = "x86_64")]
        WinogradKernel::Bf16 => unsafe { super::x86::convolve_bf16(job, sums) },
        #[cfg(not(target_arch = "x86_64"))]
        kernel => unreachable!("{kernel:?} is chosen only where the CPU has it"),
    }
}

/// A convolution between floats.
///
/// # Safety
/// The CPU has the instructions of `N`, and the job has passed the checks of [`run`].
#[inline(always)]
pub(super) unsafe fn convolve_floats<N>(job: WinogradJob<f32>, sums: FloatSums)
where
    N: Numbers<Sums: FloatVector>,
{
    let mut destination = FloatCells::<N::Sums> {
        block: job.grid.block_floats(),
        bias: sums.bias.as_ptr(),
        out: sums.out.as_mut_ptr(),
        after: sums.after,
        vectors: PhantomData,
    };
    // SAFETY: the caller's promises; the destination has all outputs.
    unsafe { convolve::<N, Floats, _>(job, &mut destination) }
}

/// [`FloatSums`] for a kernel.
struct FloatCells<V> {
    /// Floats of a block.
    block: usize,
    bias: *const f32,
    out: *mut f32,
    after: After,
    vectors: PhantomData<V>,
}

impl<V: FloatVector> Destination for FloatCells<V> {
    type Sums = V;

    #[inline(always)]
    unsafe fn put(&mut self, channel: usize, cell: usize, sums: V) {
        // SAFETY: the caller's promises.
        unsafe {
            let place = channel / BLOCK * self.block + cell * BLOCK + channel % BLOCK;
            let out = self.out.add(place);
            let sums = sums.add(V::load(self.bias.add(channel)));
            let result = match self.after {
                After::Keep => sums,
                After::Relu => sums.relu(),
                After::AddRelu => sums.add(V::load(out)).relu(),
            };
            result.store(out);
        }
    }
}

/// The convolution, in the vectors of the function that it is inlined into.
///
/// # Safety
/// The CPU has the instructions of `N`, whose layout of weights is that of `job`, `job` has passed
/// its check for `L`, and `destination` has all outputs and cells.
#[inline(always)]
pub unsafe fn convolve<N: Numbers, L: Layout<N::Inputs>, D: Destination>(
    job: WinogradJob<L::Word>,
    destination: &mut D,
) {
    let strip_len = VECTORS * N::Sums::LANES;
    let words = job.inputs / N::INPUTS_PER_WORD;
    let WinogradScratch { inputs, sums } = job.scratch;
    for tiles in Tiles::groups(job.grid) {
        // SAFETY: all lengths have been checked, for all blocks, strips and tiles of the board, and
        // the scratch memory for as many tiles as a group has.
        unsafe {
            let input = job.input.as_ptr();
            transform_inputs::<N, L>(tiles, input, job.inputs, inputs.as_mut_ptr());
            for strip in 0..job.out_blocks * BLOCK / strip_len {
                let weights = (job.weights.as_ptr()).add(strip * ELEMENTS * words * strip_len);
                multiply::<N>(
                    tiles.count,
                    job.inputs,
                    inputs.as_ptr(),
                    weights,
                    sums.as_mut_ptr(),
                );
                let outputs = (strip * strip_len, strip_len);
                transform_sums::<D>(tiles, sums.as_ptr(), outputs, destination);
            }
        }
    }
}

/// Most tiles in a group.
pub(super) const GROUP: usize = 12;

/// Tiles of a board, side by side or in the next row, that are computed together: few enough for
/// the fast caches and, with AVX-512, for the registers.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    pub grid: Grid,
    /// The tiles before them.
    pub first: usize,
    pub count: usize,
}

impl Tiles {
    /// All tiles of a board, in groups of sizes as equal as can be.
    fn groups(grid: Grid) -> impl Iterator<Item = Tiles> {
        let all = grid.tiles();
        let groups = all.div_ceil(GROUP);
        (0..groups).map(move |group| {
            let first = group * all / groups;
            Tiles {
                grid,
                first,
                count: (group + 1) * all / groups - first,
            }
        })
    }

    /// Row and column of each tile.
    #[inline(always)]
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let across = self.grid.files.div_ceil(2);
        (self.first..self.first + self.count).map(move |tile| (tile / across, tile % across))
    }
}
