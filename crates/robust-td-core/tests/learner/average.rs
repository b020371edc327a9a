//! Compares the streamed averages with their definition.

use proptest::prelude::*;
use robust_td_core::iterate::average::AveragedIterate;
use robust_td_core::learner::{Alg1, Features, Learner, alg1};
use robust_td_core::schedule::{RobustConstant, RobustDecay, Schedule};

use crate::stream::{Stream, assert_close, bits};

/// sum w_k theta_k / sum w_k over recorded iterates.
fn batch_average(weights: &[f64], iterates: &[Vec<f64>]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let coordinate = |i: usize| {
        weights
            .iter()
            .zip(iterates)
            .map(|(w, th)| w * th[i])
            .sum::<f64>()
    };
    (0..iterates[0].len())
        .map(|i| coordinate(i) / total)
        .collect()
}

/// T21 on one stream: the output is the average of theta_0 .. theta_{T-1} with weights eta_0 .. eta_{T-1}.
fn check_output(stream: &Stream, params: alg1::Alg1Params, schedule: &dyn Schedule) {
    let mut learner = Alg1::new(params, stream.dimension).unwrap();
    let (mut weights, mut iterates) = (vec![], vec![]);
    for (t, sample) in stream.samples.iter().enumerate() {
        weights.push(schedule.step_size(t as u64));
        iterates.push(learner.theta().to_vec());
        sample.feed(&mut learner);
    }
    assert_close(
        &learner.output(),
        &batch_average(&weights, &iterates),
        1e-12,
    );
}

fn check_both_variants(stream: &Stream, c: f64) {
    let (discount, horizon, phi_inf) = (stream.discount, stream.horizon(), stream.phi_inf);
    let params = alg1::Alg1Params::decaying(discount, horizon, c, phi_inf);
    check_output(
        stream,
        params,
        &RobustDecay::new(horizon, c, phi_inf).unwrap(),
    );
    let params = alg1::Alg1Params::constant(discount, horizon, c, phi_inf);
    check_output(
        stream,
        params,
        &RobustConstant::new(horizon, c, phi_inf).unwrap(),
    );
}

#[test]
fn output_is_the_batch_average_on_a_long_stream() {
    check_both_variants(&Stream::random(5, 0.99, 200_000, 1), 0.5);
}

proptest! {
    #[test]
    fn output_is_the_batch_average(stream in Stream::any(300), c in 0.5..50.0) {
        prop_assume!(!stream.samples.is_empty());
        check_both_variants(&stream, c);
    }

    #[test]
    fn uniform_weights_give_the_uniform_average(stream in Stream::any(300)) {
        prop_assume!(!stream.samples.is_empty());
        let mut state = AveragedIterate::zero(stream.dimension).unwrap();
        let mut iterates = vec![];
        for sample in &stream.samples {
            iterates.push(state.theta().to_vec());
            state.advance(1.0, 0.1 * sample.reward, Features::Dense(&sample.features));
        }
        let weights = vec![1.0; iterates.len()];
        assert_close(&state.average(), &batch_average(&weights, &iterates), 1e-12);
    }

    #[test]
    fn the_last_iterate_has_no_weight(stream in Stream::any(100), c in 0.5..50.0) {
        prop_assume!(!stream.samples.is_empty());
        let params = alg1::Alg1Params::decaying(stream.discount, stream.horizon(), c, stream.phi_inf);
        let outputs = [0.0, 7.0].map(|surprise| {
            let mut samples = stream.samples.clone();
            samples.last_mut().unwrap().reward += surprise;
            let mut learner = Alg1::new(params, stream.dimension).unwrap();
            samples.iter().for_each(|sample| sample.feed(&mut learner));
            learner.output()
        });
        assert_close(&outputs[1], &outputs[0], 1e-12);
    }

    #[test]
    fn dense_and_sparse_views_give_the_same_bits(stream in Stream::any(300), c in 0.1..50.0) {
        let params = alg1::Alg1Params::decaying(stream.discount, stream.horizon(), c, stream.phi_inf);
        let mut dense = Alg1::new(params, stream.dimension).unwrap();
        let mut sparse = dense.clone();
        for sample in &stream.samples {
            sample.feed(&mut dense);
            sample.feed_sparse(&mut sparse);
            prop_assert_eq!(bits(dense.theta()), bits(sparse.theta()));
            prop_assert_eq!(bits(&dense.output()), bits(&sparse.output()));
        }
    }
}

#[test]
fn the_first_iterate_carries_the_first_weight() {
    let stream = Stream::random(3, 0.5, 2, 4);
    let params = alg1::Alg1Params::decaying(0.5, 3, 1.0, stream.phi_inf);
    let schedule = RobustDecay::new(3, 1.0, stream.phi_inf).unwrap();
    let mut learner = Alg1::new(params, 3).unwrap();
    stream.samples[0].feed(&mut learner);
    let theta_1 = learner.theta().to_vec();
    assert!(theta_1.iter().any(|x| *x != 0.0));
    stream.samples[1].feed(&mut learner);
    let share = schedule.step_size(1) / (schedule.step_size(0) + schedule.step_size(1));
    let expected: Vec<f64> = theta_1.iter().map(|x| share * x).collect();
    assert_close(&learner.output(), &expected, 1e-15);
}
