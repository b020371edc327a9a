//! Tests that intervals cover the TD fixed point at the stated rate, for both estimates.

use robust_td_core::catalog;
use robust_td_core::learner::{Features, Learner, Lstd, lstd};
use robust_td_core::portfolio::{RobustTd, RobustTdParams};
use robust_td_core::sandwich::Sandwich;

use crate::walk::walk;

/// The coverage of intervals of values.
#[derive(Debug)]
struct Coverage {
    bootstrap: f64,
    sandwich: f64,
    /// The larger of the bootstrap interval and the sandwich interval around the same answer.
    together: f64,
    /// The mean ratio of the two widths.
    widths: f64,
}

fn coverage(name: &str, settings: &[(&str, f64)], steps: u64, logs: u64) -> Coverage {
    let problem = catalog::problem(name, settings).unwrap();
    let (d, discount, phi_inf) = (problem.dimension(), problem.discount(), problem.phi_inf());
    let params = RobustTdParams {
        horizon: Some(steps),
        replicates: 64,
        ..RobustTdParams::new(discount, phi_inf)
    };
    let (mut covered, mut ratio, mut cases) = ([0.0; 3], 0.0, 0.0);
    for seed in 1..=logs {
        let mut auto = RobustTd::new(params, d).unwrap();
        let mut sandwich = Sandwich::new(d, discount).unwrap();
        walk(&problem, steps as usize, seed, |transition| {
            auto.step(transition);
            sandwich.step(transition);
        });
        let (answer, estimate) = (auto.answer(), sandwich.estimate().unwrap());
        let bootstrap = answer.bootstrap.unwrap();
        for s in 0..problem.states() {
            let phi = Features::Dense(problem.phi(s));
            let truth = phi.dot(problem.theta_star());
            let [value, other] = [&answer.output, &estimate.theta].map(|theta| phi.dot(theta));
            let own = bootstrap.half_width(phi, 0.95);
            let others = estimate.half_width(phi, 0.95);
            let around = estimate.half_width_around(value, phi, 0.95);
            let intervals = [(value, own), (other, others), (value, own.max(around))];
            for (covered, (value, half)) in covered.iter_mut().zip(intervals) {
                *covered += f64::from(u8::from((value - truth).abs() <= half));
            }
            ratio += own / others;
            cases += 1.0;
        }
    }
    let [bootstrap, sandwich, together] = covered.map(|covered| covered / cases);
    Coverage {
        bootstrap,
        sandwich,
        together,
        widths: ratio / cases,
    }
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let slow = [("alpha", 0.99)];
    for (name, settings) in [
        ("garnet", &[][..]),
        ("paper-ring", &[]),
        ("two-state", &slow),
    ] {
        let found = coverage(name, settings, 50_000, 200);
        for covered in [found.bootstrap, found.sandwich, found.together] {
            assert!((0.90..=0.99).contains(&covered), "{name}: {found:?}");
        }
        assert!((0.85..=1.15).contains(&found.widths), "{name}: {found:?}");
    }
}

/// Before the answer has converged the bootstrap interval is too narrow; least squares detects this.
#[test]
fn both_routes_together_cover_before_the_answer_has_converged() {
    let discounted = [("discount", 0.9)];
    for (name, settings, steps) in [
        ("garnet", &[][..], 2000),
        ("ref-3", &[], 2000),
        ("grid-world", &[], 20_000),
        ("random-walk", &discounted, 20_000),
    ] {
        let found = coverage(name, settings, steps, 100);
        assert!(found.bootstrap < 0.90, "{name}: {found:?}");
        assert!((0.91..=0.99).contains(&found.together), "{name}: {found:?}");
    }
}

#[test]
fn least_squares_is_that_of_the_recursion() {
    let problem = catalog::problem("garnet", &[]).unwrap();
    let (d, discount, ridge) = (problem.dimension(), problem.discount(), 1e-6);
    let mut sandwich = Sandwich::new(d, discount).unwrap();
    let params = lstd::LstdParams {
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
        assert!((x - y).abs() < 1e-7 * (1.0 + y.abs()), "{x} is not {y}");
    }
}

/// Values and their errors do not depend on the units of individual features.
#[test]
fn least_squares_does_not_depend_on_units() {
    let problem = catalog::problem("garnet", &[]).unwrap();
    let (d, discount) = (problem.dimension(), problem.discount());
    let scale = |j: usize| [1.0, 1e-4, 1e5, 30.0][j % 4];
    let scaled = |phi: &[f64]| -> Vec<f64> { (0..d).map(|j| scale(j) * phi[j]).collect() };
    let new = || Sandwich::new(d, discount).unwrap();
    let (mut plain, mut other) = (new(), new());
    walk(&problem, 5000, 1, |t| {
        plain.step(t);
        let (Features::Dense(from), Some(Features::Dense(to))) =
            (t.features, t.outcome.next_features())
        else {
            panic!("dense features");
        };
        let (from, to) = (scaled(from), scaled(to));
        let (from, to) = (Features::Dense(&from), Features::Dense(&to));
        other.step(&robust_td_core::learner::Transition::new(
            from, t.reward, to,
        ));
    });
    let (plain, other) = (plain.estimate().unwrap(), other.estimate().unwrap());
    for s in 0..problem.states() {
        let phi = problem.phi(s);
        let scaled = scaled(phi);
        let [x, y] = [Features::Dense(phi), Features::Dense(&scaled)];
        let (value, error) = (x.dot(&plain.theta), plain.standard_error(x));
        assert!((y.dot(&other.theta) - value).abs() < 1e-6 * error);
        assert!((other.standard_error(y) / error - 1.0).abs() < 1e-6);
    }
}

/// A feature that was never seen has an infinite standard error.
#[test]
fn features_never_seen_have_unbounded_intervals() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let wide = |phi: &[f64]| [phi[0], phi[1], 0.0];
    let params = RobustTdParams {
        horizon: Some(2000),
        replicates: 8,
        ..RobustTdParams::new(problem.discount(), 1.0)
    };
    let mut auto = RobustTd::new(params, 3).unwrap();
    let mut sandwich = Sandwich::new(3, problem.discount()).unwrap();
    walk(&problem, 2000, 1, |t| {
        let (Features::Dense(from), Some(Features::Dense(to))) =
            (t.features, t.outcome.next_features())
        else {
            panic!("dense features");
        };
        let (from, to) = (wide(from), wide(to));
        let t = robust_td_core::learner::Transition::new(
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
    assert!(Sandwich::new(501, 0.9).is_err() && Sandwich::new(0, 0.9).is_err());
}
