//! The gradients of weights from what each part of a batch has added up.

use rayon::prelude::*;

use crate::compiled::aligned::AlignedFloats;
use crate::compiled::conv::BLOCK;

/// Weights that one task adds up over the parts of a batch.
const REDUCED_AT_ONCE: usize = 8192;

/// The sum of all parts.
pub fn total(parts: &[AlignedFloats]) -> AlignedFloats {
    let mut total = AlignedFloats::zeros(parts[0].len());
    let pieces = total.par_chunks_mut(REDUCED_AT_ONCE).enumerate();
    pieces.for_each(|(piece, total)| {
        for part in parts {
            add(total, &part[piece * REDUCED_AT_ONCE..][..total.len()]);
        }
    });
    total
}

/// Gradients of weights from a kernel's order, `[blocks][taps][inputs][BLOCK]` from block `first`
/// on, to burn's, `[outputs][kept inputs][taps]`.
pub fn unpack(
    total: &[f32],
    first: usize,
    inputs: usize,
    taps: usize,
    kept: usize,
    out: &mut [f32],
) {
    for (output, gradient) in out.chunks_exact_mut(kept * taps).enumerate() {
        let start = (first + output / BLOCK) * taps * inputs * BLOCK + output % BLOCK;
        for (at, gradient) in gradient.iter_mut().enumerate() {
            let (input, tap) = (at / taps, at % taps);
            *gradient = total[start + (tap * inputs + input) * BLOCK];
        }
    }
}

/// Adds numbers to others.
pub fn add(sums: &mut [f32], more: &[f32]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
