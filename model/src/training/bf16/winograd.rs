//! 3×3 convolutions of pairs by minimal filtering.

use super::{PAIRS, Pair, supported};
use crate::compiled::conv::BLOCK;
use crate::compiled::winograd::{WinogradJob, WinogradKernel};
use crate::training::norm::Moments;

/// Convolves one sample into `out`, whose border stays as it is, and adds the sums to `moments`
/// before they are rounded.
///
/// # Panics
/// If a slice is too short for the job.
pub fn run(job: WinogradJob<Pair>, out: &mut [Pair], moments: Option<&mut Moments>) {
    assert!(supported(), "this machine has no AVX-512 BF16");
    job.check(WinogradKernel::Bf16.inputs_per_word(), PAIRS);
    let words = job.grid.bordered_cells() * PAIRS;
    assert!(out.len() >= job.out_blocks * words, "output");
    if let Some(moments) = &moments {
        assert_eq!(moments.channels(), job.out_blocks * BLOCK, "moments");
    }
    // SAFETY: the CPU has the instructions, and all lengths have been checked.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match moments {
            Some(moments) => x86::convolve_measured(job, out, moments),
            None => x86::convolve(job, out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::kernel::paired;
    use super::super::spread::Spread;
    use super::*;
    use crate::compiled::winograd::{Bf16, Destination, Layout, Twice, convolve as run};

    /// Pairs of channels i and i + 16 of a block.
    struct Pairs;

    impl Layout<Twice<__m512>> for Pairs {
        type Word = Pair;
        const WORDS: usize = PAIRS;

        #[inline(always)]
        unsafe fn load(cell: *const Pair, _: usize) -> Twice<__m512> {
            // SAFETY: a cell has the words of a whole block, and the CPU the instructions.
            unsafe {
                let pairs = _mm512_loadu_si512(cell.cast());
                let high = _mm512_set1_epi32(0xffff_0000_u32 as i32);
                Twice(
                    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(pairs)),
                    _mm512_castsi512_ps(_mm512_and_si512(pairs, high)),
                )
            }
        }
    }

    /// Rounded sums, and what they sum up to if there is one for each block.
    struct Sums<'a, const MEASURED: bool> {
        /// Words of a block.
        block: usize,
        /// The first cell of the board.
        first: usize,
        out: *mut Pair,
        spreads: &'a mut [Spread],
    }

    impl<const MEASURED: bool> Destination for Sums<'_, MEASURED> {
        type Sums = Twice<__m512>;

        #[inline(always)]
        unsafe fn put(&mut self, channel: usize, cell: usize, Twice(low, high): Twice<__m512>) {
            // SAFETY: the caller's promises; channels come in whole blocks, for each of which
            // there is a spread.
            unsafe {
                let block = channel / BLOCK;
                let out = self.out.add(block * self.block + cell * PAIRS);
                _mm512_storeu_si512(out.cast(), paired([low, high]));
                if MEASURED {
                    let spread = self.spreads.get_unchecked_mut(block);
                    spread.add(cell == self.first, [low, high]);
                }
            }
        }
    }

    /// # Safety
    /// The CPU has the features, the job has been checked, and `out` has room for all blocks.
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn convolve_with<const MEASURED: bool>(
        job: WinogradJob<Pair>,
        out: &mut [Pair],
        spreads: &mut [Spread],
    ) {
        let mut sums = Sums::<MEASURED> {
            block: job.grid.bordered_cells() * PAIRS,
            first: job.grid.at(0) / BLOCK,
            out: out.as_mut_ptr(),
            spreads,
        };
        // SAFETY: the caller's promises.
        unsafe { run::<Bf16, Pairs, _>(job, &mut sums) }
    }

    /// # Safety
    /// As for [`convolve_with`].
    pub unsafe fn convolve(job: WinogradJob<Pair>, out: &mut [Pair]) {
        // SAFETY: the caller's promises.
        unsafe { convolve_with::<false>(job, out, &mut []) }
    }

    /// # Safety
    /// As for [`convolve_with`]; `moments` are those of as many blocks.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn convolve_measured(
        job: WinogradJob<Pair>,
        out: &mut [Pair],
        moments: &mut Moments,
    ) {
        let (cells, mut spreads) = (job.grid.cells(), vec![Spread::default(); job.out_blocks]);
        // SAFETY: the caller's promises; there is a spread for each block.
        unsafe { convolve_with::<true>(job, out, &mut spreads) }
        for (block, spread) in spreads.iter().enumerate() {
            spread.finish(block, cells, moments);
        }
    }
}
