//! Builds the authors' family E2: two states that the chain rarely leaves.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. Does slow mixing alone do harm? (A negative control.)
//! ```text
//! P = [[1-eps1, eps1], [eps1, 1-eps1]]    Phi = (1, 0), (1, e), e = eps2    r = (0, rho) driven, 0 zero
//! ```
//! Known answer: pi is uniform, `|lambda_2| = |1 - 2 eps1|`; with `h^2 = 1 + e^2` and e <= 1
//! ```text
//! omega = e^2 / (h^2 (2 + e^2 + sqrt(4 + e^4)))
//! u = rho/(1 - g (1 - 2 eps1)),  V_0 = (rho/(1-g) - u)/2,  V_1 = V_0 + u,  theta* = h (V_0, u/e),  f(0) = rho V_1/2
//! ```
//! The chain starts in the state without reward: theta stays 0 for 1/eps1 steps on average.

use super::family::{self, BETA, DISCOUNT, RHO, eps1, eps2};
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e2",
    aliases: &["sticky-pair"],
    summary: "two states that the chain rarely leaves: does slow mixing alone do harm?",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E2",
    parameters: &[
        eps1(1e-3, "probability of changing the state"),
        eps2("second feature of state 1"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["driven", "zero"],
            "reward: rho in state 1, or none",
            "driven or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (change, driven) = (values["eps1"], values.word("mode") == "driven");
    let stay = 1.0 - change;
    let moves = [(0, 0, stay), (0, 1, change), (1, 0, change), (1, 1, stay)];
    let features = Matrix::from_rows(&[[1.0, 0.0], [1.0, values["eps2"]]])?;
    family::problem(values, moves, features, |s| {
        if driven && s == 1 { 1.0 } else { 0.0 }
    })
}

/// omega of the features (1, 0), (1, e) under equal weights, after scaling; also in [`super::metastable_trap`].
#[cfg(test)]
pub(super) fn omega_of_pair(e: f64) -> f64 {
    let h2 = 1.0 + e * e;
    e * e / (h2 * (2.0 + e * e + (4.0 + e.powi(4)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};
    use super::omega_of_pair;

    #[test]
    fn closed_form() {
        for eps1 in [1e-6, 1e-3, 0.3, 0.9] {
            for e in [1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [("eps1", eps1), ("eps2", e), ("rho", rho), ("discount", g)];
                    let h = f64::sqrt(1.0 + e * e);
                    let u = rho / (1.0 - g * (1.0 - 2.0 * eps1));
                    let v = (rho / (1.0 - g) - u) / 2.0;
                    let answer = Answer {
                        omega: Some(omega_of_pair(e)),
                        lambda2: Some((1.0 - 2.0 * eps1).abs()),
                        f_zero: Some(rho * (v + u) / 2.0),
                        theta_star: vec![h * v, h * u / e],
                    };
                    check(&build("e2", &settings, "driven"), &answer);
                }
            }
        }
        assert_eq!(build("e2", &[], "zero").f_zero(), 0.0);
    }
}
