//! Tests optimal stopping: known solutions, inequalities at random points, and the learner.

use proptest::prelude::*;
use robust_td_core::learner::{Features, Learner, Outcome, Transition, optimal_stopping};
use robust_td_core::random::Stream;
use robust_td_core::{Chain, Matrix, Mixing, Problem, Reward, StoppingProblem};

use crate::common::{close, distance, dot, norm, problems, random_vector, ref_3};
use crate::stream::{assert_close, nonzeros};

/// Offers 1, 2, 3, 4 arrive independently with probabilities .4, .3, .2, .1; waiting costs .1, gamma = .9.
///
/// The value of waiting is the same at all offers: q = -.1 + .9 E max(X, q), that is q = .8 / .37 = 2.16.
fn house_selling(features: Matrix) -> StoppingProblem {
    let chances = [0.4, 0.3, 0.2, 0.1];
    let chain = Chain::from_dense(&Matrix::from_fn(4, 4, |_, offer| chances[offer])).unwrap();
    let cost = Reward::PerState(vec![-0.1; 4]);
    let problem = Problem::new(chain, features, cost, 0.9, 0).unwrap();
    StoppingProblem::new(problem, vec![1.0, 2.0, 3.0, 4.0]).unwrap()
}

#[test]
fn selling_a_house() {
    let constant = house_selling(Matrix::from_fn(4, 1, |_, _| 1.0));
    let tabular = house_selling(Matrix::identity(4));
    for problem in [constant, tabular] {
        let theta = problem.theta_star();
        assert_close(&problem.values(theta), &[0.8 / 0.37; 4], 1e-13);
        assert_eq!(problem.stops(theta), [false, false, true, true]);
        assert!(problem.error_sq(theta) == 0.0);
        assert!(close(problem.reward_bound(), 0.1 + 0.9 * 4.0, 1e-15));
    }
}

/// A perpetual put: the price doubles or halves, as a walk on {1/8, ..., 8} that stays at its ends; strike 1, gamma = .9.
#[test]
fn a_perpetual_put_is_exercised_below_a_price() {
    let n = 7;
    let price = |s: usize| 2f64.powi(s as i32 - 3);
    let p = Matrix::from_fn(n, n, |i, j| {
        let up = usize::min(i + 1, n - 1) == j;
        let down = i.saturating_sub(1) == j;
        0.5 * (f64::from(u8::from(up)) + f64::from(u8::from(down)))
    });
    let chain = Chain::from_dense(&p).unwrap();
    let nothing = Reward::PerState(vec![0.0; n]);
    let problem = Problem::new(chain, Matrix::identity(n), nothing, 0.9, 3).unwrap();
    let pay: Vec<f64> = (0..n).map(|s| f64::max(1.0 - price(s), 0.0)).collect();
    let put = StoppingProblem::new(problem, pay.clone()).unwrap();
    // Value iteration, independently: Q = gamma P max(U, Q).
    let mut q = vec![0.0; n];
    for _ in 0..2000 {
        let best: Vec<f64> = q.iter().zip(&pay).map(|(q, u)| f64::max(*q, *u)).collect();
        q = p.times(&best).iter().map(|x| 0.9 * x).collect();
    }
    assert_close(&put.values(put.theta_star()), &q, 1e-12);
    let stops = put.stops(put.theta_star());
    let threshold = stops.iter().filter(|&&stop| stop).count();
    assert!((0..n).all(|s| stops[s] == (s < threshold)) && (1..=3).contains(&threshold));
}

/// Rewards for stopping, of the order of the problem's values.
fn with_stopping(problem: Problem, seed: u64) -> StoppingProblem {
    let mut stream = Stream::new(seed, 77);
    let size = 1.0 + norm(&problem.true_values());
    let rewards = random_vector(&mut stream, problem.states(), size);
    StoppingProblem::new(problem, rewards).unwrap()
}

proptest! {
    /// T33: <gbar(theta), theta - theta*> <= -(1-gamma) |Q_theta - Q_theta*|_D^2, also between any two points.
    #[test]
    fn the_mean_update_is_monotone((seed, problem) in problems()) {
        let problem = with_stopping(problem, seed);
        let star = problem.theta_star();
        let zero = problem.mean_update(star);
        let scale = problem.reward_bound() * problem.problem().phi_inf();
        prop_assert!(norm(&zero) <= 1e-10 * scale.max(1.0), "gbar(theta*) = {zero:?}");

        let mut stream = Stream::new(seed, 78);
        let rest = 1.0 - problem.problem().discount();
        for _ in 0..20 {
            let away = random_vector(&mut stream, star.len(), 3.0);
            let theta: Vec<f64> = star.iter().zip(&away).map(|(x, y)| x + y).collect();
            let inner = dot(&problem.mean_update(&theta), &away);
            let bound = -rest * problem.error_sq(&theta);
            prop_assert!(inner <= bound + 1e-10 * scale.max(1.0) * (1.0 + norm(star)));
        }
    }

    /// gbar is the mean of g over the stationary transitions, and g grows no faster than without stopping.
    #[test]
    fn updates_and_their_mean((seed, problem) in problems()) {
        let problem = with_stopping(problem, seed);
        let mut stream = Stream::new(seed, 79);
        let plain = problem.problem();
        let theta = random_vector(&mut stream, plain.dimension(), 2.0);
        let other = random_vector(&mut stream, plain.dimension(), 2.0);
        let mut mean = vec![0.0; theta.len()];
        let (gamma, phi_inf) = (plain.discount(), plain.phi_inf());
        let growth = (1.0 + gamma) * phi_inf.powi(2);
        for edge in plain.edges() {
            let g = problem.update(&theta, edge.from, edge.to);
            let weight = plain.stationary()[edge.from] * edge.probability;
            mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += weight * g);
            let bound = problem.reward_bound() * phi_inf + growth * norm(&theta);
            prop_assert!(norm(&g) <= bound * (1.0 + 1e-12));
            prop_assert!(norm(&g) <= problem.largest_update(&theta) * (1.0 + 1e-12));
            let apart = distance(&g, &problem.update(&other, edge.from, edge.to));
            prop_assert!(apart <= growth * distance(&theta, &other) * (1.0 + 1e-10));
        }
        assert_close(&mean, &problem.mean_update(&theta), 1e-11);
    }

    /// Algorithm 1 from its formula, on the transitions of the problem.
    #[test]
    fn the_learner_is_its_formula((seed, problem) in problems(), c in 0.05..5.0) {
        let problem = with_stopping(problem, seed);
        let plain = problem.problem();
        let (gamma, phi_inf, d) = (plain.discount(), plain.phi_inf(), plain.dimension());
        let horizon = 60;
        let mut learner = optimal_stopping::learner(gamma, horizon, c, phi_inf, d).unwrap();
        let mut sparse = learner.clone();
        prop_assert_eq!(learner.id(), "optimal-stopping");
        let mut stream = Stream::new(seed, 80);
        let states = crate::common::trajectory(plain, &mut stream.clone(), horizon as usize + 1);
        let (mut theta, mut sum, mut total) = (vec![0.0; d], vec![0.0; d], 0.0);
        for (pair, step) in states.windows(2).zip(problem.walk(&mut stream)) {
            let t = learner.steps() as f64;
            learner.step(&step);
            let (from, to) = (pair[0], pair[1]);
            let (phi, next) = (nonzeros(plain.phi(from)), nonzeros(plain.phi(to)));
            let next = Features::sparse(&next.0, &next.1, d).unwrap();
            sparse.step(&Transition {
                features: Features::sparse(&phi.0, &phi.1, d).unwrap(),
                outcome: Outcome::Stoppable { next, stop_reward: problem.stop_rewards()[to] },
                ..step
            });
            let eta = 1.0 / (c * phi_inf.powi(2) * 60f64.ln() * (t + 3.0).ln() * (t + 1.0).sqrt());
            sum.iter_mut().zip(&theta).for_each(|(sum, x)| *sum += eta * x);
            total += eta;
            let best = f64::max(problem.stop_rewards()[to], dot(plain.phi(to), &theta));
            let delta = plain.reward(from, to) + gamma * best - dot(plain.phi(from), &theta);
            theta.iter_mut().zip(plain.phi(from)).for_each(|(x, phi)| *x += eta * delta * phi);
        }
        let size = 1.0 + norm(&theta);
        prop_assert!(distance(learner.theta(), &theta) <= 1e-10 * size);
        let average: Vec<f64> = sum.iter().map(|x| x / total).collect();
        prop_assert!(distance(&learner.output(), &average) <= 1e-10 * size);
        prop_assert_eq!(learner.output(), sparse.output());
    }

    /// If stopping never pays, the problem is the plain one, and the certificate is its certificate Y.
    #[test]
    fn without_worthwhile_stops_it_is_policy_evaluation((_, problem) in problems()) {
        let never = vec![-1e9; problem.states()];
        let stopping = StoppingProblem::new(problem.clone(), never).unwrap();
        let size = problem.theta_star_norm().max(1.0);
        prop_assert!(distance(stopping.theta_star(), problem.theta_star()) <= 1e-8 * size);
        prop_assert!(stopping.stops(stopping.theta_star()).iter().all(|stop| !stop));
    }
}

#[test]
fn the_certificate_is_certificate_y() {
    let problem = ref_3();
    let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
    let never = StoppingProblem::new(problem.clone(), vec![-1e9; 3]).unwrap();
    let certificate = never.certificate(&mixing, 100_000, 5.0).unwrap();
    let plain = problem.certify(100_000, 5.0).unwrap();
    let expected = plain.mixing.unwrap().y.unwrap().bound.unwrap() / 0.2;
    assert!(certificate.applies());
    assert!(close(certificate.bound.unwrap() / expected, 1.0, 1e-9));
    assert!(never.certificate(&mixing, 2, 5.0).is_err());
    assert!(never.certificate(&mixing, 100, 0.0).is_err());
}

/// A problem where it is optimal to stop in one state and continue in two.
fn mixed_stops() -> StoppingProblem {
    let stopping = StoppingProblem::new(ref_3(), vec![1.2, 0.2, 0.4]).unwrap();
    let stops = stopping.stops(stopping.theta_star());
    assert_eq!(stops, [true, false, false]);
    stopping
}

/// |Q_avg - Q*|_D^2, averaged over runs.
fn mean_error_sq(stopping: &StoppingProblem, horizon: u64, c: f64) -> f64 {
    const RUNS: u64 = 5;
    let plain = stopping.problem();
    let (gamma, phi_inf, d) = (plain.discount(), plain.phi_inf(), plain.dimension());
    let run = |run: u64| {
        let mut learner = optimal_stopping::learner(gamma, horizon, c, phi_inf, d).unwrap();
        let mut stream = Stream::new(5, run);
        for step in stopping.walk(&mut stream).take(horizon as usize) {
            learner.step(&step);
        }
        stopping.error_sq(&learner.output())
    };
    (0..RUNS).map(run).sum::<f64>() / RUNS as f64
}

/// From T = 1e4 to 1e6 the error falls by more than ln^2(T)/sqrt(T) does (a factor 4.4), to below a thousandth of its initial value.
#[test]
fn the_learner_approaches_the_solution() {
    let stopping = mixed_stops();
    let start = stopping.error_sq(&[0.0; 2]);
    let (early, late) = (
        mean_error_sq(&stopping, 10_000, 0.05),
        mean_error_sq(&stopping, 1_000_000, 0.05),
    );
    assert!(late < early / 4.4, "{late} after {early}");
    assert!(late < 1e-3 * start, "{late} of {start}");
}

#[test]
fn the_certificate_bounds_the_error() {
    let stopping = mixed_stops();
    let mixing = Mixing::of(stopping.problem().chain()).unwrap().unwrap();
    let certificate = stopping.certificate(&mixing, 10_000, 5.0).unwrap();
    assert!(certificate.applies());
    assert!(mean_error_sq(&stopping, 10_000, 5.0) <= certificate.bound.unwrap());
}

#[test]
fn stop_rewards_that_do_not_fit_are_refused() {
    let refused = |rewards: Vec<f64>| {
        StoppingProblem::new(ref_3(), rewards)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(vec![0.0; 2]),
        "stop rewards has 2 entries, but needs 3"
    );
    assert!(refused(vec![0.0, f64::NAN, 1.0]).contains("row 1, column 0 is NaN"));
    assert!(optimal_stopping::learner(1.0, 100, 1.0, 1.0, 1).is_err());
    assert!(optimal_stopping::learner(0.5, 2, 1.0, 1.0, 1).is_err());
    assert!(optimal_stopping::learner(0.5, 3, 1.0, 1.0, 0).is_err());
}
