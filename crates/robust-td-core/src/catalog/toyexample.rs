//! Builds the authors' generic dense problem on the paper's ring.
//!
//! Source: the authors' later experiments, see `catalog/family.rs`. The chain of [`paper-ring`](super::paper_ring) with other rewards and features: with
//! `u_0, u_1, ...` the uniforms of SplitMix64 for `seed`, `r(i,j) = rho u_{50i+j}` and `Phi(i,j) = 10 u_{5i+j}`, so that the
//! features repeat the first 250 rewards. A `scale_factor` of at most 1 multiplies column 0; above 1 it would multiply
//! all of Phi, which the rescaling undoes.
//!
//! Known answers: pi is uniform, `|lambda_2| = |0.1 + 0.6 z + 0.3 / z|` with `z = exp(2 pi i / 50)`, t_mix = 147, and the
//! numbers below. r_inf is 0.9952620089 on possible transitions, 0.9983717557 over all pairs.

use super::family::{BETA, DISCOUNT, RHO, rescaled};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};
use crate::random::SplitMix64;

pub(super) const ENTRY: Entry = Entry {
    name: "toyexample",
    aliases: &["toy-ring"],
    summary: "the paper's ring with other random rewards and features, 50 states, 5 features; not paper-ring",
    source: "Lee and Orabona, github.com/SupernovaTitanium/TDexperiments, toyexample",
    parameters: &[
        Parameter::new(
            "seed",
            114_514.0,
            "seed of rewards and features",
            "a whole number from 0 to 4294967295",
            |x| whole_in(x, 0, u32::MAX),
        ),
        Parameter::new(
            "scale_factor",
            1.0,
            "factor on feature 0 when at most 1; no effect above 1",
            "from 1e-8 to 1e8",
            |x| (1e-8..=1e8).contains(&x),
        ),
        BETA,
        RHO,
        DISCOUNT,
    ],
    build,
};

const STATES: usize = 50;
const DIMENSION: usize = 5;

fn build(values: &Values) -> Result<Problem> {
    let moves = (0..STATES).flat_map(|s| {
        [
            (s, s, 0.1),
            (s, (s + 1) % STATES, 0.6),
            (s, (s + STATES - 1) % STATES, 0.3),
        ]
    });
    let seed = values.whole("seed") as u64;
    let draws = |columns: usize, factor: f64| {
        let mut generator = SplitMix64::new(seed);
        let draws = (0..STATES * columns).map(|_| factor * generator.uniform());
        Matrix::new(STATES, columns, draws.collect())
    };
    let mut features = draws(DIMENSION, 10.0)?;
    let scale = values["scale_factor"].min(1.0);
    (0..STATES).for_each(|s| features.row_mut(s)[0] *= scale);
    Problem::new(
        Chain::from_sparse(SparseMatrix::from_triplets("transition", STATES, moves)?)?,
        rescaled(&features, values["beta"]),
        Reward::PerTransition(draws(STATES, values["rho"])?),
        values["discount"],
        0,
    )
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;

    #[test]
    fn rewards_and_features_are_the_first_draws() {
        let p = problem("toyexample", &[]).unwrap();
        assert_eq!(p.reward(0, 0), 0.7164614829942658);
        assert_eq!(p.reward(0, 1), 0.7652025240496717);
        // Features repeat rewards: phi(0) is proportional to the first five.
        let ratio = p.phi(0)[1] / p.phi(0)[0];
        assert!((ratio - 0.7652025240496717 / 0.7164614829942658).abs() <= 1e-15);
        assert!((p.r_inf() - 0.9952620089).abs() <= 1e-10);
        assert!((p.r_max() - 0.9983717557).abs() <= 1e-10);
        // Other features on the same chain and reward keep it.
        let other = p.with_features(p.features().clone()).unwrap();
        assert_eq!(other.r_max(), p.r_max());
    }

    #[test]
    fn scaling_columns_moves_weights_not_values() {
        let p = |settings: &[(&str, f64)]| problem("toyexample", settings).unwrap();
        let (plain, scaled) = (p(&[]), p(&[("scale_factor", 0.25), ("beta", 0.5)]));
        assert!((plain.f_zero() / scaled.f_zero() - 1.0).abs() <= 1e-12);
        let values = [&plain, &scaled].map(|p| p.values(p.theta_star()));
        for (a, b) in values[0].iter().zip(&values[1]) {
            assert!((a - b).abs() <= 1e-10 * a.abs());
        }
        assert_eq!(p(&[("scale_factor", 16.0)]), plain);
        assert_ne!(p(&[("seed", 1.0)]), plain);
        assert!((p(&[("rho", 3.0)]).f_zero() / plain.f_zero() / 9.0 - 1.0).abs() <= 1e-13);
    }
}
