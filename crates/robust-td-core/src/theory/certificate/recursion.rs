//! Closes the recursion for the iterates shared by certificates X and Y.
//!
//! If `E|theta_j - theta*|^2 <= Y^2` for all `j < t`, the telescoped recursion with the bias cut at lag `u` gives
//! `E|theta_t - theta*|^2 <= F`, with `D` the bound on the distance and `G = a + kap z` that on the update (over `phi_inf^2`):
//!
//! ```text
//! F(z) = d0^2 + 4 d0 G_start E1 + 4 ph^2 E2 D G + ph^4 (4 W1 + 4 W2 + H) G^2 + 4 kap ph^4 (W1 d0 + W2 D) G
//! ```
//!
//! a quadratic `d0^2 + A0 + A1 z + A2 z^2` with nonnegative coefficients. The induction closes at the `z` where `F(z)` equals the
//! squared distance, which exists if and only if `A2 < 1`.

use crate::theory::best_lag::Score;
use crate::theory::step_sums::StepSums;

/// The result of the recursion for one set of step size sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solution {
    /// The coefficient of the squared radius.
    pub a2: f64,
    /// The bound on `sqrt(E|theta_t - theta*|^2)`; `None` when `A2 >= 1`.
    pub distance: Option<f64>,
}

impl Solution {
    /// The bound `distance^2 / (2S)` on `E f(avg)` for step sizes that sum to `total`.
    pub fn bound(&self, total: f64) -> Option<f64> {
        self.distance
            .map(|distance| distance * distance / (2.0 * total))
    }

    /// The score by which lags are compared.
    pub(in crate::theory) fn score(&self, total: f64) -> Score {
        match self.bound(total) {
            Some(bound) => Score::Certified(bound),
            None => Score::Open(self.a2),
        }
    }
}

/// The constants of the recursion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recursion {
    /// `phi_inf^2`.
    pub square: f64,
    /// The growth `kap` of an update.
    pub growth: f64,
    /// `d0`.
    pub start: f64,
    /// The bound on an update at the start.
    pub update_at_start: f64,
    /// The constant `a` in the bound `a + kap z` on an update.
    pub update: f64,
    /// The constant in the bound `offset + z` on the distance.
    pub offset: f64,
}

impl Recursion {
    /// `[A0, A1, A2]`, without the `d0^2` of the constant term.
    pub fn coefficients(&self, sums: &StepSums) -> [f64; 3] {
        let Self {
            square,
            growth,
            start,
            ..
        } = *self;
        let fourth = square * square;
        let update = [self.update, growth];
        let distance = [self.offset, 1.0];

        let mut a = [4.0 * start * self.update_at_start * sums.e1, 0.0, 0.0];
        add(&mut a, 4.0 * square * sums.e2, product(distance, update));
        add(
            &mut a,
            fourth * (4.0 * (sums.w1 + sums.w2) + sums.h),
            product(update, update),
        );
        add(
            &mut a,
            4.0 * growth * fourth * sums.w1 * start,
            product([1.0, 0.0], update),
        );
        add(
            &mut a,
            4.0 * growth * fourth * sums.w2,
            product(distance, update),
        );
        // Steps so long that sums of them overflow bound nothing.
        a.map(crate::iterate::nan_as_infinity)
    }
}

/// The larger root of `(1 - a2) z^2 - b z - c = 0` for `b, c >= 0`, or `None` unless `a2 < 1`.
pub(super) fn closing_radius(a2: f64, b: f64, c: f64) -> Option<f64> {
    if !(a2 < 1.0) {
        return None;
    }
    let slack = 1.0 - a2;
    let root = (b + (b * b + 4.0 * slack * c).sqrt()) / (2.0 * slack);
    root.is_finite().then_some(root)
}

/// The product of two linear functions `p[0] + p[1] z`.
fn product(p: [f64; 2], q: [f64; 2]) -> [f64; 3] {
    [p[0] * q[0], p[0] * q[1] + p[1] * q[0], p[1] * q[1]]
}

fn add(sum: &mut [f64; 3], factor: f64, terms: [f64; 3]) {
    for (sum, term) in sum.iter_mut().zip(terms) {
        *sum += factor * term;
    }
}
