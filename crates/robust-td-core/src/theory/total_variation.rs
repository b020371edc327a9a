//! Evaluates the two total-variation inequalities in the proof of the look-back lemma.
//!
//! The lemma bounds the bias of an update made `k'` steps after its iterate was fixed (arXiv:2506.01052, Lemma 4 and its proof):
//!
//! ```text
//! (vector)  | E_P f - E_Q f | <= 2 sup|f| d_TV(P, Q)                        for f with values in R^d
//! (pair)    d_TV(nu_s, nu) = d_TV(law of s_k, pi) <= C alpha^k'             for the laws of (s_k, s_{k+1})
//! ```
//!
//! The second is an equality: both laws use the same kernel for the second state.

use crate::matrix::norm_sq;
use crate::model::chain::Chain;
use crate::theory::lemma_sums::Sides;

/// The total variation distance `d_TV(p, q) = (1/2) sum |p - q|`.
#[must_use]
pub fn distance(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
}

/// `|E_p f - E_q f| <= 2 sup|f| d_TV(p, q)`, with `values[x] = f(x)`.
///
/// The factor 2 is needed: with two points, `f = +-u` and disjoint laws both sides are 2.
#[must_use]
pub fn vector_inequality(p: &[f64], q: &[f64], values: &[Vec<f64>]) -> Sides {
    let mut gap = vec![0.0; values.first().map_or(0, Vec::len)];
    for ((p, q), value) in p.iter().zip(q).zip(values) {
        for (gap, x) in gap.iter_mut().zip(value) {
            *gap += (p - q) * x;
        }
    }
    let largest = values.iter().map(|x| norm_sq(x)).fold(0.0, f64::max);
    Sides {
        left: norm_sq(&gap).sqrt(),
        right: 2.0 * largest.sqrt() * distance(p, q),
    }
}

/// The distance between the laws of `(s, s')` with `s ~ law` and with `s ~ pi`, against that between `law` and `pi`.
#[must_use]
pub fn pair_inequality(chain: &Chain, law: &[f64]) -> Sides {
    let stationary = chain.stationary();
    let mut left = 0.0;
    for (from, (x, y)) in law.iter().zip(stationary).enumerate() {
        for (_, probability) in chain.transition().entries(from) {
            left += (x * probability - y * probability).abs();
        }
    }
    Sides {
        left: 0.5 * left,
        right: distance(law, stationary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_two_is_needed() {
        let sides = vector_inequality(
            &[1.0, 0.0],
            &[0.0, 1.0],
            &[vec![0.6, 0.8], vec![-0.6, -0.8]],
        );
        assert!((sides.left - 2.0).abs() < 1e-15 && (sides.right - 2.0).abs() < 1e-15);
    }
}
