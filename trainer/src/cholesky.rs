//! Symmetric positive definite systems of a few dozen unknowns, for the fits of the arena and of the piece values.

/// The Cholesky factor L of a symmetric positive definite matrix A = L·Lᵀ.
#[derive(Debug, Clone)]
pub struct Cholesky {
    size: usize,
    /// Row-major `[size][size]`; only the lower triangle is used.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors the row-major `[size][size]` matrix, of which only the lower triangle is read.
    ///
    /// Returns `None` if the matrix is not positive definite to working precision.
    ///
    /// # Panics
    /// If `matrix.len() != size * size`.
    pub fn factor(matrix: &[f64], size: usize) -> Option<Cholesky> {
        assert_eq!(
            matrix.len(),
            size * size,
            "a {size}x{size} matrix was expected"
        );
        let pivot = |rest: f64| (rest > 0.0 && rest.is_finite()).then(|| rest.sqrt());
        let lower = lower_factor(matrix, size, pivot)?;
        Some(Cholesky { size, lower })
    }

    /// Solves A·x = `right` and returns x.
    ///
    /// # Panics
    /// If `right` has another length than the matrix has rows.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.size;
        assert_eq!(right.len(), size, "one number a row was expected");
        let mut x = right.to_vec();
        for row in 0..size {
            let known: f64 = (0..row).map(|k| self.lower[row * size + k] * x[k]).sum();
            x[row] = (x[row] - known) / self.lower[row * size + row];
        }
        for row in (0..size).rev() {
            let known: f64 = (row + 1..size)
                .map(|k| self.lower[k * size + row] * x[k])
                .sum();
            x[row] = (x[row] - known) / self.lower[row * size + row];
        }
        x
    }

    /// The inverse of A, row-major `[size][size]`.
    pub fn inverse(&self) -> Vec<f64> {
        let size = self.size;
        let mut inverse = vec![0.0; size * size];
        let mut unit = vec![0.0; size];
        for column in 0..size {
            unit[column] = 1.0;
            for (row, value) in self.solve(&unit).into_iter().enumerate() {
                inverse[row * size + column] = value;
            }
            unit[column] = 0.0;
        }
        inverse
    }
}

/// The row-major factor L of a positive semidefinite matrix; rows without variance are 0.
pub fn semidefinite_factor(matrix: &[f64], size: usize) -> Vec<f64> {
    let pivot = |rest: f64| Some(rest.max(0.0).sqrt());
    lower_factor(matrix, size, pivot).expect("every pivot is taken")
}

/// The factor, row-major; `pivot` makes of what is left of a diagonal element that of the factor, or gives up.
fn lower_factor(
    matrix: &[f64],
    size: usize,
    pivot: impl Fn(f64) -> Option<f64>,
) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column)
                .map(|k| lower[row * size + k] * lower[column * size + k])
                .sum();
            let rest = matrix[row * size + column] - known;
            let above = lower[column * size + column];
            lower[row * size + column] = match row == column {
                true => pivot(rest)?,
                false if above > 0.0 => rest / above,
                false => 0.0,
            };
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts_a_known_system() {
        let matrix = [4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 3.0];
        let factor = Cholesky::factor(&matrix, 3).expect("positive definite");
        for (value, expected) in factor.solve(&[8.0, 15.0, 11.0]).iter().zip([1.0, 2.0, 3.0]) {
            assert!((value - expected).abs() < 1e-12);
        }
        let inverse = factor.inverse();
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3)
                    .map(|k| matrix[row * 3 + k] * inverse[k * 3 + column])
                    .sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn refuses_a_singular_matrix() {
        assert!(Cholesky::factor(&[1.0, 1.0, 1.0, 1.0], 2).is_none());
    }
}
