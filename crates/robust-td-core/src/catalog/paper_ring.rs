//! Builds the ring of the paper's experiments from its random numbers.
//!
//! Source: Lee and Orabona, arXiv:2506.01052, "Details on the Experiments". n = 50, d = 5, gamma = 0.99;
//! from state i the chain stays with 0.1, goes to i + 1 with 0.6 and to i - 1 with 0.3 (mod 50). Rewards are uniform
//! in [0, 1) and features in [0, 10), each drawn column by column from Julia's `MersenneTwister(114514)`.
//!
//! The `scale` makes the three rows of the paper's figures: 2^-4 shrinks feature 0 alone, which spoils the condition
//! number; 2^4 enlarges all features, which does not.
//!
//! Known answers: P is circulant, so pi is uniform and its eigenvalues are `0.1 + 0.6 z + 0.3 / z` with
//! `z^50 = 1`: `|lambda_2| = 0.9936149074178151`, and t_mix = 147.
//!
//! | scale | omega | kappa | `\|theta*\|^2` | phi_inf^2 |
//! |---|---|---|---|---|
//! | 0.0625 | 0.0338 | 2987 | 6.890944081933124 | 229.630899838686 |
//! | 1 | 5.542 | 22.37 | 0.6600667609147294 | 257.2859439564026 |
//! | 16 | 1419 | 22.37 | 0.0025783857848231616 | 65865.20165283907 |

use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};
use crate::random::Dsfmt;

pub(super) const ENTRY: Entry = Entry {
    name: "paper-ring",
    aliases: &[],
    summary: "the ring of the paper's Figures 1 and 2: 50 states, 5 random features",
    source: "Lee and Orabona, arXiv:2506.01052, Details on the Experiments",
    parameters: &[Parameter::new(
        "scale",
        1.0,
        "factor on feature 0 when at most 1, on all features when above 1",
        "positive and finite",
        |x| x > 0.0 && x.is_finite(),
    )],
    build,
};

const STATES: usize = 50;
const DIMENSION: usize = 5;
const SEED: u64 = 114_514;

fn build(values: &Values) -> Result<Problem> {
    let scale = values["scale"];
    let moves = (0..STATES).flat_map(|s| {
        [
            (s, s, 0.1),
            (s, (s + 1) % STATES, 0.6),
            (s, (s + STATES - 1) % STATES, 0.3),
        ]
    });
    let chain = Chain::from_sparse(SparseMatrix::from_triplets("transition", STATES, moves)?)?;
    let draws = uniforms_by_column(DIMENSION);
    let features = Matrix::from_fn(STATES, DIMENSION, |s, j| {
        let feature = 10.0 * draws.get(s, j);
        if j == 0 || scale > 1.0 {
            scale * feature
        } else {
            feature
        }
    });
    let reward = Reward::PerTransition(uniforms_by_column(STATES));
    Problem::new(chain, features, reward, 0.99, 0)
}

/// The first numbers of the experiment's generator, filled in column by column.
fn uniforms_by_column(columns: usize) -> Matrix {
    let mut draws = vec![0.0; STATES * columns];
    Dsfmt::new(SEED).fill(&mut draws);
    Matrix::from_fn(STATES, columns, |i, j| draws[j * STATES + i])
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;
    use crate::model::mixing::Mixing;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!(
            (found / expected - 1.0).abs() <= relative,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn published_constants_of_the_three_scales() {
        // Half a unit of the last printed digit of omega and kappa.
        let rows = [
            (
                0.0625,
                (0.0338, 5e-5),
                (2987.0, 0.5),
                6.890944081933124,
                229.630899838686,
            ),
            (
                1.0,
                (5.542, 5e-4),
                (22.37, 5e-3),
                0.6600667609147294,
                257.2859439564026,
            ),
            (
                16.0,
                (1419.0, 0.5),
                (22.37, 5e-3),
                0.0025783857848231616,
                65865.20165283907,
            ),
        ];
        for (scale, omega, kappa, theta_sq, phi_sq) in rows {
            let p = problem("paper-ring", &[("scale", scale)]).unwrap();
            assert!((p.omega() - omega.0).abs() <= omega.1, "{}", p.omega());
            assert!((p.kappa() - kappa.0).abs() <= kappa.1, "{}", p.kappa());
            close(p.theta_star_norm().powi(2), theta_sq, 1e-12);
            close(p.phi_inf().powi(2), phi_sq, 1e-12);
        }
    }

    #[test]
    fn published_fixed_point() {
        let p = problem("paper-ring", &[]).unwrap();
        let expected = [0.15631639, 0.45877973, 0.12141062, 0.41083686, 0.49155431];
        for (found, expected) in p.theta_star().iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 5e-9,
                "{found} is not {expected}"
            );
        }
        assert_eq!(p.reward(0, 0), 0.12466351302303713);
        assert_eq!(p.phi(1)[0], 10.0 * 0.7339150191633825);
    }

    #[test]
    fn mixing_of_the_ring() {
        let p = problem("paper-ring", &[]).unwrap();
        for &weight in p.stationary() {
            close(weight, 1.0 / 50.0, 1e-14);
        }
        let mixing = Mixing::of(p.chain()).unwrap().unwrap();
        assert!((mixing.lambda2() - 0.9936149074178151).abs() <= 1e-12);
        assert_eq!(mixing.t_mix(), 147);
        for (t, d) in mixing.distances(300).into_iter().enumerate() {
            assert!(d <= 0.98 * mixing.lambda2().powi(t as i32) + 1e-14);
        }
    }
}
