//! Tests that the data choose a good constant.

use robust_td::catalog;
use robust_td::learner::{Alg1, Learner, Transition, alg1};
use robust_td::portfolio::{Params, RobustTd};
use robust_td::{Problem, learner::Features};

use crate::walk::walk;

/// f of the portfolio's answer, and the smallest f of Algorithm 1 among many constants, on one trajectory.
fn contest(problem: &Problem, steps: u64, seed: u64) -> (f64, f64) {
    let (d, discount, phi_inf) = (problem.dimension(), problem.discount(), problem.phi_inf());
    let params = Params {
        phi_inf,
        horizon: Some(steps),
        ..Params::new(discount)
    };
    let mut auto = RobustTd::auto(params.check().unwrap(), d).unwrap();
    // 24 constants from 1 down to 1.5e-4.
    let constants = (0..24).map(|i| 10_f64.powf(-f64::from(i) / 6.0));
    let mut fixed: Vec<Alg1> = constants
        .map(|c| {
            let params = alg1::Params::decaying(discount, steps, c).phi_inf(phi_inf);
            Alg1::new(params.check().unwrap(), d).unwrap()
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
    for entry in catalog::entries() {
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
    // The plain average is better than the weighted one of any constant nearly always.
    assert!(better * 100 >= 90 * cases, "{better} of {cases}");
}

/// Divergence that no step size avoids: one feature that doubles, off the chain's own distribution.
#[test]
fn all_constants_retired_is_said_to_be_divergence() {
    let params = Params {
        phi_inf: 2.0,
        horizon: Some(200_000),
        ..Params::new(0.99)
    };
    let mut auto = RobustTd::auto(params.check().unwrap(), 1).unwrap();
    let (one, two) = (Features::Dense(&[1.0]), Features::Dense(&[2.0]));
    let mut t = 0;
    while t < 200_000 && !auto.health().diverged() {
        auto.step(&Transition::continues(
            one,
            if t == 0 { 1.0 } else { 0.0 },
            two,
        ));
        t += 1;
    }
    let answer = auto.answer();
    let retired = answer
        .lanes
        .iter()
        .filter(|lane| lane.retired_at.is_some())
        .count();
    // The small steps of the large constants would take longer than there are samples.
    assert!(retired >= 10, "{retired}");
    assert_eq!(answer.health.diverged(), retired == 16);
}
