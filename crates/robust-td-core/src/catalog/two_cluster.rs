//! Builds two well-mixed clusters with a thin bridge, the hard case for stationary distributions.
//!
//! Source: nearly decomposable chains, H. A. Simon and A. Ando, "Aggregation of variables in dynamic systems",
//! Econometrica 29, 1961. Each step leaves the first cluster with probability epsilon and the second with
//! `epsilon' = epsilon * ratio`; the next state is uniform in the cluster where the step ends.
//!
//! Known answer: with m states per cluster and `ramp(k) = (2k - m + 1) / (m - 1)`, k the place in the cluster,
//! ```text
//! pi = (ratio, 1) / ((1 + ratio) m) in the two clusters         eigenvalues: 1, lambda_2 = 1 - epsilon (1 + ratio), 0, ...
//! Phi = (1, sign, ramp), sign = +1 and -1 in the two clusters    r(s) = sign(s) + ramp(s)
//! theta* = (gamma epsilon (ratio - 1) u / (1 - gamma), u, 1),  u = 1 / (1 - gamma lambda_2),  with V_theta* = V_mu
//! ```
//! because P takes ramp to 0 and functions of the cluster to functions of the cluster.

use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

pub(super) const ENTRY: Entry = Entry {
    name: "two-cluster",
    aliases: &[],
    summary: "two clusters joined by a bridge of probability epsilon: arbitrarily slow mixing",
    source: "nearly decomposable chains: Simon and Ando, Econometrica 29, 1961",
    parameters: &[
        Parameter::new(
            "size",
            5.0,
            "states per cluster",
            "a whole number from 2 to 500",
            |x| whole_in(x, 2, 500),
        ),
        Parameter::new(
            "epsilon",
            1e-3,
            "probability of leaving the first cluster in a step",
            "above 0 and below 1",
            |x| x > 0.0 && x < 1.0,
        ),
        Parameter::new(
            "ratio",
            1.0,
            "probability of leaving the second cluster over epsilon",
            "above 0 and below 1 / `epsilon`",
            |x| x > 0.0 && x.is_finite(),
        ),
        Parameter::discount(0.9),
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (size, epsilon, ratio) = (values.whole("size"), values["epsilon"], values["ratio"]);
    let back = epsilon * ratio;
    values.require(
        "ratio",
        back > 0.0 && back < 1.0,
        format!("above 0 and below 1 / `epsilon` = {}", epsilon.recip()),
    )?;
    let second = |s: usize| s >= size;
    let m = size as f64;
    let transition = Matrix::from_fn(2 * size, 2 * size, |s, to| {
        let leave = if second(s) { back } else { epsilon };
        let cluster = if second(s) == second(to) {
            1.0 - leave
        } else {
            leave
        };
        cluster / m
    });
    let sign = |s: usize| if second(s) { -1.0 } else { 1.0 };
    let ramp = |s: usize| (2.0 * (s % size) as f64 - (m - 1.0)) / (m - 1.0);
    let features = Matrix::from_fn(2 * size, 3, |s, j| [1.0, sign(s), ramp(s)][j]);
    let reward = (0..2 * size).map(|s| sign(s) + ramp(s)).collect();
    Problem::new(
        Chain::from_dense(&transition)?,
        features,
        Reward::PerState(reward),
        values["discount"],
        0,
    )
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;
    use crate::model::mixing::Mixing;

    const KNOBS: [(f64, f64); 5] = [
        (1e-14, 1.0),
        (1e-14, 3.0),
        (1e-3, 1.0),
        (0.3, 0.1),
        (1e-9, 1e5),
    ];

    #[test]
    fn stationary_distribution_to_the_last_digits() {
        for (epsilon, ratio) in KNOBS {
            let settings = [("epsilon", epsilon), ("ratio", ratio)];
            let p = problem("two-cluster", &settings).unwrap();
            for (s, &found) in p.stationary().iter().enumerate() {
                let share = if s < 5 { ratio } else { 1.0 };
                let expected = share / (1.0 + ratio) / 5.0;
                let ulp = expected.next_up() - expected;
                assert!(
                    (found - expected).abs() <= 4.0 * ulp,
                    "epsilon {epsilon:e}, ratio {ratio}: {found:e} is not {expected:e}"
                );
            }
        }
    }

    #[test]
    fn second_eigenvalue() {
        for (epsilon, ratio) in KNOBS {
            let p = problem("two-cluster", &[("epsilon", epsilon), ("ratio", ratio)]).unwrap();
            let mixing = Mixing::of(p.chain()).unwrap().unwrap();
            let expected = 1.0 - epsilon * (1.0 + ratio);
            assert!((mixing.lambda2() - expected).abs() <= 1e-14);
        }
    }

    #[test]
    fn fixed_point_is_the_true_value_in_closed_form() {
        for (epsilon, ratio) in KNOBS {
            for gamma in [0.0, 0.9, 0.999] {
                let settings = [
                    ("size", 8.0),
                    ("epsilon", epsilon),
                    ("ratio", ratio),
                    ("discount", gamma),
                ];
                let p = problem("two-cluster", &settings).unwrap();
                let u = 1.0 / ((1.0 - gamma) + gamma * epsilon * (1.0 + ratio));
                let level = gamma * epsilon * (ratio - 1.0) * u / (1.0 - gamma);
                let expected = [level, u, 1.0];
                // The rounding error of A and c, amplified by the inverse of A.
                let tolerance = 1e-14 / (p.omega() * (1.0 - gamma));
                for (found, expected) in p.theta_star().iter().zip(expected) {
                    assert!(
                        (found - expected).abs() <= tolerance,
                        "{found} is not {expected}"
                    );
                }
                for (found, truth) in p.values(p.theta_star()).iter().zip(p.true_values()) {
                    assert!((found - truth).abs() <= tolerance);
                }
            }
        }
    }

    #[test]
    fn a_ratio_that_makes_no_probability_is_refused() {
        let message = problem("two-cluster", &[("epsilon", 0.5), ("ratio", 2.0)])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "two-cluster: ratio is 2, but must be above 0 and below 1 / `epsilon` = 2"
        );
    }
}
