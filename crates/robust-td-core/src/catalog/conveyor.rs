//! Builds the authors' family E5: rare, long one-way excursions instead of a closed cycle.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. n = m + 1 states, d = m. State 0 stays with 1 - eps1 and goes to 1 with eps1; the
//! others go to the next one surely, the last back to 0. State 0 has no features, state i has column i - 1. `launch`: r = rho
//! at state 1; `excursion`: r = rho at states 1..m.
//!
//! Known answer: `pi_0 = 1/(1 + m eps1)`, `pi_i = eps1 pi_0`, `omega = beta^2 pi_1` (beta <= 1), `|lambda_2|` is the second largest
//! modulus of the roots of `z^(m+1) - (1-eps1) z^m - eps1`.
//! ```text
//! launch:     V_1 = rho, the others 0; theta* = (rho, 0, ..., 0) for every beta;  f(0) = rho^2 pi_1
//! excursion:  V_i = rho (1 - g^(m+1-i))/(1-g), theta*_0 = V_1, theta*_j = V_{j+1}/beta;  f(0) = rho pi_1 sum_i V_i
//! ```
//! The chain starts in the state without features: theta stays 0 for 1/eps1 steps on average.

use super::family::{self, BETA, DISCOUNT, RHO, eps1};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e5",
    aliases: &["conveyor"],
    summary: "conveyor with reset: rare, long one-way excursions from a state without features",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E5",
    parameters: &[
        Parameter::new(
            "m",
            20.0,
            "length of an excursion; m + 1 states, m features",
            "a whole number from 1 to 500",
            |x| whole_in(x, 1, 500),
        ),
        eps1(1e-2, "probability of starting an excursion"),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["launch", "excursion", "zero"],
            "reward: rho at state 1, rho at states 1 to m, or none",
            "launch, excursion or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (m, rare, mode) = (values.whole("m"), values["eps1"], values.word("mode"));
    let onward = (1..=m).map(|s| (s, (s + 1) % (m + 1), 1.0));
    let moves = [(0, 0, 1.0 - rare), (0, 1, rare)].into_iter().chain(onward);
    let features = Matrix::from_fn(m + 1, m, |s, j| if s == j + 1 { 1.0 } else { 0.0 });
    let reward = |s: usize| match mode {
        "launch" if s == 1 => 1.0,
        "excursion" if s > 0 => 1.0,
        _ => 0.0,
    };
    family::problem(values, moves, features, reward)
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::{Answer, build, check};
    use crate::model::mixing::Mixing;

    #[test]
    fn closed_form() {
        for (m, eps1) in [(1, 0.3), (4, 0.9), (20, 0.01), (20, 1e-6), (33, 0.2)] {
            for beta in [1e-3, 0.1, 1.0] {
                for (g, rho) in [(0.99, 1.0), (0.5, 3.0)] {
                    let length = f64::from(m);
                    let settings = [
                        ("m", length),
                        ("eps1", eps1),
                        ("beta", beta),
                        ("rho", rho),
                        ("discount", g),
                    ];
                    let rare = eps1 / (1.0 + length * eps1);
                    // With one feature beta has no effect.
                    let smallest = if m == 1 { 1.0 } else { beta };
                    let mut answer = Answer {
                        omega: Some(smallest * smallest * rare),
                        lambda2: None,
                        f_zero: Some(rho * rho * rare),
                        theta_star: (0..m).map(|j| if j == 0 { rho } else { 0.0 }).collect(),
                    };
                    check(&build("e5", &settings, "launch"), &answer);
                    let value = |i: i32| rho * (1.0 - g.powi(m + 1 - i)) / (1.0 - g);
                    answer.theta_star = (0..m)
                        .map(|j| value(j + 1) / if j == 0 { 1.0 } else { beta })
                        .collect();
                    answer.f_zero = Some(rho * rare * (1..=m).map(value).sum::<f64>());
                    check(&build("e5", &settings, "excursion"), &answer);
                }
            }
        }
        assert_eq!(build("e5", &[], "zero").f_zero(), 0.0);
    }

    /// The eigenvalue of every root: |z^(m+1) - (1-eps1) z^m - eps1| vanishes at the modulus for m = 1, where z = -eps1.
    #[test]
    fn the_shortest_excursion_has_a_known_second_eigenvalue() {
        for eps1 in [1e-3, 0.2, 0.9] {
            let p = build("e5", &[("m", 1.0), ("eps1", eps1)], "launch");
            let mixing = Mixing::of(p.chain()).unwrap().unwrap();
            assert!((mixing.lambda2() - eps1).abs() <= 1e-12);
        }
    }
}
