//! Checks the pathwise bound, and that divergence sets a flag and never panics.

use proptest::prelude::*;
use robust_td_core::iterate::average::AveragedIterate;
use robust_td_core::learner::{Alg1, Features, Health, Learner, Transition, alg1};
use robust_td_core::schedule::{Constant, RobustConstant, RobustDecay, Schedule};

use crate::stream::{Sample, Stream, assert_close};

fn norm_sq(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// T22: |theta_m| <= (|theta_0| + b) prod_{t<m} (1 + (1+gamma) ph^2 eta_t) - b with b = r/((1+gamma) ph), on
/// every path and for every schedule.
fn check_prefix_bound(stream: &Stream, schedule: &dyn Schedule) {
    let growth = (1.0 + stream.discount) * stream.phi_inf * stream.phi_inf;
    let r_inf = stream
        .samples
        .iter()
        .map(|sample| sample.reward.abs())
        .fold(0.0, f64::max);
    let b = r_inf / ((1.0 + stream.discount) * stream.phi_inf);
    let mut state = AveragedIterate::zero(stream.dimension).unwrap();
    let mut product = 1.0;
    for (t, sample) in stream.samples.iter().enumerate() {
        let (features, next) = (
            Features::Dense(&sample.features),
            Features::Dense(&sample.next),
        );
        let delta =
            Transition::new(features, sample.reward, next).td_error(state.theta(), stream.discount);
        let eta = schedule.step_size(t as u64);
        state.advance(eta, eta * delta, features);
        product *= 1.0 + growth * eta;
        let (norm, bound) = (norm_sq(state.theta()).sqrt(), b * product - b);
        assert!(
            norm <= bound * (1.0 + 1e-9),
            "|theta_{}| = {norm} exceeds {bound}",
            t + 1
        );
    }
}

/// Feeds the samples in dense and sparse form, and checks both records against the iterates.
fn check_record(samples: &[Sample], params: alg1::Alg1Params) -> Health {
    let mut dense = Alg1::new(params, samples[0].features.len()).unwrap();
    let mut sparse = dense.clone();
    let (mut largest, mut diverged_at) = (0.0_f64, None);
    for (t, sample) in (1u64..).zip(samples) {
        sample.feed(&mut dense);
        sample.feed_sparse(&mut sparse);
        let now = norm_sq(dense.theta());
        largest = largest.max(if now.is_nan() { f64::INFINITY } else { now });
        if diverged_at.is_none() && !(now <= 1e12) {
            diverged_at = Some(t);
        }
        assert_eq!(dense.steps(), t);
        assert_eq!(dense.health().diverged_at, diverged_at);
        assert_eq!(sparse.health().diverged_at, diverged_at);
        for health in [dense.health(), sparse.health()] {
            if largest.is_finite() {
                assert_close(&[health.max_theta_norm_sq], &[largest], 1e-12);
            } else {
                assert_eq!(health.max_theta_norm_sq, f64::INFINITY);
            }
        }
    }
    *dense.health()
}

proptest! {
    #[test]
    fn every_path_obeys_the_prefix_bound(stream in Stream::any(200), c in 1e-3..50.0, eta in 1e-3..3.0) {
        let (horizon, phi_inf) = (stream.horizon(), stream.phi_inf);
        check_prefix_bound(&stream, &RobustDecay::new(horizon, c, phi_inf).unwrap());
        check_prefix_bound(&stream, &RobustConstant::new(horizon, c, phi_inf).unwrap());
        check_prefix_bound(&stream, &Constant::new(eta / (phi_inf * phi_inf)).unwrap());
    }

    #[test]
    fn the_record_is_that_of_the_iterates(stream in Stream::any(200), log_c in -6.0..1.0_f64) {
        prop_assume!(!stream.samples.is_empty());
        let c = 10f64.powf(log_c);
        let params = alg1::Alg1Params::decaying(stream.discount, stream.horizon(), c, stream.phi_inf);
        check_record(&stream.samples, params);
    }

    #[test]
    fn rewards_out_of_all_bounds_are_flagged_at_their_step(
        seed: u64,
        at in 0usize..100,
        reward in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e200, 1e9]),
    ) {
        let mut stream = Stream::random(6, 0.9, 100, seed);
        stream.samples[at].reward = reward;
        stream.samples[at].features = vec![1.0, 0.0, 0.5, 0.0, 0.0, 1.0];
        let params = alg1::Alg1Params::decaying(0.9, 100, 1e-2, 2.0);
        let health = check_record(&stream.samples, params);
        prop_assert_eq!(health.diverged_at, Some(at as u64 + 1));
    }
}

#[test]
fn steps_far_too_large_diverge_and_the_learner_goes_on() {
    let stream = Stream::random(4, 0.9, 3000, 8);
    let health = check_record(
        &stream.samples,
        alg1::Alg1Params::constant(0.9, 3000, 1e-6, 1.0),
    );
    assert!(health.diverged());
    assert_eq!(health.max_theta_norm_sq, f64::INFINITY);
}

#[test]
fn a_sparse_record_stays_accurate_over_many_steps() {
    let stream = Stream::random(19, 0.99, 20_000, 3);
    let params = alg1::Alg1Params::decaying(0.99, 20_000, 0.05, stream.phi_inf);
    assert!(!check_record(&stream.samples, params).diverged());
}
