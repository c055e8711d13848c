//! Batch normalisation over whole batches, forwards and backwards (Ioffe & Szegedy 2015,
//! <https://arxiv.org/abs/1502.03167>).

use crate::compiled::conv::BLOCK;
use crate::net::NORM_EPSILON;

/// Mean and biased variance of each channel over a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchStatistics {
    pub mean: Vec<f32>,
    pub variance: Vec<f32>,
}

/// Count, means and summed squared distances from the means of the channels of some samples.
pub struct Moments {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Of no samples.
    pub fn new(channels: usize) -> Moments {
        Moments {
            count: 0.0,
            mean: vec![0.0; channels],
            squares: vec![0.0; channels],
        }
    }

    /// Channels, whole blocks.
    pub fn channels(&self) -> usize {
        self.mean.len()
    }

    /// Adds `count` numbers of each channel of a block, of the given means and summed squared
    /// distances (Chan, Golub & LeVeque 1979, "Updating formulae and a pairwise algorithm for
    /// computing sample variances"). Blocks come in turn, the first one first.
    pub fn add(&mut self, block: usize, count: usize, mean: &[f32; BLOCK], squares: &[f32; BLOCK]) {
        let start = block * BLOCK;
        if start == 0 {
            self.count += count as f64;
        }
        let share = count as f64 / self.count;
        let weight = share * (self.count - count as f64);
        let ours = self.mean[start..]
            .iter_mut()
            .zip(&mut self.squares[start..]);
        for ((our_mean, our_squares), (&mean, &squares)) in ours.zip(mean.iter().zip(squares)) {
            let distance = f64::from(mean) - *our_mean;
            *our_mean += distance * share;
            *our_squares += f64::from(squares) + distance * distance * weight;
        }
    }

    /// Joins moments in their order.
    pub fn join(parts: Vec<Moments>) -> BatchStatistics {
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("a batch has samples");
        for part in parts {
            let count = all.count + part.count;
            let (share, weight) = (part.count / count, part.count * all.count / count);
            for (i, mean) in part.mean.iter().enumerate() {
                let distance = mean - all.mean[i];
                all.mean[i] += distance * share;
                all.squares[i] += part.squares[i] + distance * distance * weight;
            }
            all.count = count;
        }
        BatchStatistics {
            mean: all.mean.iter().map(|&mean| mean as f32).collect(),
            variance: (all.squares.iter())
                .map(|squares| (squares / all.count) as f32)
                .collect(),
        }
    }
}

/// The normalisation of one batch: output = input · scale + shift, for each channel.
#[derive(Debug)]
pub struct Norm {
    pub mean: Vec<f32>,
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
    inverse_deviation: Vec<f32>,
}

impl Norm {
    /// For channels of these statistics; `gamma` and `beta` may be shorter, as channels that fill
    /// up a block are not in the net.
    pub fn new(statistics: &BatchStatistics, gamma: &[f32], beta: &[f32]) -> Norm {
        let channels = statistics.mean.len();
        let inverse_deviation: Vec<f32> = (statistics.variance.iter())
            .map(|variance| 1.0 / (variance + NORM_EPSILON as f32).sqrt())
            .collect();
        let (mut scale, mut shift) = (vec![0.0; channels], vec![0.0; channels]);
        for (i, (gamma, beta)) in gamma.iter().zip(beta).enumerate() {
            scale[i] = gamma * inverse_deviation[i];
            shift[i] = beta - statistics.mean[i] * scale[i];
        }
        Norm {
            mean: statistics.mean.clone(),
            scale,
            shift,
            inverse_deviation,
        }
    }

    /// No normalisation: output = input.
    pub fn identity(channels: usize) -> Norm {
        Norm {
            mean: vec![0.0; channels],
            scale: vec![1.0; channels],
            shift: vec![0.0; channels],
            inverse_deviation: vec![1.0; channels],
        }
    }

    /// The backward pass, from the sums over `count` numbers of each channel.
    pub fn backward(&self, sums: &GradientSums, count: usize) -> NormGradient {
        let channels = self.mean.len();
        let mut gradient = NormGradient {
            gamma: vec![0.0; channels],
            beta: vec![0.0; channels],
            by_output: self.scale.clone(),
            by_input: vec![0.0; channels],
            constant: vec![0.0; channels],
        };
        for i in 0..channels {
            let inverse = f64::from(self.inverse_deviation[i]);
            let (beta, gamma) = (sums.plain[i], sums.centred[i] * inverse);
            let (mean_beta, mean_gamma) = (beta / count as f64, gamma / count as f64);
            let scale = f64::from(self.scale[i]);
            let by_input = -scale * inverse * mean_gamma;
            gradient.beta[i] = beta as f32;
            gradient.gamma[i] = gamma as f32;
            gradient.by_input[i] = by_input as f32;
            gradient.constant[i] = (-scale * mean_beta - f64::from(self.mean[i]) * by_input) as f32;
        }
        gradient
    }
}

/// Over a batch, for each channel: the sum of the output's gradient g, and of g times the input's
/// distance from its mean.
pub struct GradientSums {
    plain: Vec<f64>,
    centred: Vec<f64>,
}

impl GradientSums {
    /// Of no samples.
    pub fn new(channels: usize) -> GradientSums {
        GradientSums {
            plain: vec![0.0; channels],
            centred: vec![0.0; channels],
        }
    }

    /// Adds a sample's sums of one block.
    pub fn add(&mut self, block: usize, plain: &[f32; BLOCK], centred: &[f32; BLOCK]) {
        let start = block * BLOCK;
        for i in 0..BLOCK {
            self.plain[start + i] += f64::from(plain[i]);
            self.centred[start + i] += f64::from(centred[i]);
        }
    }

    /// Adds sums in their order.
    pub fn join(parts: Vec<GradientSums>) -> GradientSums {
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("a batch has samples");
        for part in parts {
            for i in 0..all.plain.len() {
                all.plain[i] += part.plain[i];
                all.centred[i] += part.centred[i];
            }
        }
        all
    }
}

/// Gradients of a normalisation. That of the input is, for each channel,
/// output's gradient · `by_output` + input · `by_input` + `constant`.
pub struct NormGradient {
    pub gamma: Vec<f32>,
    pub beta: Vec<f32>,
    pub by_output: Vec<f32>,
    pub by_input: Vec<f32>,
    pub constant: Vec<f32>,
}
