//! Builds the authors' family E3: a trap without features, which sets mixing and the weak direction apart.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`.
//! ```text
//! P = [[0, 1, 0], [1-eps1, 0, eps1], [eps1, 0, 1-eps1]]    Phi = (1, 0), (1, e), (0, 0), e = eps2
//! r = (0, rho, -rho) signed, (0, rho, 0) weak, 0 zero
//! ```
//! Known answer: pi is uniform, `|lambda_2| = (eps1 + sqrt(4 - 8 eps1 + eps1^2))/2` up to eps1 = 1/2; with `h^2 = 1 + e^2`, e <= 1
//! ```text
//! omega = (2/3) e^2 / (h^2 (2 + e^2 + sqrt(4 + e^4)))
//! V_1 = rho/(1 - g^2 (1 - eps1)),  theta* = h (g V_1, (1-g) V_1/e),  f(0) = rho V_1/3
//! ```
//! State 2 has no feature, so that both modes have the same theta*.

use super::family::{self, BETA, DISCOUNT, RHO, eps1, eps2};
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e3",
    aliases: &["metastable-trap"],
    summary: "a pair and a trap without features: mixing (eps1) and weak direction (eps2) set apart",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E3",
    parameters: &[
        eps1(1e-3, "probability of entering and of leaving the trap"),
        eps2("second feature of state 1"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["signed", "weak", "zero"],
            "reward: rho in state 1 and -rho in the trap, rho in state 1 only, or none",
            "signed, weak or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let rare = values["eps1"];
    let reward = match values.word("mode") {
        "signed" => [0.0, 1.0, -1.0],
        "weak" => [0.0, 1.0, 0.0],
        _ => [0.0; 3],
    };
    let moves = [
        (0, 1, 1.0),
        (1, 0, 1.0 - rare),
        (1, 2, rare),
        (2, 0, rare),
        (2, 2, 1.0 - rare),
    ];
    let features = Matrix::from_rows(&[[1.0, 0.0], [1.0, values["eps2"]], [0.0, 0.0]])?;
    family::problem(values, moves, features, |s| reward[s])
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};
    use super::super::sticky_pair::omega_of_pair;

    #[test]
    fn closed_form() {
        for eps1 in [1e-6, 1e-3, 0.3, 0.5] {
            for e in [1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [("eps1", eps1), ("eps2", e), ("rho", rho), ("discount", g)];
                    let h = f64::sqrt(1.0 + e * e);
                    let v = rho / (1.0 - g * g * (1.0 - eps1));
                    let root = (4.0 - 8.0 * eps1 + eps1 * eps1).sqrt();
                    let answer = Answer {
                        omega: Some(2.0 / 3.0 * omega_of_pair(e)),
                        lambda2: Some((eps1 + root) / 2.0),
                        f_zero: Some(rho * v / 3.0),
                        theta_star: vec![h * g * v, h * (1.0 - g) * v / e],
                    };
                    for mode in ["signed", "weak"] {
                        check(&build("e3", &settings, mode), &answer);
                    }
                }
            }
        }
        assert_eq!(build("e3", &[], "signed").mean_rewards(), [0.0, 1.0, -1.0]);
        assert_eq!(build("e3", &[], "zero").f_zero(), 0.0);
    }
}
