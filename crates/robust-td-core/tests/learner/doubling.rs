//! Compares the doubling learner with runs of Algorithm 1 on the phases of the stream (T40).

use proptest::prelude::*;
use robust_td_core::learner::{Alg1, Doubling, Learner, alg1, doubling};

use crate::stream::{Sample, Stream, bits};

/// Algorithm 1 with a given horizon on some samples.
fn alg1_on(samples: &[Sample], horizon: u64, stream: &Stream, c: f64) -> Alg1 {
    let params = alg1::Alg1Params::decaying(stream.discount, horizon, c, stream.phi_inf);
    let mut learner = Alg1::new(params, stream.dimension).unwrap();
    samples.iter().for_each(|sample| sample.feed(&mut learner));
    learner
}

proptest! {
    #[test]
    fn each_phase_is_algorithm_1_to_the_bit(
        stream in Stream::any(400),
        c in 0.2..50.0,
        t0 in 3u64..40,
        factor in 1.05..4.0,
    ) {
        let params = doubling::DoublingParams { t0, factor, ..doubling::DoublingParams::new(stream.discount, c, stream.phi_inf) };
        let mut learner = Doubling::new(params, stream.dimension).unwrap();

        // The reference computes the phases independently: ceil(t0 factor^j), at least one longer each time.
        let (mut start, mut length, mut ideal) = (0usize, t0 as usize, t0 as f64);
        let mut reported = None;
        let mut largest = 0.0_f64;
        for (n, sample) in (1usize..).zip(&stream.samples) {
            if n > start + length {
                start += length;
                ideal *= factor;
                length = (ideal.ceil() as usize).max(length + 1);
            }
            sample.feed(&mut learner);
            let running = alg1_on(&stream.samples[start..n], length as u64, &stream, c);
            if n == start + length {
                reported = Some(running.output());
            }
            prop_assert_eq!((learner.phase().start, learner.phase().length), (start as u64, length as u64));
            prop_assert_eq!(bits(learner.theta()), bits(running.theta()));
            let output = reported.clone().unwrap_or_else(|| running.output());
            prop_assert_eq!(bits(&learner.output()), bits(&output));
            largest = largest.max(running.health().max_theta_norm_sq);
            prop_assert_eq!(learner.health().max_theta_norm_sq, largest);
            prop_assert_eq!(learner.steps(), n as u64);
        }
    }
}

#[test]
fn divergence_is_dated_by_the_whole_stream() {
    let mut stream = Stream::random(3, 0.9, 50, 2);
    stream.samples[29].reward = 1e30;
    stream.samples[29].features = vec![1.0, 0.0, 0.0];
    let params = doubling::DoublingParams {
        t0: 10,
        ..doubling::DoublingParams::new(0.9, 1.0, 1.0)
    };
    let mut learner = Doubling::new(params, 3).unwrap();
    stream
        .samples
        .iter()
        .for_each(|sample| sample.feed(&mut learner));
    assert_eq!(learner.health().diverged_at, Some(30));
    // Phase 1 (samples 10 to 29) diverged in its last step; phase 2 started from zero.
    assert!(learner.theta().iter().all(|x| x.abs() < 10.0));
    assert!(learner.output().iter().all(|x| x.abs() < 10.0));
}
