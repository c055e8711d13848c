//! The kernel in plain Rust.

use super::super::kernel::{WinogradJob, convolve};
use super::super::vector::{Destination, LANES, Layout, Numbers, Vector, array_vector};
use super::{PER_WORD, WORDS};
use crate::compiled::conv::BLOCK;
use crate::compiled::narrow_kernel::{NarrowSums, store};

/// Runs the job on any CPU.
///
/// # Safety
/// The job must have passed the checks of [`super::run`].
pub unsafe fn convolve_portable(job: WinogradJob<u32>, sums: NarrowSums) {
    let mut destination = Cells {
        cells: job.grid.bordered_cells(),
        sums,
    };
    // SAFETY: plain Rust needs no features; the caller has checked the lengths.
    unsafe { convolve::<Numbers16, Pairs, _>(job, &mut destination) }
}

array_vector!(i16, |a, b| a.wrapping_add(b), a.wrapping_sub(b));
array_vector!(i32, |a, b| a.wrapping_add(b), a.wrapping_sub(b));

/// Pairs of neighbouring channels.
struct Pairs;

impl Layout<[i16; LANES]> for Pairs {
    type Word = u32;
    const WORDS: usize = WORDS;

    #[inline(always)]
    unsafe fn load(cell: *const u32, channel: usize) -> [i16; LANES] {
        // SAFETY: the caller's promises; a word holds two numbers, the first in its low half.
        let words = unsafe {
            let words = cell.add(channel / PER_WORD);
            words.cast::<[u32; LANES / PER_WORD]>().read()
        };
        let mut shorts = [0; LANES];
        for i in 0..LANES / PER_WORD {
            shorts[PER_WORD * i] = words[i] as i16;
            shorts[PER_WORD * i + 1] = (words[i] >> 16) as i16;
        }
        shorts
    }
}

/// Integers of 16 bits.
struct Numbers16;

// SAFETY, of all functions: the caller's promises.
impl Numbers for Numbers16 {
    type Inputs = [i16; LANES];
    type Sums = [i32; LANES];
    type Words = [u32; LANES];
    const INPUTS_PER_WORD: usize = PER_WORD;
    const TILES: usize = 2;

    #[inline(always)]
    unsafe fn store_inputs(inputs: Self::Inputs, to: *mut u32) {
        for i in 0..LANES / PER_WORD {
            let (low, high) = (inputs[PER_WORD * i] as u16, inputs[PER_WORD * i + 1] as u16);
            unsafe { to.add(i).write(u32::from(low) | u32::from(high) << 16) }
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self::Words {
        unsafe { from.cast::<Self::Words>().read() }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self::Words {
        [word; LANES]
    }

    #[inline(always)]
    unsafe fn multiply_add(mut sums: Self::Sums, x: Self::Words, w: Self::Words) -> Self::Sums {
        for i in 0..LANES {
            let low = i32::from(x[i] as i16) * i32::from(w[i] as i16);
            let high = i32::from((x[i] >> 16) as i16) * i32::from((w[i] >> 16) as i16);
            sums[i] += low + high;
        }
        sums
    }
}

/// [`NarrowSums`] for the kernel.
struct Cells<'a> {
    /// Cells of a block.
    cells: usize,
    sums: NarrowSums<'a>,
}

impl Destination for Cells<'_> {
    type Sums = [i32; LANES];

    #[inline(always)]
    unsafe fn put(&mut self, channel: usize, cell: usize, sums: Self::Sums) {
        let place = channel / BLOCK * self.cells + cell;
        store(&mut self.sums, &sums.map(|sum| sum >> 2), channel, place);
    }
}
