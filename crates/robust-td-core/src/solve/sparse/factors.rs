//! Solves sparse equations directly, also where they leave combinations of features open.
//!
//! # Formulas
//! With N = (M + e I)^{-1} for a small e, (e N)^k z tends to the part of z that M cannot reach: a component along the
//! eigenvalue s of M is multiplied by e / (s + e) each time, by 1 where s = 0. What is left of y is
//! solved by refinement with N, which adds nothing along s = 0, so the answer is the smallest one:
//! ```text
//! y0 = y - (e N)^3 y,     x += N (y0 - M x)
//! ```
//! The same with M' and random signs shows what the log identifies ([`Identified::from_probes`]).

use super::system::SparseSystem;
use crate::linalg::SparseLu;
use crate::matrix::{Matrix, SparseMatrix};
use crate::solve::fixed_point::Identified;

/// e.
const SHIFT: f64 = 1e-9;
/// k.
const ROUNDS: usize = 3;
/// The number of vectors u.
const PROBES: u64 = 8;
/// A pivot below this belongs to an open combination.
const SMALL_PIVOT: f64 = 1e-6;
/// The relative residual that refinement must reach.
const SOLVED: f64 = 1e-7;

/// Factors of the equations of a log.
pub struct SparseFactors<'a> {
    system: &'a SparseSystem,
    matrix: &'a SparseMatrix,
    lu: SparseLu,
}

/// The TD fixed point of a log with sparse features.
#[derive(Debug, Clone)]
pub struct SparsePoint {
    /// theta.
    pub theta: Vec<f64>,
    /// The number of independent features, where it is certain.
    pub rank: Option<usize>,
    /// |b - A theta| / |b| with scaled features.
    pub relative_residual: f64,
    /// What the log shows.
    pub identified: Identified,
}

impl SparseSystem {
    /// Factors the matrix; none if it is left out, or its factors have more than `most` entries or take more than
    /// `multiplications`.
    #[must_use]
    pub fn factor(&self, most: f64, multiplications: f64) -> Option<SparseFactors<'_>> {
        let matrix = self.matrix.as_ref()?;
        let lu = SparseLu::new(matrix, SHIFT, most, multiplications)?;
        Some(SparseFactors {
            system: self,
            matrix,
            lu,
        })
    }
}

impl SparseFactors<'_> {
    /// The fixed point; none if rounding spoils it.
    #[must_use]
    pub fn solve(&self) -> Option<SparsePoint> {
        let system = self.system;
        let y = system.scaled(&system.b);
        let open = self.open_part(as_rows(&y), false);
        let reached: Vec<f64> = y.iter().zip(open.row(0)).map(|(y, z)| y - z).collect();
        let x = self.refined(as_rows(&reached), 2, false);
        let [left, whole] = [self.residual(&reached, x.row(0)), y.clone()].map(|v| norm(&v));
        if !(left <= SOLVED * whole) {
            return None;
        }
        let left = norm(&self.residual(&y, x.row(0)));
        let (identified, rank) = self.identified();
        let theta = system.unscaled(x.row(0));
        let identified = match &system.entered {
            None => identified,
            Some((feature, amounts)) => {
                let found = self.refined(as_rows(&system.scaled(amounts)), 1, false);
                let reach = system.unscaled(found.row(0));
                identified.entering(*feature, reach, &theta)
            }
        };
        Some(SparsePoint {
            theta,
            rank,
            relative_residual: if whole > 0.0 { left / whole } else { 0.0 },
            identified,
        })
    }

    /// A^{-1} s for each row s of scores, both for the features seen only.
    #[must_use]
    pub fn influence(&self, mut scores: Matrix) -> Matrix {
        let (system, n) = (self.system, self.system.count.max(1) as f64);
        let divide = |rows: &mut Matrix, n: f64| {
            for k in 0..rows.rows() {
                for (x, &j) in rows.row_mut(k).iter_mut().zip(&system.seen) {
                    *x /= n * system.scale[j as usize];
                }
            }
        };
        divide(&mut scores, n);
        let mut x = self.refined(scores, 1, false);
        divide(&mut x, 1.0);
        x
    }

    /// A^{-T} phi, for phi and the result in all coordinates.
    #[must_use]
    pub fn adjoint(&self, phi: &[f64]) -> Vec<f64> {
        let system = self.system;
        let x = self.refined(as_rows(&system.scaled(phi)), 1, true);
        system.unscaled(x.row(0))
    }

    /// What the log identifies, and the rank if two ways to find it agree.
    fn identified(&self) -> (Identified, Option<usize>) {
        let (system, n) = (self.system, self.matrix.size());
        let signs = (0..PROBES).map(|k| Identified::probe(&system.scale, k));
        let signs: Vec<Vec<f64>> = signs.collect();
        let scaled = Matrix::from_fn(signs.len(), n, |k, i| {
            let j = system.seen[i] as usize;
            signs[k][j] * system.scale[j]
        });
        let open = self.open_part(scaled, true);
        let probes: Vec<Vec<f64>> = (0..open.rows())
            .map(|k| system.unscaled(open.row(k)))
            .collect();
        let (identified, estimate) = Identified::from_probes(system.scale.clone(), &probes);
        if estimate == 0.0 {
            return (identified, Some(n));
        }
        let pivots = self.lu.small_pivots(SMALL_PIVOT);
        let error = (2.0 * pivots as f64 / PROBES as f64).sqrt();
        let certain = (estimate - pivots as f64).abs() <= 4.0 * error + 0.5;
        (identified, certain.then_some(n - pivots.min(n)))
    }

    /// The part of each row that M, or M', cannot reach.
    fn open_part(&self, mut rows: Matrix, adjoint: bool) -> Matrix {
        for _ in 0..ROUNDS {
            rows = self.lu.solve(rows, adjoint);
            rows.as_mut_slice().iter_mut().for_each(|x| *x *= SHIFT);
        }
        rows
    }

    /// The solution for each row, with a number of steps of refinement.
    fn refined(&self, mut rows: Matrix, steps: usize, adjoint: bool) -> Matrix {
        let mut x = self.lu.solve(rows.clone(), adjoint);
        for step in 1..=steps {
            // The last step needs no copy of the rows, which can be many.
            let mut left = match step < steps {
                true => rows.clone(),
                false => std::mem::replace(&mut rows, Matrix::zeros(0, 0)),
            };
            for k in 0..left.rows() {
                let image = match adjoint {
                    false => self.matrix.times(x.row(k)),
                    true => self.matrix.left_times(x.row(k)),
                };
                left.row_mut(k)
                    .iter_mut()
                    .zip(image)
                    .for_each(|(r, y)| *r -= y);
            }
            x.add(&self.lu.solve(left, adjoint));
        }
        x
    }

    fn residual(&self, y: &[f64], x: &[f64]) -> Vec<f64> {
        let image = self.matrix.times(x);
        y.iter().zip(image).map(|(y, image)| y - image).collect()
    }
}

fn as_rows(vector: &[f64]) -> Matrix {
    Matrix::from_fn(1, vector.len(), |_, j| vector[j])
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
