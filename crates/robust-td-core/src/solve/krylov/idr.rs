//! Iterates by IDR(s) with biorthogonal residuals and smoothing.
//!
//! # Reference
//! van Gijzen & Sonneveld, "Algorithm 913: An elegant IDR(s) variant that efficiently exploits biorthogonality properties",
//! ACM TOMS 38, 2011, their figure 2; Sleijpen & van der Vorst, "Maintaining convergence properties of BiCGstab methods in
//! finite precision arithmetic", Numerical Algorithms 10, 1995, for omega; Weiss, "Properties of generalized conjugate gradient
//! methods", 1994, for the smoothing.
//!
//! # Update rule
//! The residuals lie in spaces G_j that shrink: G_{j+1} = (I - omega_j B)(G_j intersected with the complement of s shadow
//! vectors P). With the s last differences g_i = B u_i, and M_ik = p_i . g_k lower triangular:
//! ```text
//! c: M c = P' r,    v = r - sum c_i g_i,    u_k = sum c_i u_i + omega v,    g_k = B u_k,  made orthogonal to p_0 ... p_{k-1}
//! r -= beta g_k,    x += beta u_k,          beta = (p_k . r) / M_kk         for k = 0 ... s-1, then
//! x += omega r,     r -= omega B r,         omega = (B r . r) / |B r|^2
//! ```
//! Each of the s + 1 steps takes one product. A smoothed pair with minimal |r_s| on the line to the new (x, r) makes the
//! residual monotone.

use super::vectors::{SHADOWS, axpy, combine, dot, norm, shadow};
use super::work::{Halt, Work};

/// The smallest cosine between r and B r at which omega minimises the residual; below it omega is made larger.
const COSINE: f64 = 0.7;
/// Without a decrease by this factor in `PATIENCE` (s + 1) products, the iteration has stalled.
const PROGRESS: f64 = 0.97;
const PATIENCE: usize = 20;
/// A bound on |B|, times this share of the estimate: beyond |x| = estimate / (DRIFT epsilon) rounding makes the recurrence
/// differ from the true residual. Happens when the equations have no solution.
const DRIFT: f64 = 1e3;
/// A drift before the residual has decreased to this share of the first one means that the equations have no solution.
const DIGITS: f64 = 1e-3;

/// The vectors of an iteration that starts at 0.
pub(super) struct Idr<'a> {
    /// The residual; the true one at the start.
    pub r: &'a mut Vec<f64>,
    /// The differences of residuals g_i and of iterates u_i.
    pub g: &'a mut [Vec<f64>],
    pub u: &'a mut [Vec<f64>],
    pub x: &'a mut Vec<f64>,
    pub smooth_x: &'a mut Vec<f64>,
    pub smooth_r: &'a mut Vec<f64>,
    pub spare: &'a mut Vec<f64>,
    pub image: &'a mut Vec<f64>,
    /// The largest |x| so far.
    pub reach: f64,
    /// The norm of the first residual.
    pub start: f64,
}

impl Idr<'_> {
    /// Iterates until the smoothed residual has norm `target`, or no further progress is possible; `smooth_x` is the answer.
    pub fn run<E>(&mut self, work: &mut Work<'_, E>, target: f64) -> Result<(), Halt<E>> {
        let s = self.g.len();
        for vector in self.g.iter_mut().chain(self.u.iter_mut()) {
            vector.fill(0.0);
        }
        self.x.fill(0.0);
        self.smooth_x.fill(0.0);
        self.smooth_r.copy_from_slice(self.r);
        let mut m = [[0.0; SHADOWS]; SHADOWS];
        (0..s).for_each(|i| m[i][i] = 1.0);
        let mut omega = 1.0;
        let (mut best, mut since) = (norm(self.r), 0);
        loop {
            let mut f = shadow(self.r);
            for k in 0..s {
                let c = solve_lower(&m, &f, k, s);
                self.spare.copy_from_slice(self.r);
                combine((k..s).map(|i| (-c[i], &self.g[i])), self.spare);
                // u_k is in the sum itself, so it is scaled first.
                let (before, rest) = self.u.split_at_mut(k);
                let Some((u, after)) = rest.split_first_mut() else {
                    return Ok(());
                };
                for (u, v) in u.iter_mut().zip(self.spare.iter()) {
                    *u = c[k] * *u + omega * v;
                }
                combine((k + 1..s).map(|i| (c[i], &after[i - k - 1])), u);
                work.product(u, self.spare)?;
                // Orthogonal to p_0 ... p_{k-1}.
                let h = shadow(self.spare);
                let a = solve_lower(&m, &h, 0, k);
                combine((0..k).map(|i| (-a[i], &self.g[i])), self.spare);
                combine((0..k).map(|i| (-a[i], &before[i])), u);
                std::mem::swap(&mut self.g[k], self.spare);
                let h = shadow(&self.g[k]);
                (k..s).for_each(|i| m[i][k] = h[i]);
                let beta = f[k] / m[k][k];
                if !beta.is_finite() {
                    return Ok(());
                }
                axpy(-beta, &self.g[k], self.r);
                axpy(beta, &self.u[k], self.x);
                (k + 1..s).for_each(|i| f[i] -= beta * m[i][k]);
                if self.smooth(work, target) {
                    return Ok(());
                }
            }
            self.space_step(work, &mut omega)?;
            if !omega.is_finite() || omega == 0.0 || self.smooth(work, target) {
                return Ok(());
            }
            since += s + 1;
            if work.estimate < PROGRESS * best {
                (best, since) = (work.estimate, 0);
            } else if since >= PATIENCE * (s + 1) {
                return Ok(());
            }
        }
    }

    /// The step into the next space: x += omega r, r -= omega B r.
    fn space_step<E>(&mut self, work: &mut Work<'_, E>, omega: &mut f64) -> Result<(), Halt<E>> {
        work.product(self.r, self.image)?;
        let (tt, tr) = (dot(self.image, self.image), dot(self.image, self.r));
        let cosine = (tr / (tt.sqrt() * norm(self.r))).abs();
        *omega = tr / tt
            * if cosine < COSINE {
                COSINE / cosine
            } else {
                1.0
            };
        if omega.is_finite() {
            axpy(*omega, self.r, self.x);
            axpy(-*omega, self.image, self.r);
        }
        Ok(())
    }

    /// Moves the smoothed pair towards the new one; whether the iteration ends here.
    fn smooth<E>(&mut self, work: &mut Work<'_, E>, target: f64) -> bool {
        let (mut across, mut along) = (0.0, 0.0);
        for (smooth, r) in self.smooth_r.iter().zip(self.r.iter()) {
            let difference = smooth - r;
            across += difference * smooth;
            along += difference * difference;
        }
        let eta = across / along;
        if eta.is_finite() {
            for (smooth, r) in self.smooth_r.iter_mut().zip(self.r.iter()) {
                *smooth -= eta * (*smooth - r);
            }
            for (smooth, x) in self.smooth_x.iter_mut().zip(self.x.iter()) {
                *smooth -= eta * (*smooth - x);
            }
        }
        work.estimate = norm(self.smooth_r);
        self.reach = self.reach.max(norm(self.x));
        let drifts = DRIFT * f64::EPSILON * self.reach > work.estimate;
        if drifts && work.estimate > DIGITS * self.start {
            // The iterate is mostly a direction that A maps to nothing.
            self.smooth_x.fill(0.0);
        }
        // An overflow shows in `along`; it is 0 when nothing moves any more.
        work.estimate <= target || drifts || !along.is_finite() || along == 0.0
    }
}

/// Solves with rows and columns `first` to `end` of the lower triangular m.
fn solve_lower(
    m: &[[f64; SHADOWS]; SHADOWS],
    f: &[f64; SHADOWS],
    first: usize,
    end: usize,
) -> [f64; SHADOWS] {
    let mut c = [0.0; SHADOWS];
    for i in first..end {
        let known: f64 = (first..i).map(|j| m[i][j] * c[j]).sum();
        c[i] = (f[i] - known) / m[i][i];
    }
    c
}
