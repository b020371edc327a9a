//! Tests that intervals cover the TD fixed point as often as they say, by both routes.

use robust_td::catalog;
use robust_td::learner::{Features, Learner, Lstd, lstd};
use robust_td::portfolio::{Params, RobustTd};
use robust_td::sandwich::Sandwich;

use crate::walk::walk;

/// How often the intervals of values cover, by bootstrap and by sandwich, and the mean ratio of their widths.
fn coverage(name: &str, settings: &[(&str, f64)], steps: u64, logs: u64) -> [f64; 3] {
    let problem = catalog::problem(name, settings).unwrap();
    let (d, discount, phi_inf) = (problem.dimension(), problem.discount(), problem.phi_inf());
    let params = Params {
        phi_inf,
        horizon: Some(steps),
        replicates: 64,
        ..Params::new(discount)
    };
    let (mut covered, mut ratio, mut cases) = ([0.0; 2], 0.0, 0.0);
    for seed in 1..=logs {
        let mut auto = RobustTd::auto(params.check().unwrap(), d).unwrap();
        let mut sandwich = Sandwich::new(d, discount, 1e-3 * phi_inf * phi_inf).unwrap();
        walk(&problem, steps as usize, seed, |transition| {
            auto.step(transition);
            sandwich.step(transition);
        });
        let (answer, estimate) = (auto.answer(), sandwich.estimate().unwrap());
        let bootstrap = answer.bootstrap.unwrap();
        for s in 0..problem.states() {
            let phi = Features::Dense(problem.phi(s));
            let truth = phi.dot(problem.theta_star());
            let widths = [
                bootstrap.half_width(phi, 0.95),
                estimate.half_width(phi, 0.95),
            ];
            for (k, theta) in [&answer.output, &estimate.theta].into_iter().enumerate() {
                covered[k] += f64::from(u8::from((phi.dot(theta) - truth).abs() <= widths[k]));
            }
            ratio += widths[0] / widths[1];
            cases += 1.0;
        }
    }
    [covered[0] / cases, covered[1] / cases, ratio / cases]
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let slow = [("alpha", 0.99)];
    for (name, settings) in [
        ("garnet", &[][..]),
        ("paper-ring", &[]),
        ("two-state", &slow),
    ] {
        let [bootstrap, sandwich, ratio] = coverage(name, settings, 50_000, 200);
        let stated = format!("{name}: {bootstrap}, {sandwich}, widths {ratio}");
        assert!((0.90..=0.99).contains(&bootstrap), "{stated}");
        assert!((0.90..=0.99).contains(&sandwich), "{stated}");
        assert!((0.85..=1.15).contains(&ratio), "{stated}");
    }
}

#[test]
fn least_squares_is_that_of_the_recursion() {
    let problem = catalog::problem("garnet", &[]).unwrap();
    let (d, discount, ridge) = (problem.dimension(), problem.discount(), 0.1);
    let mut sandwich = Sandwich::new(d, discount, ridge).unwrap();
    let params = lstd::Params {
        discount,
        lambda: 0.0,
        ridge,
    };
    let mut recursive = Lstd::new(params, d).unwrap();
    walk(&problem, 5000, 1, |transition| {
        sandwich.step(transition);
        recursive.step(transition);
    });
    let estimate = sandwich.estimate().unwrap();
    for (x, y) in estimate.theta.iter().zip(recursive.theta()) {
        assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{x} is not {y}");
    }
}

/// What was never seen has no value to be sure about.
#[test]
fn features_never_seen_have_unbounded_intervals() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let wide = |phi: &[f64]| [phi[0], phi[1], 0.0];
    let params = Params {
        horizon: Some(2000),
        replicates: 8,
        ..Params::new(problem.discount())
    };
    let mut auto = RobustTd::auto(params.check().unwrap(), 3).unwrap();
    let mut sandwich = Sandwich::new(3, problem.discount(), 1e-3).unwrap();
    walk(&problem, 2000, 1, |t| {
        let (Features::Dense(from), Some(Features::Dense(to))) =
            (t.features, t.outcome.next_features())
        else {
            panic!("dense features");
        };
        let (from, to) = (wide(from), wide(to));
        let t = robust_td::learner::Transition::continues(
            Features::Dense(&from),
            t.reward,
            Features::Dense(&to),
        );
        auto.step(&t);
        sandwich.step(&t);
    });
    let (bootstrap, estimate) = (
        auto.answer().bootstrap.unwrap(),
        sandwich.estimate().unwrap(),
    );
    let [seen, unseen] = [[1.0, 0.5, 0.0], [1.0, 0.0, 0.1]];
    for (phi, finite) in [(&seen, true), (&unseen, false)] {
        let phi = Features::Dense(phi);
        assert_eq!(bootstrap.half_width(phi, 0.9).is_finite(), finite);
        assert_eq!(estimate.half_width(phi, 0.9).is_finite(), finite);
    }
    assert!(Sandwich::new(501, 0.9, 1.0).is_err() && Sandwich::new(0, 0.9, 1.0).is_err());
}
