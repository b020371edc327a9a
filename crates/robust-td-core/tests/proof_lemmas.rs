//! Checks the lemmas of the proof over random problems: pathwise, over all trajectories, and by exact moments.

use crate::common::{between, norm, random_problem, random_vector, robust_steps};
use robust_td_core::moments::Moments;
use robust_td_core::paths::{MOST_PATHS, for_each_path};
use robust_td_core::random::Stream;
use robust_td_core::theory::horizon::{free_of_mixing, lag_at, tau};
use robust_td_core::theory::lookback::{
    NormMoments, bias_lemma, distance_product_bound, envelope_product_bound, lipschitz, scalar_bias,
};
use robust_td_core::theory::proof_terms::{ProofTerms, envelope};
use robust_td_core::theory::total_variation::{distance, pair_inequality, vector_inequality};
use robust_td_core::theory::update_norms::{LemmaInExpectation, UpdateNorms};
use robust_td_core::{Chain, Matrix, Mixing, Problem, Reward};

const SEEDS: std::ops::Range<u64> = 0..60;

/// A problem of three states that mixes fast enough for lags of a few steps: trajectories can be enumerated.
#[allow(clippy::unwrap_used)]
fn small_problem(seed: u64) -> Problem {
    let mut stream = Stream::new(seed, 77);
    let mut table = |columns: usize, low: f64, high: f64| -> Vec<Vec<f64>> {
        let mut row = || -> Vec<f64> {
            (0..columns)
                .map(|_| between(&mut stream, low, high))
                .collect()
        };
        (0..3).map(|_| row()).collect()
    };
    let mut rows = table(3, 0.3, 1.0);
    for row in &mut rows {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x /= sum);
    }
    let chain = Chain::from_dense(&Matrix::from_rows(&rows).unwrap()).unwrap();
    let reward = Reward::PerTransition(Matrix::from_rows(&table(3, -2.0, 2.0)).unwrap());
    let features = Matrix::from_rows(&table(1 + seed as usize % 2, -1.5, 1.5)).unwrap();
    let discount = [0.3, 0.9, 0.99][seed as usize % 3];
    Problem::new(chain, features, reward, discount, seed as usize % 3).unwrap()
}

#[test]
fn expectations_over_vectors_differ_by_at_most_the_total_variation() {
    let mut sharpest = 0f64;
    for seed in SEEDS {
        let mut stream = Stream::new(seed, 1);
        let law = |stream: &mut Stream| {
            let weights: Vec<f64> = (0..6).map(|_| stream.uniform().powi(4)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|x| x / sum).collect::<Vec<f64>>()
        };
        let (p, q) = (law(&mut stream), law(&mut stream));
        let values: Vec<Vec<f64>> = (0..6).map(|_| random_vector(&mut stream, 3, 2.0)).collect();
        let sides = vector_inequality(&p, &q, &values);
        assert!(sides.holds(), "seed {seed}: {sides:?}");
        sharpest = sharpest.max(sides.ratio());
    }
    assert!(sharpest > 0.5, "{sharpest}");
}

#[test]
fn pairs_of_states_are_as_far_from_stationary_as_their_first_state() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let chain = problem.chain();
        let mixing = Mixing::of(chain).unwrap().unwrap();
        for start in 0..problem.states() {
            let mut law = vec![0.0; problem.states()];
            law[start] = 1.0;
            for k in 0..12 {
                let sides = pair_inequality(chain, &law);
                assert!((sides.left - sides.right).abs() <= 1e-14, "{sides:?}");
                assert!(sides.right <= 2.0 * mixing.alpha().powi(k) + 1e-14);
                law = chain.transition().left_times(&law);
            }
        }
    }
    assert_eq!(distance(&[0.5, 0.5, 0.0], &[0.0, 0.5, 0.5]), 0.5);
}

#[test]
fn the_scalar_bias_is_lipschitz() {
    let mut sharpest = 0f64;
    for seed in SEEDS {
        let problem = random_problem(seed);
        let mut stream = Stream::new(seed, 2);
        for size in [0.01, 1.0, 30.0] {
            let before = random_vector(&mut stream, problem.dimension(), size);
            let step = random_vector(&mut stream, problem.dimension(), 0.1 * size);
            let now: Vec<f64> = before.iter().zip(&step).map(|(x, y)| x + y).collect();
            for state in 0..problem.states() {
                let sides = lipschitz(&problem, &now, &before, state);
                assert!(sides.holds(), "seed {seed}: {sides:?}");
                sharpest = sharpest.max(sides.ratio());
            }
        }
    }
    assert!(sharpest > 0.1, "{sharpest}");
}

#[test]
fn cross_terms_stay_below_their_bounds_over_all_trajectories() {
    for seed in 0..20 {
        let problem = small_problem(seed);
        let ph = problem.phi_inf();
        // Steps from those of the paper to far too large ones.
        for factor in [1.0, 30.0, 600.0] {
            let eta = robust_steps(&problem, 100, 41.0 / factor);
            let steps = 6;
            let mut norms = vec![
                NormMoments {
                    mean: 0.0,
                    square: 0.0
                };
                steps + 1
            ];
            let mut products = vec![[0.0; 2]; (steps + 1) * (steps + 1)];
            for_each_path(&problem, steps, eta, |path| {
                let size: Vec<f64> = path.thetas.iter().map(|x| norm(x)).collect();
                for k in 0..=steps {
                    norms[k].mean += path.probability * size[k];
                    norms[k].square += path.probability * size[k] * size[k];
                    let ell = envelope(&problem, &path.thetas[k]);
                    for j in 0..=k {
                        let d = norm(&problem.error(&path.thetas[j]));
                        let cell = &mut products[k * (steps + 1) + j];
                        cell[0] += path.probability * ell * envelope(&problem, &path.thetas[j]);
                        cell[1] += path.probability * ell * ph * ph * d;
                    }
                }
            })
            .unwrap();
            for k in 0..=steps {
                for j in 0..=k {
                    let [envelopes, distances] = products[k * (steps + 1) + j];
                    let bound = envelope_product_bound(&problem, norms[k], norms[j]);
                    assert!(envelopes <= bound * (1.0 + 1e-12));
                    if j == k {
                        // For one iterate the first bound is an equality.
                        assert!((envelopes / bound - 1.0).abs() < 1e-12);
                    }
                    let bound = distance_product_bound(&problem, norms[k], norms[j]);
                    assert!(distances <= bound * (1.0 + 1e-12), "{distances} {bound}");
                }
            }
        }
    }
}

#[test]
fn the_bias_lemma_holds_over_all_trajectories() {
    let (mut beyond_the_lag, mut sharpest) = (0, 0f64);
    for seed in 0..12 {
        let problem = small_problem(seed);
        let alpha = Mixing::of(problem.chain()).unwrap().unwrap().alpha();
        for t in [1, 2, 5, 9] {
            for c in [0.05, 1.0, 41.0] {
                let sides = bias_lemma(&problem, (c, 100), alpha, t).unwrap().unwrap();
                assert!(sides.holds(), "seed {seed}, t {t}, c {c}: {sides:?}");
                sharpest = sharpest.max(sides.ratio());
            }
            beyond_the_lag += usize::from(lag_at(t as f64, alpha).unwrap() + 1 < t as u64);
        }
    }
    // The last two lines of the bound are in use, and the left side is no zero.
    assert!(beyond_the_lag >= 12, "{beyond_the_lag}");
    assert!(sharpest > 0.01, "{sharpest}");
    assert_eq!(bias_lemma(&small_problem(0), (1.0, 100), 0.5, 0), Ok(None));
    let refused = bias_lemma(&small_problem(0), (1.0, 100), 0.5, 40).unwrap_err();
    assert!(refused.paths > MOST_PATHS && refused.to_string().contains("39 steps"));
}

#[test]
fn moments_give_the_expectations_over_all_trajectories() {
    for seed in 0..12 {
        let problem = small_problem(seed);
        let eta = robust_steps(&problem, 100, 0.5);
        let steps = 6;
        let mut moments = Moments::new(&problem);
        (0..steps).for_each(|t| moments.step(eta(t)));
        let found = UpdateNorms::of(&problem, &moments);
        let mut sums = UpdateNorms::default();
        for_each_path(&problem, steps as usize + 1, &eta, |path| {
            let (theta, t) = (&path.thetas[steps as usize], steps as usize);
            let terms = ProofTerms::at(&problem, theta, path.states[t], path.states[t + 1]);
            let p = path.probability;
            sums.noise_sq += p * norm(&terms.noise).powi(2);
            sums.bias_sq += p * norm(&terms.bias).powi(2);
            sums.mean_sq += p * norm(&problem.mean_update(theta)).powi(2);
            sums.bias_along += p * scalar_bias(&problem, theta, path.states[t]);
        })
        .unwrap();
        for (x, y) in [
            (found.noise_sq, sums.noise_sq),
            (found.bias_sq, sums.bias_sq),
            (found.mean_sq, sums.mean_sq),
            (found.bias_along, sums.bias_along),
        ] {
            assert!((x - y).abs() <= 1e-11 * y.abs().max(1.0), "{x} {y}");
        }
    }
}

#[test]
fn variance_and_telescoping_hold_in_expectation() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        for c in [0.01, 0.3, 41.0] {
            let eta = robust_steps(&problem, 1_000, c);
            for steps in [1, 10, 200] {
                let sides = LemmaInExpectation::after(&problem, steps, &eta);
                if !sides.distance.left.is_finite() {
                    continue;
                }
                let slack = 1.0 + 1e-10;
                for (name, pair) in [
                    ("distance", sides.distance),
                    ("noise", sides.noise),
                    ("bias", sides.bias),
                    ("mean", sides.mean),
                ] {
                    assert!(
                        pair.left <= pair.right * slack,
                        "seed {seed}, c {c}, {steps} steps, {name}: {pair:?}"
                    );
                }
            }
        }
    }
}

/// `E d_{t+1}^2 = E d_t^2 + 2 eta (E<b,e> - E f) + eta^2 E|g|^2` with `E|g|^2 = E|xi|^2 + E|b + gbar|^2 <= E|xi|^2 + 2 E|b|^2 + 2 E|gbar|^2`.
#[test]
fn one_step_moves_the_distance_as_its_parts_say() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let eta = robust_steps(&problem, 1_000, 1.0);
        let mut moments = Moments::new(&problem);
        for t in 0..50 {
            let (before, f) = (moments.mean_distance_sq(), moments.mean_f());
            let at = UpdateNorms::of(&problem, &moments);
            let step = eta(t);
            moments.step(step);
            let moved = moments.mean_distance_sq() - before;
            let square = (moved - 2.0 * step * (at.bias_along - f)) / (step * step);
            // Rounding: the distance is a difference of numbers of its own size.
            let room = 1e-12 * before / (step * step) + 1e-9 * square.abs();
            assert!(square >= at.noise_sq - room, "{square} {at:?}");
            let most = at.noise_sq + 2.0 * (at.bias_sq + at.mean_sq);
            assert!(square <= most + room, "{square} {at:?}");
        }
    }
}

#[test]
fn long_horizons_are_free_of_the_mixing_time() {
    let mut seen = 0;
    for alpha in [0.5, 0.7, 0.9, 0.95] {
        for constant in [1.1, 1.5, 2.0] {
            for horizon in (0..60).map(|i| (2.0 * 1.5f64.powi(i)) as u64) {
                let Some(sides) = free_of_mixing(horizon, constant, alpha) else {
                    continue;
                };
                seen += 1;
                assert!(sides.holds(), "{alpha} {constant} {horizon}: {sides:?}");
                let root = (horizon as f64).sqrt();
                assert_eq!(sides.left, tau(constant, alpha, 1.0 / root).unwrap() as f64);
            }
        }
    }
    assert!(seen > 300, "{seen}");
    assert_eq!(free_of_mixing(10, 2.0, 0.9), None);
}

#[test]
fn unit_features_need_no_bound() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let Ok(unit) = problem.with_unit_features() else {
            // One feature of one sign becomes a constant: still independent, so only dependent features are refused.
            assert!(problem.dimension() > 1);
            continue;
        };
        assert!((unit.phi_inf() - 1.0).abs() < 1e-15);
        for s in 0..unit.states() {
            assert!((norm(unit.phi(s)) - 1.0).abs() < 1e-15);
        }
        assert_eq!(unit.true_values(), problem.true_values());
    }
}
