//! Builds the authors' family E9: a corridor that mixes slowly by diffusion, without a trap.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. n = m + 1 states, d = 2. Inside, one step down or up with 1/4 each; at an end the
//! chain stays with 3/4. `x_i = (2i - m)/m`, `Phi_i = (1, e x_i)`, e = eps2. `linear`: r = rho x; `half-space`: r = rho sign(x).
//!
//! Known answer: pi is uniform, `|lambda_2| = (1 + cos(pi/(m+1)))/2`; with `h^2 = 1 + e^2`, beta = 1, e <= 1, `X = (m+2)/(3m)`,
//! `W = (1-g) X + g/(m (m+1))`, and y = X (linear), y = mean of |x| (half-space; (m/2+1)/(m+1) for even m, (m+1)/(2m) for odd m):
//! ```text
//! omega = e^2 X/h^2    theta* = (0, h rho y/(e W))    f(0) = rho^2 y^2/W
//! ```

use super::family::{self, BETA, DISCOUNT, RHO, eps2};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e9",
    aliases: &["corridor"],
    summary: "a corridor with features 1 and position: slow mixing by diffusion, no trap",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E9",
    parameters: &[
        Parameter::new(
            "m",
            50.0,
            "steps from end to end; m + 1 states",
            "a whole number from 1 to 100000",
            |x| whole_in(x, 1, 100_000),
        ),
        eps2("factor on the position, the second feature"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["linear", "half-space", "zero"],
            "reward: rho times the position x, rho times its sign, or none",
            "linear, half-space or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (m, e, mode) = (values.whole("m"), values["eps2"], values.word("mode"));
    let moves = (0..=m).flat_map(|s| {
        let down = (s > 0).then(|| (s, s - 1, 0.25));
        let up = (s < m).then(|| (s, s + 1, 0.25));
        let stay = if down.is_some() && up.is_some() {
            0.5
        } else {
            0.75
        };
        [down, Some((s, s, stay)), up].into_iter().flatten()
    });
    let position = |s: usize| (2.0 * s as f64 - m as f64) / m as f64;
    let features = Matrix::from_fn(m + 1, 2, |s, j| [1.0, e * position(s)][j]);
    let reward = |s: usize| match mode {
        "linear" => position(s),
        "half-space" if position(s) == 0.0 => 0.0,
        "half-space" => position(s).signum(),
        _ => 0.0,
    };
    family::problem(values, moves, features, reward)
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for m in [1.0, 2.0, 7.0, 50.0, 101.0] {
            for e in [1e-4, 0.01, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [("m", m), ("eps2", e), ("rho", rho), ("discount", g)];
                    let h = f64::sqrt(1.0 + e * e);
                    let x = (m + 2.0) / (3.0 * m);
                    let w = (1.0 - g) * x + g / (m * (m + 1.0));
                    let odd = m % 2.0 == 1.0;
                    let half = match odd {
                        true => (m + 1.0) / (2.0 * m),
                        false => (m / 2.0 + 1.0) / (m + 1.0),
                    };
                    for (mode, y) in [("linear", x), ("half-space", half)] {
                        let answer = Answer {
                            omega: Some(e * e * x / (h * h)),
                            lambda2: Some((1.0 + (std::f64::consts::PI / (m + 1.0)).cos()) / 2.0),
                            f_zero: Some(rho * rho * y * y / w),
                            theta_star: vec![0.0, h * rho * y / (e * w)],
                        };
                        check(&build("e9", &settings, mode), &answer);
                    }
                }
            }
        }
        assert_eq!(build("e9", &[], "zero").f_zero(), 0.0);
    }
}
