//! Checks general properties on every problem of the catalog.
//!
//! The numbers T1 to T10 are those of the project's list of statements, with its tolerances. "Relative" is relative to
//! max(1, |value|).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use robust_td_core::catalog::{self, Entry};
use robust_td_core::matrix::{dot, norm_sq};
use robust_td_core::random::Stream;
use robust_td_core::{Matrix, Problem};

/// Every problem with its default parameters.
fn problems() -> impl Iterator<Item = (&'static Entry, Problem)> {
    catalog::entries().iter().map(|entry| {
        let problem = catalog::problem(entry.name, &[]).unwrap();
        (entry, problem)
    })
}

fn assert_close(name: &str, what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}: {what}");
    for (a, b) in found.iter().zip(expected) {
        let error = (a - b).abs();
        assert!(
            error <= tolerance * b.abs().max(1.0),
            "{name}: {what}: {a} is not {b}"
        );
    }
}

/// Some points at a distance of the order of the fixed point's norm.
fn points(problem: &Problem) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(11, 0);
    let size = problem.theta_star_norm().max(1.0);
    let mut points = vec![vec![0.0; problem.dimension()]];
    for _ in 0..5 {
        let theta = problem.theta_star();
        let point = theta.iter().map(|x| x + size * (stream.uniform() - 0.5));
        points.push(point.collect());
    }
    points
}

/// Solves `M x = b` by Gaussian elimination with partial pivoting, independently of the library's solver.
fn solve(matrix: &Matrix, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| [matrix.row(i), &b[i..=i]].concat())
        .collect();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))
            .unwrap();
        rows.swap(k, pivot);
        let (head, tail) = rows.split_at_mut(k + 1);
        for row in tail {
            let factor = row[k] / head[k][k];
            for (x, y) in row[k..].iter_mut().zip(&head[k][k..]) {
                *x -= factor * y;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        x[k] = (rows[k][n] - dot(&rows[k][k + 1..n], &x[k + 1..])) / rows[k][k];
    }
    x
}

#[test]
fn t1_stationary_distribution() {
    for (entry, p) in problems() {
        let transition = p.chain().transition();
        for s in 0..p.states() {
            let sum: f64 = transition.row(s).1.iter().sum();
            assert_close(entry.name, "row sum", &[sum], &[1.0], 1e-12);
        }
        let pi = p.stationary();
        assert_close(entry.name, "pi P", &transition.left_times(pi), pi, 1e-12);
        assert_close(entry.name, "sum", &[pi.iter().sum()], &[1.0], 1e-12);
        assert!(pi.iter().all(|&weight| weight > 0.0), "{}", entry.name);
    }
}

#[test]
fn t2_mean_update_vanishes_at_the_fixed_point() {
    for (entry, p) in problems() {
        let theta = p.theta_star();
        let zero = vec![0.0; p.dimension()];
        // Summed over transitions, without using A and c.
        let mut mean = zero.clone();
        for edge in p.edges() {
            let weight = p.stationary()[edge.from] * edge.probability;
            let update = p.update(theta, edge.from, edge.to);
            mean.iter_mut()
                .zip(&update)
                .for_each(|(sum, g)| *sum += weight * g);
        }
        assert_close(entry.name, "mean of g", &mean, &zero, 1e-10);
        assert_close(entry.name, "gbar", &p.mean_update(theta), &zero, 1e-10);
        assert_close(
            entry.name,
            "A theta*",
            &p.a().times(theta),
            p.c_vector(),
            1e-10,
        );
    }
}

#[test]
fn t3_fixed_point_of_the_projected_bellman_operator() {
    for (entry, p) in problems() {
        let onward = p.chain().transition().times(&p.values(p.theta_star()));
        let mut rhs = vec![0.0; p.dimension()];
        for s in 0..p.states() {
            let target = p.mean_rewards()[s] + p.discount() * onward[s];
            let weight = p.stationary()[s] * target;
            rhs.iter_mut()
                .zip(p.phi(s))
                .for_each(|(sum, x)| *sum += weight * x);
        }
        let projected = solve(p.sigma(), &rhs);
        assert_close(entry.name, "projection", &projected, p.theta_star(), 1e-9);
    }
}

#[test]
fn t4_one_feature_per_state_gives_the_true_values() {
    for (entry, p) in problems() {
        let tabular = p.with_features(Matrix::identity(p.states())).unwrap();
        let values = p.true_values();
        assert_close(entry.name, "values", tabular.theta_star(), &values, 1e-9);
    }
}

#[test]
fn t5_gradient_splitting() {
    for (entry, p) in problems() {
        for theta in points(&p) {
            let e = p.error(&theta);
            let v = p.values(&e);
            let split = -dot(&p.mean_update(&theta), &e);
            let norms = (1.0 - p.discount()) * p.d_norm_sq(&v) + p.discount() * p.dirichlet_sq(&v);
            let forms = [split, p.a().quadratic(&e), norms];
            assert_close(entry.name, "f", &forms, &[p.f(&theta); 3], 1e-10);
        }
    }
}

#[test]
fn t9_potential_and_seminorms() {
    for (entry, p) in problems() {
        let transition = p.chain().transition();
        for theta in points(&p) {
            let e = p.error(&theta);
            let bound = (1.0 + p.discount()) * p.phi_inf().powi(2) * norm_sq(&e);
            assert!(p.f(&theta) <= bound * (1.0 + 1e-12), "{}", entry.name);
            // x' L x with L = D - (D P + P' D) / 2.
            let x = p.values(&e);
            let onward = transition.times(&x);
            let laplacian: f64 = (0..p.states())
                .map(|s| p.stationary()[s] * x[s] * (x[s] - onward[s]))
                .sum();
            let (dirichlet, norm) = (p.dirichlet_sq(&x), p.d_norm_sq(&x));
            let scale = norm.max(1.0);
            assert!(
                (laplacian - dirichlet).abs() <= 1e-12 * scale,
                "{}",
                entry.name
            );
            assert!(
                (0.0..=2.0 * norm * (1.0 + 1e-12)).contains(&dirichlet),
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn t10_bounds_on_the_fixed_point() {
    for (entry, p) in problems() {
        let bound = p.theta_star_norm_bound();
        let gap = 1.0 - p.discount();
        let bhandari = 2.0 * p.r_inf() / (p.omega().sqrt() * gap.powf(1.5));
        assert!(
            p.theta_star_norm() <= bound * (1.0 + 1e-9),
            "{}",
            entry.name
        );
        assert!(2.0 * bound <= bhandari * (1.0 + 1e-9), "{}", entry.name);
    }
}

#[test]
fn a_random_chain_of_a_hundred_thousand_states() {
    let p = catalog::problem("garnet", &[("states", 1e5)]).unwrap();
    let pi = p.stationary();
    let image = p.chain().transition().left_times(pi);
    let residual: f64 = image.iter().zip(pi).map(|(a, b)| (a - b).abs()).sum();
    assert!(residual <= 1e-15, "{residual:e}");
    assert!(pi.iter().all(|&weight| weight > 0.0));
    let zero = vec![0.0; p.dimension()];
    assert_close(
        "garnet",
        "gbar",
        &p.mean_update(p.theta_star()),
        &zero,
        1e-15,
    );
    assert!(p.theta_star_norm() <= p.theta_star_norm_bound());
}
