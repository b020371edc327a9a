//! Evaluates both sides of the sum lemmas behind the theorem.
//!
//! The step sizes are `eta_k = 1/(c phi_inf^2 log T log(k+3) sqrt(k+1))`; the lemmas bound sums of their products
//! over a trajectory cut at lag `u` (arXiv:2506.01052, appendix). All logarithms are natural.

/// The two sides of an inequality `left <= right`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// The sum itself.
    pub left: f64,
    /// The bound that the lemma gives.
    pub right: f64,
}

impl Sides {
    /// Whether the inequality holds; false for NaN.
    pub fn holds(&self) -> bool {
        self.left <= self.right
    }

    /// `left / right`: the fraction of the bound that is used.
    pub fn ratio(&self) -> f64 {
        self.left / self.right
    }
}

/// The shape of the step sizes: `a_k = 1/(log(k+3) sqrt(k+1))`.
pub use crate::schedule::decay as shape;

/// S1: `sum_{k=u+1}^{t-1} a_k a_{k-u} <= 2/log 3` for `0 <= u < t`.
pub fn lagged_products(u: u64, t: u64) -> Sides {
    Sides {
        left: (u + 1..t).map(|k| shape(k) * shape(k - u)).sum(),
        right: 2.0 / 3f64.ln(),
    }
}

/// S2: `sum_{k=u+1}^{t-1} a_k / sqrt t <= 2/log(u+4)` for `0 <= u < t`.
pub fn late_steps(u: u64, t: u64) -> Sides {
    Sides {
        left: (u + 1..t).map(shape).sum::<f64>() / (t as f64).sqrt(),
        right: 2.0 / (u as f64 + 4.0).ln(),
    }
}

/// S3: `sum_{k=0}^{t-1} a_k^2 <= 1/log^2 3 + 2/log 3 - 2/log(t+2)` for `t >= 1`.
pub fn squares(t: u64) -> Sides {
    Sides {
        left: (0..t).map(|k| shape(k).powi(2)).sum(),
        right: squares_bound(t),
    }
}

/// The right side of S3.
pub fn squares_bound(t: u64) -> f64 {
    let log3 = 3f64.ln();
    1.0 / (log3 * log3) + 2.0 / log3 - 2.0 / (t as f64 + 2.0).ln()
}

/// The double sum behind the relaxed horizon: `4 sum_{k=0}^{u} a_k sum_{i=1}^{k} 1/(log(i+2) sqrt i) <= 1.614 (u+1)`.
///
/// The inner sum is `a_0 + ... + a_{k-1}`. The paper bounds the left side by `3 (u+1)^(3/2)`.
pub fn double_sum(u: u64) -> Sides {
    let mut inner = 0.0;
    let mut left = 0.0;
    for k in 0..=u {
        let a = shape(k);
        left += a * inner;
        inner += a;
    }
    Sides {
        left: 4.0 * left,
        right: double_sum_bound(u),
    }
}

/// The right side of the double sum.
pub fn double_sum_bound(u: u64) -> f64 {
    1.614 * (u as f64 + 1.0)
}

/// The sum of Algorithm 1's step sizes against `(2 sqrt(T+1) - 2)/(c phi_inf^2 log T log(T+2))`, for `T >= 2`.
///
/// The lemma bounds the sum from below, so the sum stands on the right.
pub fn step_sum(c: f64, phi_inf: f64, horizon: u64) -> Sides {
    let log_t = (horizon as f64).ln();
    let scale = c * phi_inf * phi_inf * log_t;
    Sides {
        left: step_sum_bound(c, phi_inf, horizon),
        right: (0..horizon).map(shape).sum::<f64>() / scale,
    }
}

/// The lower bound on the sum of step sizes: `(2 sqrt(T+1) - 2)/(c phi_inf^2 log T log(T+2))`.
pub fn step_sum_bound(c: f64, phi_inf: f64, horizon: u64) -> f64 {
    let t = horizon as f64;
    (2.0 * (t + 1.0).sqrt() - 2.0) / (c * phi_inf * phi_inf * t.ln() * (t + 2.0).ln())
}

/// The weaker lower bound that the paper uses: `(2 sqrt(T+1) - 2)/(c phi_inf^2 log^2(T+3))`.
pub fn step_sum_paper_bound(c: f64, phi_inf: f64, horizon: u64) -> f64 {
    let t = horizon as f64;
    (2.0 * (t + 1.0).sqrt() - 2.0) / (c * phi_inf * phi_inf * (t + 3.0).ln().powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a_k` for all `k` that the grids need.
    fn shapes(len: u64) -> Vec<f64> {
        (0..len).map(shape).collect()
    }

    #[test]
    fn products_and_late_steps_stay_below_their_bounds_on_the_grid() {
        let a = shapes(20_201);
        let (mut worst_products, mut worst_late) = (0f64, 0f64);
        for u in 0..=200usize {
            let (mut products, mut late) = (0.0, 0.0);
            for t in u + 1..=u + 20_000 {
                let k = t - 1;
                if k > u {
                    products += a[k] * a[k - u];
                    late += a[k];
                }
                worst_products = worst_products.max(products / (2.0 / 3f64.ln()));
                let right = 2.0 / (u as f64 + 4.0).ln();
                worst_late = worst_late.max(late / (t as f64).sqrt() / right);
            }
        }
        assert!(worst_products <= 1.0 && worst_late <= 1.0);
        // The lemmas are loose by a factor of about two; a much smaller ratio would mean that this test sums
        // too little.
        assert!(
            worst_products > 0.4 && worst_late > 0.4,
            "{worst_products} {worst_late}"
        );
    }

    #[test]
    fn single_sums_agree_with_running_sums() {
        for (u, t) in [(0, 1), (0, 50), (7, 8), (7, 9), (200, 20_200)] {
            let products = lagged_products(u, t);
            let late = late_steps(u, t);
            let mut sum = 0.0;
            for k in u + 1..t {
                let (x, y) = (k as f64, (k - u) as f64);
                sum += 1.0 / ((x + 3.0).ln() * (y + 3.0).ln() * ((x + 1.0) * (y + 1.0)).sqrt());
            }
            assert!((products.left - sum).abs() < 1e-12);
            assert!(
                products.holds() && late.holds() && products.ratio() < 0.6 && late.ratio() < 0.6
            );
        }
        assert!((lagged_products(0, 1).right - 1.8205).abs() < 1e-4);
    }

    #[test]
    fn squares_stay_below_their_bound() {
        let mut sum = 0.0;
        for t in 1..=1_000_000u64 {
            sum += shape(t - 1).powi(2);
            assert!(sum <= squares_bound(t), "t = {t}");
        }
        assert!(squares_bound(u64::MAX) < 2.6491);
        assert!(sum > 1.8 && sum < 1.888);
        assert!(
            (squares(1000).left - (0..1000).map(|k| shape(k).powi(2)).sum::<f64>()).abs() < 1e-12
        );
        assert!(squares(1000).holds());
    }

    #[test]
    fn the_double_sum_stays_below_its_linear_bound() {
        let (mut inner, mut sum) = (0.0, 0.0);
        let (mut worst, mut at) = (0f64, 0);
        for u in 0..=100_000u64 {
            let a = shape(u);
            sum += 4.0 * a * inner;
            inner += a;
            assert!(sum <= double_sum_bound(u), "u = {u}");
            let ratio = sum / (u as f64 + 1.0);
            if ratio > worst {
                (worst, at) = (ratio, u);
            }
        }
        assert_eq!(at, 7);
        assert!((worst - 1.6138).abs() < 1e-4, "{worst}");
        assert!((double_sum(100_000).left / sum - 1.0).abs() < 1e-12);
        assert!(double_sum(7).holds());
    }

    #[test]
    fn the_step_sum_exceeds_both_lower_bounds() {
        let (c, phi_inf) = (3.0, 1.5);
        let mut sum = shape(0);
        for horizon in 2..=1_000_000u64 {
            sum += shape(horizon - 1);
            let steps = sum / (c * phi_inf * phi_inf * (horizon as f64).ln());
            let sharp = step_sum_bound(c, phi_inf, horizon);
            assert!(
                steps >= sharp && sharp >= step_sum_paper_bound(c, phi_inf, horizon),
                "T = {horizon}"
            );
        }
        let sides = step_sum(c, phi_inf, 1000);
        assert!(sides.holds() && sides.ratio() > 0.5);
    }
}
