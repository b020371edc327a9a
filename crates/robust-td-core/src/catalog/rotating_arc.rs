//! Builds the authors' family E6: features that turn slowly with the chain, many directions in two dimensions.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. The ring of [`e4`](super::cycle_transport) with `Phi_i = (cos a_i, sin a_i)`,
//! `a_i = 2 pi i/m`. `single-harmonic`: r_i = rho cos a_i; `phase-shifted`: r_i = rho sin a_i.
//!
//! Known answer: pi is uniform, `omega = beta^2/2` (beta <= 1), `|lambda_2|` as for E4. With `a = eps1 + (1-eps1) cos(2 pi/m)`,
//! `s = (1-eps1) sin(2 pi/m)`, `Q = (1 - g a)^2 + (g s)^2`:
//! ```text
//! theta* = rho/Q (1 - g a, -g s/beta);   phase-shifted: rho/Q (g s, (1 - g a)/beta);   f(0) = rho^2 (1 - g a)/(2Q)
//! ```

use std::f64::consts::PI;

use super::family::{self, BETA, DISCOUNT, RHO, eps1, ring};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e6",
    aliases: &["rotating-arc"],
    summary: "directed ring whose two features turn slowly with the chain",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E6",
    parameters: &[
        Parameter::new(
            "m",
            32.0,
            "number of states",
            "a whole number from 3 to 100000",
            |x| whole_in(x, 3, 100_000),
        ),
        eps1(1e-2, "probability of staying"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["single-harmonic", "phase-shifted", "zero"],
            "reward: rho cos a, rho sin a, or none",
            "single-harmonic, phase-shifted or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (m, mode) = (values.whole("m"), values.word("mode"));
    let angle = |s: usize| 2.0 * PI * s as f64 / m as f64;
    let features = Matrix::from_fn(m, 2, |s, j| [angle(s).cos(), angle(s).sin()][j]);
    let reward = |s: usize| match mode {
        "single-harmonic" => angle(s).cos(),
        "phase-shifted" => angle(s).sin(),
        _ => 0.0,
    };
    family::problem(values, ring(m, values["eps1"]), features, reward)
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};

    #[test]
    fn closed_form() {
        for (m, eps1) in [(3.0, 0.3), (7.0, 0.9), (32.0, 0.01), (64.0, 1e-4)] {
            for beta in [1e-3, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let settings = [
                        ("m", m),
                        ("eps1", eps1),
                        ("beta", beta),
                        ("rho", rho),
                        ("discount", g),
                    ];
                    let (sine, cosine) = f64::sin_cos(2.0 * std::f64::consts::PI / m);
                    let (a, s) = (eps1 + (1.0 - eps1) * cosine, (1.0 - eps1) * sine);
                    let q = (1.0 - g * a).powi(2) + (g * s).powi(2);
                    let mut answer = Answer {
                        omega: Some(beta * beta / 2.0),
                        lambda2: Some((1.0 - 2.0 * eps1 * (1.0 - eps1) * (1.0 - cosine)).sqrt()),
                        f_zero: Some(rho * rho * (1.0 - g * a) / (2.0 * q)),
                        theta_star: vec![rho / q * (1.0 - g * a), -rho / q * g * s / beta],
                    };
                    check(&build("e6", &settings, "single-harmonic"), &answer);
                    answer.theta_star = vec![rho / q * g * s, rho / q * (1.0 - g * a) / beta];
                    check(&build("e6", &settings, "phase-shifted"), &answer);
                }
            }
        }
        assert_eq!(build("e6", &[], "zero").f_zero(), 0.0);
    }
}
