//! The tower's backward pass.

use rayon::prelude::*;

use super::elementwise::{
    Gate, add_squares, keep_activations, keep_gradient, load_activations, mask_gradient,
    norm_input_gradient,
};
use super::gradient_kernel::{GradientForm, GradientJob, add_weight_gradient};
use super::heads::{HeadTools, Outputs};
use super::norm::{GradientSums, NormGradient};
use super::pooling::PoolingLayer;
use super::reduction::{add, total, unpack};
use super::tape::{Backwards, Tape};
use super::word::Word;
use crate::compiled::aligned::{Aligned, AlignedFloats};
use crate::compiled::conv::BLOCK;
use crate::compiled::winograd::WinogradScratch;

/// What a part of the batch adds to the gradients of one convolution and what is before it.
struct PartGradients {
    /// As [`GradientForm::sums_len`] describes.
    weights: AlignedFloats,
    /// For the normalisation before the convolution.
    sums: GradientSums,
    /// Of the linear layer of pooling, weights then bias, empty without pooling; or of the heads'
    /// biases.
    biases: Vec<f32>,
}

/// Buffers of one part of the batch.
struct Scratch<W: Word> {
    input: Aligned<W>,
    /// Gradient of the convolution's output.
    output_gradient: Aligned<W>,
    /// Gradient of its input.
    input_gradient: Aligned<W>,
    /// What pooling saw, and its gradient.
    pooled: [AlignedFloats; 2],
    room: W::Room,
    winograd: WinogradScratch,
}

impl<W: Word> Backwards for Tape<W> {
    fn backward(&self, outputs: &Outputs<Option<&[f32]>>) -> Vec<f32> {
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
}

impl<W: Word> Tape<W> {
    /// Back through the heads and the last relu.
    fn enter(
        &self,
        outputs: &Outputs<Option<&[f32]>>,
        gradient: &mut [W],
        parameters: &mut [f32],
    ) -> GradientSums {
        let tower = &self.tower;
        let (grid, channels) = (tower.grid, tower.channels);
        let last = tower.plan.pooling.len();
        let (len, part) = (self.sample_words(), self.part());
        let tools = HeadTools::new(tower, &self.parameters);
        let parts = gradient.par_chunks_mut(part * len).enumerate();
        let parts = parts.map(|(index, gradient)| {
            let mut own = PartGradients {
                weights: AlignedFloats::zeros(
                    GradientForm::Single.sums_len(channels, tools.blocks),
                ),
                sums: GradientSums::new(tower.blocks() * BLOCK),
                biases: vec![0.0; tools.blocks * BLOCK],
            };
            let mut scratch = tools.scratch(tower);
            let [mut feature_gradient, mut features] = [channels; 2].map(|c| grid.activations(c));
            let mut rounded = Aligned::zeros(len);
            for (i, gradient) in gradient.chunks_exact_mut(len).enumerate() {
                let sample = index * part + i;
                let kept = self.of(&self.features[last], sample);
                load_activations(self.how(), kept, &mut features);
                let out = &mut feature_gradient;
                self.heads_backward((sample, &features), outputs, &tools, &mut scratch, out);
                let job = GradientJob {
                    grid,
                    inputs: channels,
                    out_blocks: tools.blocks,
                    input: &features[..],
                    output_gradient: &scratch.gradient,
                };
                add_weight_gradient(tower.level, job, 1, &mut own.weights);
                add_squares(self.how(), &scratch.gradient, &mut own.biases);
                keep_activations(self.how(), out, &mut rounded);
                let gate = Gate::Relu(kept);
                self.keep(2 * last, sample, &rounded, gate, gradient, &mut own.sums);
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
            let out = &mut parameters[head.weight.clone()];
            unpack(
                &total,
                GradientForm::Single,
                (first, channels),
                channels,
                out,
            );
        }
        GradientSums::join(sums)
    }

    /// Keeps a sample's gradient of the output of normalisation `conv`.
    fn keep(
        &self,
        conv: usize,
        sample: usize,
        gradient: &[W],
        gate: Gate<W>,
        out: &mut [W],
        sums: &mut GradientSums,
    ) {
        let norm = (self.of(&self.sums[conv], sample), &self.norms[conv]);
        keep_gradient(self.how(), gradient, gate, norm, out, sums);
    }

    /// From the gradient behind a block's last addition, `gradient`, to that of its first
    /// normalisation's output, `inner`.
    fn second_half_backward(
        &self,
        block: usize,
        sums: GradientSums,
        gradient: &[W],
        inner: &mut [W],
        parameters: &mut [f32],
    ) -> GradientSums {
        let (first, second) = (2 * block + 1, 2 * block + 2);
        let norm = self.norm_backward(second, &sums, parameters);
        let place = self.tower.plan.pooling[block].as_ref();
        let layer = place.map(|place| PoolingLayer::new(place, &self.parameters));
        let conv = self.transposed(second);
        let each = |sample: usize, out: &mut [_], own: &mut PartGradients, s: &mut Scratch<W>| {
            self.activate(first, sample, self.bias(block, sample), &mut s.input);
            self.through_conv(second, sample, (gradient, &norm, &conv), None, own, s);
            let gate = match &layer {
                None => Gate::Relu(&s.input[..]),
                Some(layer) => {
                    mask_gradient(self.how(), &s.input, &mut s.input_gradient);
                    self.pooling_backward(layer, block, sample, own, s);
                    Gate::Open
                }
            };
            self.keep(first, sample, &s.input_gradient, gate, out, &mut own.sums);
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
        inner: &[W],
        gradient: &mut [W],
        parameters: &mut [f32],
    ) -> GradientSums {
        let first = 2 * block + 1;
        let norm = self.norm_backward(first, &sums, parameters);
        let conv = self.transposed(first);
        let each = |sample: usize, out: &mut [_], own: &mut PartGradients, s: &mut Scratch<W>| {
            let input = self.of(&self.features[block], sample);
            self.through_conv(first, sample, (inner, &norm, &conv), Some(input), own, s);
            let gate = Gate::AddRelu(input);
            self.keep(
                2 * block,
                sample,
                &s.input_gradient,
                gate,
                out,
                &mut own.sums,
            );
        };
        let parts = self.backward_parts(first, 0, gradient, each);
        self.collect_parts(first, parts, parameters)
    }

    fn stem_backward(&self, sums: GradientSums, gradient: &[W], parameters: &mut [f32]) {
        let norm = self.norm_backward(0, &sums, parameters);
        let part = self.part();
        let inputs = self.tower.stem_inputs();
        let parts = (0..self.batch.div_ceil(part)).into_par_iter().map(|index| {
            let mut weights = self.gradient_sums(inputs);
            let mut plain = self.tower.grid.activations(inputs);
            let mut input = Aligned::zeros(inputs.div_ceil(BLOCK) * self.block_words());
            let mut output_gradient = Aligned::zeros(self.sample_words());
            let mut room = W::Room::default();
            for sample in index * part..((index + 1) * part).min(self.batch) {
                self.lay_out(sample, &mut plain, &mut input);
                self.conv_output_gradient(0, sample, gradient, &norm, &mut output_gradient);
                let pair = (&input[..], &output_gradient[..]);
                self.add_conv_gradient(inputs, pair, &mut weights, &mut room);
            }
            W::finish_weight_gradient(&mut weights, &mut room);
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
        (gradient, norm, transposed): (&[W], &NormGradient, &W::Conv),
        input: Option<&[W]>,
        own: &mut PartGradients,
        scratch: &mut Scratch<W>,
    ) {
        let output_gradient = &mut scratch.output_gradient;
        self.conv_output_gradient(conv, sample, gradient, norm, output_gradient);
        let pair = (input.unwrap_or(&scratch.input), &output_gradient[..]);
        let inputs = self.tower.plan.convs[conv].inputs;
        self.add_conv_gradient(inputs, pair, &mut own.weights, &mut scratch.room);
        let out = &mut scratch.input_gradient;
        let winograd = &mut scratch.winograd;
        W::convolve_gradient(transposed, self.tower.grid, output_gradient, out, winograd);
    }

    fn conv_output_gradient(
        &self,
        conv: usize,
        sample: usize,
        gradient: &[W],
        norm: &NormGradient,
        out: &mut [W],
    ) {
        let (gradient, z) = (self.of(gradient, sample), self.of(&self.sums[conv], sample));
        norm_input_gradient(self.how(), gradient, z, norm, out);
    }

    /// From what a convolution saw and the gradient of what it gave.
    fn add_conv_gradient(
        &self,
        inputs: usize,
        (input, output_gradient): (&[W], &[W]),
        sums: &mut [f32],
        room: &mut W::Room,
    ) {
        let job = GradientJob {
            grid: self.tower.grid,
            inputs,
            out_blocks: self.tower.blocks(),
            input,
            output_gradient,
        };
        W::add_weight_gradient(self.tower.level, job, sums, room);
    }

    /// From the gradient of norm + bias to that of the norm, for the sample in the scratch.
    fn pooling_backward(
        &self,
        layer: &PoolingLayer,
        block: usize,
        sample: usize,
        own: &mut PartGradients,
        scratch: &mut Scratch<W>,
    ) {
        let (conv, channels) = (2 * block + 1, self.tower.channels);
        let mask = self.tower.mask(self.sample_planes(sample));
        let (inputs, _) = (self.pooled[block].as_ref()).expect("the block has pooling");
        let pooled = &inputs[sample * 2 * channels..][..2 * channels];
        let [z, gradient] = &mut scratch.pooled;
        load_activations(self.how(), self.of(&self.sums[conv], sample), z);
        load_activations(self.how(), &scratch.input_gradient, gradient);
        let mut bias_gradient = vec![0.0; self.tower.blocks() * BLOCK];
        add_squares(self.how(), gradient, &mut bias_gradient);
        let mut pooled_gradient = vec![0.0; 2 * channels];
        self.tower.level.vectorize(
            #[inline(always)]
            || {
                let bias_gradient = &bias_gradient[..channels];
                layer.backward(pooled, bias_gradient, &mut pooled_gradient, &mut own.biases);
                self.pooled(&mask, z, &self.norms[conv])
                    .spread(pooled, &pooled_gradient, gradient);
            },
        );
        keep_activations(self.how(), gradient, &mut scratch.input_gradient);
    }

    fn transposed(&self, conv: usize) -> W::Conv {
        let place = &self.tower.plan.convs[conv];
        W::pack(self.how(), &place.transposed(&self.parameters))
    }

    /// What is summed up for the weights of a 3×3 convolution.
    fn gradient_form(&self, inputs: usize) -> GradientForm {
        W::gradient_form(self.tower.grid, inputs, self.tower.blocks())
    }

    fn gradient_sums(&self, inputs: usize) -> AlignedFloats {
        let form = self.gradient_form(inputs);
        AlignedFloats::zeros(form.sums_len(inputs, self.tower.blocks()))
    }

    /// Runs `each` for all samples with what belongs to them in `out`, part by part.
    fn backward_parts(
        &self,
        conv: usize,
        pooling_len: usize,
        out: &mut [W],
        each: impl Fn(usize, &mut [W], &mut PartGradients, &mut Scratch<W>) + Sync,
    ) -> Vec<PartGradients> {
        let inputs = self.tower.plan.convs[conv].inputs;
        let (len, part) = (self.sample_words(), self.part());
        let words = || Aligned::zeros(self.sample_words());
        let floats = || self.tower.grid.activations(self.tower.channels);
        let parts = out.par_chunks_mut(part * len).enumerate();
        let parts = parts.map(|(index, out)| {
            let mut own = PartGradients {
                weights: self.gradient_sums(inputs),
                sums: GradientSums::new(self.tower.blocks() * BLOCK),
                biases: vec![0.0; pooling_len],
            };
            let mut scratch = Scratch {
                input: words(),
                output_gradient: words(),
                input_gradient: words(),
                pooled: [floats(), floats()],
                room: W::Room::default(),
                winograd: self.tower.winograd_scratch(),
            };
            for (sample, out) in out.chunks_exact_mut(len).enumerate() {
                each(index * part + sample, out, &mut own, &mut scratch);
            }
            W::finish_weight_gradient(&mut own.weights, &mut scratch.room);
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
        unpack(
            &total(parts),
            self.gradient_form(inputs),
            (0, inputs),
            place.inputs,
            out,
        );
    }
}
