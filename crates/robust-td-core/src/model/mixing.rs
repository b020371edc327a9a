//! Measures how fast a Markov chain forgets its initial state.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::linalg;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::Chain;
use crate::model::powers::{Powers, Reached, largest_row_distance};

/// Slack in tests like `dbar(t) <= 1/2`, so that rounding does not reject a chain that meets them exactly.
const SLACK: f64 = 1e-12;

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
    /// The distances computed so far, shared by all clones.
    reached: Arc<Mutex<Reached>>,
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
    ///
    /// The chain remembers the answer, and problems with other features or rewards on the same chain share it.
    pub fn of(chain: &Chain) -> Result<std::result::Result<Self, TooManyStates>> {
        let states = chain.states();
        if states > Self::MAX_STATES {
            return Ok(Err(TooManyStates { states }));
        }
        chain
            .mixing_memo()
            .get_or_try(|| Self::measure(chain))
            .map(Ok)
    }

    fn measure(chain: &Chain) -> Result<Self> {
        let dense = chain.transition().to_dense();
        // The eigenvalue 1 is simple; the next modulus is |lambda_2|. A single state has no second
        // eigenvalue.
        let lambda2 = linalg::eigenvalue_moduli(&dense)?
            .get(1)
            .copied()
            .unwrap_or(0.0);
        Ok(Self {
            t_mix: mixing_time(&dense, 0.5),
            transition: chain.transition().clone(),
            stationary: chain.stationary().to_vec(),
            lambda2,
            reached: Arc::default(),
        })
    }

    /// The modulus of the second eigenvalue of `P`.
    pub fn lambda2(&self) -> f64 {
        self.lambda2
    }

    /// The first `t >= 1` with `dbar(t) <= 1/2`.
    pub fn t_mix(&self) -> u64 {
        self.t_mix
    }

    /// The first `t >= 1` with `dbar(t) <= level`, for a level in (0, 1).
    ///
    /// Costs about `2 log2 t` products of n x n matrices.
    pub fn time_to(&self, level: f64) -> u64 {
        mixing_time(&self.transition.to_dense(), level)
    }

    /// The rate `alpha = 2^(-1/t_mix)` that makes `d(t) <= 2 alpha^t` true for all t.
    pub fn alpha(&self) -> f64 {
        (-1.0 / self.t_mix as f64).exp2()
    }

    /// `d(0), ..., d(max_lag)`.
    ///
    /// Each step costs the stored entries of P times n. When that is too expensive, the values after an exact
    /// stretch of length L are the upper bounds `d(qL + j) <= dbar(L)^q d(j)`.
    pub fn distances(&self, max_lag: usize) -> Vec<f64> {
        const WORK: usize = 8_000_000_000;
        let per_lag = self.transition.stored() * self.stationary.len();
        let exact = max_lag.min((WORK / per_lag).max(64));
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.extend(&self.transition, &self.stationary, exact);
        let mut distances = reached.distances()[..=exact].to_vec();
        if exact < max_lag {
            // The stretch has then its full length, which is also as far as the powers ever go.
            let contraction = reached.contraction();
            for t in exact + 1..=max_lag {
                distances.push(distances[t - exact] * contraction);
            }
        }
        distances
    }

    /// Upper bounds on `d(0), ..., d(max_lag)` within about `work` multiplications:
    /// `min(d(t), 2 * 2^(-t/t_mix))` as far as the budget reaches, then `min(d(t'), 2 * 2^(-t/t_mix))` with
    /// the last computed `d(t')`.
    ///
    /// A computed `d(t)` never falls below rounding level; the second bound does, so the bounds tend to zero.
    pub fn bounds(&self, max_lag: usize, work: usize) -> Vec<f64> {
        let per_lag = self.transition.stored() * self.stationary.len();
        let mut bounds = self.distances(max_lag.min(work / per_lag));
        let last = bounds.last().copied().unwrap_or(1.0);
        bounds.resize(max_lag + 1, last);
        for (t, bound) in bounds.iter_mut().enumerate() {
            *bound = bound.min(2.0 * (-(t as f64) / self.t_mix as f64).exp2());
        }
        bounds
    }

    /// A `tau >= 1` with `d(k-1) <= 4 * 2^(-k/tau)` for all `k >= 1`: the mixing time of the pairs (s, s')
    /// that Lee and Orabona (2026) require, as small as about `work` multiplications can prove; at most
    /// `t_mix`.
    ///
    /// At one k the condition is `tau >= k / log2(4/d(k-1))`. For all k at once, cut at any L with
    /// `q = dbar(L) < 1`: with `k - 1 = mL + j`, `j < L`, there is `d(k-1) <= q^m d(j)`, so that
    ///
    /// ```text
    /// k / log2(4/d(k-1)) <= (j + 1 + mL) / (log2(4/d(j)) + m log2(1/q)) <= max( (j+1)/log2(4/d(j)), L/log2(1/q) )
    /// ```
    ///
    /// (a mediant lies between its parts). The best L is taken, with `dbar <= 2d`.
    pub fn pair_mixing_time(&self, work: usize) -> f64 {
        // Below this value the rounding of d (covered by the slack) would matter.
        const SMALLEST: f64 = 1e-9;
        let t_mix = self.t_mix as f64;
        // 2 * 2^(-t/t_mix) is below that at 31 t_mix.
        let reach = (31.0 * t_mix).min((1_u64 << 20) as f64) as usize;
        let distances = self.bounds(reach, work);
        let (mut head, mut best) = (1.0_f64, t_mix);
        for (j, &distance) in distances.iter().enumerate() {
            let bound = distance.max(SMALLEST) + SLACK;
            let tail = j as f64 / -(2.0 * bound).log2();
            if tail > 0.0 {
                best = best.min(head.max(tail));
            }
            if !(distance > SMALLEST) {
                break;
            }
            head = head.max((j as f64 + 1.0) / (4.0 / bound).log2());
        }
        best
    }

    /// `dbar(0), ..., dbar(max_lag)`.
    pub fn pairwise_distances(&self, max_lag: usize) -> Vec<f64> {
        let mut powers = Powers::new(self.stationary.len());
        let mut distances = vec![largest_row_distance(powers.current())];
        for _ in 0..max_lag {
            powers.advance(&self.transition);
            distances.push(largest_row_distance(powers.current()));
        }
        distances
    }
}

/// The first `t >= 1` with `dbar(t) <= level`: doubles until mixed, then fills in the binary digits of the last t that is not.
fn mixing_time(transition: &Matrix, level: f64) -> u64 {
    let level = level + SLACK;
    if largest_row_distance(transition) <= level {
        return 1;
    }
    // powers[k] = P^(2^k), none of them mixed.
    let mut powers = vec![transition.clone()];
    loop {
        let last = &powers[powers.len() - 1];
        let square = normalised(linalg::product(last, last));
        if largest_row_distance(&square) <= level || powers.len() >= 60 {
            break;
        }
        powers.push(square);
    }
    let mut unmixed = 1_u64 << (powers.len() - 1);
    let mut power = powers[powers.len() - 1].clone();
    for k in (0..powers.len() - 1).rev() {
        let candidate = normalised(linalg::product(&power, &powers[k]));
        if largest_row_distance(&candidate) > level {
            power = candidate;
            unmixed += 1 << k;
        }
    }
    unmixed + 1
}

/// Rescales the rows of a power to sum to one, so that rounding does not accumulate over squarings.
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
    fn the_mixing_time_of_pairs_is_the_smallest_that_holds() {
        for alpha in [0.0, 0.3, 0.6, 0.9, 0.99] {
            let mixing = two_state(alpha);
            let tau = mixing.pair_mixing_time(1 << 30);
            let holds = |tau: f64| {
                (1..3000).all(|k| {
                    0.5 * f64::powi(alpha, k - 1)
                        <= 4.0 * (-f64::from(k) / tau).exp2() * (1.0 + 1e-9)
                })
            };
            assert!(tau >= 1.0 && tau <= mixing.t_mix() as f64 && holds(tau));
            // d(k-1) = alpha^(k-1)/2, so that the limit k -> infinity decides: 1/log2(1/alpha).
            let limit = f64::max(1.0, -1.0 / f64::log2(alpha));
            assert!(
                (tau / limit - 1.0).abs() < 1e-9,
                "{alpha}: {tau} is not {limit}"
            );
            // Without work only t_mix is known.
            assert!(holds(mixing.pair_mixing_time(0)));
        }
    }

    #[test]
    fn bounds_are_exact_as_far_as_the_work_reaches_and_stay_above() {
        let mixing = two_state(0.9);
        let exact = mixing.distances(100);
        let bounds = mixing.bounds(100, 80);
        assert_eq!(bounds.len(), 101);
        assert_eq!(bounds[..=10], exact[..=10]);
        assert!(bounds.iter().zip(&exact).all(|(bound, d)| bound >= d));
        assert!(bounds[100] < 1e-3);
    }

    #[test]
    fn distances_continue_where_an_earlier_call_stopped() {
        let (in_steps, at_once) = (two_state(0.97), two_state(0.97));
        for lags in [3, 1, 40, 200] {
            assert_eq!(
                in_steps.clone().distances(lags),
                at_once.distances(200)[..=lags]
            );
        }
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
