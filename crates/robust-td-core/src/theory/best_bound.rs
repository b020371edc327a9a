//! Finds the best proved bound on Algorithm 1's output, fast enough to compute before every run.
//!
//! The certificates P, X and Y are those of [`mod@super::certify`]. To take only a fraction of a second at
//! any horizon and for any chain, long sums are computed in blocks, the mixing distances of large chains are
//! replaced by `2 * 2^(-t/t_mix)` beyond a work limit, and lags beyond 2^16 are not tried. Each of these can
//! only raise a bound.

use super::certificate::{self, Certificate, Inputs};
use super::certify::{inputs_with, max_lag};
use super::horizon::Horizon;
use super::step_sums::StepProfile;
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// The largest lag that is tried.
const MAX_LAG: u64 = 1 << 16;

/// The number of multiplications spent on mixing distances.
pub const WORK: usize = 50_000_000;

/// A bound on `E f(avg_T)` with the certificate that proves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestBound {
    /// The bound.
    pub bound: f64,
    /// The certificate that proves it.
    pub statement: &'static str,
}

/// The smallest bound that applies to the step sizes `unit(t)/c`, where `unit` is Algorithm 1's schedule at
/// horizon `T` for `c = 1`, or its constant variant.
///
/// It holds for any initial state: the distances are maxima over the start.
pub fn best_bound(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    c: f64,
    unit: impl Fn(u64) -> f64,
) -> Option<BestBound> {
    let inputs = |distances| inputs_with(problem, distances);
    best_bound_from(inputs, mixing, horizon, c, unit)
}

/// As [`best_bound`], from the inputs of the certificates, such as those in other coordinates; `unit` is then the schedule there.
pub fn best_bound_from(
    inputs: impl FnOnce(Vec<f64>) -> Inputs,
    mixing: &Mixing,
    horizon: u64,
    c: f64,
    unit: impl Fn(u64) -> f64,
) -> Option<BestBound> {
    let max_lag = max_lag(horizon, mixing.lambda2()).min(MAX_LAG);
    let inputs = inputs(mixing.bounds(max_lag as usize, WORK));
    let mut unit = StepProfile::quick(unit, horizon, &inputs.distances);
    let p = Horizon::new(horizon, mixing.alpha()).map(|conditions| {
        certificate::paper::certify(&inputs, horizon, &conditions, unit.total(), c)
    });
    let x = certificate::zero_centred::certify(&inputs, inputs.growth(), &mut unit, c);
    let y = certificate::centred::certify(&inputs, &mut unit, c);
    let proved = |statement: &'static str, certificate: Certificate| {
        let bound = certificate.bound.filter(|_| certificate.applies())?;
        Some(BestBound { bound, statement })
    };
    [
        ("certificate P", p),
        ("certificate X", Some(x)),
        ("certificate Y", Some(y)),
    ]
    .into_iter()
    .filter_map(|(statement, certificate)| proved(statement, certificate?))
    .min_by(|a, b| a.bound.total_cmp(&b.bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::theory::certify::unit_steps;

    /// The fast version never gives a smaller bound than the full certification, and only a slightly larger
    /// one.
    #[test]
    fn agrees_with_the_full_certification() {
        for (name, horizon, c) in [
            ("ref-2", 1000, 5.0),
            ("ref-3", 300_000, 2.0),
            ("ref-2", 100_000, 50.0),
        ] {
            let problem = catalog::problem(name, &[]).unwrap();
            let full = problem.certify(horizon, Some(c)).unwrap().mixing.unwrap();
            let best = [full.p, full.x, full.y]
                .into_iter()
                .flatten()
                .filter(Certificate::applies)
                .filter_map(|certificate| certificate.bound)
                .fold(f64::INFINITY, f64::min);
            let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
            let unit = unit_steps(problem.phi_inf(), horizon);
            let found = best_bound(&problem, &mixing, horizon, c, unit).unwrap();
            assert!(found.bound >= best * (1.0 - 1e-12), "{found:?} {best}");
            assert!(found.bound <= best * (1.0 + 1e-3), "{found:?} {best}");
        }
    }

    #[test]
    fn nothing_is_promised_where_nothing_is_proved() {
        let problem = catalog::problem("ref-2", &[]).unwrap();
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let unit = unit_steps(problem.phi_inf(), 1000);
        assert_eq!(best_bound(&problem, &mixing, 1000, 0.01, unit), None);
    }
}
