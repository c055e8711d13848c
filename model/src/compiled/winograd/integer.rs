//! Minimal filtering with integers, which gives the same bits as the convolution by definition.
//!
//! Inputs are bytes in words of 16 bits, weights integers up to ±127. With 2G in place of G nothing is
//! halved: transformed inputs reach ±1020, transformed weights ±1143, their products and sums are
//! exact in 32 bits, and Aᵀ … A gives four times the convolution. Twice as many multiplications fit
//! into an instruction as with floats, and the transforms of inputs take half as many additions.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::super::conv::BLOCK;
use super::super::narrow_kernel::{NarrowKernel, NarrowSums};
use super::ELEMENTS;
use super::kernel::WinogradJob;

/// Output channels that are computed at once.
pub const STRIP: usize = 16;
/// Inputs in a word.
const PER_WORD: usize = 2;
/// Words of a cell in a block of channels.
const WORDS: usize = BLOCK / PER_WORD;

/// Whether convolutions of activations for this kernel can be computed so: if it keeps them in words
/// of 16 bits.
pub fn serves(kernel: NarrowKernel) -> bool {
    matches!(kernel, NarrowKernel::Int8Avx2 | NarrowKernel::Int8Portable)
}

/// 2G g (2G)ᵀ of nine weights of 16 bits with sign each, as bits of 16.
pub fn transformed(taps: &[u32; 9]) -> [u32; ELEMENTS] {
    let times_2g = |[a, b, c]: [i32; 3]| [2 * a, a + b + c, a - b + c, 2 * c];
    let taps = taps.map(|bits| i32::from(bits as u16 as i16));
    let columns = [0, 1, 2].map(|x| times_2g([taps[x], taps[3 + x], taps[6 + x]]));
    let mut elements = [0; ELEMENTS];
    for y in 0..4 {
        let row = times_2g([columns[0][y], columns[1][y], columns[2][y]]);
        elements[4 * y..][..4].copy_from_slice(&row.map(|x| x as u32 & 0xffff));
    }
    elements
}

/// Runs a convolution of activations for this kernel.
///
/// # Panics
/// If a slice is too short for the job, or the kernel another than those that this serves.
pub fn run(kernel: NarrowKernel, job: WinogradJob<u32>, sums: NarrowSums) {
    assert!(serves(kernel), "{kernel:?} has no integers of 16 bits");
    job.check(PER_WORD, WORDS);
    sums.check(kernel, job.out_blocks, job.grid.bordered_cells());
    match kernel {
        // SAFETY: all lengths have been checked; kernels come from `NarrowKernel::choose`, which has
        // asked the CPU.
        #[cfg(target_arch = "x86_64")]
        NarrowKernel::Int8Avx2 => unsafe { x86::convolve_avx2(job, sums) },
        // SAFETY: all lengths have been checked.
        _ => unsafe { portable::convolve_portable(job, sums) },
    }
}
