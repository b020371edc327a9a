//! Runs Algorithm 1 on problems whose solution is known.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use robust_td_core::learner::{Alg1, Learner, Transition, alg1};
use robust_td_core::schedule::{RobustDecay, Schedule};
use robust_td_core::{Chain, Matrix, Problem, Reward};

use crate::stream::assert_close;

/// REF-3 of the specification: three states, two features.
fn ref_3() -> Problem {
    let p = Matrix::from_rows(&[[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2]]).unwrap();
    let r = Matrix::from_rows(&[[0.0, 1.0, -1.0], [0.5, 0.0, 0.25], [-0.5, 1.0, 0.75]]).unwrap();
    let phi = Matrix::from_rows(&[[1.0, 0.0], [0.5, 0.5], [-0.25, 1.0]]).unwrap();
    let chain = Chain::from_dense(&p).unwrap();
    Problem::new(chain, phi, Reward::PerTransition(r), 0.8, 0).unwrap()
}

/// A trajectory of states from the problem's start.
fn walk(problem: &Problem, steps: usize, seed: u64) -> Vec<usize> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut states = vec![problem.start()];
    for t in 0..steps {
        let mut u = (rng.next_u64() >> 11) as f64 * (-53f64).exp2();
        let mut next = states[t];
        for (state, probability) in problem.chain().transition().entries(states[t]) {
            next = state;
            u -= probability;
            if u < 0.0 {
                break;
            }
        }
        states.push(next);
    }
    states
}

/// T24, with e = theta - theta*, S = sum eta and A_Z = phi (phi - gamma phi')':
/// A ebar S = (e_0 - e_T) + sum eta g(theta*; Z_t) + sum eta (A - A_Z) e_t.
#[test]
fn the_averaged_error_obeys_the_summed_recursion() {
    let problem = ref_3();
    let (steps, c) = (5000, 0.5);
    let schedule = RobustDecay::new(steps as u64, c, problem.phi_inf()).unwrap();
    let params = alg1::Alg1Params::decaying(problem.discount(), steps as u64, c, problem.phi_inf());
    let mut learner = Alg1::new(params, problem.dimension()).unwrap();

    let mut right = problem.error(learner.theta());
    for (t, pair) in walk(&problem, steps, 11).windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        let eta = schedule.step_size(t as u64);
        let error = problem.error(learner.theta());
        let mean_part = problem.a().times(&error);
        let noise = problem.update(problem.theta_star(), from, to);
        let difference: f64 = (0..2)
            .map(|i| (problem.phi(from)[i] - problem.discount() * problem.phi(to)[i]) * error[i])
            .sum();
        for i in 0..2 {
            right[i] += eta * (noise[i] + mean_part[i] - problem.phi(from)[i] * difference);
        }
        learner.step(&Transition::of_problem(&problem, from, to));
    }
    for (right, last) in right.iter_mut().zip(problem.error(learner.theta())) {
        *right -= last;
    }
    let total = schedule.total(steps as u64);
    let left = problem.a().times(&problem.error(&learner.output()));
    let left: Vec<f64> = left.iter().map(|x| x * total).collect();
    assert_close(&left, &right, 1e-9);
}

#[test]
fn the_output_approaches_the_fixed_point() {
    let problem = ref_3();
    let steps = 300_000;
    let params =
        alg1::Alg1Params::decaying(problem.discount(), steps as u64, 0.02, problem.phi_inf());
    let mut learner = Alg1::new(params, problem.dimension()).unwrap();
    for pair in walk(&problem, steps, 3).windows(2) {
        learner.step(&Transition::of_problem(&problem, pair[0], pair[1]));
    }
    assert!(!learner.health().diverged());
    assert!(problem.f(&learner.output()) < 1e-3 * problem.f_zero());
}
