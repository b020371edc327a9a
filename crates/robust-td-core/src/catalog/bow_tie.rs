//! Builds the authors' family E8: the shortest cycle longer than two.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. The ring of [`e4`](super::cycle_transport) with four states,
//! `Phi = (1, 0), (1, e), (0, 1), (-1, e)`, e = eps2; `signed-cycle`: r = (0, rho, 0, -rho).
//!
//! Known answer for e <= 1, beta = 1: pi is uniform, `omega = (1 + 2e^2)/(4 h^2)` with `h^2 = 1 + e^2`: e hardly moves it (0.25 to
//! 0.375). `|lambda_2|^2 = 1 - 2 eps1 (1-eps1)`. With `u = g (1-eps1)`,
//! ```text
//! M = [[3 (1 - g eps1), -u (1+e)], [u (1-e), (1 + 2e^2)(1 - g eps1) - 2 u e]],  theta* = 2 rho h M^-1 (1,0),  f(0) = rho^2 (M^-1)_00
//! ```

use super::family::{self, BETA, DISCOUNT, RHO, eps1, eps2, ring};
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e8",
    aliases: &["bow-tie"],
    summary: "directed ring of four states with crossing features: the shortest cycle longer than two",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E8",
    parameters: &[
        eps1(1e-2, "probability of staying"),
        eps2("second feature of states 1 and 3"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["signed-cycle", "zero"],
            "reward: rho at state 1 and -rho at state 3, or none",
            "signed-cycle or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let e = values["eps2"];
    let features = Matrix::from_rows(&[[1.0, 0.0], [1.0, e], [0.0, 1.0], [-1.0, e]])?;
    let reward = match values.word("mode") {
        "signed-cycle" => [0.0, 1.0, 0.0, -1.0],
        _ => [0.0; 4],
    };
    family::problem(values, ring(4, values["eps1"]), features, |s| reward[s])
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for eps1 in [1e-6, 0.01, 0.3, 0.9] {
            for e in [1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [("eps1", eps1), ("eps2", e), ("rho", rho), ("discount", g)];
                    let (h, u) = (f64::sqrt(1.0 + e * e), g * (1.0 - eps1));
                    let stay = 1.0 - g * eps1;
                    let m = [
                        [3.0 * stay, -u * (1.0 + e)],
                        [u * (1.0 - e), (1.0 + 2.0 * e * e) * stay - 2.0 * u * e],
                    ];
                    let determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
                    let first = [m[1][1] / determinant, -m[1][0] / determinant];
                    let answer = Answer {
                        omega: Some((1.0 + 2.0 * e * e) / (4.0 * h * h)),
                        lambda2: Some((1.0 - 2.0 * eps1 * (1.0 - eps1)).sqrt()),
                        f_zero: Some(rho * rho * first[0]),
                        theta_star: first.map(|x| 2.0 * rho * h * x).to_vec(),
                    };
                    check(&build("e8", &settings, "signed-cycle"), &answer);
                }
            }
        }
        assert_eq!(build("e8", &[], "zero").f_zero(), 0.0);
    }
}
