//! The tower's backward pass.

use rayon::prelude::*;

use super::elementwise::{add_gradient_sums, mask_gradient, norm_input_gradient};
use super::gradient_kernel::{GradientJob, add_weight_gradient, sums_len};
use super::norm::{GradientSums, NormGradient};
use super::pooling::Pooling;
use super::tower::Tape;
use crate::compiled::aligned::AlignedFloats;
use crate::compiled::conv::{After, BLOCK, Conv};

/// Weights that one task adds up over the parts of a batch.
const REDUCED_AT_ONCE: usize = 8192;

/// What a part of the batch adds to the gradients of one convolution and what is before it.
struct PartGradients {
    /// As in [`GradientJob::sums`].
    weights: AlignedFloats,
    /// For the normalisation before the convolution.
    sums: GradientSums,
    /// Of the linear layer of pooling, weights then bias; empty without pooling.
    pooling: Vec<f32>,
}

/// Buffers of one part of the batch.
struct Scratch {
    input: AlignedFloats,
    /// Gradient of the convolution's output.
    output_gradient: AlignedFloats,
    /// Gradient of its input.
    input_gradient: AlignedFloats,
}

impl Tape {
    /// The gradients of the parameters, in the plan's order, from that of the features,
    /// `[batch][channels][ranks][files]`.
    ///
    /// # Panics
    /// If the gradient's length is wrong.
    pub fn backward(&self, feature_gradient: &[f32]) -> Vec<f32> {
        let tower = &self.tower;
        let expected = self.batch * tower.channels * tower.grid.cells();
        assert_eq!(feature_gradient.len(), expected, "gradient of the features");
        let mut parameters = vec![0.0; tower.plan.len];
        let mut gradient = self.activations();
        let mut inner = self.activations();
        let mut sums = self.enter(feature_gradient, &mut gradient);
        for block in (0..tower.plan.pooling.len()).rev() {
            sums = self.second_half_backward(block, sums, &gradient, &mut inner, &mut parameters);
            sums = self.first_half_backward(block, sums, &inner, &mut gradient, &mut parameters);
        }
        self.stem_backward(sums, &gradient, &mut parameters);
        parameters
    }

    /// Gradient behind the last relu.
    fn enter(&self, features: &[f32], gradient: &mut [f32]) -> GradientSums {
        let (grid, cells) = (self.tower.grid, self.tower.grid.cells());
        let last = self.tower.plan.pooling.len();
        let (len, part) = (self.tower.sample_floats(), self.part());
        let parts = gradient.par_chunks_mut(part * len).enumerate();
        let sums = parts.map(|(index, gradient)| {
            let mut sums = GradientSums::new(self.tower.blocks() * BLOCK);
            let mut laid_out = grid.activations(self.tower.channels);
            for (i, gradient) in gradient.chunks_exact_mut(len).enumerate() {
                let sample = index * part + i;
                let size = self.tower.channels * cells;
                let channels = features[sample * size..][..size].chunks_exact(cells);
                for (channel, values) in channels.enumerate() {
                    let start = channel / BLOCK * grid.block_floats() + channel % BLOCK;
                    let block = &mut laid_out[start..];
                    for (cell, &value) in values.iter().enumerate() {
                        block[grid.at(cell)] = value;
                    }
                }
                let active = self.of(&self.features[last], sample);
                mask_gradient::<false>(
                    self.how(),
                    self.tower.blocks(),
                    &laid_out,
                    active,
                    gradient,
                );
                self.add_sums(2 * last, sample, gradient, &mut sums);
            }
            sums
        });
        GradientSums::join(sums.collect())
    }

    fn add_sums(&self, conv: usize, sample: usize, gradient: &[f32], sums: &mut GradientSums) {
        let z = self.of(&self.sums[conv], sample);
        add_gradient_sums(self.how(), gradient, z, &self.norms[conv], sums);
    }

    /// From the gradient behind a block's last addition, `gradient`, to that of its first
    /// normalisation's output, `inner`.
    fn second_half_backward(
        &self,
        block: usize,
        sums: GradientSums,
        gradient: &[f32],
        inner: &mut [f32],
        parameters: &mut [f32],
    ) -> GradientSums {
        let (first, second) = (2 * block + 1, 2 * block + 2);
        let norm = self.norm_backward(second, &sums, parameters);
        let place = self.tower.plan.pooling[block].as_ref();
        let block_floats = self.tower.grid.block_floats();
        let pooling = place.map(|place| Pooling::new(place, &self.parameters, block_floats));
        let conv = self.transposed(second);
        let each = |sample: usize, out: &mut [f32], own: &mut PartGradients, s: &mut Scratch| {
            self.activate(first, sample, self.bias(block, sample), &mut s.input);
            self.through_conv(second, sample, (gradient, &norm, &conv), None, own, s);
            mask_gradient::<false>(
                self.how(),
                self.tower.blocks(),
                &s.input_gradient,
                &s.input,
                out,
            );
            if let Some(pooling) = &pooling {
                self.pooling_backward(pooling, block, sample, out, &mut own.pooling);
            }
            self.add_sums(first, sample, out, &mut own.sums);
        };
        let pooling_len = place.map_or(0, |place| place.weight.len() + place.bias.len());
        let parts = self.backward_parts(second, pooling_len, inner, each);
        if let Some(place) = place {
            let (weights, bias) = (place.weight.clone(), place.bias.clone());
            for part in &parts {
                let (of_weights, of_bias) = part.pooling.split_at(weights.len());
                add(&mut parameters[weights.clone()], of_weights);
                add(&mut parameters[bias.clone()], of_bias);
            }
        }
        self.collect_parts(second, parts, parameters)
    }

    /// From the gradient of the first normalisation's output, `inner`, to that behind the relu of
    /// the block's input; `gradient` holds what bypasses the block.
    fn first_half_backward(
        &self,
        block: usize,
        sums: GradientSums,
        inner: &[f32],
        gradient: &mut [f32],
        parameters: &mut [f32],
    ) -> GradientSums {
        let first = 2 * block + 1;
        let norm = self.norm_backward(first, &sums, parameters);
        let conv = self.transposed(first);
        let each = |sample: usize, out: &mut [f32], own: &mut PartGradients, s: &mut Scratch| {
            let input = self.of(&self.features[block], sample);
            self.through_conv(first, sample, (inner, &norm, &conv), Some(input), own, s);
            mask_gradient::<true>(
                self.how(),
                self.tower.blocks(),
                &s.input_gradient,
                input,
                out,
            );
            self.add_sums(2 * block, sample, out, &mut own.sums);
        };
        let parts = self.backward_parts(first, 0, gradient, each);
        self.collect_parts(first, parts, parameters)
    }

    fn stem_backward(&self, sums: GradientSums, gradient: &[f32], parameters: &mut [f32]) {
        let norm = self.norm_backward(0, &sums, parameters);
        let (grid, part) = (self.tower.grid, self.part());
        let inputs = self.tower.stem_inputs();
        let parts = (0..self.batch.div_ceil(part)).into_par_iter().map(|index| {
            let mut weights = AlignedFloats::zeros(sums_len(inputs, self.tower.blocks()));
            let mut input = grid.activations(inputs);
            let mut output_gradient = grid.activations(self.tower.channels);
            for sample in index * part..((index + 1) * part).min(self.batch) {
                self.tower
                    .lay_out_planes(self.sample_planes(sample), &mut input);
                self.conv_output_gradient(0, sample, gradient, &norm, &mut output_gradient);
                self.add_weight_gradient(inputs, &input, &output_gradient, &mut weights);
            }
            weights
        });
        let parts: Vec<AlignedFloats> = parts.collect();
        self.collect_weights(0, inputs, &parts, parameters);
    }

    /// Gradients of a normalisation's parameters; what is needed for that of its input.
    fn norm_backward(
        &self,
        conv: usize,
        sums: &GradientSums,
        parameters: &mut [f32],
    ) -> NormGradient {
        let count = self.batch * self.tower.grid.cells();
        let gradient = self.norms[conv].backward(sums, count);
        let place = &self.tower.plan.convs[conv];
        parameters[place.gamma.clone()].copy_from_slice(&gradient.gamma[..place.outputs]);
        parameters[place.beta.clone()].copy_from_slice(&gradient.beta[..place.outputs]);
        gradient
    }

    /// Back through a normalisation and its convolution for one sample, whose input is `input` or
    /// in the scratch.
    fn through_conv(
        &self,
        conv: usize,
        sample: usize,
        (gradient, norm, transposed): (&[f32], &NormGradient, &Conv),
        input: Option<&[f32]>,
        own: &mut PartGradients,
        scratch: &mut Scratch,
    ) {
        let output_gradient = &mut scratch.output_gradient;
        self.conv_output_gradient(conv, sample, gradient, norm, output_gradient);
        let input = input.unwrap_or(&scratch.input);
        let inputs = self.tower.plan.convs[conv].inputs;
        self.add_weight_gradient(inputs, input, output_gradient, &mut own.weights);
        let out = &mut scratch.input_gradient;
        transposed.run(self.tower.grid, output_gradient, out, After::Keep);
    }

    fn conv_output_gradient(
        &self,
        conv: usize,
        sample: usize,
        gradient: &[f32],
        norm: &NormGradient,
        out: &mut [f32],
    ) {
        let (gradient, z) = (self.of(gradient, sample), self.of(&self.sums[conv], sample));
        norm_input_gradient(self.how(), gradient, z, norm, out);
    }

    fn add_weight_gradient(
        &self,
        inputs: usize,
        input: &[f32],
        output_gradient: &[f32],
        sums: &mut [f32],
    ) {
        let job = GradientJob {
            grid: self.tower.grid,
            inputs,
            out_blocks: self.tower.blocks(),
            input,
            output_gradient,
            sums,
        };
        add_weight_gradient(self.tower.level, job);
    }

    fn pooling_backward(
        &self,
        pooling: &Pooling,
        block: usize,
        sample: usize,
        gradient: &mut [f32],
        sums: &mut [f32],
    ) {
        let conv = 2 * block + 1;
        let squares = self.tower.squares(self.sample_planes(sample));
        let grid = self.tower.grid;
        let cells = (0..grid.cells()).map(|cell| grid.at(cell));
        let (inputs, _) = (self.pooled[block].as_ref()).expect("the block has pooling");
        let pooled = &inputs[sample * 2 * self.tower.channels..][..2 * self.tower.channels];
        let z = self.of(&self.sums[conv], sample);
        self.tower.level.vectorize(
            #[inline(always)]
            || {
                pooling.backward(
                    &squares,
                    cells,
                    (z, &self.norms[conv], pooled),
                    gradient,
                    sums,
                )
            },
        );
    }

    fn transposed(&self, conv: usize) -> Conv {
        self.tower.plan.convs[conv].transposed(self.tower.level, &self.parameters)
    }

    /// Runs `each` for all samples with what belongs to them in `out`, part by part.
    fn backward_parts(
        &self,
        conv: usize,
        pooling_len: usize,
        out: &mut [f32],
        each: impl Fn(usize, &mut [f32], &mut PartGradients, &mut Scratch) + Sync,
    ) -> Vec<PartGradients> {
        let inputs = self.tower.plan.convs[conv].inputs;
        let (len, part) = (self.tower.sample_floats(), self.part());
        let room = || self.tower.grid.activations(self.tower.channels);
        let parts = out.par_chunks_mut(part * len).enumerate();
        let parts = parts.map(|(index, out)| {
            let mut own = PartGradients {
                weights: AlignedFloats::zeros(sums_len(inputs, self.tower.blocks())),
                sums: GradientSums::new(self.tower.blocks() * BLOCK),
                pooling: vec![0.0; pooling_len],
            };
            let mut scratch = Scratch {
                input: room(),
                output_gradient: room(),
                input_gradient: room(),
            };
            for (sample, out) in out.chunks_exact_mut(len).enumerate() {
                each(index * part + sample, out, &mut own, &mut scratch);
            }
            own
        });
        parts.collect()
    }

    /// Adds up the parts' gradients of a convolution; the sums for the normalisation before it
    /// are handed on.
    fn collect_parts(
        &self,
        conv: usize,
        parts: Vec<PartGradients>,
        parameters: &mut [f32],
    ) -> GradientSums {
        let inputs = self.tower.plan.convs[conv].inputs;
        let (weights, sums): (Vec<_>, Vec<_>) =
            (parts.into_iter().map(|part| (part.weights, part.sums))).unzip();
        self.collect_weights(conv, inputs, &weights, parameters);
        GradientSums::join(sums)
    }

    /// Adds up the parts' gradients of weights and puts them in the plan's order.
    fn collect_weights(
        &self,
        conv: usize,
        inputs: usize,
        parts: &[AlignedFloats],
        parameters: &mut [f32],
    ) {
        let mut total = AlignedFloats::zeros(parts[0].len());
        let pieces = total.par_chunks_mut(REDUCED_AT_ONCE).enumerate();
        pieces.for_each(|(piece, total)| {
            for part in parts {
                add(total, &part[piece * REDUCED_AT_ONCE..][..total.len()]);
            }
        });
        let place = &self.tower.plan.convs[conv];
        let outputs = parameters[place.weight.clone()].chunks_exact_mut(place.inputs * 9);
        for (output, gradient) in outputs.enumerate() {
            let start = output / BLOCK * 9 * inputs * BLOCK + output % BLOCK;
            for (at, gradient) in gradient.iter_mut().enumerate() {
                let (input, tap) = (at / 9, at % 9);
                *gradient = total[start + (tap * inputs + input) * BLOCK];
            }
        }
    }
}

fn add(sums: &mut [f32], more: &[f32]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
