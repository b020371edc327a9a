//! Checks the definitions and lemmas of the paper on random problems.

use crate::common::*;
use proptest::prelude::*;
use robust_td_core::random::Stream;
use robust_td_core::{Chain, Matrix, Problem, Reward};

/// Solves a small dense system by Gauss-Jordan elimination, independently of the library.
fn solve(matrix: &[Vec<f64>], rhs: &[f64]) -> Vec<f64> {
    let n = rhs.len();
    let mut rows: Vec<Vec<f64>> = matrix
        .iter()
        .zip(rhs)
        .map(|(row, b)| [row.as_slice(), &[*b]].concat())
        .collect();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))
            .expect("a pivot");
        rows.swap(k, pivot);
        for i in 0..n {
            if i != k {
                let factor = rows[i][k] / rows[k][k];
                for j in k..=n {
                    rows[i][j] -= factor * rows[k][j];
                }
            }
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

fn random_theta(problem: &Problem, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 1000);
    let size = 1.0 + problem.theta_star_norm();
    random_vector(&mut stream, problem.dimension(), size)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// T1: pi' P = pi', pi > 0.
    #[test]
    fn stationary_distribution((_, problem) in problems()) {
        let pi = problem.stationary();
        let image = problem.chain().transition().left_times(pi);
        prop_assert!(pi.iter().all(|&p| p > 0.0));
        prop_assert!((pi.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (a, b) in pi.iter().zip(&image) {
            prop_assert!((a - b).abs() < 1e-12);
        }
    }

    /// T2: gbar(theta*) = 0, which is A theta* = c.
    #[test]
    fn fixed_point((_, problem) in problems()) {
        let residual = norm(&problem.mean_update(problem.theta_star()));
        prop_assert!(residual <= 1e-10 * norm(problem.c_vector()).max(1.0));
    }

    /// T3: theta* = Sigma^{-1} Phi' D (rbar + gamma P Phi theta*), the projected Bellman equation.
    #[test]
    fn projected_bellman_equation((_, problem) in problems()) {
        let d = problem.dimension();
        let values = problem.values(problem.theta_star());
        let onward = problem.chain().transition().times(&values);
        let mut rhs = vec![0.0; d];
        let mut sigma = vec![vec![0.0; d]; d];
        for (s, p) in problem.stationary().iter().enumerate() {
            let phi = problem.phi(s);
            for i in 0..d {
                rhs[i] += p * phi[i] * (problem.mean_rewards()[s] + problem.discount() * onward[s]);
                for j in 0..d {
                    sigma[i][j] += p * phi[i] * phi[j];
                }
            }
        }
        // Compared after multiplication by Sigma, since Sigma^{-1} amplifies rounding by 1/omega.
        let image: Vec<f64> = sigma.iter().map(|row| dot(row, problem.theta_star())).collect();
        prop_assert!(distance(&image, &rhs) <= 1e-9 * norm(&rhs).max(1.0));
        let solved = solve(&sigma, &rhs);
        let scale = problem.theta_star_norm().max(1.0) * problem.kappa().max(1.0);
        prop_assert!(distance(&solved, problem.theta_star()) <= 1e-9 * scale.max(1.0));
    }

    /// T4: with tabular features theta* is the true value function.
    #[test]
    fn tabular_fixed_point_is_the_value_function((_, problem) in problems()) {
        let tabular = problem.with_features(Matrix::identity(problem.states())).unwrap();
        let values = problem.true_values();
        let scale = norm(&values).max(1.0);
        prop_assert!(distance(tabular.theta_star(), &values) <= 1e-9 * scale);
        // Both solve the Bellman equation.
        let onward = problem.chain().transition().times(&values);
        for s in 0..problem.states() {
            let residual = problem.mean_rewards()[s] + problem.discount() * onward[s] - values[s];
            prop_assert!(residual.abs() <= 1e-12 * scale);
        }
    }

    /// T5: -gbar(theta).(theta - theta*) = f(theta) = (1-gamma) D-norm + gamma Dirichlet seminorm.
    #[test]
    fn gradient_splitting((seed, problem) in problems()) {
        let theta = random_theta(&problem, seed);
        let error = problem.error(&theta);
        let f = problem.f(&theta);
        let split = -dot(&problem.mean_update(&theta), &error);
        let difference = problem.values(&error);
        let gamma = problem.discount();
        let norms = (1.0 - gamma) * problem.d_norm_sq(&difference)
            + gamma * problem.dirichlet_sq(&difference);
        prop_assert!(close(split, f, 1e-10), "{split} is not {f}");
        prop_assert!(close(norms, f, 1e-10), "{norms} is not {f}");
    }

    /// T6: gbar.(theta - theta*) <= -omega (1-gamma) |theta - theta*|^2.
    #[test]
    fn curvature((seed, problem) in problems()) {
        let theta = random_theta(&problem, seed);
        let error = problem.error(&theta);
        let size = dot(&error, &error);
        let slope = dot(&problem.mean_update(&theta), &error);
        prop_assert!(slope + problem.omega() * (1.0 - problem.discount()) * size <= 1e-10 * size);
    }

    /// T7: |g| <= r_inf phi_inf + (1+gamma) phi_inf^2 |theta|.
    #[test]
    fn gradient_bound((seed, problem) in problems()) {
        let theta = random_theta(&problem, seed);
        let (r, phi) = (problem.r_inf(), problem.phi_inf());
        let bound = r * phi + (1.0 + problem.discount()) * phi * phi * norm(&theta);
        for edge in problem.edges() {
            prop_assert!(norm(&problem.update(&theta, edge.from, edge.to)) <= bound * (1.0 + 1e-12));
        }
        prop_assert!(problem.largest_update(&theta) <= bound * (1.0 + 1e-12));
    }

    /// T8: g and gbar are Lipschitz with constant (1+gamma) phi_inf^2.
    #[test]
    fn lipschitz((seed, problem) in problems()) {
        let (x, y) = (random_theta(&problem, seed), random_theta(&problem, seed ^ 1));
        let bound = (1.0 + problem.discount()) * problem.phi_inf().powi(2) * distance(&x, &y);
        for edge in problem.edges() {
            let change = distance(
                &problem.update(&x, edge.from, edge.to),
                &problem.update(&y, edge.from, edge.to),
            );
            prop_assert!(change <= bound * (1.0 + 1e-10));
        }
        let change = distance(&problem.mean_update(&x), &problem.mean_update(&y));
        prop_assert!(change <= bound * (1.0 + 1e-10));
    }

    /// T9: f <= (1+gamma) phi_inf^2 |e|^2; the Dirichlet seminorm is x' L x and at most twice the D-norm.
    #[test]
    fn norms((seed, problem) in problems()) {
        let theta = random_theta(&problem, seed);
        let error = problem.error(&theta);
        let cap = (1.0 + problem.discount()) * problem.phi_inf().powi(2) * dot(&error, &error);
        prop_assert!(problem.f(&theta) <= cap * (1.0 + 1e-12));
        let x = problem.values(&theta);
        let (pi, p) = (problem.stationary(), problem.chain().transition().to_dense());
        let n = problem.states();
        let mut quadratic = 0.0;
        for s in 0..n {
            for t in 0..n {
                let flow = 0.5 * (pi[s] * p.get(s, t) + pi[t] * p.get(t, s));
                quadratic += x[s] * (if s == t { pi[s] } else { 0.0 } - flow) * x[t];
            }
        }
        let dirichlet = problem.dirichlet_sq(&x);
        prop_assert!(close(quadratic, dirichlet, 1e-12));
        prop_assert!(dirichlet >= 0.0);
        prop_assert!(dirichlet <= 2.0 * problem.d_norm_sq(&x) * (1.0 + 1e-12));
    }

    /// T10: |theta*| <= r_inf / (sqrt(omega)(1-gamma)) <= the radius of Bhandari et al.
    #[test]
    fn fixed_point_radius((_, problem) in problems()) {
        let bound = problem.theta_star_norm_bound();
        let gamma = problem.discount();
        let projected = 2.0 * problem.r_inf() / (problem.omega().sqrt() * (1.0 - gamma).powf(1.5));
        prop_assert!(problem.theta_star_norm() <= bound * (1.0 + 1e-9));
        prop_assert!(bound <= projected * (1.0 + 1e-9));
    }

    /// Omega and kappa against the extreme values of the quadratic form of Sigma.
    #[test]
    fn omega_is_the_least_curvature((seed, problem) in problems()) {
        let mut stream = Stream::new(seed, 7);
        for _ in 0..20 {
            let x = random_vector(&mut stream, problem.dimension(), 1.0);
            let ratio = problem.sigma().quadratic(&x) / dot(&x, &x);
            prop_assert!(ratio >= problem.omega() * (1.0 - 1e-9));
            prop_assert!(ratio <= problem.omega() * problem.kappa() * (1.0 + 1e-9));
        }
    }
}

#[test]
fn rank_deficient_features_are_refused_with_their_rank() {
    let problem = random_problem(3);
    let n = problem.states();
    let dependent = Matrix::from_fn(n, 3, |s, j| [1.0, s as f64, 2.0 - 3.0 * s as f64][j]);
    let message = problem.with_features(dependent).unwrap_err().to_string();
    assert!(
        message.contains("rank 2, below their dimension 3"),
        "{message}"
    );
    let zero = Matrix::zeros(n, 1);
    assert!(
        problem
            .with_features(zero)
            .unwrap_err()
            .to_string()
            .contains("rank 0")
    );
    let wide = Matrix::from_fn(n, n + 1, |s, j| ((s + 1) as f64).powi(j as i32));
    assert!(
        problem
            .with_features(wide)
            .unwrap_err()
            .to_string()
            .contains("rank")
    );
    // Columns of very different scale are accepted.
    let scaled = Matrix::from_fn(n, 2, |s, j| [1e-9, 1e9 * s as f64][j]);
    assert!(problem.with_features(scaled).is_ok());
}

/// Nearly collinear features: f(0) depends only on their span, so it must not change, and theta* must solve the rotated system.
#[test]
fn nearly_collinear_features_keep_their_solution() {
    let problem = ref_2();
    for gap in [1e-3, 1e-5, 1e-7, 1e-9] {
        let features = Matrix::from_rows(&[[1.0, 1.0 + gap], [1.0, 1.0]]).unwrap();
        let close_by = problem.with_features(features).unwrap();
        assert!(
            (close_by.f_zero() / problem.f_zero() - 1.0).abs() < 1e-12,
            "gap {gap}"
        );
        // Both span all functions on two states: the values are the same.
        let expected = problem.values(problem.theta_star());
        let found = close_by.values(close_by.theta_star());
        assert!(
            distance(&found, &expected) < 1e-15 / gap,
            "gap {gap}: {found:?}, {expected:?}"
        );
    }
    let features = Matrix::from_rows(&[[1.0, 1.0 + 1e-12], [1.0, 1.0]]).unwrap();
    let message = problem.with_features(features).unwrap_err().to_string();
    assert!(message.contains("rank 1"), "{message}");
}

#[test]
fn features_and_rewards_out_of_range_are_refused() {
    let problem = ref_2();
    for size in [1e-160, 1e-75, 1e80, 1e200] {
        let features = Matrix::from_rows(&[[size, 0.0], [0.0, size]]).unwrap();
        let message = problem.with_features(features).unwrap_err().to_string();
        assert!(message.contains("phi_inf"), "{size:e}: {message}");
    }
    let reward = Reward::PerState(vec![1e308, -1e308]);
    let huge = Problem::new(
        problem.chain().clone(),
        problem.features().clone(),
        reward,
        0.9,
        0,
    );
    assert!(huge.unwrap_err().to_string().contains("|theta*|"));
}

#[test]
fn reward_forms_agree() {
    let p = Matrix::from_rows(&[[0.2, 0.8], [0.8, 0.2]]).unwrap();
    let chain = Chain::from_dense(&p).unwrap();
    let phi = Matrix::from_rows(&[[0.3, 1.0], [-0.3, 1.0]]).unwrap();
    let per_state = Reward::PerState(vec![1.5, -0.5]);
    let matrix = Reward::PerTransition(Matrix::from_rows(&[[1.5, 1.5], [-0.5, -0.5]]).unwrap());
    let a = Problem::new(chain.clone(), phi.clone(), per_state, 0.9, 0).unwrap();
    let b = Problem::new(chain, phi, matrix, 0.9, 0).unwrap();
    assert_eq!(a, b);
}
