//! Checks the theory of TD(lambda): statements T31 and T32, the reference vectors and the certificate.

use proptest::prelude::*;
use robust_td_core::learner::{Learner, Lstd, TdLambda, lstd, td_lambda};
use robust_td_core::random::Stream;
use robust_td_core::theory::lambda::LambdaTheory;
use robust_td_core::theory::{StepProfile, certify};
use robust_td_core::{Matrix, Mixing, Problem};

use crate::common::{close, distance, dot, norm, problems, random_vector, ref_2, ref_3};
use crate::samples::{Recording, feed_problem};

#[test]
fn reference_fixed_points() {
    let problem = ref_3();
    for (lambda, expected) in [
        (0.0, [0.8934135908800587, 0.8229382391081345]),
        (0.5, [0.8966249738855302, 0.8423798375560364]),
        (1.0, [0.9005391595433366, 0.8660761782540956]),
    ] {
        let theory = LambdaTheory::new(&problem, lambda).unwrap();
        assert!(distance(theory.theta_star(), &expected) < 1e-13);
    }
    for lambda in [-0.1, 1.1, f64::NAN] {
        assert!(LambdaTheory::new(&problem, lambda).is_err());
    }
}

/// `|x|_Dir^2` under another chain with the problem's stationary distribution.
fn dirichlet_sq(problem: &Problem, transition: &Matrix, x: &[f64]) -> f64 {
    let n = problem.states();
    let terms = (0..n * n)
        .map(|k| (k / n, k % n))
        .map(|(s, to)| problem.stationary()[s] * transition.get(s, to) * (x[to] - x[s]).powi(2));
    0.5 * terms.sum::<f64>()
}

/// E[delta_k z_k | s_{k-h} = s, z_{k-h-1} = past] at a fixed theta, by powers of P.
fn mean_update_after(
    problem: &Problem,
    decay: f64,
    theta: &[f64],
    (h, s): (usize, usize),
    past: &[f64],
) -> Vec<f64> {
    let transition = problem.chain().transition();
    // ahead[j](s') = E[delta_k | s_{k-j} = s'].
    let mean = |from: usize| -> f64 {
        let successors = transition.entries(from);
        successors
            .map(|(to, p)| p * problem.td_error(theta, from, to))
            .sum()
    };
    let mut ahead = vec![(0..problem.states()).map(mean).collect::<Vec<f64>>()];
    for j in 0..h {
        ahead.push(transition.times(&ahead[j]));
    }
    let mut sum: Vec<f64> = past
        .iter()
        .map(|x| decay.powi(h as i32 + 1) * ahead[h][s] * x)
        .collect();
    let mut weights = vec![0.0; problem.states()];
    weights[s] = 1.0;
    for j in (0..=h).rev() {
        for (state, weight) in weights.iter().enumerate() {
            for (sum, phi) in sum.iter_mut().zip(problem.phi(state)) {
                *sum += decay.powi(j as i32) * weight * ahead[j][state] * phi;
            }
        }
        weights = transition.left_times(&weights);
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// T31: the potential is an identity, P_l is stochastic with stationary pi, lambda = 0 is TD(0), lambda = 1 projects V_mu.
    #[test]
    fn the_potential_and_the_chain_are_as_stated((seed, problem) in problems(), lambda in 0.0..=1.0) {
        let theory = LambdaTheory::new(&problem, lambda).unwrap();
        let (n, d) = (problem.states(), problem.dimension());
        let chain = theory.transition();
        for s in 0..n {
            prop_assert!(chain.row(s).iter().all(|&p| p >= -1e-15));
            prop_assert!((chain.row(s).iter().sum::<f64>() - 1.0).abs() <= 1e-12);
            let image: f64 = (0..n).map(|from| problem.stationary()[from] * chain.get(from, s)).sum();
            prop_assert!((image - problem.stationary()[s]).abs() <= 1e-12);
        }
        let mut stream = Stream::new(seed, 4);
        let error = random_vector(&mut stream, d, 2.0);
        let theta: Vec<f64> = theory.theta_star().iter().zip(&error).map(|(x, e)| x + e).collect();
        let values = problem.values(&error);
        let kappa = theory.kappa();
        let by_norms = (1.0 - kappa) * problem.d_norm_sq(&values) + kappa * dirichlet_sq(&problem, &chain, &values);
        let rounding = 1.0 + norm(theory.theta_star()).powi(2) * problem.phi_inf().powi(2);
        prop_assert!((theory.f(&theta) - by_norms).abs() <= 1e-10 * rounding);
        let descent = -dot(&theory.mean_update(&theta), &error);
        prop_assert!((descent - by_norms).abs() <= 1e-8 * rounding);

        let zero = LambdaTheory::new(&problem, 0.0).unwrap();
        for i in 0..d {
            prop_assert!(close(zero.b()[i], problem.c_vector()[i], 1e-12));
            for j in 0..d {
                prop_assert!(close(zero.a().get(i, j), problem.a().get(i, j), 1e-12));
            }
        }
        // lambda = 1: Phi theta* is the projection of V_mu, whose residual is orthogonal to the features.
        let one = LambdaTheory::new(&problem, 1.0).unwrap();
        let truth = problem.true_values();
        let fitted = problem.values(one.theta_star());
        let size = truth.iter().fold(1.0_f64, |m, v| m.max(v.abs())) * problem.phi_inf().max(1.0);
        for j in 0..d {
            let residual: f64 = (0..n)
                .map(|s| problem.stationary()[s] * problem.phi(s)[j] * (truth[s] - fitted[s]))
                .sum();
            prop_assert!(residual.abs() <= 1e-8 * size * (1.0 + norm(one.theta_star())));
        }
        prop_assert!(one.kappa() == 0.0);
    }

    /// T32: the bias of an update decays as dl(h), for any earlier trace.
    #[test]
    fn the_bias_fades_with_the_lag((seed, problem) in problems(), lambda in 0.0..=1.0) {
        let theory = LambdaTheory::new(&problem, lambda).unwrap();
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let distances = mixing.distances(8);
        let bias = theory.bias_distances(&distances);
        let mut stream = Stream::new(seed, 6);
        let theta = random_vector(&mut stream, problem.dimension(), 3.0);
        let limit = theory.mean_update(&theta);
        let longest = problem.phi_inf() / (1.0 - theory.decay());
        let past = random_vector(&mut stream, problem.dimension(), 1.0);
        let size = norm(&past).max(1e-300);
        let past: Vec<f64> = past.iter().map(|x| x * longest / size).collect();
        for h in 0..=8 {
            let sum: f64 = (0..=h).map(|j| theory.decay().powi(j as i32) * distances[h - j]).sum();
            let direct = sum + theory.decay().powi(h as i32 + 1) / (1.0 - theory.decay());
            prop_assert!(close(bias[h], direct, 1e-12));
            let bound = 2.0 * theory.largest_td_error(&theta) * problem.phi_inf() * bias[h];
            for s in 0..problem.states() {
                let mean = mean_update_after(&problem, theory.decay(), &theta, (h, s), &past);
                prop_assert!(distance(&mean, &limit) <= bound * (1.0 + 1e-10) + 1e-9);
            }
        }
    }

    /// T32: the norm of a trace never exceeds phi_inf / (1 - gamma lambda).
    #[test]
    fn the_trace_is_bounded(seed in any::<u64>(), lambda in 0.0..=1.0) {
        let recording = Recording::episodes(seed, 200, 1.0);
        let decay = recording.discount * lambda;
        let longest = recording.phi_inf / (1.0 - decay);
        // With step 1 theta moves by delta z, which reveals the trace.
        let params = td_lambda::TdLambdaParams::constant(recording.discount, lambda, 1.0);
        let mut learner = TdLambda::new(params, recording.dimension).unwrap();
        for sample in &recording.samples {
            let before = learner.theta().to_vec();
            let delta = sample.with(true, |t| { learner.step(t); t.td_error(&before, recording.discount) });
            let moved = distance(learner.theta(), &before);
            prop_assert!(moved <= delta.abs() * longest * (1.0 + 1e-10) + 1e-10 * (1.0 + norm(&before)));
        }
    }
}

/// The certificate is that of the specification, term by term: dl in E, q^2 in W and H.
#[test]
fn the_certificate_is_its_formula() {
    let horizon = 2_000;
    for problem in [ref_2(), ref_3()] {
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        for (lambda, c) in [(0.0, 3.0), (0.5, 8.0), (0.9, 30.0)] {
            let theory = LambdaTheory::new(&problem, lambda).unwrap();
            let certificate = theory.certify(&mixing, horizon, c);
            assert!(certificate.applies(), "{:?}", certificate.why_not());
            let lag = certificate.lag.unwrap();
            let q = 1.0 / (1.0 - theory.decay());
            let (ph, kap) = (problem.phi_inf(), 1.0 + problem.discount());
            let unit = certify::unit_steps(ph, horizon);
            let eta = move |t| unit(t) / (c * q);
            let bias = theory.bias_distances(&mixing.distances(lag as usize));
            let sums = StepProfile::new(eta, horizon, &bias).at(lag);
            let (w1, w2, h) = (q * q * sums.w1, q * q * sums.w2, q * q * sums.h);
            let a = theory.largest_td_error(theory.theta_star()) / ph;
            let (d0, g0) = (norm(theory.theta_star()), ph * problem.r_inf());
            let f = |y: f64| {
                let g = a + kap * y;
                d0 * d0
                    + 4.0 * d0 * g0 * sums.e1
                    + 4.0 * ph.powi(2) * sums.e2 * y * g
                    + 4.0 * ph.powi(4) * (w1 + w2) * g * g
                    + 4.0 * kap * ph.powi(4) * (w1 * d0 + w2 * y) * g
                    + ph.powi(4) * h * g * g
            };
            let y = certificate.iterate_bound.unwrap().sqrt();
            assert!(close(f(y), y * y, 1e-10), "{} is not {}", f(y), y * y);
            assert!(close(
                certificate.bound.unwrap(),
                y * y / (2.0 * sums.s),
                1e-10
            ));
            let best = theory.recommend(&mixing, horizon).unwrap();
            assert!(best.bound <= certificate.bound.unwrap());
        }
    }
}

/// The mean of f_l over runs stays below the certificate; with steps too large to be certified it falls well below f_l(0).
#[test]
fn the_certificate_holds_on_runs() {
    let (problem, horizon) = (ref_3(), 5_000);
    let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
    for lambda in [0.3, 0.8] {
        let theory = LambdaTheory::new(&problem, lambda).unwrap();
        let best = theory.recommend(&mixing, horizon).unwrap();
        let mean_f = |c: f64| {
            let (gamma, phi_inf) = (problem.discount(), problem.phi_inf());
            let params =
                td_lambda::TdLambdaParams::robust(gamma, lambda, horizon, c, phi_inf).unwrap();
            let runs = (0..40).map(|run| {
                let learner = TdLambda::new(params, 2).unwrap();
                theory.f(&feed_problem(&problem, learner, horizon as usize, run).output())
            });
            runs.sum::<f64>() / 40.0
        };
        assert!(mean_f(best.c) <= best.bound);
        let (found, start) = (mean_f(0.1), theory.f(&[0.0, 0.0]));
        assert!(found < 0.2 * start, "{found} of {start}");
    }
}

/// LSTD(lambda) tends to theta*_lambda, not to theta*.
#[test]
fn lstd_finds_the_fixed_point_of_each_lambda() {
    let (problem, steps, runs) = (ref_3(), 200_000, 20);
    for lambda in [0.5, 1.0] {
        let theory = LambdaTheory::new(&problem, lambda).unwrap();
        let params = lstd::LstdParams {
            discount: problem.discount(),
            lambda,
            ridge: 1e-3,
        };
        let mut mean = [0.0; 2];
        for run in 0..runs {
            let learner = feed_problem(&problem, Lstd::new(params, 2).unwrap(), steps, run);
            for (mean, x) in mean.iter_mut().zip(learner.theta()) {
                *mean += x / runs as f64;
            }
        }
        let (near, far) = (
            distance(&mean, theory.theta_star()),
            distance(&mean, problem.theta_star()),
        );
        assert!(near < 0.3 * far, "lambda {lambda}: {near}, {far}");
    }
}
