//! The tower's forward pass in training, and what it keeps for the backward pass.

use std::fmt;

use rayon::prelude::*;

use super::buffers::Buffer;
use super::elementwise::{Addend, keep_activations, load_activations, normalize_relu};
use super::heads::Outputs;
use super::norm::{BatchStatistics, Moments, Norm};
use super::pooling::PoolingLayer;
use super::tower::{SharedFloats, Tower};
use super::word::Word;
use crate::board::GRID_SQUARES;
use crate::compiled::aligned::Aligned;
use crate::compiled::conv::{BLOCK, Grid};
use crate::compiled::kernel::SimdLevel;

/// Parts at most that a batch is cut into, whatever the number of threads: sums over a batch are made in
/// each part, then over the parts in order, so that they never depend on the threads by a bit.
const PARTS: usize = 16;

/// Fewest samples that are worth a part: each costs a sum of all gradients.
const SMALLEST_PART: usize = 8;

/// What the backward pass needs of a forward pass; activations are kept as squares of type `W`.
pub struct Tape<W: Word> {
    pub(super) tower: Tower,
    pub(super) batch: usize,
    pub(super) parameters: Vec<f32>,
    /// `[batch][planes][10][10]`
    planes: SharedFloats,
    /// Outputs of the convolutions, before their normalisation.
    pub(super) sums: Vec<Buffer<W>>,
    /// The normalisation of each convolution.
    pub(super) norms: Vec<Norm>,
    /// Inputs of the blocks, and the output of the last.
    pub(super) features: Vec<Buffer<W>>,
    /// For each block with pooling what its linear layer saw, `[batch][2 · channels]`, and gave,
    /// `[batch][whole blocks of channels]`.
    pub(super) pooled: Vec<Option<(Vec<f32>, Vec<f32>)>>,
}

/// A forward pass that can be gone back.
pub trait Backwards: fmt::Debug + Send + Sync {
    /// The gradients of the parameters, in the plan's order, from those of the outputs; none where
    /// nothing depends on an output.
    ///
    /// # Panics
    /// If a gradient's length is wrong.
    fn backward(&self, outputs: &Outputs<Option<&[f32]>>) -> Vec<f32>;
}

/// Where the inputs of a convolution go.
enum Input<'a, W> {
    /// Into a buffer for the whole batch.
    Kept(&'a mut [W]),
    /// Nowhere; they have this many blocks of channels.
    Scratch(usize),
}

impl<W: Word> fmt::Debug for Tape<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tape of {} samples", self.batch)
    }
}

impl<W: Word> Tape<W> {
    /// Runs a batch; see [`Tower::forward`].
    pub fn record(
        tower: Tower,
        planes: SharedFloats,
        parameters: Vec<f32>,
    ) -> (Outputs<Vec<f32>>, Vec<BatchStatistics>, Box<dyn Backwards>) {
        let given = (*planes).as_ref().len();
        let batch = given / (tower.planes * GRID_SQUARES);
        assert_eq!(parameters.len(), tower.plan.len, "parameters of the tower");
        assert_eq!(given, batch * tower.planes * GRID_SQUARES, "planes");
        let mut tape = Tape::<W> {
            tower,
            batch,
            parameters,
            planes,
            sums: Vec::new(),
            norms: Vec::new(),
            features: Vec::new(),
            pooled: Vec::new(),
        };
        let mut statistics = Vec::new();
        tape.stem(&mut statistics);
        for block in 0..tape.tower.plan.pooling.len() {
            tape.first_half(block, &mut statistics);
            tape.second_half(block, &mut statistics);
        }
        let last = tape.last_features();
        let outputs = tape.run_heads(&last);
        tape.features.push(last);
        for statistics in &mut statistics {
            statistics.mean.truncate(tape.tower.channels);
            statistics.variance.truncate(tape.tower.channels);
        }
        (outputs, statistics, Box::new(tape))
    }

    /// Words of a sample's activations.
    pub(super) fn sample_words(&self) -> usize {
        self.tower.blocks() * self.block_words()
    }

    /// Words of a block of channels of a sample.
    pub(super) fn block_words(&self) -> usize {
        self.tower.grid.block_floats() / BLOCK * W::WORDS
    }

    /// Samples in each part of the batch.
    pub(super) fn part(&self) -> usize {
        self.batch.div_ceil(PARTS).max(SMALLEST_PART)
    }

    /// The planes of a sample.
    pub(super) fn sample_planes(&self, sample: usize) -> &[f32] {
        let len = self.tower.planes * GRID_SQUARES;
        &(*self.planes).as_ref()[sample * len..][..len]
    }

    /// The part of a batch's activations that belongs to a sample.
    pub(super) fn of<'a>(&self, values: &'a [W], sample: usize) -> &'a [W] {
        let len = self.sample_words();
        &values[sample * len..][..len]
    }

    /// Instructions and layout for work on one sample.
    pub(super) fn how(&self) -> (SimdLevel, Grid) {
        (self.tower.level, self.tower.grid)
    }

    /// Room for a batch's activations: zero borders, anything within.
    pub(super) fn activations(&self) -> Buffer<W> {
        let len = self.batch * self.sample_words();
        self.tower.buffers.take(len)
    }

    /// The normalised and rectified output of convolution `conv` with what is added to it, for one
    /// sample.
    pub(super) fn activate(&self, conv: usize, sample: usize, addend: Addend<W>, out: &mut [W]) {
        let z = self.of(&self.sums[conv], sample);
        normalize_relu(self.how(), z, &self.norms[conv], addend, out);
    }

    fn stem(&mut self, statistics: &mut Vec<BatchStatistics>) {
        let inputs = self.tower.stem_inputs();
        let conv = self.conv(0, inputs);
        let room = || self.tower.grid.activations(inputs);
        let prepare = |sample, plain: &mut Aligned<f32>, input: &mut [W]| {
            self.lay_out(sample, plain, input);
        };
        let input = Input::Scratch(inputs.div_ceil(BLOCK));
        let (sums, moments) = self.convolve(&conv, input, room, prepare);
        self.push(0, sums, moments, statistics);
    }

    /// Computes the input of block `block`, keeps it, and convolves it.
    fn first_half(&mut self, block: usize, statistics: &mut Vec<BatchStatistics>) {
        let index = 2 * block + 1;
        let conv = self.conv(index, self.tower.channels);
        let mut features = self.activations();
        let prepare = |sample, (): &mut (), input: &mut [W]| {
            self.activate(2 * block, sample, self.bypass(block, sample), input);
        };
        let (sums, moments) = self.convolve(&conv, Input::Kept(&mut features), || (), prepare);
        self.features.push(features);
        self.push(index, sums, moments, statistics);
    }

    fn second_half(&mut self, block: usize, statistics: &mut Vec<BatchStatistics>) {
        let first = 2 * block + 1;
        let pooled = self.pool(block);
        self.pooled.push(pooled);
        let conv = self.conv(first + 1, self.tower.channels);
        let prepare = |sample, (): &mut (), input: &mut [W]| {
            self.activate(first, sample, self.bias(block, sample), input);
        };
        let (sums, moments) =
            self.convolve(&conv, Input::Scratch(self.tower.blocks()), || (), prepare);
        self.push(first + 1, sums, moments, statistics);
    }

    /// The bias that pooling gave a sample in block `block`.
    pub(super) fn bias(&self, block: usize, sample: usize) -> Addend<'_, W> {
        match &self.pooled[block] {
            None => Addend::Nothing,
            Some((_, biases)) => {
                let len = self.tower.blocks() * BLOCK;
                Addend::Bias(&biases[sample * len..][..len])
            }
        }
    }

    fn conv(&self, index: usize, inputs: usize) -> W::Conv {
        let place = &self.tower.plan.convs[index];
        W::pack(self.how(), &place.forward(&self.parameters, inputs))
    }

    /// What comes past the block before block `block`.
    fn bypass(&self, block: usize, sample: usize) -> Addend<'_, W> {
        match block.checked_sub(1) {
            None => Addend::Nothing,
            Some(before) => Addend::Activations(self.of(&self.features[before], sample)),
        }
    }

    /// The output of the last block.
    fn last_features(&self) -> Buffer<W> {
        let mut out = self.activations();
        let last = self.tower.plan.pooling.len();
        let samples = out.par_chunks_mut(self.sample_words()).enumerate();
        samples.for_each(|(sample, out)| {
            self.activate(2 * last, sample, self.bypass(last, sample), out);
        });
        out
    }

    fn pool(&self, block: usize) -> Option<(Vec<f32>, Vec<f32>)> {
        let place = self.tower.plan.pooling[block].as_ref()?;
        let layer = PoolingLayer::new(place, &self.parameters);
        let (inputs, outputs) = (2 * self.tower.channels, self.tower.blocks() * BLOCK);
        let mut pooled = vec![0.0; self.batch * inputs];
        let mut biases = vec![0.0; self.batch * outputs];
        let conv = 2 * block + 1;
        let samples = pooled
            .par_chunks_mut(inputs)
            .zip(biases.par_chunks_mut(outputs));
        let room = || self.tower.grid.activations(self.tower.channels);
        samples
            .enumerate()
            .for_each_init(room, |z, (sample, (pooled, bias))| {
                let mask = self.tower.mask(self.sample_planes(sample));
                load_activations(self.how(), self.of(&self.sums[conv], sample), z);
                self.tower.level.vectorize(
                    #[inline(always)]
                    || {
                        self.pooled(&mask, z, &self.norms[conv]).pool(pooled);
                        layer.apply(pooled, bias);
                    },
                );
            });
        Some((pooled, biases))
    }

    /// A sample's planes as kept activations; `plain` is room for them.
    pub(super) fn lay_out(&self, sample: usize, plain: &mut [f32], out: &mut [W]) {
        self.tower.lay_out_planes(self.sample_planes(sample), plain);
        keep_activations(self.how(), plain, out);
    }

    /// Convolves the batch part by part; `prepare` computes a sample's input with room of its own.
    fn convolve<R>(
        &self,
        conv: &W::Conv,
        inputs: Input<W>,
        room: impl Fn() -> R + Sync,
        prepare: impl Fn(usize, &mut R, &mut [W]) + Sync,
    ) -> (Buffer<W>, Vec<Moments>) {
        let mut out = self.activations();
        let (len, part) = (self.sample_words(), self.part());
        let (kept, blocks) = match inputs {
            Input::Kept(kept) => (kept, 0),
            Input::Scratch(blocks) => (&mut [][..], blocks),
        };
        let mut kept = kept.chunks_mut(part * len);
        let parts: Vec<_> = (out.chunks_mut(part * len))
            .map(|out| (out, kept.next()))
            .collect();
        let moments = parts
            .into_par_iter()
            .enumerate()
            .map(|(index, (out, mut kept))| {
                let mut moments = Moments::new(self.tower.blocks() * BLOCK);
                let mut scratch = Aligned::zeros(blocks * self.block_words());
                let mut room = room();
                let mut winograd = self.tower.winograd_scratch();
                for (i, out) in out.chunks_exact_mut(len).enumerate() {
                    let input = match &mut kept {
                        Some(kept) => &mut kept[i * len..][..len],
                        None => &mut scratch,
                    };
                    prepare(index * part + i, &mut room, input);
                    W::convolve(conv, self.how(), input, (out, &mut moments), &mut winograd);
                }
                moments
            });
        let moments = moments.collect();
        (out, moments)
    }

    fn push(
        &mut self,
        conv: usize,
        sums: Buffer<W>,
        moments: Vec<Moments>,
        statistics: &mut Vec<BatchStatistics>,
    ) {
        let place = &self.tower.plan.convs[conv];
        let batch = Moments::join(moments);
        let gamma = &self.parameters[place.gamma.clone()];
        let beta = &self.parameters[place.beta.clone()];
        self.norms.push(Norm::new(&batch, gamma, beta));
        self.sums.push(sums);
        statistics.push(batch);
    }
}
