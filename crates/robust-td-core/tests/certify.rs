//! Checks the certification of whole problems.

#![allow(clippy::unwrap_used)]

use crate::common::ref_2;
use robust_td_core::matrix::SparseMatrix;
use robust_td_core::theory::certify::{Certification, max_lag};
use robust_td_core::{Chain, Error, Matrix, Problem, Reward, catalog};

fn agree(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{value} is not {expected}"
    );
}

fn ring() -> Problem {
    catalog::problem("paper-ring", &[]).unwrap()
}

#[test]
fn the_reference_problem_is_certified_with_the_recommended_constant() {
    let result = ref_2().certify(1_000_000, None).unwrap();
    let bounds = result.mixing.as_ref().unwrap();
    let recommended = bounds.recommended.unwrap();
    agree(recommended.c, 2.2667, 1e-4);
    agree(recommended.bound, 0.49773, 1e-5);
    assert_eq!(result.c, Some(recommended.c));
    assert_eq!(result.rho_c, None);
    agree(result.constants.f_zero, 0.4310649350649352, 1e-12);
    agree(result.constants.lambda2.unwrap(), 0.6, 1e-12);
    assert_eq!(result.constants.t_mix, Some(2));
    assert_eq!(bounds.alpha, 0.5f64.sqrt());
    assert!(bounds.conditions.relaxed_holds && !bounds.conditions.paper_holds);
    assert_eq!(bounds.max_lag, 4 * 28);
    let y = bounds.y.as_ref().unwrap();
    assert_eq!(y.bound, Some(recommended.bound));
    assert!(y.applies() && !bounds.p.as_ref().unwrap().applies());
    assert!(bounds.x.as_ref().unwrap().bound.unwrap() > recommended.bound);
    assert!(bounds.constant_step.applies() && bounds.certified_step.unwrap() > 0.0);
}

#[test]
fn the_published_vectors_come_out_of_the_problem() {
    let result = ref_2().certify(1000, Some(5.0)).unwrap();
    let bounds = result.mixing.unwrap();
    // At lag 10 Y gives 5.7094; the best lag can only be better.
    assert!(bounds.y.unwrap().bound.unwrap() <= 5.709420422468433 * (1.0 + 1e-12));
    assert!(bounds.x.unwrap().bound.unwrap() <= 10.440915141732967 * (1.0 + 1e-12));
}

#[test]
fn the_ring_is_out_of_reach_of_the_theorem() {
    let result = ring().certify(10_000_000, Some(50.0)).unwrap();
    agree(result.log_t, 16.118, 1e-4);
    agree(result.rho_c.unwrap(), 12.743169406900165, 1e-10);
    let bounds = result.mixing.unwrap();
    assert_eq!(result.constants.t_mix, Some(147));
    agree(result.constants.lambda2.unwrap(), 0.9936149074178151, 1e-12);
    assert!(!bounds.conditions.paper_holds && !bounds.conditions.relaxed_holds);
    agree(bounds.conditions.paper_required_log_t, 1.9e7, 0.01);
    agree(bounds.best_rate_required_log_t, 7.6e6, 0.01);
    assert_eq!(bounds.max_lag, 4 * 2517);
    let p = bounds.p.unwrap();
    assert!(!p.applies() && p.bound.is_some());
    assert!(p.why_not().unwrap().contains("got 259.8"));
    let y = bounds.y.unwrap();
    let recommended = bounds.recommended.unwrap();
    assert!(recommended.bound <= y.bound.unwrap_or(f64::INFINITY));
    assert!(bounds.constant_step.applies());
}

#[test]
fn a_trillion_steps_are_certified() {
    let bound = |horizon: u64| {
        ref_2()
            .certify(horizon, None)
            .unwrap()
            .mixing
            .unwrap()
            .recommended
            .unwrap()
            .bound
    };
    let (million, trillion) = (bound(1_000_000), bound(1_000_000_000_000));
    assert!(trillion < million / 100.0 && trillion > 0.0);
}

#[test]
fn bad_requests_are_refused() {
    for horizon in [0, 1, 2] {
        let error = ref_2().certify(horizon, None).unwrap_err();
        assert!(matches!(
            error,
            Error::Parameter {
                name: "horizon",
                ..
            }
        ));
    }
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = ref_2().certify(100, Some(c)).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "c", .. }));
    }
    assert!(ref_2().certify(3, Some(1.0)).is_ok());
}

#[test]
fn a_chain_too_large_for_its_mixing_says_so() {
    let n = 3000;
    let entries = (0..n).flat_map(|s| [(s, s, 0.5), (s, (s + 1) % n, 0.5)]);
    let transition = SparseMatrix::from_triplets("transition", n, entries).unwrap();
    let features = Matrix::from_fn(n, 1, |s, _| 1.0 + (s % 7) as f64);
    let reward = Reward::PerState(vec![1.0; n]);
    let problem = Problem::new(
        Chain::from_sparse(transition).unwrap(),
        features,
        reward,
        0.5,
        0,
    )
    .unwrap();
    let Certification {
        mixing, c, rho_c, ..
    } = problem.certify(1000, None).unwrap();
    assert!(mixing.unwrap_err().contains("3000 states"));
    assert_eq!((c, rho_c), (None, None));
    assert!(problem.certify(1000, Some(50.0)).unwrap().rho_c.is_some());
}

#[test]
fn degenerate_problems_have_certificates() {
    // Independent states: lambda_2 = 0, and the chain mixes in one step.
    let chain = Chain::from_dense(&Matrix::from_fn(3, 3, |_, _| 1.0 / 3.0)).unwrap();
    let features = Matrix::from_fn(3, 1, |s, _| s as f64);
    for reward in [1.0, 0.0] {
        let reward = Reward::PerState(vec![reward; 3]);
        let problem = Problem::new(chain.clone(), features.clone(), reward, 0.5, 0).unwrap();
        let bounds = problem.certify(100_000, None).unwrap().mixing.unwrap();
        let y = bounds.y.unwrap();
        assert!(y.applies() && y.bound.unwrap() >= 0.0);
        assert_eq!(y.bound.unwrap() == 0.0, problem.r_inf() == 0.0);
    }
    // Two clusters that are almost disconnected: no practical c is certified, but this is not an error.
    let e = 1e-9;
    let chain =
        Chain::from_dense(&Matrix::from_rows(&[[1.0 - e, e], [e, 1.0 - e]]).unwrap()).unwrap();
    let features = Matrix::identity(2);
    let problem = Problem::new(chain, features, Reward::PerState(vec![1.0, -1.0]), 0.9, 0).unwrap();
    let bounds = problem.certify(10_000, Some(1.0)).unwrap().mixing.unwrap();
    assert!(!bounds.y.unwrap().applies() && !bounds.p.unwrap().applies());
    assert!(!bounds.constant_step.applies());
}

#[test]
fn lags_follow_the_second_eigenvalue() {
    assert_eq!(max_lag(1_000_000, 0.6), 112);
    assert_eq!(max_lag(10, 0.99), 9);
    assert_eq!(max_lag(1000, 0.0), 4);
    assert_eq!(max_lag(3, 0.0), 2);
    for lambda2 in [1.0, 1.0 + 1e-15, 1.0 - 1e-15, f64::NAN] {
        assert_eq!(max_lag(u64::MAX, lambda2), 1 << 20);
    }
}
