//! Symmetric positive definite matrices of some hundred rows.

/// A square matrix, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    rows: usize,
    values: Vec<f64>,
}

impl Matrix {
    pub(super) fn from_fn(rows: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows * rows).map(|at| value(at / rows, at % rows));
        Self {
            rows,
            values: values.collect(),
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.rows + column]
    }

    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks_exact(self.rows);
        rows.map(|row| dot(row, vector)).collect()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.rows..][..self.rows]
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of `matrix`, symmetric and positive definite, by way of its Cholesky factor; `None` if it is not.
pub(super) fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let rows = matrix.rows;
    let lower = cholesky(matrix)?;
    // The rows of the factor's inverse, each from those above it.
    let mut inverted = Matrix::from_fn(rows, |_, _| 0.0);
    for row in 0..rows {
        for column in 0..=row {
            let above: f64 = (column..row)
                .map(|between| lower.at(row, between) * inverted.at(between, column))
                .sum();
            let unit = if row == column { 1.0 } else { 0.0 };
            inverted.values[row * rows + column] = (unit - above) / lower.at(row, row);
        }
    }
    Some(Matrix::from_fn(rows, |row, column| {
        let from = row.max(column);
        (from..rows)
            .map(|at| inverted.at(at, row) * inverted.at(at, column))
            .sum()
    }))
}

/// The lower triangle whose product with its transpose is `matrix`.
fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let rows = matrix.rows;
    let mut lower = Matrix::from_fn(rows, |_, _| 0.0);
    for row in 0..rows {
        for column in 0..=row {
            let left = matrix.at(row, column) - dot(&lower.row(row)[..column], lower.row(column));
            lower.values[row * rows + column] = if row == column {
                if left <= 0.0 {
                    return None;
                }
                left.sqrt()
            } else {
                left / lower.at(column, column)
            };
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let distance = |row: usize, column: usize| row.abs_diff(column) as f64;
        let matrix = Matrix::from_fn(30, |row, column| {
            (-distance(row, column) / 5.0).exp() + if row == column { 0.1 } else { 0.0 }
        });
        let inverse = inverse(&matrix).unwrap();
        for row in 0..30 {
            let column: Vec<f64> = (0..30).map(|at| inverse.at(at, row)).collect();
            for (at, value) in matrix.times(&column).into_iter().enumerate() {
                let wanted = if at == row { 1.0 } else { 0.0 };
                assert!((value - wanted).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_is_not_positive_has_none() {
        assert_eq!(inverse(&Matrix::from_fn(2, |_, _| 1.0)), None);
    }
}
