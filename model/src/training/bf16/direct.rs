//! 3×3 convolutions of pairs by their definition.

use super::{PAIRS, Pair, rounded, supported};
use crate::compiled::aligned::Aligned;
use crate::compiled::conv::{BLOCK, ConvWeights, Grid};
use crate::training::norm::Moments;

/// A 3×3 convolution with packed weights, computed by its definition.
pub struct Bf16Conv {
    pub(super) in_blocks: usize,
    pub(super) out_blocks: usize,
    /// `[out_blocks][9][in_blocks · PAIRS][BLOCK]`, each a pair of inputs.
    pub(super) weights: Aligned<u32>,
}

impl Bf16Conv {
    /// Packs a convolution without biases.
    ///
    /// # Panics
    /// If the machine is not [`supported`].
    pub fn new(part: &ConvWeights) -> Bf16Conv {
        assert!(supported(), "this machine has no AVX-512 BF16");
        let (in_blocks, out_blocks) = (part.inputs.div_ceil(BLOCK), part.outputs.div_ceil(BLOCK));
        let rows = in_blocks * PAIRS;
        let mut weights = Aligned::zeros(out_blocks * 9 * rows * BLOCK);
        for (at, &value) in part.weights.iter().enumerate() {
            let (output, input, tap) = (at / 9 / part.inputs, at / 9 % part.inputs, at % 9);
            let row = input / BLOCK * PAIRS + input % PAIRS;
            let group = (output / BLOCK * 9 + tap) * rows + row;
            weights[group * BLOCK + output % BLOCK] |= match input % BLOCK < PAIRS {
                true => rounded(value) >> 16,
                false => rounded(value),
            };
        }
        Bf16Conv {
            in_blocks,
            out_blocks,
            weights,
        }
    }

    /// Convolves one sample's `input` into `out`, whose border stays as it is, and adds the sums
    /// to `moments` before they are rounded.
    ///
    /// # Panics
    /// If a slice is too short or the board wider than ten files.
    pub fn run(&self, grid: Grid, input: &[Pair], out: &mut [Pair], moments: Option<&mut Moments>) {
        let words = grid.block_floats() / BLOCK * PAIRS;
        assert!(input.len() >= self.in_blocks * words, "input");
        assert!(out.len() >= self.out_blocks * words, "output");
        if let Some(moments) = &moments {
            assert_eq!(moments.channels(), self.out_blocks * BLOCK, "moments");
        }
        let job = (grid.ranks, input, out, moments);
        match grid.files {
            1 => self.run_width::<1>(job),
            2 => self.run_width::<2>(job),
            3 => self.run_width::<3>(job),
            4 => self.run_width::<4>(job),
            5 => self.run_width::<5>(job),
            6 => self.run_width::<6>(job),
            7 => self.run_width::<7>(job),
            8 => self.run_width::<8>(job),
            9 => self.run_width::<9>(job),
            10 => self.run_width::<10>(job),
            files => panic!("there is no kernel for boards of {files} files"),
        }
    }

    fn run_width<const FILES: usize>(
        &self,
        (ranks, input, out, moments): (usize, &[Pair], &mut [Pair], Option<&mut Moments>),
    ) {
        // SAFETY: `new` has asked the CPU for the instructions; `run` has checked that the input has
        // `in_blocks` blocks of the board and its border and the output `out_blocks` of them, and
        // `weights` has been made for both.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            super::kernel::convolve::<FILES>(self, ranks, input, out, moments);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!(
            "{ranks} {} {} {}",
            input.len(),
            out.len(),
            moments.is_some()
        );
    }
}
