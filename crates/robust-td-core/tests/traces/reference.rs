//! Compares each method with a plain reference written from its formulas.

use proptest::prelude::*;
use robust_td_core::learner::{Alg1, Learner, LstdBatch, alg1, lstd};

use crate::common::{dot, norm};
use crate::samples::{Recording, Sample};

/// The state of a reference: every vector by its name in the formulas.
struct State {
    theta: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
}

impl State {
    fn zero(d: usize) -> Self {
        let zero = || vec![0.0; d];
        Self {
            theta: zero(),
            z: zero(),
            w: zero(),
        }
    }
}

fn td_error(sample: &Sample, gamma: f64, theta: &[f64]) -> f64 {
    sample.reward + gamma * dot(&sample.bootstrap(), theta) - dot(&sample.phi, theta)
}

fn combine(a: f64, x: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
}

/// Runs a rule over the recording; returns the last theta and the mean of theta_0, ..., theta_{T-1} with the weights that the rule returns.
fn run(
    recording: &Recording,
    mut rule: impl FnMut(usize, &Sample, &mut State) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let mut state = State::zero(recording.dimension);
    let mut sum = vec![0.0; recording.dimension];
    let mut total = 0.0;
    for (t, sample) in recording.samples.iter().enumerate() {
        let before = state.theta.clone();
        let weight = rule(t, sample, &mut state);
        sum = combine(1.0, &sum, weight, &before);
        total += weight;
        if sample.ends() {
            state.z.fill(0.0);
        }
    }
    let mean = sum.iter().map(|x| x / total).collect();
    (state.theta, mean)
}

/// Asserts |x - y| <= tolerance max(1, |y|).
#[track_caller]
fn assert_near(what: &str, x: &[f64], y: &[f64], tolerance: f64) {
    let difference = norm(&combine(1.0, x, -1.0, y));
    let size = norm(y).max(1.0);
    assert!(difference <= tolerance * size, "{what}: {x:?} is not {y:?}");
}

/// Runs the method with dense and sparse features; both must agree with the reference, and their thetas with each other.
#[track_caller]
fn check(recording: &Recording, id: &str, given: &[(&str, f64)], expected: (&[f64], &[f64])) {
    for sparse in [false, true] {
        let learner = recording.feed(recording.learner(id, given), sparse);
        assert_near(id, learner.theta(), expected.0, 1e-10);
        assert_near(id, &learner.output(), expected.1, 1e-10);
        assert_eq!(learner.id(), id);
        assert_eq!(learner.steps(), recording.samples.len() as u64);
        assert!(!learner.health().diverged());
    }
}

fn td_lambda(recording: &Recording, lambda: f64, c: f64) {
    let (gamma, horizon) = (recording.discount, recording.samples.len() as f64);
    let (theta, mean) = run(recording, |t, sample, state| {
        let logs = horizon.ln() * (t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt();
        let eta = (1.0 - gamma * lambda) / (c * recording.phi_inf.powi(2) * logs);
        let delta = td_error(sample, gamma, &state.theta);
        let rho = sample.ratio;
        state.z = combine(rho * gamma * lambda, &state.z, rho, &sample.phi);
        state.theta = combine(1.0, &state.theta, eta * delta, &state.z);
        eta
    });
    check(
        recording,
        "td-lambda",
        &[("lambda", lambda), ("c", c)],
        (&theta, &mean),
    );
}

fn implicit_td(recording: &Recording, lambda: f64, eta: f64) {
    let gamma = recording.discount;
    let (theta, _) = run(recording, |_, sample, state| {
        let delta = td_error(sample, gamma, &state.theta);
        let rho = sample.ratio;
        state.z = combine(rho * gamma * lambda, &state.z, rho, &sample.phi);
        let step = eta / (1.0 + eta * dot(&state.z, &state.z));
        state.theta = combine(1.0, &state.theta, step * delta, &state.z);
        1.0
    });
    check(
        recording,
        "implicit-td",
        &[("lambda", lambda), ("step", eta)],
        (&theta, &theta),
    );
}

fn gtd2(recording: &Recording, a: f64, b: f64) {
    let gamma = recording.discount;
    let (theta, _) = run(recording, |_, sample, state| {
        let delta = td_error(sample, gamma, &state.theta);
        let predicted = dot(&sample.phi, &state.w);
        let v = combine(1.0, &sample.phi, -gamma, &sample.bootstrap());
        state.theta = combine(1.0, &state.theta, a * sample.ratio * predicted, &v);
        state.w = combine(
            1.0,
            &state.w,
            b * (sample.ratio * delta - predicted),
            &sample.phi,
        );
        1.0
    });
    check(
        recording,
        "gtd2",
        &[("step", a), ("step_w", b)],
        (&theta, &theta),
    );
}

fn tdc(recording: &Recording, a: f64, b: f64) {
    let gamma = recording.discount;
    let (theta, _) = run(recording, |_, sample, state| {
        let delta = td_error(sample, gamma, &state.theta);
        let predicted = dot(&sample.phi, &state.w);
        let direction = combine(delta, &sample.phi, -gamma * predicted, &sample.bootstrap());
        state.theta = combine(1.0, &state.theta, a * sample.ratio, &direction);
        state.w = combine(
            1.0,
            &state.w,
            b * (sample.ratio * delta - predicted),
            &sample.phi,
        );
        1.0
    });
    check(
        recording,
        "tdc",
        &[("step", a), ("step_w", b)],
        (&theta, &theta),
    );
}

fn etd(recording: &Recording, lambda: f64, a: f64) {
    let gamma = recording.discount;
    let (mut follow_on, mut previous_ratio) = (0.0, 0.0);
    let (theta, _) = run(recording, |_, sample, state| {
        follow_on = gamma * previous_ratio * follow_on + 1.0;
        previous_ratio = if sample.ends() { 0.0 } else { sample.ratio };
        let emphasis = lambda + (1.0 - lambda) * follow_on;
        let (delta, rho) = (td_error(sample, gamma, &state.theta), sample.ratio);
        state.z = combine(rho * gamma * lambda, &state.z, rho * emphasis, &sample.phi);
        state.theta = combine(1.0, &state.theta, a * delta, &state.z);
        1.0
    });
    check(
        recording,
        "etd",
        &[("lambda", lambda), ("step", a)],
        (&theta, &theta),
    );
}

/// AdaTD on features divided by phi_inf, with the radius phi_inf R; theta = theta' / phi_inf.
fn adatd(
    recording: &Recording,
    radius: f64,
    eta: f64,
    beta: f64,
    delta: f64,
    coordinatewise: bool,
) {
    let scale = 1.0 / recording.phi_inf;
    let mut normalised = recording.clone();
    for sample in &mut normalised.samples {
        sample
            .phi
            .iter_mut()
            .chain(&mut sample.next)
            .for_each(|x| *x *= scale);
    }
    let mut v = vec![0.0; recording.dimension];
    let (theta, mean) = run(&normalised, |_, sample, state| {
        let error = td_error(sample, recording.discount, &state.theta);
        let g: Vec<f64> = sample.phi.iter().map(|x| error * x).collect();
        state.w = combine(beta, &state.w, 1.0 - beta, &g);
        for (i, v) in v.iter_mut().enumerate() {
            *v += if coordinatewise {
                g[i] * g[i]
            } else {
                dot(&g, &g)
            };
        }
        for (i, theta) in state.theta.iter_mut().enumerate() {
            *theta += eta * state.w[i] / (v[i] + delta).sqrt();
        }
        let size = norm(&state.theta);
        let limit = radius * recording.phi_inf;
        if size > limit {
            state.theta.iter_mut().for_each(|x| *x *= limit / size);
        }
        1.0
    });
    let back = |x: &[f64]| -> Vec<f64> { x.iter().map(|x| x * scale).collect() };
    let given = [
        ("radius", radius),
        ("step", eta),
        ("beta", beta),
        ("delta", delta),
        ("coordinatewise", f64::from(u8::from(coordinatewise))),
    ];
    check(recording, "adatd", &given, (&back(&theta), &back(&mean)));
}

/// Gauss-Jordan with row exchanges.
fn solve(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let d = b.len();
    for k in 0..d {
        let pivot = (k..d)
            .max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))
            .unwrap();
        m.swap(k, pivot);
        b.swap(k, pivot);
        for i in (0..d).filter(|&i| i != k) {
            let factor = m[i][k] / m[k][k];
            m[i] = combine(1.0, &m[i], -factor, &m[k]);
            b[i] -= factor * b[k];
        }
    }
    (0..d).map(|k| b[k] / m[k][k]).collect()
}

fn lstd(recording: &Recording, lambda: f64, ridge: f64) {
    let (d, gamma) = (recording.dimension, recording.discount);
    let mut a: Vec<Vec<f64>> = (0..d)
        .map(|i| (0..d).map(|j| if i == j { ridge } else { 0.0 }).collect())
        .collect();
    let mut b = vec![0.0; d];
    run(recording, |_, sample, state| {
        let rho = sample.ratio;
        state.z = combine(rho * gamma * lambda, &state.z, rho, &sample.phi);
        let v = combine(1.0, &sample.phi, -gamma, &sample.bootstrap());
        for (i, row) in a.iter_mut().enumerate() {
            *row = combine(1.0, row, state.z[i], &v);
        }
        b = combine(1.0, &b, sample.reward, &state.z);
        1.0
    });
    let theta = solve(a, b);
    check(
        recording,
        "lstd",
        &[("lambda", lambda), ("ridge", ridge)],
        (&theta, &theta),
    );

    // T36: the batch and recursive forms agree.
    let params = lstd::LstdParams {
        discount: gamma,
        lambda,
        ridge,
    };
    for sparse in [false, true] {
        let mut batch = LstdBatch::new(params, d).unwrap();
        for sample in &recording.samples {
            sample.with(sparse, |transition| batch.add(transition));
        }
        assert_near("batch", &batch.solution().unwrap(), &theta, 1e-10);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_method_is_its_formula_on_problems(seed in any::<u64>(), lambda in 0.0..1.0, log_step in -3.0..-0.5_f64) {
        let recording = Recording::of_problem(seed, 200);
        let step = 10f64.powf(log_step) / recording.phi_inf.powi(2);
        td_lambda(&recording, lambda, 2.0);
        implicit_td(&recording, lambda, 10.0 * step);
        gtd2(&recording, step, 2.0 * step);
        tdc(&recording, step, 2.0 * step);
        etd(&recording, lambda, step * (1.0 - recording.discount));
        lstd(&recording, lambda, recording.phi_inf.powi(2));
        for coordinatewise in [false, true] {
            adatd(&recording, 3.0 / recording.phi_inf, 0.5, 0.9, 1e-8, coordinatewise);
            adatd(&recording, 0.2 / recording.phi_inf, 0.5, 0.3, 1.0, coordinatewise);
        }
    }

    #[test]
    fn every_method_is_its_formula_on_episodes_with_ratios(seed in any::<u64>(), lambda in 0.0..1.0, log_step in -3.0..-1.0_f64) {
        let recording = Recording::episodes(seed, 200, 2.0);
        let step = 10f64.powf(log_step) / recording.phi_inf.powi(2);
        td_lambda(&recording, lambda, 2.0);
        implicit_td(&recording, lambda, 10.0 * step);
        gtd2(&recording, step, 2.0 * step);
        tdc(&recording, step, 2.0 * step);
        etd(&recording, lambda, step * (1.0 - recording.discount));
        // Without ratios the matrix of LSTD stays far from singular.
        lstd(&Recording::episodes(seed, 200, 1.0), lambda, recording.phi_inf.powi(2));
        adatd(&recording, 2.0, 0.5, 0.9, 1e-8, false);
    }

    /// T31: with lambda = 0 TD(lambda) is Algorithm 1, to the bit.
    #[test]
    fn lambda_zero_is_algorithm_1(seed in any::<u64>(), c in 0.01..10.0_f64, sparse in any::<bool>()) {
        for recording in [Recording::of_problem(seed, 150), Recording::episodes(seed, 150, 1.0)] {
            let params = alg1::Alg1Params::decaying(recording.discount, 150, c, recording.phi_inf);
            let plain = Alg1::new(params, recording.dimension).unwrap();
            let plain = recording.feed(plain, sparse);
            let traced = recording.learner("td-lambda", &[("lambda", 0.0), ("c", c)]);
            let traced = recording.feed(traced, sparse);
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(traced.theta()), bits(plain.theta()));
            prop_assert_eq!(bits(&traced.output()), bits(&plain.output()));
            prop_assert_eq!(traced.health(), plain.health());
        }
    }
}
