//! Builds the authors' family E10: slow change between two well-mixed halves with opposite rewards.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. n = 2k states, d = 2. The next state is uniform in the same half with 1 - eps1, in the
//! other with eps1. `Phi = (1, e)` in states 0..k, `(1, -e)` in the others, e = eps2. `cluster-opposite`: r = rho, -rho;
//! `uniform`: r = rho everywhere (the authors' program takes every other word as this).
//!
//! Known answer: pi is uniform, `|lambda_2| = |1 - 2 eps1|`; with `h^2 = 1 + e^2`, beta = 1, e <= 1, `L = 1 - g (1 - 2 eps1)`:
//! ```text
//! omega = e^2/h^2    theta* = (0, h rho/(e L)), f(0) = rho^2/L;   uniform: theta* = (h rho/(1-g), 0), f(0) = rho^2/(1-g)
//! ```

use super::family::{self, BETA, DISCOUNT, RHO, eps1, eps2};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e10",
    aliases: &["two-halves"],
    summary: "two well-mixed halves with opposite rewards and slow change between them",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E10",
    parameters: &[
        Parameter::new(
            "k",
            10.0,
            "states per half",
            "a whole number from 1 to 500",
            |x| whole_in(x, 1, 500),
        ),
        eps1(1e-3, "probability of changing the half"),
        eps2("second feature, with opposite signs in the halves"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["cluster-opposite", "uniform"],
            "reward: rho in the first half and -rho in the second, or rho everywhere",
            "cluster-opposite or uniform",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (k, change, e) = (values.whole("k"), values["eps1"], values["eps2"]);
    let opposite = values.word("mode") == "cluster-opposite";
    let half = |s: usize| s / k;
    let moves = (0..2 * k).flat_map(|s| {
        (0..2 * k).map(move |to| {
            let total = if half(s) == half(to) {
                1.0 - change
            } else {
                change
            };
            (s, to, total / k as f64)
        })
    });
    let sign = |s: usize| [1.0, -1.0][half(s)];
    let features = Matrix::from_fn(2 * k, 2, |s, j| [1.0, e * sign(s)][j]);
    family::problem(values, moves, features, |s| {
        if opposite { sign(s) } else { 1.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for (k, eps1) in [(1.0, 0.3), (10.0, 1e-3), (10.0, 0.9), (7.0, 1e-6)] {
            for e in [1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [
                        ("k", k),
                        ("eps1", eps1),
                        ("eps2", e),
                        ("rho", rho),
                        ("discount", g),
                    ];
                    let h = f64::sqrt(1.0 + e * e);
                    let l = 1.0 - g * (1.0 - 2.0 * eps1);
                    let mut answer = Answer {
                        omega: Some(e * e / (h * h)),
                        lambda2: Some((1.0 - 2.0 * eps1).abs()),
                        f_zero: Some(rho * rho / l),
                        theta_star: vec![0.0, h * rho / (e * l)],
                    };
                    check(&build("e10", &settings, "cluster-opposite"), &answer);
                    answer.theta_star = vec![h * rho / (1.0 - g), 0.0];
                    answer.f_zero = Some(rho * rho / (1.0 - g));
                    check(&build("e10", &settings, "uniform"), &answer);
                }
            }
        }
    }
}
