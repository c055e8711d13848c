//! 3×3 convolutions by minimal filtering with F(2×2, 3×3) (Winograd 1980; Lavin & Gray 2015, "Fast
//! Algorithms for Convolutional Neural Networks", section 4.1).
//!
//! The outputs Y of a *tile*, 2×2 cells, depend on 4×4 inputs d. For each pair of an input and an
//! output channel, with weights g,
//!
//! ```text
//! Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A
//!
//!      ⎡ 1   0   0 ⎤        ⎡ 1  0 −1  0 ⎤
//! G =  ⎢ ½   ½   ½ ⎥   Bᵀ = ⎢ 0  1  1  0 ⎥   Aᵀ = ⎡ 1  1  1  0 ⎤
//!      ⎢ ½  −½   ½ ⎥        ⎢ 0 −1  1  0 ⎥        ⎣ 0  1 −1 −1 ⎦
//!      ⎣ 0   0   1 ⎦        ⎣ 0  1  0 −1 ⎦
//! ```
//!
//! takes 16 multiplications instead of 36. G g Gᵀ is computed when a net is loaded. Bᵀ d B is done
//! once for each input channel, Aᵀ … A once for each output channel, both by additions alone. In
//! between lie, for each of the 16 *elements* of a transformed tile, the products of a matrix
//! `[tiles][inputs]` and a matrix `[inputs][outputs]`: their sums stay in registers, as in a direct
//! convolution, while weights stream by and inputs are broadcast.
//!
//! Inputs and outputs are in single precision whatever is multiplied. Each sum is one chain of fused
//! multiply-adds in a fixed order and transforms are not fused, so AVX2 and AVX-512 give the same
//! bits with floats.

pub mod integer;
mod kernel;
mod products;
mod transform;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::aligned::{AlignedFloats, AlignedWords};
use super::conv::{After, BLOCK, ConvWeights, Grid};
use super::narrow::bfloat16;
#[cfg(target_arch = "x86_64")]
pub use kernel::convolve;
use kernel::{FloatSums, GROUP};
pub use kernel::{WinogradJob, WinogradKernel};
#[cfg(target_arch = "x86_64")]
pub use transform::times_b;
#[cfg(target_arch = "x86_64")]
pub use vector::{Destination, Layout};
#[cfg(target_arch = "x86_64")]
pub use x86::{Bf16, Twice};

/// Numbers of a transformed tile.
pub const ELEMENTS: usize = 16;

/// Channels from which on the transforms cost less than they save.
const FEWEST_CHANNELS: usize = 32;

/// Multiplications for each pair of an input and an output channel.
pub fn multiplications(grid: Grid) -> usize {
    ELEMENTS * grid.tiles()
}

/// Whether convolutions from so many channels to so many are faster than by definition: if they take
/// a quarter fewer multiplications at least, and have channels enough. Boards of odd sizes waste some
/// on tiles beyond their edges, small ones have few taps because many lie beyond.
pub fn pays(grid: Grid, inputs: usize, outputs: usize) -> bool {
    inputs.min(outputs) >= FEWEST_CHANNELS && 4 * multiplications(grid) <= 3 * grid.taps()
}

/// Memory between the steps of a convolution.
pub struct WinogradScratch {
    /// Transformed inputs of a group of tiles, `[elements][tiles][words]`.
    inputs: AlignedWords,
    /// Sums of a strip of outputs, `[elements][tiles][strip]`.
    sums: AlignedFloats,
}

impl WinogradScratch {
    /// Memory for convolutions of this many channels.
    pub fn new(channels: usize) -> WinogradScratch {
        WinogradScratch {
            inputs: AlignedWords::zeros(ELEMENTS * GROUP * channels.next_multiple_of(BLOCK)),
            sums: AlignedFloats::zeros(ELEMENTS * GROUP * BLOCK),
        }
    }

    fn fits(&self, channels: usize) -> bool {
        self.inputs.len() >= ELEMENTS * GROUP * channels.next_multiple_of(BLOCK)
    }
}

/// A 3×3 convolution with transformed and packed weights.
pub struct WinogradConv {
    kernel: WinogradKernel,
    inputs: usize,
    out_blocks: usize,
    weights: AlignedWords,
    bias: AlignedFloats,
}

impl WinogradConv {
    /// Packs a 3×3 convolution.
    pub fn pack(kernel: WinogradKernel, part: &ConvWeights) -> WinogradConv {
        assert_eq!(part.taps, 3, "a convolution to be transformed");
        let (strip, per_word) = (kernel.strip(), kernel.inputs_per_word());
        let words = part.inputs / per_word;
        let out_blocks = part.outputs.div_ceil(BLOCK);
        let mut weights = AlignedWords::zeros(out_blocks * BLOCK * ELEMENTS * words);
        let mut bias = AlignedFloats::zeros(out_blocks * BLOCK);
        bias[..part.outputs].copy_from_slice(&part.bias);
        for (index, taps) in part.weights.as_chunks::<9>().0.iter().enumerate() {
            let (output, input) = (index / part.inputs, index % part.inputs);
            for (element, value) in transformed(taps).into_iter().enumerate() {
                let group = (output / strip * ELEMENTS + element) * words + input / per_word;
                weights[group * strip + output % strip] |= match kernel {
                    WinogradKernel::Bf16 => u32::from(bfloat16(value)) << (input % per_word * 16),
                    WinogradKernel::Portable | WinogradKernel::Avx2 | WinogradKernel::Avx512 => {
                        value.to_bits()
                    }
                };
            }
        }
        WinogradConv {
            kernel,
            inputs: part.inputs,
            out_blocks,
            weights,
            bias,
        }
    }

    /// Convolves `input`, whose border is zero, into `out`, whose border stays as it is.
    pub fn run(
        &self,
        grid: Grid,
        input: &[f32],
        out: &mut [f32],
        after: After,
        scratch: &mut WinogradScratch,
    ) {
        let bias = &self.bias;
        let job = self.job(grid, input, scratch);
        kernel::run(self.kernel, job, FloatSums { bias, out, after });
    }

    /// What a kernel convolves `input` by.
    pub fn job<'a, W>(
        &'a self,
        grid: Grid,
        input: &'a [W],
        scratch: &'a mut WinogradScratch,
    ) -> WinogradJob<'a, W> {
        WinogradJob {
            grid,
            inputs: self.inputs,
            out_blocks: self.out_blocks,
            input,
            weights: &self.weights,
            scratch,
        }
    }
}

/// G g Gᵀ
fn transformed(taps: &[f32; 9]) -> [f32; ELEMENTS] {
    let times_g = |[a, b, c]: [f32; 3]| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let columns = [0, 1, 2].map(|x| times_g([taps[x], taps[3 + x], taps[6 + x]]));
    let mut elements = [0.0; ELEMENTS];
    for y in 0..4 {
        let row = times_g([columns[0][y], columns[1][y], columns[2][y]]);
        elements[4 * y..][..4].copy_from_slice(&row);
    }
    elements
}

/// Gᵀ u G: the gradient of nine weights from that of what they are transformed to.
pub fn weight_gradient(elements: &[f32; ELEMENTS]) -> [f32; 9] {
    let times_g = |[a, b, c, d]: [f32; 4]| [a + (b + c) / 2.0, (b - c) / 2.0, (b + c) / 2.0 + d];
    let columns = [0, 1, 2, 3].map(|x| times_g([0, 4, 8, 12].map(|y| elements[y + x])));
    let mut taps = [0.0; 9];
    for y in 0..3 {
        taps[3 * y..][..3].copy_from_slice(&times_g(columns.map(|column| column[y])));
    }
    taps
}

#[cfg(test)]
mod tests;
