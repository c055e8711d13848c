//! Convolutions with numbers of 8 and 16 bits, and the activations that they read.

use super::aligned::{AlignedFloats, AlignedWords};
use super::conv::{After, BLOCK, ConvWeights, Grid};
use super::kernel::SimdLevel;
use super::narrow_kernel::{self, NarrowJob, NarrowKernel, NarrowSums, byte};
use super::tower::block_of;
use super::winograd::{self, WinogradJob, WinogradScratch, integer};

/// Largest rounded activation.
const LARGEST_INPUT: f32 = 255.0;
/// Largest magnitude of a rounded weight.
const LARGEST_WEIGHT: f32 = 127.0;

/// How the activations that a convolution reads are rounded: by kernel and by channel.
///
/// With 8 bits an activation x, never negative, becomes the integer nearest to x · factor, at most
/// 255. Its step 1 / factor is multiplied into the weights, before these are rounded in their turn.
pub struct Rounding {
    kernel: NarrowKernel,
    /// One for each channel of whole blocks; 0 beyond the last.
    factors: AlignedFloats,
}

impl Rounding {
    /// Rounding for activations that reach up to `tops`, one for each channel.
    pub fn new(kernel: NarrowKernel, tops: &[f32]) -> Rounding {
        let mut factors = AlignedFloats::zeros(tops.len().next_multiple_of(BLOCK));
        for (factor, &top) in factors.iter_mut().zip(tops) {
            *factor = if top > 0.0 { LARGEST_INPUT / top } else { 0.0 };
        }
        Rounding { kernel, factors }
    }

    /// Zeroed activations in this format.
    pub fn activations(&self, grid: Grid) -> AlignedWords {
        let cells = grid.block_floats() / BLOCK;
        AlignedWords::zeros(self.factors.len() / BLOCK * cells * self.kernel.words())
    }

    /// Adds a bias for each channel to `wide` (none if there is no number), takes the relu of it, and rounds the result into
    /// `narrow`, on all cells.
    pub fn bias_relu_round(
        &self,
        level: SimdLevel,
        grid: Grid,
        wide: &mut [f32],
        bias: &[f32],
        narrow: &mut [u32],
    ) {
        level.vectorize(
            #[inline(always)]
            || match self.kernel {
                NarrowKernel::Bf16 => self.cells::<16>(grid, wide, bias, narrow, bfloat16s),
                NarrowKernel::Int8Vnni => self.cells::<8>(grid, wide, bias, narrow, bytes),
                NarrowKernel::Int8Avx2 | NarrowKernel::Int8Portable => {
                    self.cells::<16>(grid, wide, bias, narrow, shorts)
                }
            },
        );
    }

    #[inline(always)]
    fn cells<const WORDS: usize>(
        &self,
        grid: Grid,
        wide: &mut [f32],
        bias: &[f32],
        narrow: &mut [u32],
        round: fn(&[f32; BLOCK], &[f32; BLOCK]) -> [u32; WORDS],
    ) {
        let blocks = wide.chunks_exact_mut(grid.block_floats());
        let narrow = narrow.chunks_exact_mut(grid.block_floats() / BLOCK * WORDS);
        let factors = self.factors.as_chunks::<BLOCK>().0;
        for (index, ((wide, narrow), factors)) in blocks.zip(narrow).zip(factors).enumerate() {
            let full = block_of(bias, index);
            for rank in 0..grid.ranks {
                let first = grid.at(rank * grid.files);
                let wide = &mut wide[first..][..grid.files * BLOCK];
                let narrow = &mut narrow[first / BLOCK * WORDS..][..grid.files * WORDS];
                let narrow = narrow.as_chunks_mut::<WORDS>().0;
                for (x, words) in wide.as_chunks_mut::<BLOCK>().0.iter_mut().zip(narrow) {
                    for i in 0..BLOCK {
                        x[i] = (x[i] + full[i]).max(0.0);
                    }
                    *words = round(x, factors);
                }
            }
        }
    }
}

// Plain loops over arrays, here and below: compilers turn them into vectors whatever they inline.

#[inline(always)]
fn bytes(x: &[f32; BLOCK], factors: &[f32; BLOCK]) -> [u32; 8] {
    let mut bytes = [0u8; BLOCK];
    for i in 0..BLOCK {
        bytes[i] = byte(x[i] * factors[i]) as u8;
    }
    let mut words = [0; 8];
    for i in 0..8 {
        let word = [
            bytes[4 * i],
            bytes[4 * i + 1],
            bytes[4 * i + 2],
            bytes[4 * i + 3],
        ];
        words[i] = u32::from_le_bytes(word);
    }
    words
}

#[inline(always)]
fn shorts(x: &[f32; BLOCK], factors: &[f32; BLOCK]) -> [u32; 16] {
    let mut shorts = [0u16; BLOCK];
    for i in 0..BLOCK {
        shorts[i] = byte(x[i] * factors[i]) as u16;
    }
    pairs(&shorts)
}

#[inline(always)]
fn bfloat16s(x: &[f32; BLOCK], _factors: &[f32; BLOCK]) -> [u32; 16] {
    let mut shorts = [0u16; BLOCK];
    for i in 0..BLOCK {
        shorts[i] = bfloat16(x[i]);
    }
    pairs(&shorts)
}

#[inline(always)]
fn pairs(shorts: &[u16; BLOCK]) -> [u32; 16] {
    let mut words = [0; 16];
    for i in 0..16 {
        words[i] = u32::from(shorts[2 * i]) | u32::from(shorts[2 * i + 1]) << 16;
    }
    words
}

/// The bits of a number rounded to the nearest bfloat16, ties to even.
#[inline(always)]
pub fn bfloat16(x: f32) -> u16 {
    let bits = x.to_bits();
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// A convolution with packed, rounded weights.
pub struct NarrowConv {
    kernel: NarrowKernel,
    /// By minimal filtering; otherwise by definition.
    filtered: bool,
    taps: usize,
    inputs: usize,
    out_blocks: usize,
    weights: AlignedWords,
    scale: AlignedFloats,
    bias: AlignedFloats,
}

impl NarrowConv {
    /// Packs a convolution of activations that are rounded like this, to be computed by minimal
    /// filtering or by definition.
    ///
    /// # Panics
    /// If there is no minimal filtering for it.
    pub fn pack(rounding: &Rounding, filtered: bool, part: &ConvWeights) -> NarrowConv {
        let kernel = rounding.kernel;
        let ConvWeights { taps, inputs, .. } = *part;
        assert!(
            !filtered || integer::serves(kernel) && taps == 3,
            "no minimal filtering for {taps}x{taps} convolutions with {kernel:?}"
        );
        let squared = taps * taps;
        let (strip, elements) = match filtered {
            true => (integer::STRIP, winograd::ELEMENTS),
            false => (kernel.strip(), squared),
        };
        let per_word = kernel.inputs_per_word();
        let out_blocks = part.outputs.div_ceil(BLOCK);
        let words = inputs / per_word;
        let mut packed = AlignedWords::zeros(out_blocks * BLOCK * elements * words);
        let mut scale = AlignedFloats::zeros(out_blocks * BLOCK);
        let mut bias = AlignedFloats::zeros(out_blocks * BLOCK);
        bias[..part.outputs].copy_from_slice(&part.bias);
        let mut row = vec![0u32; inputs * squared];
        let bits = 32 / per_word;
        for output in 0..part.outputs {
            let weights = &part.weights[output * inputs * squared..][..inputs * squared];
            scale[output] = round_row(rounding, weights, squared, &mut row);
            let first = output / strip * elements * words * strip + output % strip;
            for (input, values) in row.chunks_exact(squared).enumerate() {
                let mut put = |values: &[u32]| {
                    for (element, value) in values.iter().enumerate() {
                        let at = first + (element * words + input / per_word) * strip;
                        packed[at] |= value << (input % per_word * bits);
                    }
                };
                match values.as_array() {
                    Some(taps) if filtered => put(&integer::transformed(taps)),
                    _ => put(values),
                }
            }
        }
        NarrowConv {
            kernel,
            filtered,
            taps,
            inputs,
            out_blocks,
            weights: packed,
            scale,
            bias,
        }
    }

    /// Convolves `input`, whose border is zero, into one or both outputs, whose borders stay as
    /// they are.
    pub fn run(
        &self,
        grid: Grid,
        input: &[u32],
        after: After,
        outputs: Outputs,
        scratch: &mut WinogradScratch,
    ) {
        let &NarrowConv {
            kernel,
            inputs,
            out_blocks,
            ..
        } = self;
        let weights = &self.weights[..];
        let narrow = outputs.narrow;
        let sums = NarrowSums {
            scale: &self.scale,
            bias: &self.bias,
            after,
            wide: outputs.wide,
            narrow: narrow.map(|(words, rounding)| (words, &rounding.factors[..])),
        };
        if self.filtered {
            let job = WinogradJob {
                grid,
                inputs,
                out_blocks,
                input,
                weights,
                scratch,
            };
            return integer::run(kernel, job, sums);
        }
        let job = NarrowJob {
            files: grid.files,
            ranks: grid.ranks,
            inputs,
            out_blocks,
            taps: self.taps,
            input,
            weights,
            sums,
        };
        narrow_kernel::run(kernel, job);
    }
}

impl NarrowConv {
    /// Channels of the output, whole blocks.
    pub fn outputs(&self) -> usize {
        self.out_blocks * BLOCK
    }
}

/// Where the results of a convolution go.
#[derive(Default)]
pub struct Outputs<'a> {
    /// In single precision.
    pub wide: Option<&'a mut [f32]>,
    /// Rounded for the next convolution.
    pub narrow: Option<(&'a mut [u32], &'a Rounding)>,
}

/// Rounds an output's weights, `[inputs][taps²]`, to the bits that a word has for each; returns
/// what a unit of its sums is worth.
fn round_row(rounding: &Rounding, weights: &[f32], squared: usize, out: &mut [u32]) -> f32 {
    let mask = match rounding.kernel {
        NarrowKernel::Bf16 => {
            for (out, &w) in out.iter_mut().zip(weights) {
                *out = bfloat16(w).into();
            }
            return 1.0;
        }
        NarrowKernel::Int8Vnni => 0xff,
        NarrowKernel::Int8Avx2 | NarrowKernel::Int8Portable => 0xffff,
    };
    let steps: Vec<f32> = rounding.factors[..weights.len() / squared]
        .iter()
        .map(|&factor| if factor > 0.0 { 1.0 / factor } else { 0.0 })
        .collect();
    let step = |i: usize| steps[i / squared];
    let largest =
        (weights.iter().enumerate()).fold(0f32, |top, (i, w)| top.max((w * step(i)).abs()));
    if largest == 0.0 {
        out.fill(0);
        return 0.0;
    }
    let unit = largest / LARGEST_WEIGHT;
    for (i, (out, w)) in out.iter_mut().zip(weights).enumerate() {
        let rounded = (w * step(i) / unit).round_ties_even();
        *out = rounded as i32 as u32 & mask;
    }
    unit
}

#[cfg(test)]
pub mod tests;
