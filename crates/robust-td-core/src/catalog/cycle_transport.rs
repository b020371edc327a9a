//! Builds the authors' family E4: a directed ring with one-hot features.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. As many directions as states. On a ring of m states the chain stays with `eps1` and
//! moves on by one otherwise; Phi is the identity. `single-site`: r = rho at state 0; `alternating`: -rho at even,
//! +rho at odd states.
//!
//! Known answer: pi is uniform, `omega = beta^2/m` (beta <= 1), `|lambda_2|^2 = 1 - 2 eps1 (1-eps1)(1 - cos(2 pi/m))`. With
//! `q = g (1-eps1)/(1 - g eps1)`, `V_0 = rho/((1 - g eps1)(1 - q^m))`, `V_i = q^(m-i) V_0`:
//! ```text
//! theta* = (V_0, V_1/beta, ..., V_{m-1}/beta),  f(0) = rho V_0/m
//! alternating, m even: |V_i| = rho/(1 - g eps1 + g (1-eps1)) with the sign of r,  f(0) = rho |V|
//! ```

use super::family::{self, BETA, DISCOUNT, RHO, eps1, ring};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e4",
    aliases: &["cycle-transport"],
    summary: "directed ring with one-hot features: as many directions as states",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E4",
    parameters: &[
        Parameter::new(
            "m",
            20.0,
            "number of states and features",
            "a whole number from 2 to 500",
            |x| whole_in(x, 2, 500),
        ),
        eps1(1e-2, "probability of staying"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["single-site", "alternating", "zero"],
            "reward: rho at state 0, -rho at even and rho at odd states, or none",
            "single-site, alternating or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (m, mode) = (values.whole("m"), values.word("mode"));
    let identity = Matrix::from_fn(m, m, |s, j| if s == j { 1.0 } else { 0.0 });
    let reward = |s: usize| match mode {
        "single-site" if s == 0 => 1.0,
        "alternating" => [-1.0, 1.0][s % 2],
        _ => 0.0,
    };
    family::problem(values, ring(m, values["eps1"]), identity, reward)
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for (m, eps1) in [(2, 0.3), (5, 0.01), (20, 0.01), (20, 0.9), (31, 1e-4)] {
            for beta in [1e-3, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let states = f64::from(m);
                    let settings = [
                        ("m", states),
                        ("eps1", eps1),
                        ("beta", beta),
                        ("rho", rho),
                        ("discount", g),
                    ];
                    let cosine = (2.0 * std::f64::consts::PI / states).cos();
                    let lambda2 = (1.0 - 2.0 * eps1 * (1.0 - eps1) * (1.0 - cosine)).sqrt();
                    let q = g * (1.0 - eps1) / (1.0 - g * eps1);
                    let v0 = rho / ((1.0 - g * eps1) * (1.0 - q.powi(m)));
                    let weight = |i: i32, v: f64| if i == 0 { v } else { v / beta };
                    let mut answer = Answer {
                        omega: Some(beta * beta / states),
                        lambda2: Some(lambda2),
                        f_zero: Some(rho * v0 / states),
                        theta_star: (0..m)
                            .map(|i| weight(i, if i == 0 { v0 } else { q.powi(m - i) * v0 }))
                            .collect(),
                    };
                    check(&build("e4", &settings, "single-site"), &answer);
                    if m % 2 == 0 {
                        let v = rho / (1.0 - g * eps1 + g * (1.0 - eps1));
                        let value = |i: i32| weight(i, if i % 2 == 0 { -v } else { v });
                        answer.theta_star = (0..m).map(value).collect();
                        answer.f_zero = Some(rho * v);
                        check(&build("e4", &settings, "alternating"), &answer);
                    }
                }
            }
        }
        assert_eq!(build("e4", &[], "zero").f_zero(), 0.0);
    }
}
