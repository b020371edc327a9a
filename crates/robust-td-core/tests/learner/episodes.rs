//! Compares Algorithm 1 on episodic streams with a straight-line reference.

use proptest::prelude::*;
use robust_td_core::learner::{Alg1, Learner, alg1};

use crate::stream::{End, Stream, assert_close};

/// Algorithm 1 as written in the paper, with the running average and the three kinds of outcome.
fn reference(stream: &Stream, horizon: u64, c: f64) -> (Vec<f64>, Vec<f64>) {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut theta = vec![0.0; stream.dimension];
    let mut average = theta.clone();
    let mut total = 0.0;
    for (t, sample) in stream.samples.iter().enumerate() {
        let t = t as f64;
        let scale = c * stream.phi_inf.powi(2) * (horizon as f64).ln();
        let eta = 1.0 / (scale * (t + 3.0).ln() * (t + 1.0).sqrt());
        total += eta;
        for (average, theta) in average.iter_mut().zip(&theta) {
            *average += eta / total * (theta - *average);
        }
        let next_value = match sample.end {
            End::Terminated => 0.0,
            End::Continues | End::Truncated => dot(&sample.next, &theta),
        };
        let delta = sample.reward + stream.discount * next_value - dot(&sample.features, &theta);
        for (theta, phi) in theta.iter_mut().zip(&sample.features) {
            *theta += eta * delta * phi;
        }
    }
    (theta, average)
}

proptest! {
    #[test]
    fn episodes_end_as_documented(stream in Stream::any(300), c in 0.5..50.0) {
        let horizon = stream.horizon();
        let params = alg1::Alg1Params::decaying(stream.discount, horizon, c, stream.phi_inf);
        let mut learner = Alg1::new(params, stream.dimension).unwrap();
        stream.samples.iter().for_each(|sample| sample.feed(&mut learner));
        let (theta, average) = reference(&stream, horizon, c);
        assert_close(learner.theta(), &theta, 1e-12);
        assert_close(&learner.output(), &average, 1e-12);
    }
}

#[test]
fn the_streams_contain_every_kind_of_end() {
    let stream = Stream::random(4, 0.9, 300, 0);
    for end in [End::Continues, End::Terminated, End::Truncated] {
        assert!(
            stream
                .samples
                .iter()
                .filter(|sample| sample.end == end)
                .count()
                > 5
        );
    }
}
