//! What happens to activations between convolutions, for one sample at a time.
//!
//! Activations are laid out as [`Grid`] describes, channels in blocks, borders left alone. Work goes
//! by rows, the squares of a rank with all channels of a block, which lie side by side: loops over
//! so many words are what compilers turn into vectors of any width. Factors that belong to channels
//! are written out for a whole row first.

use std::ops::Range;

use super::norm::{GradientSums, Moments, Norm, NormGradient};
use super::word::Word;
use crate::board::GRID;
use crate::compiled::conv::{BLOCK, Grid, lanes};
use crate::compiled::kernel::SimdLevel;

/// A number for each word of the longest possible row.
type Numbers = [f32; GRID * BLOCK];

/// Numbers for the low and the high halves of the words of a row.
struct Row {
    low: Numbers,
    high: Numbers,
}

impl Row {
    #[inline(always)]
    fn zeros() -> Row {
        let zeros = [0.0; GRID * BLOCK];
        Row {
            low: zeros,
            high: zeros,
        }
    }

    /// The numbers of a block's channels, repeated for each square of a row.
    #[inline(always)]
    fn repeat<W: Word>(values: &[f32; BLOCK]) -> Row {
        let mut row = Row::zeros();
        for square in row.low.chunks_exact_mut(W::WORDS) {
            square.copy_from_slice(&values[..W::WORDS]);
        }
        if W::PAIRS {
            for square in row.high.chunks_exact_mut(W::WORDS) {
                square.copy_from_slice(&values[W::WORDS..]);
            }
        }
        row
    }

    /// The reverse of [`repeat`](Row::repeat): sums over the squares of a row.
    #[inline(always)]
    fn fold<W: Word>(&self) -> [f32; BLOCK] {
        let mut sums = [0.0; BLOCK];
        let halves = sums.chunks_exact_mut(W::WORDS).zip([&self.low, &self.high]);
        for (sums, half) in halves {
            for square in half.chunks_exact(W::WORDS) {
                for (sum, value) in sums.iter_mut().zip(square) {
                    *sum += value;
                }
            }
        }
        sums
    }
}

/// Where the ranks of block `block` are, in squares, from the first rank on.
#[inline(always)]
pub fn ranks(grid: Grid, block: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let width = grid.files + 2;
    (0..grid.ranks).map(move |rank| {
        let start = (block * (grid.ranks + 2) + rank + 1) * width + 1;
        start..start + grid.files
    })
}

/// The same in words.
#[inline(always)]
fn rows<W: Word>(grid: Grid, block: usize) -> impl Iterator<Item = Range<usize>> {
    ranks(grid, block).map(|rank| rank.start * W::WORDS..rank.end * W::WORDS)
}

/// What is added to a normalised convolution before its relu.
#[derive(Clone, Copy)]
pub enum Addend<'a, W> {
    Nothing,
    /// The block's input.
    Activations(&'a [W]),
    /// One number for each channel.
    Bias(&'a [f32]),
}

/// out = relu(norm(z) + addend)
pub fn normalize_relu<W: Word>(
    (level, grid): (SimdLevel, Grid),
    z: &[W],
    norm: &Norm,
    addend: Addend<W>,
    out: &mut [W],
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.scale.len() / BLOCK {
                let scale = Row::repeat::<W>(lanes(&norm.scale, block * BLOCK));
                let mut shift = *lanes(&norm.shift, block * BLOCK);
                if let Addend::Bias(bias) = addend {
                    let bias = lanes(bias, block * BLOCK);
                    for i in 0..BLOCK {
                        shift[i] += bias[i];
                    }
                }
                let shift = Row::repeat::<W>(&shift);
                let low = |i: usize, z: W| z.low() * scale.low[i] + shift.low[i];
                let high = |i: usize, z: W| z.high() * scale.high[i] + shift.high[i];
                for row in rows::<W>(grid, block) {
                    let words = out[row.clone()].iter_mut().zip(&z[row.clone()]);
                    let words = words.zip(0..GRID * BLOCK);
                    if let Addend::Activations(x) = addend {
                        for (((out, &z), i), x) in words.zip(&x[row]) {
                            let low = (low(i, z) + x.low()).max(0.0);
                            *out = W::keep(low, (high(i, z) + x.high()).max(0.0));
                        }
                    } else {
                        for ((out, &z), i) in words {
                            *out = W::keep(low(i, z).max(0.0), high(i, z).max(0.0));
                        }
                    }
                }
            }
        },
    );
}

/// Adds a sample's numbers to the moments of their channels.
pub fn add_moments((level, grid): (SimdLevel, Grid), z: &[f32], moments: &mut Moments) {
    let count = grid.cells();
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..moments.channels() / BLOCK {
                let mut sums = Row::zeros();
                for row in rows::<f32>(grid, block) {
                    for (sum, z) in sums.low.iter_mut().zip(&z[row]) {
                        *sum += z;
                    }
                }
                let mean = sums.fold::<f32>().map(|sum| sum / count as f32);
                let means = Row::repeat::<f32>(&mean);
                let mut squares = Row::zeros();
                for row in rows::<f32>(grid, block) {
                    let sums = squares.low.iter_mut().zip(&means.low);
                    for ((square, mean), z) in sums.zip(&z[row]) {
                        let distance = z - mean;
                        *square += distance * distance;
                    }
                }
                moments.add(block, count, &mean, &squares.fold::<f32>());
            }
        },
    );
}

/// Plain activations from kept ones.
pub fn load_activations<W: Word>((level, grid): (SimdLevel, Grid), kept: &[W], out: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            for rank in (0..out.len() / grid.block_floats()).flat_map(|block| ranks(grid, block)) {
                let kept = &kept[rank.start * W::WORDS..rank.end * W::WORDS];
                W::load_row(kept, &mut out[rank.start * BLOCK..rank.end * BLOCK]);
            }
        },
    );
}

/// Keeps plain activations.
pub fn keep_activations<W: Word>((level, grid): (SimdLevel, Grid), values: &[f32], out: &mut [W]) {
    level.vectorize(
        #[inline(always)]
        || {
            for rank in (0..values.len() / grid.block_floats()).flat_map(|block| ranks(grid, block))
            {
                let out = &mut out[rank.start * W::WORDS..rank.end * W::WORDS];
                W::keep_row(&values[rank.start * BLOCK..rank.end * BLOCK], out);
            }
        },
    );
}

/// The gradient behind a relu: `gradient` where the relu's output `active` is positive, else 0.
pub fn mask_gradient<W: Word>((level, grid): (SimdLevel, Grid), active: &[W], gradient: &mut [W]) {
    let blocks = gradient.len() / W::WORDS * BLOCK / grid.block_floats();
    level.vectorize(
        #[inline(always)]
        || {
            for row in (0..blocks).flat_map(|block| rows::<W>(grid, block)) {
                for (gradient, active) in gradient[row.clone()].iter_mut().zip(&active[row]) {
                    let low = gate(active.low(), gradient.low());
                    *gradient = W::keep(low, gate(active.high(), gradient.high()));
                }
            }
        },
    );
}

/// `gradient` if the relu's output is positive.
#[inline(always)]
fn gate(active: f32, gradient: f32) -> f32 {
    if active > 0.0 { gradient } else { 0.0 }
}

/// What [`keep_gradient`] keeps of a gradient.
#[derive(Clone, Copy)]
pub enum Gate<'a, W> {
    /// All of it.
    Open,
    /// Where these outputs of a relu are positive.
    Relu(&'a [W]),
    /// The same, after what is kept already has been added.
    AddRelu(&'a [W]),
}

/// Keeps a gradient, that of the output of `norm`, in `out`, and adds its share to the sums that the
/// backward pass of `norm` needs; `z` is the input of `norm`.
pub fn keep_gradient<W: Word>(
    (level, grid): (SimdLevel, Grid),
    gradient: &[W],
    gate: Gate<W>,
    (z, norm): (&[W], &Norm),
    out: &mut [W],
    sums: &mut GradientSums,
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.mean.len() / BLOCK {
                let means = Row::repeat::<W>(lanes(&norm.mean, block * BLOCK));
                let mut totals = (Row::zeros(), Row::zeros());
                for row in rows::<W>(grid, block) {
                    keep_row(
                        &gradient[row.clone()],
                        gate.row(row.clone()),
                        &mut out[row.clone()],
                    );
                    add_row(&out[row.clone()], &z[row], &means, &mut totals);
                }
                sums.add(block, &totals.0.fold::<W>(), &totals.1.fold::<W>());
            }
        },
    );
}

impl<'a, W> Gate<'a, W> {
    #[inline(always)]
    fn row(self, row: Range<usize>) -> Gate<'a, W> {
        match self {
            Gate::Open => Gate::Open,
            Gate::Relu(active) => Gate::Relu(&active[row]),
            Gate::AddRelu(active) => Gate::AddRelu(&active[row]),
        }
    }
}

#[inline(always)]
fn keep_row<W: Word>(gradient: &[W], by: Gate<W>, out: &mut [W]) {
    let pairs = out.iter_mut().zip(gradient);
    match by {
        Gate::Open => out.copy_from_slice(gradient),
        Gate::Relu(active) => {
            for ((out, g), active) in pairs.zip(active) {
                let low = gate(active.low(), g.low());
                *out = W::keep(low, gate(active.high(), g.high()));
            }
        }
        Gate::AddRelu(active) => {
            for ((out, g), active) in pairs.zip(active) {
                let low = gate(active.low(), g.low() + out.low());
                *out = W::keep(low, gate(active.high(), g.high() + out.high()));
            }
        }
    }
}

/// Adds a row to the sums of gradients, and of gradients times the distances of `z` from the means.
#[inline(always)]
fn add_row<W: Word>(gradient: &[W], z: &[W], means: &Row, (plain, centred): &mut (Row, Row)) {
    let words = gradient.iter().zip(z);
    let sums = plain.low.iter_mut().zip(&mut centred.low).zip(&means.low);
    for (((plain, centred), mean), (g, z)) in sums.zip(words.clone()) {
        *plain += g.low();
        *centred += g.low() * (z.low() - mean);
    }
    if W::PAIRS {
        let sums = plain
            .high
            .iter_mut()
            .zip(&mut centred.high)
            .zip(&means.high);
        for (((plain, centred), mean), (g, z)) in sums.zip(words) {
            *plain += g.high();
            *centred += g.high() * (z.high() - mean);
        }
    }
}

/// The sum over all squares of each channel, for blocks that lie one after the other, added to
/// `sums`.
pub fn add_squares((level, grid): (SimdLevel, Grid), values: &[f32], sums: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            for (block, sums) in sums.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let mut own = Row::zeros();
                for row in rows::<f32>(grid, block) {
                    for (sum, value) in own.low.iter_mut().zip(&values[row]) {
                        *sum += value;
                    }
                }
                for (sum, own) in sums.iter_mut().zip(own.fold::<f32>()) {
                    *sum += own;
                }
            }
        },
    );
}

/// The gradient of a normalisation's input.
pub fn norm_input_gradient<W: Word>(
    (level, grid): (SimdLevel, Grid),
    gradient: &[W],
    z: &[W],
    norm: &NormGradient,
    out: &mut [W],
) {
    level.vectorize(
        #[inline(always)]
        || {
            for block in 0..norm.constant.len() / BLOCK {
                let by_output = Row::repeat::<W>(lanes(&norm.by_output, block * BLOCK));
                let by_input = Row::repeat::<W>(lanes(&norm.by_input, block * BLOCK));
                let constant = Row::repeat::<W>(lanes(&norm.constant, block * BLOCK));
                for row in rows::<W>(grid, block) {
                    let given = gradient[row.clone()].iter().zip(&z[row.clone()]);
                    let words = out[row].iter_mut().zip(given).zip(0..GRID * BLOCK);
                    for ((out, (g, z)), i) in words {
                        let low = g.low() * by_output.low[i] + z.low() * by_input.low[i];
                        let high = g.high() * by_output.high[i] + z.high() * by_input.high[i];
                        *out = W::keep(low + constant.low[i], high + constant.high[i]);
                    }
                }
            }
        },
    );
}
