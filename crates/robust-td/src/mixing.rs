//! Measures how fast a Markov chain forgets its start.

use crate::chain::Chain;
use crate::error::Result;
use crate::linalg;
use crate::matrix::{Matrix, SparseMatrix};

/// Slack in the test `dbar(t) <= 1/2`, so that a chain that meets it exactly is not put off by rounding.
const HALF: f64 = 0.5 + 1e-12;

/// Mixing of a chain whose n x n powers fit in memory.
///
/// With `TV(p, q) = 1/2 sum |p - q|`,
/// ```text
/// d(t)    = max_s TV(P^t(s,.), pi)
/// dbar(t) = max_{s,s'} TV(P^t(s,.), P^t(s',.))      d <= dbar <= 2 d,  dbar(t+u) <= dbar(t) dbar(u)
/// t_mix   = min { t >= 1 : dbar(t) <= 1/2 }
/// ```
/// and `d(t) <= 2 * 2^(-t/t_mix)`, so that `C = 2`, `alpha = 2^(-1/t_mix)` is always a rigorous choice in the paper's
/// `d(t) <= C alpha^t` (Levin and Peres, "Markov Chains and Mixing Times", 4.4). The second eigenvalue is a lower bound on
/// every admissible alpha, in general not one itself.
#[derive(Debug, Clone)]
pub struct Mixing {
    transition: SparseMatrix,
    stationary: Vec<f64>,
    lambda2: f64,
    t_mix: u64,
}

/// Why a chain's mixing is not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the chain has {states} states; mixing needs its dense powers and is computed up to {} states",
    Mixing::MAX_STATES
)]
pub struct TooManyStates {
    /// Number of states.
    pub states: usize,
}

impl Mixing {
    /// The largest chain whose dense powers are computed.
    pub const MAX_STATES: usize = 1100;

    /// Measures a chain; a chain with too many states gives the reason instead.
    pub fn of(chain: &Chain) -> Result<std::result::Result<Self, TooManyStates>> {
        let states = chain.states();
        if states > Self::MAX_STATES {
            return Ok(Err(TooManyStates { states }));
        }
        let dense = chain.transition().to_dense();
        // The eigenvalue 1 is simple; the next modulus is |lambda_2|. A single state has none.
        let lambda2 = linalg::eigenvalue_moduli(&dense)?
            .get(1)
            .copied()
            .unwrap_or(0.0);
        Ok(Ok(Self {
            t_mix: mixing_time(&dense),
            transition: chain.transition().clone(),
            stationary: chain.stationary().to_vec(),
            lambda2,
        }))
    }

    /// The modulus of the second eigenvalue of `P`.
    pub fn lambda2(&self) -> f64 {
        self.lambda2
    }

    /// The first `t >= 1` with `dbar(t) <= 1/2`.
    pub fn t_mix(&self) -> u64 {
        self.t_mix
    }

    /// The rate `alpha = 2^(-1/t_mix)` that makes `d(t) <= 2 alpha^t` true for all t.
    pub fn alpha(&self) -> f64 {
        (-1.0 / self.t_mix as f64).exp2()
    }

    /// `d(0), ..., d(max_lag)`.
    ///
    /// Each step costs the stored entries of P times n. Where that would be too much, the values after an exact
    /// stretch of length L are the upper bounds `d(qL + j) <= dbar(L)^q d(j)`.
    pub fn distances(&self, max_lag: usize) -> Vec<f64> {
        const WORK: usize = 8_000_000_000;
        let per_lag = self.transition.stored() * self.stationary.len();
        let exact = max_lag.min((WORK / per_lag).max(64));
        let mut power = Matrix::identity(self.stationary.len());
        let mut distances = vec![distance_to(&self.stationary, &power)];
        for _ in 0..exact {
            power = next_power(&self.transition, &power);
            // Rounding may lift a distance by a last digit; d never grows.
            let previous = distances.last().copied().unwrap_or(1.0);
            distances.push(distance_to(&self.stationary, &power).min(previous));
        }
        if exact < max_lag {
            let contraction = largest_row_distance(&power);
            for t in exact + 1..=max_lag {
                distances.push(distances[t - exact] * contraction);
            }
        }
        distances
    }

    /// `dbar(0), ..., dbar(max_lag)`.
    pub fn pairwise_distances(&self, max_lag: usize) -> Vec<f64> {
        let mut power = Matrix::identity(self.stationary.len());
        let mut distances = vec![largest_row_distance(&power)];
        for _ in 0..max_lag {
            power = next_power(&self.transition, &power);
            distances.push(largest_row_distance(&power));
        }
        distances
    }
}

/// `P * power`, row by row.
fn next_power(transition: &SparseMatrix, power: &Matrix) -> Matrix {
    let mut next = Matrix::zeros(power.rows(), power.columns());
    for s in 0..power.rows() {
        for (to, probability) in transition.entries(s) {
            for (sum, value) in next.row_mut(s).iter_mut().zip(power.row(to)) {
                *sum += probability * value;
            }
        }
    }
    next
}

fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    // Eight partial sums, so that the additions do not wait for each other.
    let (p_blocks, p_rest) = p.as_chunks::<8>();
    let (q_blocks, q_rest) = q.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in p_blocks.iter().zip(q_blocks) {
        for k in 0..8 {
            sums[k] += (a[k] - b[k]).abs();
        }
    }
    let rest: f64 = p_rest.iter().zip(q_rest).map(|(a, b)| (a - b).abs()).sum();
    0.5 * (sums.iter().sum::<f64>() + rest)
}

fn distance_to(stationary: &[f64], power: &Matrix) -> f64 {
    (0..power.rows())
        .map(|s| total_variation(power.row(s), stationary))
        .fold(0.0, f64::max)
}

fn largest_row_distance(power: &Matrix) -> f64 {
    let n = power.rows();
    let mut largest = 0.0_f64;
    for s in 0..n {
        for other in s + 1..n {
            largest = largest.max(total_variation(power.row(s), power.row(other)));
        }
    }
    largest
}

/// Finds t_mix: doubles until mixed, then fills in the binary digits of the last t that is not.
fn mixing_time(transition: &Matrix) -> u64 {
    if largest_row_distance(transition) <= HALF {
        return 1;
    }
    // powers[k] = P^(2^k), none of them mixed.
    let mut powers = vec![transition.clone()];
    loop {
        let last = &powers[powers.len() - 1];
        let square = normalised(linalg::product(last, last));
        if largest_row_distance(&square) <= HALF || powers.len() >= 60 {
            break;
        }
        powers.push(square);
    }
    let mut unmixed = 1_u64 << (powers.len() - 1);
    let mut power = powers[powers.len() - 1].clone();
    for k in (0..powers.len() - 1).rev() {
        let candidate = normalised(linalg::product(&power, &powers[k]));
        if largest_row_distance(&candidate) > HALF {
            power = candidate;
            unmixed += 1 << k;
        }
    }
    unmixed + 1
}

/// Keeps the rows of a power summing to one, so that rounding does not add up over squarings.
fn normalised(mut power: Matrix) -> Matrix {
    for s in 0..power.rows() {
        let row = power.row_mut(s);
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_state(alpha: f64) -> Mixing {
        let (stay, go) = ((1.0 - alpha) / 2.0, (1.0 + alpha) / 2.0);
        let p = Matrix::from_rows(&[[stay, go], [go, stay]]).unwrap();
        Mixing::of(&Chain::from_dense(&p).unwrap())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn two_state_chain_has_its_closed_form() {
        for alpha in [0.51, 0.6, 0.75, 0.9, 0.999] {
            let mixing = two_state(alpha);
            assert!((mixing.lambda2() - alpha).abs() < 1e-12);
            for (t, d) in mixing.distances(40).into_iter().enumerate() {
                assert!((d - 0.5 * alpha.powi(t as i32)).abs() < 1e-12);
            }
            let t_mix = (0.5_f64.ln() / alpha.ln()).ceil() as u64;
            assert_eq!(mixing.t_mix(), t_mix, "alpha = {alpha}");
        }
    }

    #[test]
    fn a_chain_that_forgets_at_once_mixes_in_one_step() {
        let p = Matrix::from_fn(4, 4, |_, _| 0.25);
        let mixing = Mixing::of(&Chain::from_dense(&p).unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(mixing.t_mix(), 1);
        assert!(mixing.lambda2() < 1e-15);
        assert_eq!(mixing.distances(2), vec![0.75, 0.0, 0.0]);
    }

    #[test]
    fn very_slow_mixing_is_found_by_doubling() {
        let e = 1e-9;
        let p = Matrix::from_rows(&[[1.0 - e, e], [e, 1.0 - e]]).unwrap();
        let mixing = Mixing::of(&Chain::from_dense(&p).unwrap())
            .unwrap()
            .unwrap();
        let expected = (0.5_f64.ln() / (-2.0 * e).ln_1p()).ceil();
        assert!(
            (mixing.t_mix() as f64 / expected - 1.0).abs() < 1e-6,
            "{}",
            mixing.t_mix()
        );
    }
}
