//! Builds the authors' family E7: like E6, but the path breaks off and restarts at a hub without features.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. n = m + 1 states, d = 2. 0 -> 1 surely; 0 < i < m goes to i + 1 with 1 - eps1 and to 0
//! with eps1; m -> 0. `Phi_0 = 0`, `Phi_i = (cos a_i, sin a_i)`, `a_i = alpha_max i/m`. `uniform`: r = rho at states 1..m;
//! `late-excursion`: r = rho at states 1 + floor((m+1)/2) .. m.
//!
//! Known answer: `pi_0 = 1/(1 + (1-(1-eps1)^m)/eps1)`, `pi_i = pi_0 (1-eps1)^(i-1)`. With beta < 1 the largest row is state 1, of
//! norm `sqrt(cos^2 a_1 + beta^2 sin^2 a_1)`. omega is the smaller root of the 2 x 2 matrix of pi-weighted products; theta*
//! has no closed form.

use super::family::{self, BETA, DISCOUNT, RHO, eps1};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "e7",
    aliases: &["open-arc"],
    summary: "a path with two turning features that breaks off and restarts at a hub without features",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, family E7",
    parameters: &[
        Parameter::new(
            "m",
            64.0,
            "length of the path; m + 1 states",
            "a whole number from 2 to 1000",
            |x| whole_in(x, 2, 1000),
        ),
        eps1(1e-2, "probability of breaking off"),
        Parameter::new(
            "alpha_max",
            std::f64::consts::FRAC_PI_2,
            "angle of the features of state m",
            "from 1e-3 to 3.1",
            |x| (1e-3..=3.1).contains(&x),
        ),
        BETA,
        RHO,
        Parameter::choice(
            "mode",
            &["uniform", "late-excursion", "zero"],
            "reward: rho at states 1 to m, rho on the second half of them, or none",
            "uniform, late-excursion or zero",
        ),
        DISCOUNT,
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (m, rare, mode) = (values.whole("m"), values["eps1"], values.word("mode"));
    let inner = (1..m).flat_map(|s| [(s, s + 1, 1.0 - rare), (s, 0, rare)]);
    let moves = [(0, 1, 1.0), (m, 0, 1.0)].into_iter().chain(inner);
    let angle = |s: usize| values["alpha_max"] * s as f64 / m as f64;
    let features = Matrix::from_fn(m + 1, 2, |s, j| match s {
        0 => 0.0,
        _ => [angle(s).cos(), angle(s).sin()][j],
    });
    let reward = |s: usize| match mode {
        "uniform" if s > 0 => 1.0,
        "late-excursion" if s > m.div_ceil(2) => 1.0,
        _ => 0.0,
    };
    family::problem(values, moves, features, reward)
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::build;

    #[test]
    fn stationary_distribution_and_omega() {
        for (m, eps1, beta) in [
            (64, 0.01, 1.0),
            (64, 0.01, 1e-3),
            (2, 0.3, 0.1),
            (9, 0.9, 1.0),
        ] {
            let settings = [("m", f64::from(m)), ("eps1", eps1), ("beta", beta)];
            let p = build("e7", &settings, "uniform");
            let close = |found: f64, expected: f64, tolerance: f64| {
                let error = (found / expected - 1.0).abs();
                assert!(error <= tolerance, "{found} is not {expected}");
            };
            let hub = 1.0 / (1.0 + (1.0 - f64::powi(1.0 - eps1, m)) / eps1);
            let weight = |i: i32| hub * f64::powi(1.0 - eps1, i - 1);
            close(p.stationary()[0], hub, 1e-13);
            let angle = |i: i32| std::f64::consts::FRAC_PI_2 * f64::from(i) / f64::from(m);
            let norm = |i: i32| angle(i).cos().powi(2) + beta * beta * angle(i).sin().powi(2);
            let largest = (1..=m).map(norm).fold(0.0, f64::max);
            let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
            for i in 1..=m {
                close(p.stationary()[i as usize], weight(i), 1e-12);
                let (sine, cosine) = angle(i).sin_cos();
                aa += weight(i) * cosine * cosine / largest;
                ab += weight(i) * cosine * beta * sine / largest;
                bb += weight(i) * beta * beta * sine * sine / largest;
            }
            // The smaller root as determinant over the larger root, which keeps its digits.
            let larger = (aa + bb + ((aa - bb).powi(2) + 4.0 * ab * ab).sqrt()) / 2.0;
            close(p.omega(), (aa * bb - ab * ab) / larger, 1e-11);
        }
    }

    #[test]
    fn late_rewards_begin_in_the_second_half() {
        let rewards = |m: f64| {
            let p = build("e7", &[("m", m)], "late-excursion");
            p.mean_rewards().to_vec()
        };
        assert_eq!(rewards(2.0), [0.0, 0.0, 1.0]);
        assert_eq!(rewards(3.0), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(rewards(4.0), [0.0, 0.0, 0.0, 1.0, 1.0]);
        let default = rewards(64.0);
        assert_eq!((default[32], default[33], default[64]), (0.0, 1.0, 1.0));
    }
}
