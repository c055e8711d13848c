//! Muon: steps along the orthogonalised momentum of a matrix (Jordan et al. 2024, <https://kellerjordan.github.io/posts/muon/>).
//!
//! All singular values of a step are about 1, so that directions with small gradients are learnt as fast as those with large
//! ones. A step is scaled by 0.2·√max(rows, columns), which makes it as large as one of AdamW's (Liu et al. 2025,
//! <https://arxiv.org/abs/2502.16982>, section 2.2), so both share a learning rate and a weight decay.

use crate::learn::params::Slot;

/// Rounds of the iteration; the singular values end up between 0.7 and 1.2.
const ROUNDS: usize = 5;
/// Coefficients of the odd polynomial a·x + b·x³ + c·x⁵ that drives singular values from (0, 1] towards 1, from Jordan.
const COEFFICIENTS: [f32; 3] = [3.4445, -4.7750, 2.0315];
/// Smaller sides than this are left to AdamW: outputs such as win, draw and loss.
const LEAST_SIDE: usize = 16;
/// Decay of the momentum.
const MOMENTUM: f32 = 0.95;
/// Numbers added up side by side, so that the compiler can use vector registers.
const LANES: usize = 16;

/// Rows and columns of a parameter as a matrix, kernels flattened; `None` if it is not one that Muon is for.
pub fn matrix_of(slot: &Slot) -> Option<(usize, usize)> {
    let (&rows, rest) = slot.shape.split_first()?;
    let columns = rest.iter().product();
    let is_matrix = slot.trained && !rest.is_empty() && rows.min(columns) >= LEAST_SIDE;
    is_matrix.then_some((rows, columns))
}

/// Takes in a gradient of `rows`×`columns` and returns the direction of the step; `momentum` is the state.
pub fn direction(
    gradient: &[f32],
    scale: f32,
    momentum: &mut [f32],
    shape: (usize, usize),
) -> Vec<f32> {
    // Nesterov's momentum: where the mean will be after this gradient has acted once more.
    let ahead: Vec<f32> = gradient
        .iter()
        .zip(momentum)
        .map(|(g, m)| {
            let g = g * scale;
            *m = MOMENTUM * *m + (1.0 - MOMENTUM) * g;
            MOMENTUM * *m + (1.0 - MOMENTUM) * g
        })
        .collect();
    let (rows, columns) = shape;
    let mut step = match rows <= columns {
        true => orthogonal(ahead, rows, columns),
        false => transposed(
            &orthogonal(transposed(&ahead, rows), columns, rows),
            columns,
        ),
    };
    let size = 0.2 * (rows.max(columns) as f32).sqrt();
    step.iter_mut().for_each(|x| *x *= size);
    step
}

/// The matrix with the same singular vectors and singular values of about 1; `rows` at most `columns`, row by row.
fn orthogonal(mut x: Vec<f32>, rows: usize, columns: usize) -> Vec<f32> {
    let norm = x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt() as f32;
    if norm <= f32::MIN_POSITIVE {
        return x;
    }
    x.iter_mut().for_each(|v| *v /= norm);
    let [a, b, c] = COEFFICIENTS;
    let mut next = vec![0.0; x.len()];
    for _ in 0..ROUNDS {
        let gram = gram(&x, rows, columns);
        // (a + b·G + c·G²)·X, with G = X·Xᵀ.
        let mut factor = vec![0.0; rows * rows];
        multiply(&gram, &gram, &mut factor, rows);
        for (i, (square, &g)) in factor.iter_mut().zip(&gram).enumerate() {
            let one = if i / rows == i % rows { a } else { 0.0 };
            *square = one + b * g + c * *square;
        }
        multiply(&factor, &x, &mut next, columns);
        std::mem::swap(&mut x, &mut next);
    }
    x
}

/// X·Xᵀ.
fn gram(x: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut gram = vec![0.0; rows * rows];
    for i in 0..rows {
        for j in 0..=i {
            let dot = dot(&x[i * columns..][..columns], &x[j * columns..][..columns]);
            gram[i * rows + j] = dot;
            gram[j * rows + i] = dot;
        }
    }
    gram
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y);
    let rest: f32 = rest.sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f32>()
}

/// `out` = square·other, whose rows have `columns` numbers.
fn multiply(square: &[f32], other: &[f32], out: &mut [f32], columns: usize) {
    let side = other.len() / columns;
    for (row, factors) in out.chunks_exact_mut(columns).zip(square.chunks_exact(side)) {
        row.fill(0.0);
        for (factor, line) in factors.iter().zip(other.chunks_exact(columns)) {
            for (sum, value) in row.iter_mut().zip(line) {
                *sum += factor * value;
            }
        }
    }
}

/// The transpose of a matrix of so many rows.
fn transposed(x: &[f32], rows: usize) -> Vec<f32> {
    let columns = x.len() / rows;
    let column = |j: usize| (0..rows).map(move |i| x[i * columns + j]);
    (0..columns).flat_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn random(count: usize) -> Vec<f32> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// Whatever the shape, rows (or columns, if there are fewer) become nearly orthonormal.
    #[test]
    fn directions_have_singular_values_near_one() {
        for (rows, columns) in [(16, 40), (40, 16), (32, 32)] {
            let gradient = random(rows * columns);
            let mut momentum = vec![0.0; gradient.len()];
            let step = direction(&gradient, 1.0, &mut momentum, (rows, columns));
            let size = 0.2 * (rows.max(columns) as f32).sqrt();
            let step: Vec<f32> = step.iter().map(|x| x / size).collect();
            let small = rows.min(columns);
            let wide = if rows <= columns {
                step
            } else {
                transposed(&step, rows)
            };
            let gram = gram(&wide, small, rows.max(columns));
            // The trace is the sum of the squares of the singular values.
            let trace: f32 = (0..small).map(|i| gram[i * small + i]).sum();
            let mean = trace / small as f32;
            assert!((0.5..1.3).contains(&mean), "{rows}x{columns}: {mean}");
            let along: f32 = dot(
                &wide,
                &if rows <= columns {
                    gradient.clone()
                } else {
                    transposed(&gradient, rows)
                },
            );
            assert!(along > 0.0, "it points along the gradient");
        }
    }

    #[test]
    fn products_by_hand() {
        let mut out = vec![0.0; 4];
        multiply(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut out, 2);
        assert_eq!(out, [19.0, 22.0, 43.0, 50.0]);
        assert_eq!(gram(&[1.0, 2.0, 3.0, 4.0], 2, 2), [5.0, 11.0, 11.0, 25.0]);
        assert_eq!(
            transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2),
            [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
        );
        let a = random(37);
        let plain: f32 = a.iter().map(|x| x * x).sum();
        assert!((dot(&a, &a) - plain).abs() < 1e-4);
    }

    /// No gradient, no step, and nothing that is not a number.
    #[test]
    fn zeros_stay_zeros() {
        let step = direction(&[0.0; 256], 1.0, &mut [0.0; 256], (16, 16));
        assert!(step.iter().all(|&x| x == 0.0));
    }
}
