//! The gradients of weights from what each part of a batch has added up.

use rayon::prelude::*;

use super::gradient_kernel::GradientForm;
use crate::compiled::aligned::AlignedFloats;
use crate::compiled::conv::BLOCK;
use crate::compiled::winograd::weight_gradient;

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

/// Gradients of weights from a kernel's order, `[blocks][numbers][inputs][BLOCK]` from block `first`
/// on, to burn's, `[outputs][kept inputs][taps]`.
pub fn unpack(
    total: &[f32],
    form: GradientForm,
    (first, inputs): (usize, usize),
    kept: usize,
    out: &mut [f32],
) {
    let numbers = form.numbers();
    let taps = match form {
        GradientForm::Single => 1,
        GradientForm::Taps | GradientForm::Tiles => 9,
    };
    for (output, gradient) in out.chunks_exact_mut(kept * taps).enumerate() {
        let start = (first + output / BLOCK) * numbers * inputs * BLOCK + output % BLOCK;
        for (input, gradient) in gradient.chunks_exact_mut(taps).enumerate() {
            let number = |number: usize| total[start + (number * inputs + input) * BLOCK];
            if form == GradientForm::Tiles {
                gradient.copy_from_slice(&weight_gradient(&std::array::from_fn(number)));
            } else {
                for (tap, gradient) in gradient.iter_mut().enumerate() {
                    *gradient = number(tap);
                }
            }
        }
    }
}

/// Adds numbers to others.
pub fn add(sums: &mut [f32], more: &[f32]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
