//! Checks that every certificate is above the exact expectation that it bounds.

use crate::common::*;
use robust_td_core::moments::Moments;
use robust_td_core::theory::certificate::Certificate;
use robust_td_core::{Problem, catalog};

/// The exact behaviour of TD(0) over a horizon: the largest `E|theta_t|^2` and `E|theta_t - theta*|^2`, and `E f(avg_T)`.
struct Truth {
    norm_sq: f64,
    distance_sq: f64,
    f: f64,
}

fn truth(problem: &Problem, horizon: u64, eta: impl Fn(u64) -> f64) -> Truth {
    let mut moments = Moments::new(problem);
    let mut truth = Truth {
        norm_sq: moments.mean_norm_sq(),
        distance_sq: moments.mean_distance_sq(),
        f: 0.0,
    };
    for t in 0..horizon {
        moments.step(eta(t));
        truth.norm_sq = truth.norm_sq.max(moments.mean_norm_sq());
        truth.distance_sq = truth.distance_sq.max(moments.mean_distance_sq());
    }
    truth.f = moments.mean_f_of_average();
    truth
}

/// Whether the certificate applies; if so it must hold.
fn holds(name: &str, certificate: &Certificate, truth: &Truth) -> bool {
    if !certificate.applies() {
        return false;
    }
    let slack = 1.0 + 1e-12;
    let bound = certificate.bound.expect("a bound");
    assert!(
        truth.f <= bound * slack,
        "{name}: E f is {} above {bound}",
        truth.f
    );
    let iterate_bound = certificate.iterate_bound.expect("an iterate bound");
    assert!(
        truth.distance_sq <= iterate_bound * slack,
        "{name}: {}",
        truth.distance_sq
    );
    if let Some(norm_bound) = certificate.norm_bound {
        assert!(
            truth.norm_sq <= norm_bound * slack,
            "{name}: {}",
            truth.norm_sq
        );
    }
    true
}

/// T28 and the second half of T30a, over a hundred random problems and the references.
#[test]
fn certificates_are_above_the_exact_expectation() {
    let mut problems: Vec<Problem> = (0..100).map(random_problem).collect();
    problems.push(ref_2());
    problems.push(ref_3());
    problems.push(catalog::problem("two-cluster", &[("size", 3.0), ("epsilon", 0.1)]).unwrap());
    let mut applied = [0; 4];
    for problem in &problems {
        let horizon = 2000;
        // The certified choice, one above the paper's threshold, and a very small one.
        for c in [None, Some(60.0), Some(1.0)] {
            let certification = problem.certify(horizon, c).unwrap();
            let bounds = certification.mixing.as_ref().unwrap();
            if let Some(c) = certification.c {
                let truth = truth(problem, horizon, robust_steps(problem, horizon, c));
                for (k, (name, certificate)) in
                    [("P", &bounds.p), ("X", &bounds.x), ("Y", &bounds.y)]
                        .into_iter()
                        .enumerate()
                {
                    let certificate = certificate.as_ref().unwrap();
                    applied[k] += usize::from(holds(name, certificate, &truth));
                }
            }
            if let (None, Some(step)) = (c, bounds.certified_step) {
                let truth = truth(problem, horizon, |_| step);
                applied[3] += usize::from(holds("C", &bounds.constant_step, &truth));
            }
        }
    }
    // The test would be vacuous if the certificates never applied.
    assert!(
        applied.iter().all(|&count| count >= 40),
        "applied {applied:?}"
    );
}
