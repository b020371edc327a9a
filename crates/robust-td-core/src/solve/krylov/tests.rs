//! Checks solutions against direct ones, on random, singular, inconsistent and failing systems.

use std::convert::Infallible;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::linalg;
use crate::matrix::Matrix;
use crate::phi::{Features, Outcome, Transition};
use crate::random::Stream;
use crate::solve::sparse::SparseSums;

/// A log with dense features of a small dimension: the rows phi and phi', the rewards and the discount.
struct Log {
    phi: Vec<Vec<f64>>,
    next: Vec<Vec<f64>>,
    rewards: Vec<f64>,
    discount: f64,
}

impl Log {
    /// One trajectory with smooth random features in different units.
    fn random(seed: u64, d: usize, rows: usize, discount: f64) -> Self {
        let mut random = Stream::new(seed, d as u64);
        let mut x = vec![0.0; d];
        let mut trajectory = Vec::new();
        for _ in 0..=rows {
            for x in &mut x {
                *x = 0.7 * *x + random.uniform() - 0.5;
            }
            let units = x.iter().enumerate();
            trajectory.push(
                units
                    .map(|(j, x)| x * 10_f64.powi(j as i32 % 7 - 3))
                    .collect::<Vec<f64>>(),
            );
        }
        Self {
            phi: trajectory[..rows].to_vec(),
            next: trajectory[1..].to_vec(),
            rewards: (0..rows).map(|_| random.uniform()).collect(),
            discount,
        }
    }

    /// A walk on a ring of states, one-hot and with a bias, so that A is singular; `unseen` more features are always 0.
    fn ring(seed: u64, states: usize, rows: usize, unseen: usize, discount: f64) -> Self {
        let mut random = Stream::new(seed, 1);
        let d = states + 1 + unseen;
        let features = |s: usize| {
            let mut phi = vec![0.0; d];
            (phi[s], phi[states]) = (1.0, 1.0);
            phi
        };
        let mut states_of = vec![0];
        for t in 0..rows {
            let step = if random.uniform() < 0.6 {
                1
            } else {
                states - 1
            };
            states_of.push((states_of[t] + step) % states);
        }
        // The trajectory is closed, so that every phi' is also a phi.
        states_of[rows] = 0;
        Self {
            phi: states_of[..rows].iter().map(|&s| features(s)).collect(),
            next: states_of[1..].iter().map(|&s| features(s)).collect(),
            rewards: (0..rows).map(|_| random.uniform()).collect(),
            discount,
        }
    }

    fn dimension(&self) -> usize {
        self.phi[0].len()
    }

    fn b(&self) -> Vec<f64> {
        let mut b = vec![0.0; self.dimension()];
        for (phi, r) in self.phi.iter().zip(&self.rewards) {
            axpy(*r, phi, &mut b);
        }
        b
    }

    fn squares(&self) -> Vec<f64> {
        let square = |j: usize| self.phi.iter().map(|phi| phi[j] * phi[j]).sum();
        (0..self.dimension()).map(square).collect()
    }

    /// A x, or A' x.
    fn multiply(&self, adjoint: bool, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        let equations = RowProducts {
            discount: self.discount,
        };
        for (phi, next) in self.phi.iter().zip(&self.next) {
            let transition = Transition::new(&phi[..], 0.0, &next[..]);
            equations.terms(&transition, x, adjoint, |j, term| y[j] += term);
        }
    }

    fn solve(&self, solver: Krylov, adjoint: bool, b: &[f64]) -> Solution {
        let product = |x: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
            self.multiply(adjoint, x, y);
            Ok(())
        };
        let Ok(solution) = solver.solve(b, &self.squares(), product, keep_going);
        let (residual, size) = self.residual(adjoint, b, &solution.theta);
        let rounding = 1e-14 * (10.0 + size);
        assert!(
            (residual - solution.residual).abs() <= rounding,
            "{residual} {size} {solution:?}"
        );
        solution
    }

    /// |S (b - A theta)| / |S b| and |S^{-1} theta| / |S b|, from their definitions.
    fn residual(&self, adjoint: bool, b: &[f64], theta: &[f64]) -> (f64, f64) {
        let mut r = vec![0.0; b.len()];
        self.multiply(adjoint, theta, &mut r);
        let squares = self.squares();
        let size = |x: &dyn Fn(usize) -> f64| -> f64 {
            let seen = (0..b.len()).filter(|&j| squares[j] > 0.0);
            seen.map(|j| x(j) * x(j)).sum::<f64>().sqrt()
        };
        let whole = size(&|j| b[j] / squares[j].sqrt());
        let residual = size(&|j| (b[j] - r[j]) / squares[j].sqrt());
        let reach = size(&|j| theta[j] * squares[j].sqrt());
        (residual / whole, reach / whole)
    }

    /// The solution by elimination.
    fn direct(&self, adjoint: bool, b: &[f64]) -> Vec<f64> {
        let d = self.dimension();
        let mut columns = vec![vec![0.0; d]; d];
        for (j, column) in columns.iter_mut().enumerate() {
            let mut x = vec![0.0; d];
            x[j] = 1.0;
            self.multiply(adjoint, &x, column);
        }
        linalg::solve(&Matrix::from_fn(d, d, |i, j| columns[j][i]), b)
    }
}

fn keep_going(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn exact(shadows: usize) -> Krylov {
    Krylov {
        tolerance: 1e-12,
        max_products: 2000,
        shadows,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_logs_agree_with_elimination(
        seed in 0_u64..1000, d in 1_usize..40, discount in 0.0..0.99, shadows in 1_usize..=8, adjoint in any::<bool>(),
    ) {
        let log = Log::random(seed, d, 5 * d + 20, discount);
        let b = log.b();
        let solution = log.solve(exact(shadows), adjoint, &b);
        prop_assert!(solution.residual <= 1e-11, "{solution:?}");
        let squares = log.squares();
        let expected = log.direct(adjoint, &b);
        let size = |x: &dyn Fn(usize) -> f64| -> f64 {
            (0..d).map(|j| x(j) * x(j) * squares[j]).sum::<f64>().sqrt()
        };
        let error = size(&|j| solution.theta[j] - expected[j]);
        prop_assert!(error <= 1e-8 * size(&|j| expected[j]), "{error} {solution:?}");
    }

    #[test]
    fn the_smallest_solution_of_a_singular_log(
        seed in 0_u64..1000, states in 2_usize..30, unseen in 0_usize..3, shadows in 1_usize..=8,
    ) {
        let log = Log::ring(seed, states, 10 * states, unseen, 0.9);
        let b = log.b();
        let solution = log.solve(exact(shadows), false, &b);
        prop_assert_eq!(solution.end, End::Converged);
        prop_assert!(solution.theta[states + 1..].iter().all(|&x| x == 0.0));
        // In the scaled coordinates the answer is orthogonal to the direction that changes no value.
        let squares = log.squares();
        let seen = (0..states).filter(|&s| squares[s] > 0.0);
        let along: f64 = seen.clone().map(|s| squares[s] * solution.theta[s]).sum();
        let along = along - squares[states] * solution.theta[states];
        let size: f64 = seen.map(|s| squares[s] * solution.theta[s].abs()).sum();
        prop_assert!(along.abs() <= 1e-7 * size, "{along} of {size}");
    }

    #[test]
    fn equations_without_a_solution_end_with_their_residual(seed in 0_u64..1000, states in 3_usize..30) {
        let log = Log::ring(seed, states, 10 * states, 0, 0.9);
        let mut b = log.b();
        b[0] += 0.5 * vectors::norm(&b);
        let solution = log.solve(Krylov::default(), false, &b);
        prop_assert!(matches!(solution.end, End::Stalled | End::ProductLimit), "{:?}", solution);
        prop_assert!(solution.residual > 1e-3 && solution.residual < 1.0);
    }
}

#[test]
fn a_large_discount_and_many_states() {
    let log = Log::ring(3, 150, 3000, 2, 0.999);
    let solution = log.solve(exact(8), false, &log.b());
    assert_eq!(solution.end, End::Converged);
    // The value of a reward of about 0.5 for ever.
    let value = solution.theta[0] + solution.theta[150];
    assert!((value - 500.0).abs() < 20.0, "{value}");
}

#[test]
fn units_do_not_matter() {
    let mut log = Log::random(1, 12, 300, 0.9);
    let one = log.solve(Krylov::default(), false, &log.b());
    log.rewards.iter_mut().for_each(|r| *r *= 2_f64.powi(300));
    for phi in log.phi.iter_mut().chain(&mut log.next) {
        phi[3] *= 2_f64.powi(100);
    }
    let mut other = log.solve(Krylov::default(), false, &log.b());
    assert_eq!(one.products, other.products);
    other.theta[3] *= 2_f64.powi(100);
    for (one, other) in one.theta.iter().zip(&other.theta) {
        assert!((one * 2_f64.powi(300) - other).abs() <= 1e-9 * other.abs());
    }
}

#[test]
fn limits_cancelling_and_errors_are_kept() {
    let log = Log::ring(5, 40, 400, 0, 0.99);
    let b = log.b();
    for max_products in 0..30 {
        let solver = Krylov {
            max_products,
            tolerance: 1e-14,
            ..Krylov::default()
        };
        let solution = log.solve(solver, false, &b);
        assert!(solution.products <= max_products);
        assert_eq!(solution.end, End::ProductLimit);
        assert!(solution.residual <= 1.0);
    }
    let product = |x: &[f64], y: &mut [f64]| {
        log.multiply(false, x, y);
        Ok::<(), &str>(())
    };
    let mut seen = Vec::new();
    let tenth = |progress: Progress| {
        seen.push(progress);
        match progress.products {
            10.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let solver = Krylov::default();
    let cancelled = solver.solve(&b, &log.squares(), product, tenth).unwrap();
    assert_eq!((cancelled.end, cancelled.products), (End::Cancelled, 11));
    assert!(cancelled.residual < 1.0);
    assert!((1..=11).eq(seen.iter().map(|progress| progress.products)));
    assert!(
        seen.windows(2).all(|p| p[1].residual <= p[0].residual),
        "{seen:?}"
    );
    let failing = |_: &[f64], _: &mut [f64]| Err("the disk is gone");
    let error = solver.solve(&b, &log.squares(), failing, keep_going);
    assert_eq!(error, Err("the disk is gone"));
}

#[test]
fn trivial_and_broken_systems_end() {
    let log = Log::ring(5, 4, 40, 0, 0.9);
    let solution = Krylov::default().solve(
        &[0.0; 5],
        &log.squares(),
        |_, _| Err("not called"),
        keep_going,
    );
    assert_eq!(
        solution.map(|s| (s.theta, s.end)),
        Ok((vec![0.0; 5], End::Converged))
    );
    let product = |_: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
        y.fill(f64::NAN);
        Ok(())
    };
    let Ok(solution) = Krylov::default().solve(&log.b(), &log.squares(), product, keep_going);
    assert_eq!((solution.end, solution.residual), (End::Stalled, 1.0));
    assert_eq!(solution.theta, [0.0; 5]);
    // Skew-symmetric: r and A r are orthogonal, on which BiCGSTAB breaks down.
    let product = |x: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
        (y[0], y[1]) = (x[1], -x[0]);
        Ok(())
    };
    let Ok(solution) = Krylov::default().solve(&[1.0, 2.0], &[1.0, 1.0], product, keep_going);
    assert_eq!(solution.end, End::Converged);
    assert!((solution.theta[0] + 2.0).abs() < 1e-6 && (solution.theta[1] - 1.0).abs() < 1e-6);
}

/// A sparse log with a terminated row and a ratio.
fn transitions() -> [Transition<'static>; 3] {
    let sparse = |indices, values| Features::Sparse { indices, values };
    let (first, second) = (sparse(&[0, 2], &[1.0, 2.0]), sparse(&[1], &[3.0]));
    [
        Transition::new(first, 1.0, Outcome::Continues(second)).with_ratio(0.5),
        Transition::new(second, 2.0, Outcome::Truncated(first)),
        Transition::terminated(second, -1.0),
    ]
}

#[test]
fn the_equations_are_those_of_the_definition() {
    let equations = RowProducts { discount: 0.5 };
    let mut sums = SparseSums::new(3, 0.5, true).unwrap();
    let (mut a, mut adjoint) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    for transition in &transitions() {
        sums.add(transition);
        for j in 0..3 {
            let unit: [f64; 3] = std::array::from_fn(|i| f64::from(u8::from(i == j)));
            equations.terms(transition, &unit, false, |i, term| a[j][i] += term);
            equations.terms(transition, &unit, true, |i, term| adjoint[j][i] += term);
        }
    }
    let system = sums.into_system().unwrap();
    assert_eq!(system.b, [0.5, 3.0, 1.0]);
    assert_eq!(system.squares, [0.5, 18.0, 2.0]);
    // 1/2 (1, 0, 2)' (1, -3/2, 2) + (0, 3, 0)' (-1/2, 3, -1) + (0, 3, 0)' (0, 3, 0), here by columns.
    assert_eq!(a, [[0.5, -1.5, 1.0], [-0.75, 18.0, -1.5], [1.0, -3.0, 2.0]]);
    assert_eq!(
        adjoint,
        [[0.5, -0.75, 1.0], [-1.5, 18.0, -3.0], [1.0, -1.5, 2.0]]
    );
}

/// A tolerance of 0 is never within reach: the limit ends the work, and without a limit the residual, which stops decreasing.
#[test]
fn a_tolerance_out_of_reach_ends() {
    let turn = |x: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
        for (k, y) in y.iter_mut().enumerate() {
            *y = x[k] / 3.0 - 0.9 * x[(k + 1) % x.len()];
        }
        Ok(())
    };
    for max_products in [0, 1, 2, 57, usize::MAX] {
        for unit in [1.0, 1e-300] {
            let solver = Krylov {
                tolerance: 0.0,
                max_products,
                ..Krylov::default()
            };
            let b: Vec<f64> = (0..40).map(|k| unit * (1.0 + k as f64).sin()).collect();
            let solved = solver.solve(&b, &[1.0; 40], turn, |_| ControlFlow::Continue(()));
            let Ok(found) = solved;
            let most = max_products.saturating_add(2).min(5_000);
            assert!(found.products <= most, "{max_products}: {found:?}");
        }
    }
}
