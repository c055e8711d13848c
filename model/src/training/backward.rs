//! The tower's backward pass.

use rayon::prelude::*;

use super::convolution::{Packing, TowerConv, add_conv_gradient};
use super::elementwise::{add_gradient_sums, add_squares, mask_gradient, norm_input_gradient};
use super::gradient_kernel::{GradientJob, add_weight_gradient, sums_len};
use super::heads::{HeadTools, Outputs};
use super::norm::{GradientSums, NormGradient};
use super::pooling::PoolingLayer;
use super::reduction::{add, total, unpack};
use super::tower::Tape;
use crate::compiled::aligned::AlignedFloats;
use crate::compiled::conv::BLOCK;

/// What a part of the batch adds to the gradients of one convolution and what is before it.
struct PartGradients {
    /// As in [`GradientJob::sums`].
    weights: AlignedFloats,
    /// For the normalisation before the convolution.
    sums: GradientSums,
    /// Of the linear layer of pooling, weights then bias, empty without pooling; or of the heads'
    /// biases.
    biases: Vec<f32>,
}

/// Buffers of one part of the batch.
struct Scratch {
    input: AlignedFloats,
    /// Gradient of the convolution's output.
    output_gradient: AlignedFloats,
    /// Gradient of its input.
    input_gradient: AlignedFloats,
    packing: Packing,
}

impl Tape {
    /// The gradients of the parameters, in the plan's order, from those of the outputs; none where
    /// nothing depends on an output.
    ///
    /// # Panics
    /// If a gradient's length is wrong.
    pub fn backward(&self, outputs: &Outputs<Option<&[f32]>>) -> Vec<f32> {
        let tower = &self.tower;
        let mut parameters = vec![0.0; tower.plan.len];
        let mut gradient = self.activations();
        let mut inner = self.activations();
        let mut sums = self.enter(outputs, &mut gradient, &mut parameters);
        for block in (0..tower.plan.pooling.len()).rev() {
            sums = self.second_half_backward(block, sums, &gradient, &mut inner, &mut parameters);
            sums = self.first_half_backward(block, sums, &inner, &mut gradient, &mut parameters);
        }
        self.stem_backward(sums, &gradient, &mut parameters);
        parameters
    }

    /// Back through the heads and the last relu.
    fn enter(
        &self,
        outputs: &Outputs<Option<&[f32]>>,
        gradient: &mut [f32],
        parameters: &mut [f32],
    ) -> GradientSums {
        let tower = &self.tower;
        let (grid, channels) = (tower.grid, tower.channels);
        let last = tower.plan.pooling.len();
        let (len, part) = (tower.sample_floats(), self.part());
        let tools = HeadTools::new(tower, &self.parameters);
        let parts = gradient.par_chunks_mut(part * len).enumerate();
        let parts = parts.map(|(index, gradient)| {
            let mut own = PartGradients {
                weights: AlignedFloats::zeros(sums_len(channels, tools.blocks, 1)),
                sums: GradientSums::new(tower.blocks() * BLOCK),
                biases: vec![0.0; tools.blocks * BLOCK],
            };
            let mut scratch = tools.scratch(tower);
            let mut feature_gradient = grid.activations(channels);
            for (i, gradient) in gradient.chunks_exact_mut(len).enumerate() {
                let sample = index * part + i;
                let out = &mut feature_gradient;
                self.heads_backward(sample, outputs, &tools, &mut scratch, out);
                let features = self.of(&self.features[last], sample);
                let job = GradientJob {
                    grid,
                    inputs: channels,
                    out_blocks: tools.blocks,
                    taps: 1,
                    input: features,
                    output_gradient: &scratch.gradient,
                    sums: &mut own.weights,
                };
                add_weight_gradient(tower.level, job);
                add_squares(self.how(), &scratch.gradient, &mut own.biases);
                let blocks = tower.blocks();
                mask_gradient::<false>(self.how(), blocks, out, features, gradient);
                self.add_sums(2 * last, sample, gradient, &mut own.sums);
            }
            own
        });
        let parts: Vec<PartGradients> = parts.collect();
        for part in &parts {
            for (head, first) in tower.plan.heads.iter().zip(tools.firsts) {
                let bias = &part.biases[first * BLOCK..][..head.outputs];
                add(&mut parameters[head.bias.clone()], bias);
            }
        }
        let (weights, sums): (Vec<_>, Vec<_>) =
            (parts.into_iter().map(|part| (part.weights, part.sums))).unzip();
        let total = total(&weights);
        for (head, first) in tower.plan.heads.iter().zip(tools.firsts) {
            unpack(
                &total,
                first,
                channels,
                1,
                channels,
                &mut parameters[head.weight.clone()],
            );
        }
        GradientSums::join(sums)
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
        let layer = place.map(|place| PoolingLayer::new(place, &self.parameters));
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
            if let Some(layer) = &layer {
                self.pooling_backward(layer, block, sample, out, &mut own.biases);
            }
            self.add_sums(first, sample, out, &mut own.sums);
        };
        let pooling_len = place.map_or(0, |place| place.weight.len() + place.bias.len());
        let parts = self.backward_parts(second, pooling_len, inner, each);
        if let Some(place) = place {
            let (weights, bias) = (place.weight.clone(), place.bias.clone());
            for part in &parts {
                let (of_weights, of_bias) = part.biases.split_at(weights.len());
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
            let mut weights = AlignedFloats::zeros(sums_len(inputs, self.tower.blocks(), 3));
            let mut input = grid.activations(inputs);
            let mut output_gradient = grid.activations(self.tower.channels);
            let mut packing = Packing::default();
            for sample in index * part..((index + 1) * part).min(self.batch) {
                self.tower
                    .lay_out_planes(self.sample_planes(sample), &mut input);
                self.conv_output_gradient(0, sample, gradient, &norm, &mut output_gradient);
                self.add_conv_gradient(
                    inputs,
                    &input,
                    &output_gradient,
                    &mut weights,
                    &mut packing,
                );
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
        (gradient, norm, transposed): (&[f32], &NormGradient, &TowerConv),
        input: Option<&[f32]>,
        own: &mut PartGradients,
        scratch: &mut Scratch,
    ) {
        let output_gradient = &mut scratch.output_gradient;
        self.conv_output_gradient(conv, sample, gradient, norm, output_gradient);
        let input = input.unwrap_or(&scratch.input);
        let inputs = self.tower.plan.convs[conv].inputs;
        self.add_conv_gradient(
            inputs,
            input,
            output_gradient,
            &mut own.weights,
            &mut scratch.packing,
        );
        let out = &mut scratch.input_gradient;
        transposed.run(self.tower.grid, output_gradient, &mut scratch.packing, out);
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

    fn add_conv_gradient(
        &self,
        inputs: usize,
        input: &[f32],
        output_gradient: &[f32],
        sums: &mut [f32],
        packing: &mut Packing,
    ) {
        let job = GradientJob {
            grid: self.tower.grid,
            inputs,
            out_blocks: self.tower.blocks(),
            taps: 3,
            input,
            output_gradient,
            sums,
        };
        add_conv_gradient(self.tower.kernels(), job, packing);
    }

    /// From the gradient of norm + bias to that of the norm, for one sample.
    fn pooling_backward(
        &self,
        layer: &PoolingLayer,
        block: usize,
        sample: usize,
        gradient: &mut [f32],
        sums: &mut [f32],
    ) {
        let (conv, channels) = (2 * block + 1, self.tower.channels);
        let mask = self.tower.mask(self.sample_planes(sample));
        let (inputs, _) = (self.pooled[block].as_ref()).expect("the block has pooling");
        let pooled = &inputs[sample * 2 * channels..][..2 * channels];
        let z = self.of(&self.sums[conv], sample);
        let mut bias_gradient = vec![0.0; self.tower.blocks() * BLOCK];
        add_squares(self.how(), gradient, &mut bias_gradient);
        let mut pooled_gradient = vec![0.0; 2 * channels];
        self.tower.level.vectorize(
            #[inline(always)]
            || {
                let bias_gradient = &bias_gradient[..channels];
                layer.backward(pooled, bias_gradient, &mut pooled_gradient, sums);
                self.pooled(&mask, z, &self.norms[conv])
                    .spread(pooled, &pooled_gradient, gradient);
            },
        );
    }

    fn transposed(&self, conv: usize) -> TowerConv {
        let place = &self.tower.plan.convs[conv];
        TowerConv::transposed(self.tower.kernels(), place, &self.parameters)
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
                weights: AlignedFloats::zeros(sums_len(inputs, self.tower.blocks(), 3)),
                sums: GradientSums::new(self.tower.blocks() * BLOCK),
                biases: vec![0.0; pooling_len],
            };
            let mut scratch = Scratch {
                input: room(),
                output_gradient: room(),
                input_gradient: room(),
                packing: Packing::default(),
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
        let place = &self.tower.plan.convs[conv];
        let out = &mut parameters[place.weight.clone()];
        unpack(&total(parts), 0, inputs, 9, place.inputs, out);
    }
}
