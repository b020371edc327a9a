//! Builds the authors' family E1: two states that alternate, one feature.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. Can one-dimensional steps that expand add up? (Expected: no.)
//! ```text
//! P = [[eps1, 1-eps1], [1-eps1, eps1]]    Phi = (e, 1), e = eps2    r = (0, rho) driven, 0 zero
//! ```
//! Known answer: pi is uniform, `|lambda_2| = |1 - 2 eps1|` (the eigenvalue is negative below 1/2), and for e <= 1
//! ```text
//! omega = (1 + e^2)/2    theta* = rho / ((1 - g eps1)(1 + e^2) - 2 g (1 - eps1) e)    f(0) = rho theta*/2
//! ```

use super::family::{self, DISCOUNT, RHO, beta, eps1, eps2};
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e1",
    aliases: &["alternating-scalar"],
    summary: "two states that alternate, one feature (eps2, 1): do expanding steps add up?",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E1",
    parameters: &[
        eps1(1e-3, "probability of staying"),
        eps2("feature of state 0"),
        beta("no effect: column 0 is the only one"),
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
    let (stay, driven) = (values["eps1"], values.word("mode") == "driven");
    let moves = [
        (0, 0, stay),
        (0, 1, 1.0 - stay),
        (1, 0, 1.0 - stay),
        (1, 1, stay),
    ];
    let features = Matrix::from_rows(&[[values["eps2"]], [1.0]])?;
    family::problem(values, moves, features, |s| {
        if driven && s == 1 { 1.0 } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for eps1 in [1e-15, 1e-3, 0.3, 0.9] {
            for e in [1e-8, 1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [("eps1", eps1), ("eps2", e), ("rho", rho), ("discount", g)];
                    let theta =
                        rho / ((1.0 - g * eps1) * (1.0 + e * e) - 2.0 * g * (1.0 - eps1) * e);
                    let answer = Answer {
                        omega: Some((1.0 + e * e) / 2.0),
                        lambda2: Some((1.0 - 2.0 * eps1).abs()),
                        f_zero: Some(rho * theta / 2.0),
                        theta_star: vec![theta],
                    };
                    check(&build("e1", &settings, "driven"), &answer);
                }
            }
        }
        let zero = build("e1", &[("beta", 0.1)], "zero");
        assert_eq!(zero.theta_star(), [0.0]);
    }
}
