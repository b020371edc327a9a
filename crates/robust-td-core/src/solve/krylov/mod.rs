//! Solves the equations A theta = b of a log without forming A, by products A x.
//!
//! # Formulas
//! With A = sum_t phi_t (phi_t - gamma phi'_t)' a product is one pass over the rows, so the number of products is the cost, and
//! memory is that of some vectors. The system is solved in coordinates where units do not matter:
//! ```text
//! B z = S b,    B = S A S,    theta = S z,    S = diag( 1 / sqrt( sum_t phi_tj^2 ) )
//! ```
//! Coordinates that are never seen stay at 0. All iterates are combinations of S b, B S b, ..., so where the equations
//! leave theta open (and phi' lies in the span of the phi) the answer is the smallest z. The residual is
//! |S (b - A theta)| / |S b|, and the answer's is computed from theta by a product of its own, not taken from a recurrence.
//!
//! # Method
//! IDR(s), smoothed, because it needs the fewest products in little memory (`benches/krylov.rs` has the problems): on
//! tile-coded logs IDR(8) is within a tenth of GMRES with 300 vectors, BiCGSTAB takes 1.3 to 2 times and GMRES(20) 3 to
//! 10 times its products. When IDR(s) breaks down or stalls, GMRES cycles in the same memory continue from the best iterate.
//!
//! # References
//! Sonneveld & van Gijzen, "IDR(s): a family of simple and fast algorithms for solving large nonsymmetric systems", SIAM J. Sci.
//! Comput. 31, 2008; Saad & Schultz 1986 (GMRES); compared with van der Vorst, "Bi-CGSTAB", SIAM J. Sci. Stat. Comput. 13, 1992,
//! and Sleijpen & Fokkema, "BiCGstab(l)", ETNA 1, 1993.
//!
//! ```
//! use std::{convert::Infallible, ops::ControlFlow};
//! use robust_td_core::krylov::{End, Krylov};
//!
//! // A = [[2, -1], [0, 1]], b = (1, 1).
//! let product = |x: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
//!     (y[0], y[1]) = (2.0 * x[0] - x[1], x[1]);
//!     Ok(())
//! };
//! let solver = Krylov::default();
//! let Ok(solution) = solver.solve(&[1.0, 1.0], &[2.0, 1.0], product, |_| ControlFlow::Continue(()));
//! assert_eq!(solution.end, End::Converged);
//! assert!((solution.theta[0] - 1.0).abs() < 1e-6);
//! ```

mod gmres;
mod idr;
mod row_products;
#[cfg(test)]
mod tests;
mod vectors;
mod work;

use std::ops::ControlFlow;

use idr::Idr;
pub use row_products::RowProducts;
use vectors::{SHADOWS, axpy, norm};
use work::{Halt, Work};

/// The iteration aims a little below the tolerance, so that the true residual is rarely above it.
const AIM: f64 = 0.8;
/// A restart must reduce the true residual by this factor, else the next one uses GMRES, or the solution ends.
const GAIN: f64 = 0.99;

/// How to solve.
///
/// | field | default | meaning | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-6 | stop at this true relative residual | above 0 |
/// | `max_products` | 1000 | the maximum number of products | any |
/// | `shadows` | 8 | s of IDR(s): more take fewer products and more memory | 1 to 8 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Krylov {
    /// Stop at this true relative residual.
    pub tolerance: f64,
    /// The maximum number of products.
    pub max_products: usize,
    /// s of IDR(s), clamped to 1 to 8.
    pub shadows: usize,
}

impl Default for Krylov {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            max_products: 1000,
            shadows: SHADOWS,
        }
    }
}

/// The state of a solution, reported after every product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The number of products so far.
    pub products: usize,
    /// The relative residual before this product, by the iteration's own recurrence.
    pub residual: f64,
}

/// How a solution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The true residual is within the tolerance.
    Converged,
    /// The maximum number of products was reached.
    ProductLimit,
    /// The residual does not decrease any more: the equations have no solution, or rounding hides it.
    Stalled,
    /// The progress callback stopped it; one more product has computed the residual.
    Cancelled,
}

/// The best iterate found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The solution in the original coordinates.
    pub theta: Vec<f64>,
    /// Its true relative residual, computed from theta.
    pub residual: f64,
    /// The number of products.
    pub products: usize,
    /// How it ended.
    pub end: End,
}

impl Krylov {
    /// The number of vectors of length d that it allocates, the answer included.
    #[must_use]
    pub fn vectors(&self) -> usize {
        2 * self.count() + 10
    }

    fn count(&self) -> usize {
        self.shadows.clamp(1, SHADOWS)
    }

    /// Solves A theta = b, where `product` computes y = A x, and `squares` is the sum of phi_j^2 for each coordinate.
    ///
    /// For the adjoint equations A' v = b pass a product with A' and the same squares. The result is a function of the
    /// arguments alone. Values that are not finite end it as [`End::Stalled`].
    ///
    /// # Errors
    /// Those of `product`.
    ///
    /// # Panics
    /// When `b` and `squares` differ in length.
    pub fn solve<E>(
        &self,
        b: &[f64],
        squares: &[f64],
        mut product: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Solution, E> {
        assert_eq!(b.len(), squares.len(), "one sum of squares per equation");
        let scale = squares
            .iter()
            .map(|&q| if q > 0.0 { q.sqrt().recip() } else { 0.0 });
        let scale: Vec<f64> = scale.collect();
        let rhs: Vec<f64> = b.iter().zip(&scale).map(|(b, s)| b * s).collect();
        let unit = rhs.iter().fold(0.0, |unit: f64, b| unit.max(b.abs()));
        if unit == 0.0 {
            return Ok(Solution {
                theta: rhs,
                residual: 0.0,
                products: 0,
                end: End::Converged,
            });
        }
        let restarts = Restarts::new(rhs, unit, self.count());
        let work = Work {
            product: &mut product,
            progress: &mut progress,
            scaled: vec![0.0; b.len()],
            scale,
            estimate: restarts.residual,
            whole: restarts.residual,
            products: 0,
            // The last product is for the true residual.
            limit: self.max_products.saturating_sub(1),
        };
        let solution = restarts.solve(work, self.tolerance)?;
        let theta = solution.theta.into_iter().map(|x| x * unit).collect();
        Ok(Solution { theta, ..solution })
    }
}

/// The best iterate so far, and the vectors to improve it.
struct Restarts {
    rhs: Vec<f64>,
    best: Vec<f64>,
    /// The norm of the true residual of `best`.
    residual: f64,
    /// The true residual of `best` between restarts.
    r: Vec<f64>,
    g: Vec<Vec<f64>>,
    u: Vec<Vec<f64>>,
    x: Vec<f64>,
    /// What an iteration adds to `best`.
    correction: Vec<f64>,
    smooth_r: Vec<f64>,
    spare: Vec<f64>,
    image: Vec<f64>,
}

impl Restarts {
    /// Starts at 0, with the right-hand side in units of `unit`.
    fn new(mut rhs: Vec<f64>, unit: f64, s: usize) -> Self {
        rhs.iter_mut().for_each(|b| *b /= unit);
        let zero = vec![0.0; rhs.len()];
        Self {
            best: zero.clone(),
            residual: norm(&rhs),
            r: rhs.clone(),
            g: vec![zero.clone(); s],
            u: vec![zero.clone(); s],
            x: zero.clone(),
            correction: zero.clone(),
            smooth_r: zero.clone(),
            spare: zero.clone(),
            image: zero,
            rhs,
        }
    }

    /// Restarts from the best iterate until its true residual is small, or cannot be made smaller.
    fn solve<E>(mut self, mut work: Work<'_, E>, tolerance: f64) -> Result<Solution, E> {
        let goal = tolerance * work.whole;
        let mut by_gmres = false;
        let end = loop {
            if self.residual <= goal {
                break End::Converged;
            }
            if !self.residual.is_finite() {
                break End::Stalled;
            }
            let before = (self.residual, work.products);
            let mut halted = self.improve(&mut work, AIM * goal, by_gmres)?;
            if work.products > before.1 {
                halted = halted.or(self.verify(&mut work)?);
            }
            match halted {
                Some(_) if self.residual <= goal => break End::Converged,
                Some(end) => break end,
                // The product rounds to the residual itself near the smallest number.
                None if self.residual < before.0 && self.residual <= GAIN * before.0 => {}
                None if by_gmres => break End::Stalled,
                None => by_gmres = true,
            }
        };
        let mut theta = self.best;
        theta.iter_mut().zip(&work.scale).for_each(|(z, s)| *z *= s);
        Ok(Solution {
            theta,
            residual: self.residual / work.whole,
            products: work.products,
            end,
        })
    }

    /// Finds a correction of the best iterate. Says why if it was stopped.
    fn improve<E>(
        &mut self,
        work: &mut Work<'_, E>,
        target: f64,
        by_gmres: bool,
    ) -> Result<Option<End>, E> {
        work.estimate = self.residual;
        let outcome = if by_gmres {
            let mut basis: Vec<_> = self.g.iter_mut().chain(&mut self.u).collect();
            gmres::cycle(work, &mut basis, &self.r, &mut self.correction, target)
        } else {
            let mut idr = Idr {
                r: &mut self.r,
                g: &mut self.g,
                u: &mut self.u,
                x: &mut self.x,
                smooth_x: &mut self.correction,
                smooth_r: &mut self.smooth_r,
                spare: &mut self.spare,
                image: &mut self.image,
                reach: 0.0,
                start: self.residual,
            };
            idr.run(work, target)
        };
        stopped(outcome)
    }

    /// Adopts the correction if the true residual is smaller with it; `r` is the true residual afterwards, unless stopped.
    fn verify<E>(&mut self, work: &mut Work<'_, E>) -> Result<Option<End>, E> {
        self.spare.copy_from_slice(&self.best);
        axpy(1.0, &self.correction, &mut self.spare);
        let mut end = self.true_residual(work)?;
        let residual = norm(&self.r);
        if residual < self.residual {
            std::mem::swap(&mut self.best, &mut self.spare);
            self.residual = residual;
        } else if work.products > work.limit {
            end = end.or(Some(End::ProductLimit));
        } else if end.is_none() {
            self.spare.copy_from_slice(&self.best);
            end = self.true_residual(work)?;
        }
        Ok(end)
    }

    /// r = b - B x for the x in `spare`, whatever the limit.
    fn true_residual<E>(&mut self, work: &mut Work<'_, E>) -> Result<Option<End>, E> {
        let limit = std::mem::replace(&mut work.limit, usize::MAX);
        let end = stopped(work.product(&self.spare, &mut self.image));
        work.limit = limit;
        for ((r, b), y) in self.r.iter_mut().zip(&self.rhs).zip(&self.image) {
            *r = b - y;
        }
        end
    }
}

/// Separates the errors of callbacks from the ends that leave an iterate.
fn stopped<E>(outcome: Result<(), Halt<E>>) -> Result<Option<End>, E> {
    match outcome {
        Ok(()) => Ok(None),
        Err(Halt::Limit) => Ok(Some(End::ProductLimit)),
        Err(Halt::Cancelled) => Ok(Some(End::Cancelled)),
        Err(Halt::Failed(error)) => Err(error),
    }
}
