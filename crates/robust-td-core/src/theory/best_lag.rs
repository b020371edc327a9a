//! Finds the lag at which a certificate is smallest without summing `O(T)` terms for every lag.
//!
//! A certificate at fixed step sizes grows with the drift `W1 + W2`, and the drift is concave in the lag.
//! Interpolating between lags where it is known gives a lower bound on the certificate at every lag. The
//! smallest of these is then computed exactly, until the smallest is already exact. It is then the optimum
//! over all lags.

use super::step_sums::{StepProfile, StepSums};

/// The quality of a certificate: its bound if certified, otherwise its quadratic coefficient.
///
/// Every certified score beats every open one; NaN is worst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The certificate applies and proves this bound.
    Certified(f64),
    /// The coefficient `A2`, not below 1, so that the recursion does not close.
    Open(f64),
}

impl Score {
    /// Whether this score is strictly better than `other`.
    pub fn beats(&self, other: &Score) -> bool {
        match (self, other) {
            (Score::Certified(x), Score::Certified(y)) | (Score::Open(x), Score::Open(y)) => {
                x < y || (y.is_nan() && !x.is_nan())
            }
            (Score::Certified(x), Score::Open(_)) => !x.is_nan(),
            (Score::Open(_), Score::Certified(y)) => y.is_nan(),
        }
    }
}

/// The sums at the lag with the best score; ties go to the smallest lag.
///
/// `score` must not improve when `w2` grows. The number of `O(T)` passes is about the logarithm of the number
/// of lags.
pub fn best_lag<F, S>(profile: &mut StepProfile<F>, score: S) -> StepSums
where
    F: Fn(u64) -> f64,
    S: Fn(&StepSums) -> Score,
{
    loop {
        let best = smallest(profile.from_below(), &score);
        if profile.is_known(best) {
            return profile.at(best);
        }
        profile.at(best);
    }
}

/// The lag of the best score.
fn smallest(sums: impl Iterator<Item = StepSums>, score: impl Fn(&StepSums) -> Score) -> u64 {
    let mut best = (0, Score::Open(f64::NAN));
    for sums in sums {
        let score = score(&sums);
        if score.beats(&best.1) {
            best = (sums.lag, score);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::lemma_sums::shape;

    #[test]
    fn scores_are_ordered() {
        use Score::{Certified, Open};
        let order = [
            Certified(1.0),
            Certified(2.0),
            Certified(f64::INFINITY),
            Open(1.5),
            Open(9.0),
            Open(f64::NAN),
        ];
        for (i, x) in order.iter().enumerate() {
            for (j, y) in order.iter().enumerate() {
                assert_eq!(x.beats(y), i < j, "{x:?} {y:?}");
            }
        }
        assert!(!Certified(f64::NAN).beats(&Open(1.5)) && Open(1.5).beats(&Certified(f64::NAN)));
    }

    #[test]
    fn the_best_lag_is_that_of_brute_force() {
        for (alpha, horizon) in [(0.3f64, 50u64), (0.9, 2000), (0.99, 2000), (0.999, 1500)] {
            let distances: Vec<f64> = (0..=1200).map(|j| 0.7 * alpha.powi(j)).collect();
            for weight in [1e-3, 0.1, 1.0, 10.0, 1e3] {
                let score =
                    |x: &StepSums| Score::Certified(x.e1 + x.e2 + weight * (x.w1 + 2.0 * x.w2));
                let mut profile = StepProfile::new(shape, horizon, &distances);
                let found = best_lag(&mut profile, score);
                let mut all = StepProfile::new(shape, horizon, &distances);
                let brute: Vec<StepSums> = (0..=all.max_lag()).map(|lag| all.at(lag)).collect();
                assert_eq!(found.lag, smallest(brute.iter().copied(), score));
            }
        }
    }

    #[test]
    fn few_lags_are_made_exact() {
        let distances: Vec<f64> = (0..=10_000).map(|j| 0.98 * 0.9936f64.powi(j)).collect();
        let mut profile = StepProfile::new(shape, 1 << 20, &distances);
        let score = |x: &StepSums| Score::Certified(x.e1 + x.e2 + x.w1 + 2.0 * x.w2);
        best_lag(&mut profile, score);
        let exact = (0..=10_000).filter(|&lag| profile.is_known(lag)).count();
        assert!(exact < 40, "{exact} lags");
    }
}
