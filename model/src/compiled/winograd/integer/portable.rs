//! The kernel in plain Rust.

use super::super::kernel::{WinogradJob, convolve};
use super::super::vector::{Destination, Layout, Numbers, Vector};
use super::{PER_WORD, WORDS};
use crate::compiled::conv::BLOCK;
use crate::compiled::narrow_kernel::{NarrowSums, store};

/// Numbers in a vector.
const LANES: usize = 8;

/// The job must have passed the checks of [`super::run`].
pub fn convolve_portable(job: WinogradJob<u32>, sums: NarrowSums) {
    let mut destination = Cells {
        cells: job.grid.bordered_cells(),
        sums,
    };
    // SAFETY: plain Rust needs no features; the lengths have been checked.
    unsafe { convolve::<Numbers16, Pairs, _>(job, &mut destination) }
}

/// Implements a vector of integers; it is kept in memory for floats.
macro_rules! vector {
    ($integer:ty) => {
        // SAFETY, of all functions: the caller's promises.
        impl Vector for [$integer; LANES] {
            const LANES: usize = LANES;

            #[inline(always)]
            unsafe fn zero() -> Self {
                [0; LANES]
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                unsafe { from.cast::<Self>().read() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                unsafe { to.cast::<Self>().write(self) }
            }

            #[inline(always)]
            unsafe fn add(mut self, other: Self) -> Self {
                for i in 0..LANES {
                    self[i] = self[i].wrapping_add(other[i]);
                }
                self
            }

            #[inline(always)]
            unsafe fn sub(mut self, other: Self) -> Self {
                for i in 0..LANES {
                    self[i] = self[i].wrapping_sub(other[i]);
                }
                self
            }
        }
    };
}

vector!(i16);
vector!(i32);

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
