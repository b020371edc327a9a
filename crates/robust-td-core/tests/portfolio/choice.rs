//! Tests that the portfolio selects a good constant from the data.

use robust_td_core::catalog;
use robust_td_core::learner::{Alg1, Learner, Transition, alg1};
use robust_td_core::portfolio::{RobustTd, RobustTdParams};
use robust_td_core::{Problem, learner::Features};

use crate::walk::walk;

/// f of the portfolio's answer, and the smallest f of Algorithm 1 among many constants, on one trajectory.
fn contest(problem: &Problem, steps: u64, seed: u64) -> (f64, f64) {
    let (d, discount, phi_inf) = (problem.dimension(), problem.discount(), problem.phi_inf());
    let params = RobustTdParams {
        horizon: Some(steps),
        ..RobustTdParams::new(discount, phi_inf)
    };
    let mut auto = RobustTd::new(params, d).unwrap();
    // 24 constants from 1 down to 1.5e-4.
    let constants = (0..24).map(|i| 10_f64.powf(-f64::from(i) / 6.0));
    let mut fixed: Vec<Alg1> = constants
        .map(|c| {
            let params = alg1::Alg1Params::decaying(discount, steps, c, phi_inf);
            Alg1::new(params, d).unwrap()
        })
        .collect();
    walk(problem, steps as usize, seed, |transition| {
        auto.step(transition);
        fixed
            .iter_mut()
            .for_each(|learner| learner.step(transition));
    });
    assert!(!auto.health().diverged());
    let f = |learner: &Alg1| Some(problem.f(&learner.output())).filter(|f| f.is_finite());
    let best = fixed.iter().filter_map(f).fold(f64::INFINITY, f64::min);
    (problem.f(&auto.output()), best)
}

#[test]
fn within_a_factor_two_of_the_best_constant_in_hindsight() {
    let (mut cases, mut good, mut better) = (0, 0, 0);
    let entries = catalog::entries().iter();
    for entry in entries.filter(|entry| !of_the_authors(entry)) {
        let problem = catalog::problem(entry.name, &[]).unwrap();
        for seed in 1..=4 {
            let (f, best) = contest(&problem, 30_000, seed);
            assert!(f < problem.f_zero(), "{}", entry.name);
            cases += 1;
            good += usize::from(f <= 2.0 * best);
            better += usize::from(f <= best);
        }
    }
    assert!(good * 100 >= 95 * cases, "{good} of {cases}");
    // The plain average is nearly always better than the weighted one for any constant.
    assert!(better * 100 >= 90 * cases, "{better} of {cases}");
}

fn of_the_authors(entry: &catalog::Entry) -> bool {
    entry.source.contains("TDexperiments")
}

/// The authors' families hide theta* in directions with tiny features. Within 30,000 samples no constant of Algorithm 1 gets far on e9 and e10, and f, unlike
/// |theta - theta*|, can rise on the way: the choice is as good as the best constant, but can be slightly worse than theta = 0.
#[test]
fn on_ill_conditioned_families_it_keeps_up_with_the_best_constant() {
    let (mut cases, mut good, mut above_zero) = (0, 0, 0);
    for entry in catalog::entries()
        .iter()
        .filter(|entry| of_the_authors(entry))
    {
        let problem = catalog::problem(entry.name, &[]).unwrap();
        for seed in 1..=2 {
            let (f, best) = contest(&problem, 30_000, seed);
            assert!(f < 1.25 * problem.f_zero(), "{}: {f}", entry.name);
            cases += 1;
            good += usize::from(f <= 2.0 * best);
            above_zero += usize::from(f > problem.f_zero());
        }
    }
    assert!(good * 100 >= 90 * cases, "{good} of {cases}");
    assert!(above_zero * 4 <= cases, "{above_zero} of {cases}");
}

/// Divergence at any step size: one feature that doubles, sampled off the chain's own distribution.
#[test]
fn all_constants_retired_is_said_to_be_divergence() {
    let params = RobustTdParams {
        horizon: Some(200_000),
        ..RobustTdParams::new(0.99, 2.0)
    };
    let mut auto = RobustTd::new(params, 1).unwrap();
    let (one, two) = (Features::Dense(&[1.0]), Features::Dense(&[2.0]));
    let mut t = 0;
    while t < 200_000 && !auto.health().diverged() {
        auto.step(&Transition::new(one, if t == 0 { 1.0 } else { 0.0 }, two));
        t += 1;
    }
    let answer = auto.answer();
    let retired = answer
        .lanes
        .iter()
        .filter(|lane| lane.retired_at.is_some())
        .count();
    // The large constants have steps too small to diverge within these samples.
    assert!(retired >= 10, "{retired}");
    assert_eq!(answer.health.diverged(), retired == 16);
}

/// The answer scales with the units of rewards and features, and the choice does not change.
#[test]
fn the_choice_does_not_depend_on_units() {
    let problem = catalog::problem("boyan", &[]).unwrap();
    let answer = |reward: f64, feature: f64| {
        let params = RobustTdParams {
            horizon: Some(4000),
            replicates: 8,
            ..RobustTdParams::new(problem.discount(), feature * problem.phi_inf())
        };
        let mut auto = RobustTd::new(params, 4).unwrap();
        walk(&problem, 4000, 5, |t| {
            let scaled = |phi: Features<'_>| -> Vec<f64> {
                let mut dense = vec![0.0; 4];
                phi.axpy(feature, &mut dense);
                dense
            };
            let (from, to) = (
                scaled(t.features),
                scaled(*t.outcome.next_features().unwrap()),
            );
            let [from, to] = [&from, &to].map(|phi| Features::Dense(phi));
            auto.step(&Transition::new(from, reward * t.reward, to));
        });
        auto.answer()
    };
    // Powers of two, so that even the rounding is identical.
    let plain = answer(1.0, 1.0);
    for (reward, feature) in [
        (2_f64.powi(60), 1.0),
        (1.0, 2_f64.powi(-60)),
        (2_f64.powi(-60), 1.0),
    ] {
        let other = answer(reward, feature);
        assert_eq!(other.c, plain.c);
        for (x, y) in other.output.iter().zip(&plain.output) {
            assert_eq!(x * feature / reward, *y);
        }
    }
}

/// A diverged lane is not reported, even after only a few rows.
#[test]
fn short_logs_report_bounded_constants() {
    for seed in 0..200 {
        let mut stream = robust_td_core::random::Stream::new(seed, 0);
        let rows = 3 + seed % 60;
        let params = RobustTdParams {
            horizon: Some(rows),
            replicates: 8,
            ..RobustTdParams::new(0.95, 2_f64.sqrt())
        };
        let mut auto = RobustTd::new(params, 2).unwrap();
        for _ in 0..rows {
            let mut phi = || [stream.uniform(), stream.uniform()];
            let (from, to) = (phi(), phi());
            let reward = 2.0 * stream.uniform() - 1.0;
            auto.step(&Transition::new(
                Features::Dense(&from),
                reward,
                Features::Dense(&to),
            ));
        }
        let answer = auto.answer();
        let size = answer.output.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        // 20 r_inf / (1 - gamma) is 400.
        assert!(size < 4000.0, "{seed}: {:?}", answer.output);
        assert!(answer.bootstrap.is_none());
    }
}

/// An iterate that is NaN is never selected.
#[test]
fn a_residual_that_is_not_a_number_does_not_win() {
    let params = RobustTdParams {
        horizon: Some(63),
        ..RobustTdParams::new(0.95, 1e-3)
    };
    let mut auto = RobustTd::new(params, 2).unwrap();
    for t in 0..63 {
        let sign = if t % 2 == 0 { 1.0 } else { -1.0 };
        let (from, to) = ([1.0, sign], [1.0, -sign]);
        let reward = f64::from(t % 3);
        auto.step(&Transition::new(
            Features::Dense(&from),
            reward,
            Features::Dense(&to),
        ));
    }
    let answer = auto.answer();
    let finite = answer.output.iter().all(|x| x.is_finite());
    assert!(finite, "{answer:?}");
    assert_eq!(
        answer.health.diverged(),
        answer.lanes.iter().all(|lane| lane.retired_at.is_some())
    );
}
