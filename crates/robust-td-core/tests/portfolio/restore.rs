//! Tests that a saved portfolio resumes bit-identically.

use robust_td_core::catalog;
use robust_td_core::learner::{Features, Learner};
use robust_td_core::portfolio::{RobustTd, RobustTdParams};
use robust_td_core::random::Stream;
use robust_td_core::registry::AnyLearner;
use robust_td_core::sandwich::Sandwich;

use crate::walk::walk;

#[test]
fn a_saved_portfolio_goes_on_to_the_same_bits() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let mut stream = Stream::new(8, 0);
    // Without a horizon, the first phase ends at 1024 and the second at 3072.
    for horizon in [None, Some(5000)] {
        let params = RobustTdParams {
            horizon,
            replicates: 24,
            ..RobustTdParams::new(problem.discount(), problem.phi_inf())
        };
        let new = RobustTd::new(params, problem.dimension()).unwrap();
        let mut whole = AnyLearner::from(new);
        let mut parts = whole.clone();
        let cuts: Vec<u64> = (0..20)
            .map(|_| (5000.0 * stream.uniform()) as u64)
            .collect();
        walk(&problem, 5000, 2, |transition| {
            let t = whole.steps();
            if cuts.contains(&t) || [1, 64, 625, 1024, 1025, 3072, 3073].contains(&t) {
                let text = serde_json::to_string(&parts).unwrap();
                parts = serde_json::from_str(&text).unwrap();
                assert_eq!(serde_json::to_string(&parts).unwrap(), text);
            }
            whole.step(transition);
            parts.step(transition);
            assert_eq!(whole.theta(), parts.theta());
            assert_eq!(whole.output(), parts.output());
        });
        let text = |learner: &AnyLearner| serde_json::to_string(learner).unwrap();
        assert!(text(&whole) == text(&parts));
    }
}

/// In phases, the answer is that of a portfolio with the phase's horizon on the samples of that phase alone.
#[test]
fn a_phase_is_a_run_of_its_own() {
    let problem = catalog::problem("boyan", &[]).unwrap();
    let params = RobustTdParams {
        ..RobustTdParams::new(problem.discount(), problem.phi_inf())
    };
    let new = |params: RobustTdParams| RobustTd::new(params, 4).unwrap();
    let mut phases = new(params);
    let mut alone = new(RobustTdParams {
        horizon: Some(2048),
        ..params
    });
    walk(&problem, 5000, 6, |transition| {
        if (1024..3072).contains(&phases.steps()) {
            alone.step(transition);
        }
        phases.step(transition);
    });
    let (phases, alone) = (phases.answer(), alone.answer());
    assert_eq!((phases.samples, phases.c), (2048, alone.c));
    assert_eq!(phases.output, alone.output);
}

#[test]
fn damaged_portfolios_are_refused() {
    let params = RobustTdParams {
        replicates: 8,
        ..RobustTdParams::new(0.5, 1.0)
    };
    let learner = RobustTd::new(params, 2).unwrap();
    let text = serde_json::to_string(&learner).unwrap();
    assert!(serde_json::from_str::<RobustTd>(&text).is_ok());
    for (old, new) in [
        ("\"leader\":0", "\"leader\":16"),
        ("\"steps\":0", "\"steps\":7"),
        ("\"feature_squares\":[0.0,0.0]", "\"feature_squares\":[0.0]"),
        ("\"dimension\":2", "\"dimension\":3"),
        ("\"block\":16", "\"block\":0"),
        ("\"seen\":[false,false]", "\"seen\":[false]"),
    ] {
        let damaged = text.replacen(old, new, 1);
        assert_ne!(damaged, text, "{old} is not in {text}");
        assert!(serde_json::from_str::<RobustTd>(&damaged).is_err(), "{new}");
    }
}

#[test]
fn least_squares_goes_on_to_the_same_bits() {
    let problem = catalog::problem("garnet", &[]).unwrap();
    let mut whole = Sandwich::new(problem.dimension(), problem.discount()).unwrap();
    let mut parts = whole.clone();
    let indices: Vec<u32> = (0..problem.dimension() as u32).collect();
    walk(&problem, 3000, 2, |transition| {
        if whole.count() % 333 == 7 {
            parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
        }
        let mut transition = *transition;
        if let (Features::Dense(values), true) =
            (transition.features, whole.count().is_multiple_of(3))
        {
            transition.features = Features::sparse(&indices, values, indices.len()).unwrap();
        }
        whole.step(&transition);
        parts.step(&transition);
        // Scratch space that only one of them has allocated makes no difference.
        assert_eq!(whole, parts);
    });
    assert!(whole.estimate().unwrap() == parts.estimate().unwrap());
}
