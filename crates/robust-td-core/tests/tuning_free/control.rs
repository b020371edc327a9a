//! Tests Q-learning: d_q, fixed points, inequalities at random points, and the learner.

use proptest::prelude::*;
use robust_td_core::learner::{Features, Learner, Outcome, Transition, q_learning};
use robust_td_core::random::Stream;
use robust_td_core::{ControlProblem, Error, Matrix, Mdp, Reward, SparseMatrix};

use crate::common::{close, distance, dot, norm, random_problem, random_vector};
use crate::stream::{assert_close, nonzeros};

/// A random decision process: rows of positive probabilities, rewards in [-1, 1] per action.
fn random_mdp(stream: &mut Stream, states: usize, actions: usize) -> Mdp {
    let transitions = (0..actions)
        .map(|_| SparseMatrix::from_dense(&random_distributions(stream, states, states)))
        .collect();
    let rewards = (0..actions)
        .map(|_| Matrix::new(states, states, random_vector(stream, states * states, 1.0)).unwrap())
        .collect();
    Mdp::new(transitions, rewards).unwrap()
}

fn random_distributions(stream: &mut Stream, rows: usize, columns: usize) -> Matrix {
    let rows: Vec<Vec<f64>> = (0..rows)
        .map(|_| {
            let row: Vec<f64> = (0..columns).map(|_| 0.05 + stream.uniform()).collect();
            let sum: f64 = row.iter().sum();
            row.iter().map(|x| x / sum).collect()
        })
        .collect();
    Matrix::from_rows(&rows).unwrap()
}

/// A random problem with up to 4 states, 3 actions and 4 features.
fn random_control(seed: u64, discount: f64) -> ControlProblem {
    let mut stream = Stream::new(seed, 0);
    let mut below = |n: usize| (stream.uniform() * n as f64) as usize;
    let (states, actions, d) = (2 + below(3), 1 + below(3), 1 + below(2));
    let mdp = random_mdp(&mut stream, states, actions);
    let behaviour = random_distributions(&mut stream, states, actions);
    let entries = random_vector(&mut stream, states * actions * d, 1.0);
    let features = Matrix::new(states * actions, d, entries).unwrap();
    ControlProblem::new(mdp, behaviour, features, discount, 0).unwrap()
}

/// Every pair has its own feature, and all actions are equally likely.
fn tabular(seed: u64, states: usize, discount: f64) -> ControlProblem {
    let mdp = random_mdp(&mut Stream::new(seed, 1), states, 2);
    let behaviour = Matrix::from_fn(states, 2, |_, _| 0.5);
    ControlProblem::new(mdp, behaviour, Matrix::identity(2 * states), discount, 0).unwrap()
}

/// The optimal Q by value iteration, pair by pair.
fn value_iteration(mdp: &Mdp, discount: f64) -> Vec<f64> {
    let (n, k) = (mdp.states(), mdp.actions());
    let mut q = vec![0.0; n * k];
    for _ in 0..3000 {
        let best: Vec<f64> = (0..n)
            .map(|s| {
                q[s * k..(s + 1) * k]
                    .iter()
                    .copied()
                    .fold(f64::MIN, f64::max)
            })
            .collect();
        for pair in 0..n * k {
            let (s, a) = (pair / k, pair % k);
            let successors = mdp.transition(a).entries(s);
            q[pair] = successors
                .map(|(to, p)| p * (mdp.reward(a, s, to) + discount * best[to]))
                .sum();
        }
    }
    q
}

/// E (phi.theta)^2 - gamma^2 E max_a (phi(s,a).theta)^2, whose minimum over the sphere is d_q.
fn gap(problem: &ControlProblem, behaviour: &Matrix, theta: &[f64]) -> f64 {
    let values = problem.values(theta);
    let terms = problem.stationary().iter().enumerate().map(|(s, mu)| {
        let squares = values.row(s).iter().map(|q| q * q);
        let mean: f64 = squares
            .clone()
            .zip(behaviour.row(s))
            .map(|(q, b)| q * b)
            .sum();
        mu * (mean - problem.discount().powi(2) * squares.fold(0.0, f64::max))
    });
    terms.sum()
}

/// Where each pair has its own feature, d_q = min mu(s) (b(a|s) - gamma^2), and the fixed point is the optimal Q.
#[test]
fn tabular_q_learning_has_the_optimal_values_as_fixed_point() {
    for (seed, discount) in [(1, 0.0), (2, 0.5), (3, 0.7), (4, 0.9), (5, 0.99)] {
        let problem = tabular(seed, 4, discount);
        let smallest = problem.stationary().iter().copied().fold(1.0, f64::min);
        let largest = problem.stationary().iter().copied().fold(0.0, f64::max);
        let rest = 0.5 - discount * discount;
        // If the rest is negative, the minimum is at the largest mu.
        let expected = rest * if rest > 0.0 { smallest } else { largest };
        assert!(close(problem.curvature().unwrap(), expected, 1e-13));
        let theta = problem.fixed_point().unwrap();
        assert_close(&theta, &value_iteration(problem.mdp(), discount), 1e-11);
    }
}

/// Two states; "go" changes the state and pays 1 from state 0, "stay" pays 0 (state 0) or 1/2 (state 1); gamma = 1/2.
///
/// From state 1, always staying and alternating are both worth V(1); by hand V(1) = 1 = 1/2 + 1/2 V(1), V(0) = 1 + V(1)/2 = 3/2,
/// Q(1, go) = V(0)/2 = 3/4, Q(0, stay) = V(0)/2 = 3/4.
#[test]
fn a_process_solved_by_hand() {
    let go = SparseMatrix::from_dense(&Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).unwrap());
    let stay = SparseMatrix::from_dense(&Matrix::identity(2));
    let rewards = vec![
        Reward::PerState(vec![1.0, 0.0]),
        Reward::PerState(vec![0.0, 0.5]),
    ];
    let mdp = Mdp::new(vec![go, stay], rewards).unwrap();
    let behaviour = Matrix::from_fn(2, 2, |_, _| 0.5);
    let problem = ControlProblem::new(mdp, behaviour, Matrix::identity(4), 0.5, 0).unwrap();
    let theta = problem.fixed_point().unwrap();
    assert_close(&theta, &[1.5, 0.75, 0.75, 1.0], 1e-14);
    assert_eq!(problem.greedy(&theta), [0, 1]);
    assert!(close(
        problem.curvature().unwrap(),
        0.5 * (0.5 - 0.25),
        1e-15
    ));
    assert!(problem.potential(&theta, &theta) == 0.0);
}

proptest! {
    /// T33: <gbar(theta) - gbar(theta'), theta - theta'> <= -(d_q/2) |theta - theta'|^2.
    #[test]
    fn the_mean_update_is_monotone_by_d_q(seed in any::<u64>(), discount in 0.0..0.95) {
        let problem = random_control(seed, discount);
        let d_q = problem.curvature().unwrap();
        let star = problem.fixed_point();
        // With d_q > 0 there is exactly one fixed point.
        prop_assert!(star.is_ok() || d_q <= 0.0);
        let mut stream = Stream::new(seed, 2);
        let mut others = vec![random_vector(&mut stream, problem.dimension(), 2.0)];
        if let Ok(star) = star {
            let zero = problem.mean_update(&star);
            prop_assert!(norm(&zero) <= 1e-10 * (1.0 + norm(&star)), "gbar(theta*) = {zero:?}");
            others.push(star);
        }
        for other in &others {
            let at_other = problem.mean_update(other);
            for _ in 0..20 {
                let away = random_vector(&mut stream, other.len(), 2.0);
                let theta: Vec<f64> = other.iter().zip(&away).map(|(x, y)| x + y).collect();
                let g = problem.mean_update(&theta);
                let inner = dot(&g, &away) - dot(&at_other, &away);
                let slack = 1e-10 * (1.0 + norm(other));
                prop_assert!(inner <= -0.5 * d_q * dot(&away, &away) + slack);
            }
        }
    }

    /// No direction is below the enumerated minimum; in one dimension it is attained.
    #[test]
    fn d_q_is_the_minimum_over_directions(seed in any::<u64>(), discount in 0.0..1.0) {
        let mut stream = Stream::new(seed, 3);
        for d in [1, 2] {
            let mdp = random_mdp(&mut stream, 3, 2);
            let behaviour = random_distributions(&mut stream, 3, 2);
            let features = Matrix::new(6, d, random_vector(&mut stream, 6 * d, 1.0)).unwrap();
            let problem = ControlProblem::new(mdp, behaviour.clone(), features, discount, 0).unwrap();
            let d_q = problem.curvature().unwrap();
            if d == 1 {
                prop_assert!(close(gap(&problem, &behaviour, &[1.0]), d_q, 1e-14));
                continue;
            }
            let directions = 20_000;
            let smallest = (0..directions)
                .map(|k| std::f64::consts::PI * f64::from(k) / f64::from(directions))
                .map(|angle| gap(&problem, &behaviour, &[angle.cos(), angle.sin()]))
                .fold(f64::INFINITY, f64::min);
            // The gap changes by at most 2 (1 + gamma^2) phi_inf^2 per unit of angle.
            let width = 8.0 * std::f64::consts::PI / f64::from(directions);
            prop_assert!(d_q <= smallest + 1e-12 && smallest <= d_q + width);
        }
    }

    /// Algorithm 1 from its formula, on the transitions of the problem.
    #[test]
    fn the_learner_is_its_formula(seed in any::<u64>(), c in 0.1..5.0, discount in 0.0..0.9) {
        let problem = random_control(seed, discount);
        let (phi_inf, d, horizon) = (problem.phi_inf(), problem.dimension(), 60);
        let mut learner = q_learning::learner(discount, horizon, c, phi_inf, d).unwrap();
        let mut sparse = learner.clone();
        prop_assert_eq!(learner.id(), "q-learning");
        let mut stream = Stream::new(seed, 4);
        let (mut theta, mut sum, mut total) = (vec![0.0; d], vec![0.0; d], 0.0);
        for step in problem.walk(&mut stream).take(horizon as usize) {
            step.check(d).unwrap();
            let t = learner.steps() as f64;
            learner.step(&step);
            let Features::Dense(phi) = step.features else { panic!("a row of a table") };
            let entries = nonzeros(phi);
            let features = Features::sparse(&entries.0, &entries.1, d).unwrap();
            sparse.step(&Transition { features, ..step });
            let eta = 1.0 / (c * phi_inf.powi(2) * 60f64.ln() * (t + 3.0).ln() * (t + 1.0).sqrt());
            sum.iter_mut().zip(&theta).for_each(|(sum, x)| *sum += eta * x);
            total += eta;
            let Outcome::Choices(rows) = step.outcome else { panic!("no choice") };
            let values = rows.chunks(d).map(|row| dot(row, &theta));
            let delta = step.reward + discount * values.fold(f64::MIN, f64::max) - dot(phi, &theta);
            theta.iter_mut().zip(phi).for_each(|(x, phi)| *x += eta * delta * phi);
        }
        let average: Vec<f64> = sum.iter().map(|x| x / total).collect();
        prop_assert!(distance(learner.theta(), &theta) <= 1e-10 * (1.0 + norm(&theta)));
        prop_assert!(distance(&learner.output(), &average) <= 1e-10 * (1.0 + norm(&theta)));
        prop_assert_eq!(learner.output(), sparse.output());
    }

    /// One action leaves no choice: the problem is policy evaluation.
    #[test]
    fn with_one_action_it_is_policy_evaluation(seed in any::<u64>()) {
        let plain = random_problem(seed);
        let reward = Reward::PerTransition(Matrix::from_fn(plain.states(), plain.states(), |s, to| plain.reward(s, to)));
        let mdp = Mdp::new(vec![plain.chain().transition().clone()], vec![reward]).unwrap();
        let only = Matrix::from_fn(plain.states(), 1, |_, _| 1.0);
        let problem =
            ControlProblem::new(mdp, only, plain.features().clone(), plain.discount(), 0).unwrap();
        let star = problem.fixed_point().unwrap();
        prop_assert!(distance(&star, plain.theta_star()) <= 1e-8 * (1.0 + norm(&star)));
        let theta = random_vector(&mut Stream::new(seed, 5), plain.dimension(), 2.0);
        assert_close(&problem.mean_update(&theta), &plain.mean_update(&theta), 1e-11);
        prop_assert!(close(problem.potential(&theta, &star), plain.f(&theta), 1e-8));
    }
}

/// The walk follows the behaviour policy and the process.
#[test]
fn the_walk_has_the_right_frequencies() {
    let problem = tabular(6, 3, 0.5);
    let steps = 60_000;
    let mut counts = [0u32; 6];
    let mut stream = Stream::new(8, 0);
    for step in problem.walk(&mut stream).take(steps) {
        let Features::Dense(phi) = step.features else {
            panic!("features are rows of a table")
        };
        counts[phi.iter().position(|&x| x == 1.0).unwrap()] += 1;
    }
    for (pair, &count) in counts.iter().enumerate() {
        let expected = 0.5 * problem.stationary()[pair / 2];
        assert!((f64::from(count) / steps as f64 - expected).abs() < 0.01);
    }
}

/// From T = 1e4 to 1e6 the error falls by more than ln^2(T)/sqrt(T) does (a factor 4.4), and the final greedy policy is optimal.
#[test]
fn the_learner_approaches_the_optimal_values() {
    let problem = tabular(7, 3, 0.6);
    assert!(problem.curvature().unwrap() > 0.0);
    let star = problem.fixed_point().unwrap();
    let run = |horizon: u64| {
        let mut learner = q_learning::learner(0.6, horizon, 0.05, problem.phi_inf(), 6).unwrap();
        let mut stream = Stream::new(9, 0);
        for step in problem.walk(&mut stream).take(horizon as usize) {
            learner.step(&step);
        }
        learner.output()
    };
    let (early, late) = (run(10_000), run(1_000_000));
    let error_sq = |theta: &[f64]| distance(theta, &star).powi(2);
    let (early, error) = (error_sq(&early), error_sq(&late));
    assert!(error < early / 4.4, "{error} after {early}");
    assert!(error < 1e-2 * error_sq(&[0.0; 6]), "{error}");
    assert_eq!(problem.greedy(&late), problem.greedy(&star));
}

/// One state whose actions have the features `phi` and pay 1.
fn one_state(phi: &[f64], chances: &[f64], discount: f64) -> ControlProblem {
    let stay = || SparseMatrix::from_dense(&Matrix::identity(1));
    let transitions = phi.iter().map(|_| stay()).collect();
    let mdp = Mdp::new(transitions, vec![Reward::PerState(vec![1.0])]).unwrap();
    let behaviour = Matrix::from_rows(&[chances]).unwrap();
    let features = Matrix::new(phi.len(), 1, phi.to_vec()).unwrap();
    ControlProblem::new(mdp, behaviour, features, discount, 0).unwrap()
}

/// With d_q <= 0 there need not be a fixed point: here gbar = .9 + .9 * 2.7 |theta| - 1.8 theta is positive everywhere.
#[test]
fn a_problem_without_fixed_point_is_refused() {
    let problem = one_state(&[1.0, 3.0, -3.0], &[0.9, 0.05, 0.05], 0.9);
    assert!(close(problem.curvature().unwrap(), 1.8 - 0.81 * 9.0, 1e-14));
    for theta in [-10.0, -1.0, 0.0, 1.0, 10.0] {
        let expected = 0.9 + 2.43 * f64::abs(theta) - 1.8 * theta;
        assert_close(&problem.mean_update(&[theta]), &[expected], 1e-13);
    }
    let error = problem.fixed_point().unwrap_err();
    assert!(matches!(error, Error::NoFixedPoint { .. }));
}

/// An action that is never taken still counts in the maximum: theta = 1 + theta / 4 * 2.
#[test]
fn an_action_never_taken_can_be_the_best() {
    let problem = one_state(&[1.0, 2.0], &[1.0, 0.0], 0.25);
    assert_close(&problem.fixed_point().unwrap(), &[2.0], 1e-14);
    assert_eq!(problem.greedy(&[2.0]), [1]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mdp = || random_mdp(&mut Stream::new(1, 1), 3, 2);
    let behaviour = || Matrix::from_fn(3, 2, |_, _| 0.5);
    let refused = |features: Matrix, discount: f64, start: usize| {
        ControlProblem::new(mdp(), behaviour(), features, discount, start)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(Matrix::identity(5), 0.5, 0).starts_with("features is 5 x 5 where 6 x d"));
    assert_eq!(
        refused(Matrix::identity(6), 1.0, 0),
        "discount is 1, outside [0, 1)"
    );
    assert!(refused(Matrix::identity(6), 0.5, 3).starts_with("start is 3"));
    let same = Matrix::from_fn(6, 2, |_, _| 1.0);
    assert!(refused(same, 0.5, 0).starts_with("features have rank 1"));

    // 2^21 maps are more than can be tried.
    let large = tabular(1, 21, 0.5);
    let Err(error @ Error::TooManyMaps { .. }) = large.curvature() else {
        panic!("too many maps")
    };
    assert!(
        error
            .to_string()
            .starts_with("there are 2^21 maps from 21 states")
    );
    assert!(q_learning::learner(0.5, 100, -1.0, 1.0, 1).is_err());
}
