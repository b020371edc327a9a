//! Checks the pathwise statements of the proof on trajectories of random problems.

use crate::common::{between, iterates, random_problem, trajectory};
use robust_td_core::matrix::norm_sq;
use robust_td_core::random::Stream;
use robust_td_core::theory::certify::unit_steps;
use robust_td_core::theory::proof_terms::{ProofTerms, envelope, lookback, variance_sum};
use robust_td_core::{Matrix, Mixing, Problem};

const SEEDS: std::ops::Range<u64> = 0..40;
const STEPS: usize = 300;

fn norm(x: &[f64]) -> f64 {
    norm_sq(x).sqrt()
}

/// Schedules from that of Algorithm 1 to far too large steps.
fn schedules(problem: &Problem) -> Vec<Box<dyn Fn(u64) -> f64>> {
    let ph = problem.phi_inf();
    vec![
        Box::new(unit_steps(ph, STEPS as u64)),
        Box::new(move |_| 0.1 / (ph * ph)),
        Box::new(move |t| if t % 7 == 0 { 3.0 / (ph * ph) } else { 0.0 }),
        Box::new(move |t| 2.0 / (ph * ph * (t as f64 + 1.0))),
    ]
}

#[test]
fn the_prefix_bound_holds_on_every_trajectory() {
    // |theta_m| <= (|theta_0| + b) prod (1 + (1+gamma) ph^2 eta_t) - b on every path.
    for seed in SEEDS {
        let problem = random_problem(seed);
        let states = trajectory(&problem, &mut Stream::new(seed, 1), STEPS + 1);
        let growth = 1.0 + problem.discount();
        let (ph, b) = (
            problem.phi_inf(),
            problem.r_inf() / (growth * problem.phi_inf()),
        );
        for eta in schedules(&problem) {
            let mut product = 1.0;
            for (t, theta) in iterates(&problem, &states, &eta).iter().enumerate() {
                let bound = b * (product - 1.0);
                assert!(
                    norm(theta) <= bound * (1.0 + 1e-9) + 1e-12,
                    "seed {seed}, t {t}"
                );
                product *= 1.0 + growth * ph * ph * eta(t as u64);
            }
        }
    }
}

#[test]
fn the_noise_has_mean_zero_and_noise_and_bias_stay_in_the_envelope() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let states = trajectory(&problem, &mut Stream::new(seed, 1), STEPS + 1);
        let thetas = iterates(&problem, &states, &schedules(&problem)[1]);
        let mut seen = 0;
        for (t, terms) in ProofTerms::along(&problem, &states, &thetas).enumerate() {
            seen += 1;
            let theta = &thetas[t];
            let scale = terms.envelope.max(1.0);
            let mut mean = vec![0.0; problem.dimension()];
            for (to, p) in problem.chain().transition().entries(states[t]) {
                let noise = ProofTerms::at(&problem, theta, states[t], to).noise;
                mean.iter_mut()
                    .zip(noise)
                    .for_each(|(sum, xi)| *sum += p * xi);
            }
            assert!(norm(&mean) <= 1e-12 * scale);
            assert!(norm(&terms.update) <= terms.envelope * (1.0 + 1e-12));
            assert!(norm(&terms.noise) <= 2.0 * terms.envelope * (1.0 + 1e-12));
            assert!(norm(&terms.bias) <= 2.0 * terms.envelope * (1.0 + 1e-12));
            // The three parts sum to the update.
            let mean = problem.mean_update(theta);
            for i in 0..theta.len() {
                let sum = terms.noise[i] + terms.bias[i] + mean[i];
                assert!((sum - terms.update[i]).abs() <= 1e-12 * scale);
            }
        }
        assert_eq!(seen, STEPS);
    }
}

#[test]
fn the_bias_has_stationary_mean_zero() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let mut stream = Stream::new(seed, 2);
        let theta: Vec<f64> = (0..problem.dimension())
            .map(|_| between(&mut stream, -5.0, 5.0))
            .collect();
        let mut mean = vec![0.0; theta.len()];
        for edge in problem.edges() {
            let terms = ProofTerms::at(&problem, &theta, edge.from, edge.to);
            let weight = problem.stationary()[edge.from] * edge.probability;
            mean.iter_mut()
                .zip(terms.bias)
                .for_each(|(sum, b)| *sum += weight * b);
        }
        assert!(norm(&mean) <= 1e-12 * envelope(&problem, &theta).max(1.0));
    }
}

#[test]
fn the_averaged_iterate_obeys_its_exact_identity() {
    // A ebar S = (e_0 - e_T) + sum eta_t g(theta*; Z_t) + sum eta_t (A - A_Z) e_t,  A_z = phi(s) (phi(s) - gamma phi(s'))'.
    for seed in SEEDS {
        let problem = random_problem(seed);
        let states = trajectory(&problem, &mut Stream::new(seed, 1), STEPS + 1);
        for eta in &schedules(&problem)[..2] {
            let thetas = iterates(&problem, &states, eta);
            let d = problem.dimension();
            let mut weighted_error = vec![0.0; d];
            let mut right: Vec<f64> = problem.error(&thetas[0]);
            right
                .iter_mut()
                .zip(problem.error(&thetas[STEPS]))
                .for_each(|(x, e)| *x -= e);
            let mut size = norm(&right);
            for (t, pair) in states.windows(2).enumerate() {
                let step = eta(t as u64);
                let e = problem.error(&thetas[t]);
                let (phi, next) = (problem.phi(pair[0]), problem.phi(pair[1]));
                let drop: f64 = (0..d)
                    .map(|i| (phi[i] - problem.discount() * next[i]) * e[i])
                    .sum();
                let noise = problem.update(problem.theta_star(), pair[0], pair[1]);
                let drift = problem.a().times(&e);
                for i in 0..d {
                    right[i] += step * (noise[i] + drift[i] - phi[i] * drop);
                    weighted_error[i] += step * e[i];
                }
                size += step * (norm(&noise) + norm(&e));
            }
            let left = problem.a().times(&weighted_error);
            for (x, y) in left.iter().zip(&right) {
                assert!(
                    (x - y).abs() <= 1e-9 * size.max(1.0),
                    "seed {seed}: {x} {y}"
                );
            }
        }
    }
}

#[test]
fn the_bias_forgets_its_start() {
    // |E[g(theta; Z_k) | s_0 = s] - gbar(theta)| <= 2 max_z |g(theta; z)| d(k)
    for seed in SEEDS {
        let problem = random_problem(seed);
        let n = problem.states();
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let distances = mixing.distances(12);
        let mut stream = Stream::new(seed, 3);
        for _ in 0..4 {
            let theta: Vec<f64> = (0..problem.dimension())
                .map(|_| between(&mut stream, -5.0, 5.0))
                .collect();
            let largest = problem.largest_update(&theta);
            let mean = problem.mean_update(&theta);
            let from_state: Vec<Vec<f64>> = (0..n)
                .map(|s| problem.mean_update_from(&theta, s))
                .collect();
            // Row s of `law` is the distribution of s_k given s_0 = s.
            let mut law = Matrix::identity(n);
            for distance in &distances {
                for s in 0..n {
                    let gap: Vec<f64> = (0..theta.len())
                        .map(|i| {
                            (0..n)
                                .map(|x| law.get(s, x) * from_state[x][i])
                                .sum::<f64>()
                                - mean[i]
                        })
                        .collect();
                    assert!(norm(&gap) <= 2.0 * largest * distance + 1e-12 * largest.max(1.0));
                }
                let rows: Vec<Vec<f64>> = (0..n)
                    .map(|s| problem.chain().transition().left_times(law.row(s)))
                    .collect();
                law = Matrix::from_rows(&rows).unwrap();
            }
        }
    }
}

#[test]
fn the_variance_sum_bounds_the_squared_updates() {
    for seed in SEEDS {
        let problem = random_problem(seed);
        let states = trajectory(&problem, &mut Stream::new(seed, 1), STEPS + 1);
        let eta = &schedules(&problem)[0];
        let thetas = iterates(&problem, &states, eta);
        let moments = (0..STEPS).map(|t| (eta(t as u64), norm(&thetas[t]), norm_sq(&thetas[t])));
        let bound = variance_sum(&problem, moments);
        let sum: f64 = ProofTerms::along(&problem, &states, &thetas)
            .enumerate()
            .map(|(t, terms)| eta(t as u64).powi(2) * norm_sq(&terms.update))
            .sum();
        let envelopes: f64 = (0..STEPS)
            .map(|t| (eta(t as u64) * envelope(&problem, &thetas[t])).powi(2))
            .sum();
        assert!(sum <= bound * (1.0 + 1e-12));
        assert!((envelopes / bound - 1.0).abs() < 1e-12);
    }
    assert_eq!(
        (lookback(3, 10), lookback(10, 10), lookback(11, 10)),
        (3, 10, 10)
    );
}
