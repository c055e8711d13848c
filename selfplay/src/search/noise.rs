//! Random numbers of the search: Gumbel and Dirichlet.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Replaces `out` by `n` independent standard Gumbel variables times `scale`; draws nothing if `scale` is 0.
pub fn gumbels(rng: &mut ChaCha8Rng, n: usize, scale: f32, out: &mut Vec<f32>) {
    out.clear();
    if scale == 0.0 {
        out.resize(n, 0.0);
        return;
    }
    out.extend((0..n).map(|_| scale * (-(-open_unit(rng).ln()).ln()) as f32));
}

/// A sample of the symmetric Dirichlet distribution over `n` outcomes.
pub fn dirichlet(rng: &mut ChaCha8Rng, n: usize, alpha: f32) -> Vec<f32> {
    let samples: Vec<f64> = (0..n).map(|_| gamma(rng, f64::from(alpha))).collect();
    let total: f64 = samples.iter().sum();
    if total <= 0.0 {
        return vec![1.0 / n as f32; n];
    }
    samples.iter().map(|s| (s / total) as f32).collect()
}

/// A Gamma(alpha, 1) variable by Marsaglia and Tsang (2000), with their boost for alpha below 1.
fn gamma(rng: &mut ChaCha8Rng, alpha: f64) -> f64 {
    if alpha < 1.0 {
        return gamma(rng, alpha + 1.0) * open_unit(rng).powf(1.0 / alpha);
    }
    let d = alpha - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && open_unit(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal variable (Box and Muller).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * open_unit(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * open_unit(rng)).cos()
}

/// Uniform in the open interval (0, 1), so that its logarithm is finite and not 0.
fn open_unit(rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let u: f64 = rng.random();
        if u > 0.0 {
            return u;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn gumbels_have_their_mean_and_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut sample = Vec::new();
        gumbels(&mut rng, 20_000, 1.0, &mut sample);
        let n = sample.len() as f32;
        let mean = sample.iter().sum::<f32>() / n;
        let variance = sample.iter().map(|g| (g - mean).powi(2)).sum::<f32>() / n;
        assert!((mean - 0.5772).abs() < 0.03, "{mean}");
        assert!(
            (variance - std::f32::consts::PI.powi(2) / 6.0).abs() < 0.08,
            "{variance}"
        );
    }

    #[test]
    fn dirichlet_sums_to_one_with_the_right_spread() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (n, alpha) = (10, 0.3_f32);
        let samples: Vec<Vec<f32>> = (0..4000).map(|_| dirichlet(&mut rng, n, alpha)).collect();
        assert!(
            samples
                .iter()
                .all(|s| (s.iter().sum::<f32>() - 1.0).abs() < 1e-4)
        );
        let variance = samples.iter().map(|s| (s[0] - 0.1).powi(2)).sum::<f32>() / 4000.0;
        assert!(
            (variance - 0.1 * 0.9 / (n as f32 * alpha + 1.0)).abs() < 0.004,
            "{variance}"
        );
    }
}
