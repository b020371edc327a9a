//! Builds the paper's two-state chain, whose curvature and mixing are set independently.
//!
//! Source: Lee and Orabona, arXiv:2506.01052.
//! ```text
//! P   = [[(1-alpha)/2, (1+alpha)/2], [(1+alpha)/2, (1-alpha)/2]]
//! Phi = [[epsilon, 1], [-epsilon, 1]]
//! r   = [[0.2, 1], [-1, 0.4]]
//! ```
//! Known answers: pi is uniform, the eigenvalues of P are 1 and -alpha, `d(t) = alpha^t / 2`, and
//! ```text
//! Sigma = diag(epsilon^2, 1), so omega = epsilon^2 for every alpha;  phi_inf = sqrt(1 + epsilon^2)
//! A     = diag(epsilon^2 (1 + gamma alpha), 1 - gamma)
//! rbar  = (0.6 + 0.4 alpha, -0.3 - 0.7 alpha),  c = (epsilon (0.9 + 1.1 alpha) / 2, (0.3 - 0.3 alpha) / 2)
//! ```
//! At the defaults it is the reference problem [`ref-2`](super::ref_2).

use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

pub(super) const ENTRY: Entry = Entry {
    name: "two-state",
    aliases: &[],
    summary: "two states with omega = epsilon^2 and |lambda_2| = alpha, set independently",
    source: "Lee and Orabona, arXiv:2506.01052, the example of a small omega",
    parameters: &[
        Parameter::new(
            "alpha",
            0.6,
            "modulus of the second eigenvalue (the paper takes it above 1/2)",
            "at least 0 and below 1",
            |x| (0.0..1.0).contains(&x),
        ),
        Parameter::new(
            "epsilon",
            0.3,
            "size of the first feature, so that omega = epsilon^2",
            "above 0 and below 1",
            |x| x > 0.0 && x < 1.0,
        ),
        Parameter::discount(0.9),
        Parameter::new(
            "shift",
            0.0,
            "added to every reward, whose mean is 0.15 (1 - alpha) without it",
            "above -1 and below 1",
            |x| x > -1.0 && x < 1.0,
        ),
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let shift = values["shift"];
    two_state(
        values["alpha"],
        values["epsilon"],
        values["discount"],
        shift,
    )
}

pub(super) fn two_state(alpha: f64, epsilon: f64, discount: f64, shift: f64) -> Result<Problem> {
    let (stay, go) = ((1.0 - alpha) / 2.0, (1.0 + alpha) / 2.0);
    let chain = Chain::from_dense(&Matrix::from_rows(&[[stay, go], [go, stay]])?)?;
    let features = Matrix::from_rows(&[[epsilon, 1.0], [-epsilon, 1.0]])?;
    let reward = Matrix::from_rows(&[[0.2 + shift, 1.0 + shift], [-1.0 + shift, 0.4 + shift]])?;
    Problem::new(chain, features, Reward::PerTransition(reward), discount, 0)
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;
    use crate::model::mixing::Mixing;

    #[test]
    fn closed_form_over_both_knobs() {
        for alpha in [0.0, 0.51, 0.6, 0.9, 0.999] {
            for epsilon in [1e-6, 0.01, 0.3, 0.99] {
                for discount in [0.0, 0.9, 0.999] {
                    let settings = [
                        ("alpha", alpha),
                        ("epsilon", epsilon),
                        ("discount", discount),
                    ];
                    let p = problem("two-state", &settings).unwrap();
                    let close = |found: f64, expected: f64| {
                        let error = (found - expected).abs();
                        assert!(error <= 1e-12 * expected.abs(), "{found} is not {expected}");
                    };
                    p.stationary().iter().for_each(|&weight| close(weight, 0.5));
                    close(p.omega(), epsilon * epsilon);
                    close(p.kappa(), (epsilon * epsilon).recip());
                    close(p.phi_inf(), (1.0 + epsilon * epsilon).sqrt());
                    let (r0, r1) = (0.6 + 0.4 * alpha, -0.3 - 0.7 * alpha);
                    close(p.mean_rewards()[0], r0);
                    close(p.mean_rewards()[1], r1);
                    close(
                        p.theta_star()[0],
                        (r0 - r1) / 2.0 / (epsilon * (1.0 + discount * alpha)),
                    );
                    // A difference of the two rewards divided by 1 - gamma: no more accurate than the rewards
                    // themselves.
                    let expected = (r0 + r1) / 2.0 / (1.0 - discount);
                    let error = (p.theta_star()[1] - expected).abs();
                    assert!(error <= 1e-15 / (1.0 - discount), "{p:?}");
                }
            }
        }
    }

    /// A shifted reward shifts every value by shift / (1 - gamma); with mean 0 the values stay bounded as gamma approaches 1.
    #[test]
    fn the_shift_moves_the_mean() {
        let values = |discount: f64, shift: f64| {
            let settings = [("alpha", 0.9), ("discount", discount), ("shift", shift)];
            problem("two-state", &settings).unwrap().true_values()
        };
        for (plain, shifted) in values(0.9, 0.0).iter().zip(values(0.9, 0.5)) {
            assert!((shifted - plain - 5.0).abs() < 1e-12);
        }
        for value in values(1.0 - 1e-6, -0.015) {
            assert!(value.abs() < 1.0, "{value}");
        }
    }

    #[test]
    fn distance_to_stationarity_falls_geometrically() {
        for alpha in [0.0, 0.51, 0.6, 0.9] {
            let p = problem("two-state", &[("alpha", alpha)]).unwrap();
            let mixing = Mixing::of(p.chain()).unwrap().unwrap();
            assert!((mixing.lambda2() - alpha).abs() <= 1e-12);
            for (t, d) in mixing.distances(50).into_iter().enumerate() {
                assert!((d - 0.5 * alpha.powi(t as i32)).abs() <= 1e-12);
            }
        }
    }
}
