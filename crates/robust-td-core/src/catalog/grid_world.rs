//! Builds a random walk on a grid of any size, with a reward in one corner.
//!
//! Source: the reflecting walk on a grid and its cosine eigenfunctions are standard (Levin and Peres, "Markov
//! Chains and Mixing Times", 2nd ed., 12.3 and 12.4). As features they are the Fourier basis of Konidaris,
//! Osentoski and Thomas, "Value function approximation in reinforcement learning using the Fourier basis",
//! AAAI 2011, sampled at cell centres. The walker goes north, east, south or west with probability 1/4 each;
//! it stays when it walks into a wall. Entering the corner (w-1, h-1), or staying in it, gives reward 1.
//!
//! Known answer at every size: P is symmetric, so pi is uniform, and the features
//! ```text
//! phi_ij(x,y) = cos(pi i (x+1/2)/w) cos(pi j (y+1/2)/h),   0 <= i, j <= order
//! ```
//! are orthogonal eigenvectors of P with eigenvalue `lambda_ij = (cos(pi i/w) + cos(pi j/h)) / 2`. Hence
//! ```text
//! Sigma = diag(sigma_ij), sigma_ij = 2^-(number of i, j that are not 0);   A = diag((1 - gamma lambda_ij) sigma_ij)
//! theta*_ij = lambda_ij phi_ij(corner) / (n sigma_ij (1 - gamma lambda_ij)),   n = w h
//! |lambda_2| = (1 + cos(pi / max(w,h))) / 2
//! ```
//! since `rbar = P e_corner`. The transition matrix has at most five entries per row.

use std::f64::consts::PI;

use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

pub(super) const ENTRY: Entry = Entry {
    name: "grid-world",
    aliases: &[],
    summary: "uniform walk on a width x height grid with cosine features; sparse, exact at any size",
    source: "Levin and Peres 12.3-12.4; Fourier basis of Konidaris, Osentoski and Thomas, AAAI 2011",
    parameters: &[
        Parameter::new(
            "width",
            10.0,
            "cells per row",
            "a whole number from 2 to 1024",
            |x| whole_in(x, 2, 1024),
        ),
        Parameter::new(
            "height",
            10.0,
            "cells per column",
            "a whole number from 2 to 1024",
            |x| whole_in(x, 2, 1024),
        ),
        Parameter::new(
            "order",
            3.0,
            "highest frequency along each side; d = (order + 1)^2",
            "a whole number from 0 to 31, below `width` and `height`",
            |x| whole_in(x, 0, 31),
        ),
        Parameter::discount(0.95),
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (width, height, order) = (
        values.whole("width"),
        values.whole("height"),
        values.whole("order"),
    );
    let shortest = width.min(height);
    // Higher frequencies would alias to lower ones.
    values.require(
        "order",
        order < shortest,
        format!("below the shorter side, {shortest}"),
    )?;
    let cells = width * height;
    let corner = cells - 1;
    let mut transition = SparseMatrix::with_capacity(cells, 5 * cells);
    let mut reward = SparseMatrix::with_capacity(cells, 4);
    for cell in 0..cells {
        let (x, y) = (cell % width, cell / width);
        let north = (y > 0).then(|| cell - width);
        let west = (x > 0).then(|| cell - 1);
        let east = (x + 1 < width).then(|| cell + 1);
        let south = (y + 1 < height).then(|| cell + width);
        let walls = [north, west, east, south]
            .iter()
            .filter(|to| to.is_none())
            .count();
        let stay = (walls > 0).then_some(cell);
        for to in [north, west, stay, east, south].into_iter().flatten() {
            let ways = if to == cell { walls } else { 1 };
            transition.push(to, 0.25 * ways as f64);
            if to == corner {
                reward.push(to, 1.0);
            }
        }
        transition.end_row();
        reward.end_row();
    }
    let (across, down) = (cosines(width, order), cosines(height, order));
    let side = order + 1;
    let features = Matrix::from_fn(cells, side * side, |cell, k| {
        across.get(cell % width, k / side) * down.get(cell / width, k % side)
    });
    Problem::new(
        Chain::from_sparse(transition)?,
        features,
        Reward::Sparse(reward),
        values["discount"],
        0,
    )
}

/// `cos(pi i (x+1/2) / length)` for each place x and frequency i up to `order`.
fn cosines(length: usize, order: usize) -> Matrix {
    Matrix::from_fn(length, order + 1, |x, i| {
        (PI * i as f64 * (x as f64 + 0.5) / length as f64).cos()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::problem;
    use crate::model::mixing::Mixing;

    fn grid(width: usize, height: usize, order: usize, discount: f64) -> Problem {
        let settings = [
            ("width", width as f64),
            ("height", height as f64),
            ("order", order as f64),
            ("discount", discount),
        ];
        problem("grid-world", &settings).unwrap()
    }

    fn assert_closed_form(width: usize, height: usize, order: usize, discount: f64) {
        let p = grid(width, height, order, discount);
        let n = (width * height) as f64;
        // The rounding error of a plain sum over n states.
        let rounding = (16.0 + n) * f64::EPSILON;
        for weight in p.stationary() {
            assert!((weight * n - 1.0).abs() <= 1e-13, "{weight} is not 1/{n}");
        }
        let d = (order + 1) * (order + 1);
        for k in 0..d {
            let (i, j) = (k / (order + 1), k % (order + 1));
            let angle = |i: usize, length: usize| PI * i as f64 / length as f64;
            let lambda = (angle(i, width).cos() + angle(j, height).cos()) / 2.0;
            let sigma = if i > 0 { 0.5 } else { 1.0 } * if j > 0 { 0.5 } else { 1.0 };
            let corner = p.phi(p.states() - 1)[k];
            let expected = lambda * corner / (n * sigma * (1.0 - discount * lambda));
            let found = p.theta_star()[k];
            // Relative to the term of the constant feature, the largest.
            let scale = 1.0 / (n * (1.0 - discount));
            assert!(
                (found - expected).abs() <= rounding * scale,
                "theta*({i},{j}) = {found} is not {expected}"
            );
            assert!((p.sigma().get(k, k) - sigma).abs() <= rounding);
            for l in 0..d {
                let expected = if k == l {
                    (1.0 - discount * lambda) * sigma
                } else {
                    0.0
                };
                assert!((p.a().get(k, l) - expected).abs() <= rounding);
            }
        }
        let rare = if order > 0 { 0.25 } else { 1.0 };
        assert!((p.omega() - rare).abs() <= rounding);
        assert!((p.kappa() * rare - 1.0).abs() <= rounding);
    }

    #[test]
    fn closed_form_on_small_grids() {
        assert_closed_form(10, 10, 3, 0.95);
        assert_closed_form(10, 10, 9, 0.5);
        assert_closed_form(2, 7, 1, 0.999);
        assert_closed_form(31, 5, 0, 0.0);
    }

    #[test]
    fn closed_form_on_a_hundred_thousand_cells() {
        assert_closed_form(316, 316, 3, 0.99);
    }

    #[test]
    fn second_eigenvalue() {
        for (width, height) in [(10, 10), (4, 13), (2, 2)] {
            let p = grid(width, height, 1, 0.9);
            let mixing = Mixing::of(p.chain()).unwrap().unwrap();
            let expected = (1.0 + (PI / width.max(height) as f64).cos()) / 2.0;
            assert!((mixing.lambda2() - expected).abs() <= 1e-12);
        }
    }

    #[test]
    fn too_high_a_frequency_is_refused() {
        let message = problem("grid-world", &[("height", 3.0)])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "grid-world: order is 3, but must be below the shorter side, 3"
        );
    }
}
