//! Finds the dominant eigenvalue of a linear map that preserves a cone.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot, norm_sq};

/// The root of a function that is positive at `positive` and not at `other`, by regula falsi in the Illinois form.
pub(crate) fn root(
    function: impl Fn(f64) -> Result<f64>,
    mut positive: f64,
    mut other: f64,
) -> Result<f64> {
    const PRECISION: f64 = 1e-14;
    let (mut above, mut below) = (function(positive)?, function(other)?);
    let mut last_side = 0;
    for _ in 0..200 {
        if (positive - other).abs() <= PRECISION * positive.abs() {
            break;
        }
        let mut middle = (positive * below - other * above) / (below - above);
        let (low, high) = (positive.min(other), positive.max(other));
        if !(middle > low && middle < high) {
            middle = 0.5 * (low + high);
        }
        if middle == low || middle == high {
            break;
        }
        let value = function(middle)?;
        if value > 0.0 {
            (positive, above) = (middle, value);
            below *= if last_side == 1 { 0.5 } else { 1.0 };
            last_side = 1;
        } else {
            (other, below) = (middle, value);
            above *= if last_side == -1 { 0.5 } else { 1.0 };
            last_side = -1;
        }
    }
    Ok(positive)
}

/// The dominant eigenvalue of a cone-preserving map, by Arnoldi iteration restarted at its Ritz vector.
pub(crate) fn dominant_eigenvalue(
    map: impl Fn(&[f64]) -> Vec<f64>,
    start: Vec<f64>,
) -> Result<f64> {
    const BASIS: usize = 30;
    const RESTARTS: usize = 400;
    const RESIDUAL: f64 = 1e-13;
    let mut vector = start;
    for _ in 0..RESTARTS {
        let mut basis = vec![normalised(vector)];
        let mut hessenberg = Matrix::zeros(BASIS + 1, BASIS);
        let mut size = 0;
        while size < BASIS {
            let mut image = map(&basis[size]);
            let length = norm_sq(&image).sqrt();
            // Two passes: the second removes what rounding left after the first.
            for _ in 0..2 {
                for (i, direction) in basis.iter().enumerate() {
                    let overlap = dot(direction, &image);
                    hessenberg.row_mut(i)[size] += overlap;
                    image
                        .iter_mut()
                        .zip(direction)
                        .for_each(|(x, y)| *x -= overlap * y);
                }
            }
            let rest = norm_sq(&image).sqrt();
            hessenberg.row_mut(size + 1)[size] = rest;
            size += 1;
            // An invariant subspace: the rest is rounding and would only add spurious eigenvalues.
            if !(rest > 1e-13 * length) {
                break;
            }
            basis.push(normalised(image));
        }
        let small = Matrix::from_fn(size, size, |i, j| hessenberg.get(i, j));
        let radius = linalg::eigenvalue_moduli(&small)?[0];
        if radius == 0.0 {
            return Ok(0.0);
        }
        let ritz = eigenvector(&small, radius);
        let residual = hessenberg.get(size, size - 1).abs() * ritz[size - 1].abs();
        if residual <= RESIDUAL * radius {
            return Ok(radius);
        }
        vector = vec![0.0; basis[0].len()];
        for (direction, weight) in basis.iter().zip(&ritz) {
            vector
                .iter_mut()
                .zip(direction)
                .for_each(|(x, y)| *x += weight * y);
        }
    }
    Err(Error::Decomposition {
        what: "mean-square radius",
    })
}

/// An eigenvector of a small matrix by inverse iteration next to a known real eigenvalue.
fn eigenvector(matrix: &Matrix, eigenvalue: f64) -> Vec<f64> {
    let shift = eigenvalue * (1.0 + 1e-11);
    let shifted = Matrix::from_fn(matrix.rows(), matrix.columns(), |i, j| {
        matrix.get(i, j) - if i == j { shift } else { 0.0 }
    });
    let mut vector = vec![1.0; matrix.rows()];
    for _ in 0..3 {
        vector = normalised(linalg::solve(&shifted, &vector));
    }
    vector
}

fn normalised(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = norm_sq(&vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Functions that jump, underflow or are not numbers give the interpolation nothing to work with.
    #[test]
    fn the_search_for_a_root_is_bounded() {
        let jump = |above: f64, below: f64| {
            move |x: f64| {
                if x < std::f64::consts::PI {
                    above
                } else {
                    below
                }
            }
        };
        for (above, below) in [
            (1e300, -1e-300),
            (1e-300, -1e300),
            (5e-324, -5e-324),
            (f64::INFINITY, f64::NEG_INFINITY),
            (1.0, f64::NAN),
        ] {
            for [low, high] in [[1.0, 4.0], [5e-324, 1e308]] {
                let (function, calls) = (jump(above, below), Cell::new(0));
                let counted = |x| {
                    calls.set(calls.get() + 1);
                    Ok(function(x))
                };
                let found = root(counted, low, high).unwrap();
                assert!((low..=high).contains(&found), "{found}");
                assert!(calls.get() <= 202, "{above} {below}: {}", calls.get());
            }
        }
    }

    /// A map to NaN has none.
    #[test]
    fn a_map_without_a_dominant_eigenvalue_ends() {
        let calls = Cell::new(0);
        let nowhere = |x: &[f64]| {
            calls.set(calls.get() + 1);
            vec![f64::NAN; x.len()]
        };
        assert!(!dominant_eigenvalue(nowhere, vec![1.0; 3]).is_ok_and(f64::is_finite));
        assert!(calls.get() <= 400 * 30);
    }
}
