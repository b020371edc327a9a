//! Checks statements T36, T37 and T39 of the specification on random problems.

use proptest::prelude::*;
use robust_td_core::learner::{
    Etd, Features, GradientParams, Gtd2, ImplicitTd, Learner, TdLambda, Tdc, Transition, etd,
    implicit_td, td_lambda,
};
use robust_td_core::off_policy::OffPolicyProblem;
use robust_td_core::random::Stream;
use robust_td_core::registry;
use robust_td_core::registry::Setting;
use robust_td_core::{Matrix, Problem, Reward};

use crate::common::{close, distance, dot, norm, problems, random_vector, ref_2, ref_3};
use crate::samples::{Recording, feed_problem};

/// An off-policy problem with the same chain as behaviour and reweighted successors as target.
fn off_policy(problem: &Problem, reweight: bool, seed: u64, origin: &[f64]) -> OffPolicyProblem {
    let behaviour = problem.chain().transition().to_dense();
    let mut target = behaviour.clone();
    let mut stream = Stream::new(seed, 1);
    if reweight {
        for s in 0..problem.states() {
            let row = target.row_mut(s);
            row.iter_mut().for_each(|p| *p *= 0.1 + stream.uniform());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
    }
    let n = problem.states();
    let rewards = Matrix::from_fn(n, n, |s, to| problem.reward(s, to));
    let features = problem.features().clone();
    let reward = Reward::PerTransition(rewards);
    OffPolicyProblem::new(
        &behaviour,
        target,
        features,
        &reward,
        problem.discount(),
        origin,
    )
    .unwrap()
}

/// The stationary mean change of one more step, summed over all transitions.
fn mean_change<L: Learner + Clone>(
    problem: &OffPolicyProblem,
    learner: &L,
    part: impl Fn(&L) -> Vec<f64>,
) -> Vec<f64> {
    let before = part(learner);
    let mut sum = vec![0.0; before.len()];
    let chain = problem.behaviour();
    for (s, p) in chain.stationary().iter().enumerate() {
        for (to, q) in chain.transition().entries(s) {
            let mut next = learner.clone();
            next.step(&problem.transition(s, to));
            for ((sum, after), before) in sum.iter_mut().zip(part(&next)).zip(&before) {
                *sum += p * q * (after - before);
            }
        }
    }
    sum
}

fn assert_scaled(found: &[f64], step: f64, expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            close(found / step, *expected, 1e-9),
            "{found} is not {step} * {expected}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// T39: the mean updates of GTD2 and TDC are as stated, and vanish at (theta*, 0).
    #[test]
    fn gradient_methods_rest_at_the_fixed_point((seed, problem) in problems()) {
        let at_star = off_policy(&problem, false, seed, problem.theta_star());
        let zero = vec![0.0; problem.dimension()];
        let scale = (1.0 + norm(problem.theta_star())) * (1.0 + problem.phi_inf().powi(2));
        for (theta, w) in [at_star.gtd2_mean(&zero, &zero), at_star.tdc_mean(&zero, &zero)] {
            prop_assert!(norm(&theta) + norm(&w) <= 1e-10 * scale);
        }
        // At other points, and off-policy, against the learners themselves.
        let origin = random_vector(&mut Stream::new(seed, 2), problem.dimension(), 1.0);
        let elsewhere = off_policy(&problem, true, seed, &origin);
        let (step, step_w) = (0.03 / problem.phi_inf().powi(2), 0.07 / problem.phi_inf().powi(2));
        let (discount, d) = (problem.discount(), problem.dimension());
        let mut learner = Gtd2::new(GradientParams { discount, step, step_w }, d).unwrap();
        elsewhere.feed(&mut learner, 0, 20, &mut Stream::new(seed, 3));
        let (theta, w) = elsewhere.gtd2_mean(learner.theta(), learner.w());
        assert_scaled(&mean_change(&elsewhere, &learner, |l| l.theta().to_vec()), step, &theta);
        assert_scaled(&mean_change(&elsewhere, &learner, |l| l.w().to_vec()), step_w, &w);
        let mut learner = Tdc::new(GradientParams { discount, step, step_w }, d).unwrap();
        elsewhere.feed(&mut learner, 0, 20, &mut Stream::new(seed, 3));
        let (theta, w) = elsewhere.tdc_mean(learner.theta(), learner.w());
        assert_scaled(&mean_change(&elsewhere, &learner, |l| l.theta().to_vec()), step, &theta);
        assert_scaled(&mean_change(&elsewhere, &learner, |l| l.w().to_vec()), step_w, &w);
    }

    /// T37: an implicit step solves its own equation, and is at most min(eta, 1/|phi|^2) delta phi.
    #[test]
    fn an_implicit_step_solves_its_equation(seed in any::<u64>(), log_step in -3.0..6.0_f64, lambda in 0.0..1.0) {
        let eta = 10f64.powf(log_step);
        for lambda in [0.0, lambda] {
            let recording = Recording::episodes(seed, 60, 1.0);
            let gamma = recording.discount;
            let params = implicit_td::ImplicitTdParams { discount: gamma, step: eta, lambda };
            let mut learner = ImplicitTd::new(params, recording.dimension).unwrap();
            let mut z = vec![0.0; recording.dimension];
            for sample in &recording.samples {
                for (z, phi) in z.iter_mut().zip(&sample.phi) {
                    *z = gamma * lambda * *z + phi;
                }
                let before = learner.theta().to_vec();
                let delta = sample.with(false, |t| { learner.step(t); t.td_error(&before, gamma) });
                let after = learner.theta();
                // theta' = theta + eta (delta + z.theta - z.theta') z, with an error that grows with eta |z|^2.
                let error = delta + dot(&z, &before) - dot(&z, after);
                let size = 1.0 + norm(&before) + eta * dot(&z, &z) * (delta.abs() + norm(&before));
                for i in 0..z.len() {
                    let solved = before[i] + eta * error * z[i];
                    prop_assert!((solved - after[i]).abs() <= 1e-12 * size);
                }
                let largest = eta.min(1.0 / dot(&z, &z)) * (delta * norm(&z)).abs();
                prop_assert!(distance(after, &before) <= largest * (1.0 + 1e-12) + 1e-15 * norm(&before));
                if sample.ends() {
                    z.fill(0.0);
                }
            }
        }
    }
}

/// T36: LSTD tends to theta*, with an error that falls as 1/sqrt T.
#[test]
fn lstd_tends_to_the_fixed_point() {
    for problem in [ref_2(), ref_3()] {
        let mean_error = |steps: usize| {
            let setting = Setting::of_problem(&problem, None, steps as u64);
            let runs = 20;
            let errors = (0..runs).map(|run| {
                let prepared = registry::find("lstd")
                    .unwrap()
                    .prepare::<&str>(&setting, &[])
                    .unwrap();
                let learner = feed_problem(&problem, prepared.learner, steps, run);
                distance(learner.theta(), problem.theta_star())
            });
            errors.sum::<f64>() / runs as f64
        };
        let (short, long) = (mean_error(1_000), mean_error(100_000));
        let size = norm(problem.theta_star());
        assert!(long < 0.02 * size, "{long} of {size}");
        // A hundred times the samples give a tenth of the error, up to the spread of 20 runs.
        assert!((5.0..20.0).contains(&(short / long)), "{short} to {long}");
    }
}

/// Once the emphasis has risen, on-policy emphatic TD takes the steps of TD(lambda), larger by the fair factor.
#[test]
fn emphatic_td_on_policy_is_td_lambda_with_larger_steps() {
    let problem = ref_3();
    let (gamma, lambda, step) = (problem.discount(), 0.4, 1e-3);
    let factor = etd::fair_factor(gamma, lambda);
    let params = etd::EtdParams {
        discount: gamma,
        step: step / factor,
        lambda,
    };
    let mut emphatic = Etd::new(params, 2).unwrap();
    // The transient: transitions without features or reward raise F and leave theta and the trace at 0.
    let nothing = Features::Dense(&[0.0, 0.0]);
    for _ in 0..300 {
        emphatic.step(&Transition::new(nothing, 0.0, nothing));
    }
    let plain = TdLambda::new(td_lambda::TdLambdaParams::constant(gamma, lambda, step), 2).unwrap();
    let emphatic = feed_problem(&problem, emphatic, 2_000, 0);
    let plain = feed_problem(&problem, plain, 2_000, 0);
    assert!(distance(emphatic.theta(), plain.theta()) < 1e-12 * norm(plain.theta()));
}
