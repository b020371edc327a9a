//! Validates a finite Markov chain and finds its stationary distribution.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, SparseMatrix};
use crate::memo::Memo;
use crate::model::elimination::Elimination;
use crate::model::mixing::Mixing;
use crate::model::structure;

/// How far a row sum may be from one.
pub const ROW_SUM_TOLERANCE: f64 = 1e-9;

/// An irreducible, aperiodic Markov chain on states `0..n` with its stationary distribution.
///
/// # Errors
/// Construction rejects entries that are not probabilities, rows that do not sum to one within
/// [`ROW_SUM_TOLERANCE`], reducible chains (naming the communicating classes) and periodic ones (naming the
/// period).
///
/// # Performance
/// The stationary distribution comes from the elimination of Grassmann, Taksar and Heyman in a fill-reducing order,
/// accurate entry by entry. Large chains whose elimination would fill in (random sparse graphs: they mix fast) are
/// iterated instead, to a residual at rounding level. Either way memory is of the order of the stored entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    transition: SparseMatrix,
    stationary: Vec<f64>,
    mixing: Memo<Mixing>,
}

impl Chain {
    /// A chain from its n x n transition matrix.
    pub fn from_dense(transition: &Matrix) -> Result<Self> {
        if transition.rows() != transition.columns() {
            return Err(Error::Shape {
                what: "transition",
                rows: transition.rows(),
                columns: transition.columns(),
                expected: "a square matrix".into(),
            });
        }
        Self::from_sparse(SparseMatrix::from_dense(transition))
    }

    /// A chain from its transition matrix in compressed rows.
    pub fn from_sparse(transition: SparseMatrix) -> Result<Self> {
        let states = transition.size();
        if states == 0 || states > u32::MAX as usize {
            return Err(Error::StateCount { states });
        }
        require_stochastic("transition", &transition)?;
        let transition = without_zeros(transition);
        let classes = structure::communicating_classes(&transition);
        if classes.len() > 1 {
            return Err(Error::Reducible { classes });
        }
        let period = structure::period(&transition);
        if period > 1 {
            return Err(Error::Periodic { period });
        }
        let stationary = stationary(&transition)?;
        Ok(Self {
            transition,
            stationary,
            mixing: Memo::default(),
        })
    }

    /// Where [`Mixing::of`] keeps its result, so that everything built on this chain shares it.
    pub(crate) fn mixing_memo(&self) -> &Memo<Mixing> {
        &self.mixing
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.transition.size()
    }

    /// The transition matrix `P`; every stored entry is positive.
    pub fn transition(&self) -> &SparseMatrix {
        &self.transition
    }

    /// The stationary distribution `pi`, the solution of `pi' P = pi'`, `sum pi = 1`.
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// The discounted sum `(I - gamma P)^{-1} r` of a reward per state, for `0 <= gamma < 1`; NaN for a chain that is too large to eliminate
    /// and mixes too slowly to iterate.
    pub fn discounted_values(&self, discount: f64, reward: &[f64]) -> Vec<f64> {
        self.resolvent(discount)(reward)
    }

    /// The map `r -> (I - gamma P)^{-1} r`, to be applied to several rewards.
    pub(crate) fn resolvent(&self, discount: f64) -> impl Fn(&[f64]) -> Vec<f64> + '_ {
        let factors = direct_order(&self.transition)
            .map(|order| Elimination::new(&self.transition, discount, order));
        move |reward| match &factors {
            Some(factors) => factors.solve(reward),
            None => self.discounted_by_sweeps(discount, reward),
        }
    }

    /// The mean reward gives the same value everywhere; the rest, with the mean under pi kept at 0, falls as fast as the chain mixes, whatever
    /// the discount. Gauss-Seidel stops at rounding level. A chain that needs more sweeps than [`MOST_SWEEPS`] has no values: NaN.
    fn discounted_by_sweeps(&self, discount: f64, reward: &[f64]) -> Vec<f64> {
        let mean = |x: &[f64]| {
            self.stationary
                .iter()
                .zip(x)
                .map(|(p, x)| p * x)
                .sum::<f64>()
        };
        let gain = mean(reward);
        let mut values = vec![0.0; self.states()];
        let mut smallest = f64::INFINITY;
        for _ in 0..MOST_SWEEPS {
            let mut change = 0.0_f64;
            let mut size = 0.0_f64;
            for s in 0..self.states() {
                let (mut stay, mut onward) = (0.0, 0.0);
                for (to, probability) in self.transition.entries(s) {
                    if to == s {
                        stay = probability
                    } else {
                        onward += probability * values[to]
                    }
                }
                let value = (reward[s] - gain + discount * onward) / (1.0 - discount * stay);
                change = change.max((value - values[s]).abs());
                size = size.max(value.abs());
                values[s] = value;
            }
            let centre = mean(&values);
            values.iter_mut().for_each(|value| *value -= centre);
            // Near rounding level the changes no longer fall.
            let rounding = change <= 1e-13 * size && !(change < smallest);
            if !(change > 1e-15 * size) || rounding {
                let constant = gain / (1.0 - discount);
                values.iter_mut().for_each(|value| *value += constant);
                return values;
            }
            smallest = smallest.min(change);
        }
        vec![f64::NAN; self.states()]
    }
}

/// The largest number of sweeps for discounted values.
const MOST_SWEEPS: usize = 20_000;

/// Rejects a matrix whose rows are not probability distributions.
pub(crate) fn require_stochastic(what: &str, matrix: &SparseMatrix) -> Result<()> {
    for row in 0..matrix.size() {
        let mut sum = 0.0;
        for (column, value) in matrix.entries(row) {
            require_probability(what, row, column, value)?;
            sum += value;
        }
        require_unit_sum(what, row, sum)?;
    }
    Ok(())
}

pub(crate) fn require_probability(what: &str, row: usize, column: usize, value: f64) -> Result<()> {
    if (0.0..=1.0 + ROW_SUM_TOLERANCE).contains(&value) {
        Ok(())
    } else {
        Err(Error::NotAProbability {
            what: what.into(),
            row,
            column,
            value,
        })
    }
}

pub(crate) fn require_unit_sum(what: &str, row: usize, sum: f64) -> Result<()> {
    if (sum - 1.0).abs() <= ROW_SUM_TOLERANCE {
        Ok(())
    } else {
        Err(Error::RowSum {
            what: what.into(),
            row,
            sum,
        })
    }
}

fn without_zeros(matrix: SparseMatrix) -> SparseMatrix {
    if (0..matrix.size()).all(|i| matrix.row(i).1.iter().all(|&value| value > 0.0)) {
        return matrix;
    }
    let mut kept = SparseMatrix::with_capacity(matrix.size(), matrix.stored());
    for i in 0..matrix.size() {
        matrix
            .entries(i)
            .filter(|&(_, value)| value > 0.0)
            .for_each(|(j, value)| kept.push(j, value));
        kept.end_row();
    }
    kept
}

/// The order for direct elimination, or `None` when fill-in or work would exceed the order of the chain's
/// size.
fn direct_order(transition: &SparseMatrix) -> Option<Vec<u32>> {
    const ALWAYS: usize = 2048;
    const FILL_PER_ENTRY: f64 = 48.0;
    const MULTIPLICATIONS: f64 = 1e10;
    let ordering = linalg::minimum_degree_order(transition);
    let entries = (transition.size() + transition.stored()) as f64;
    let affordable =
        ordering.fill <= FILL_PER_ENTRY * entries && ordering.multiplications <= MULTIPLICATIONS;
    (transition.size() <= ALWAYS || affordable).then_some(ordering.order)
}

fn stationary(transition: &SparseMatrix) -> Result<Vec<f64>> {
    match direct_order(transition) {
        Some(order) => Ok(Elimination::new(transition, 1.0, order).stationary()),
        None => iterate_stationary(transition),
    }
}

/// Iterates `pi <- pi P`, for chains whose elimination would fill in.
fn iterate_stationary(transition: &SparseMatrix) -> Result<Vec<f64>> {
    const ITERATIONS: usize = 20_000;
    // The 1-norm residual of an exact answer after rounding is a few units in the last place.
    const RESIDUAL: f64 = 4e-16;
    let n = transition.size();
    let mut pi = vec![1.0 / n as f64; n];
    let mut residual = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let mut next = transition.left_times(&pi);
        let total: f64 = next.iter().sum();
        next.iter_mut().for_each(|p| *p /= total);
        residual = next.iter().zip(&pi).map(|(a, b)| (a - b).abs()).sum();
        pi = next;
        if residual <= RESIDUAL {
            return Ok(pi);
        }
    }
    Err(Error::StationaryNotConverged {
        residual,
        iterations: ITERATIONS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(rows: &[&[f64]]) -> Result<Chain> {
        Chain::from_dense(&Matrix::from_rows(rows).unwrap())
    }

    #[test]
    fn stationary_of_a_nearly_decomposable_chain_is_accurate_entry_by_entry() {
        // Two pairs joined by 1e-14 one way and 3e-14 the other: pi = (3, 3, 1, 1) / 8 by balance of flow.
        let (e, h) = (1e-14, 3e-14);
        let p = chain(&[
            &[0.5 - e, 0.5, e, 0.0],
            &[0.5, 0.5 - e, 0.0, e],
            &[h, 0.0, 0.5 - h, 0.5],
            &[0.0, h, 0.5, 0.5 - h],
        ])
        .unwrap();
        for (found, expected) in p.stationary().iter().zip([0.375, 0.375, 0.125, 0.125]) {
            assert!(
                (found - expected).abs() <= 4e-16,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn stationary_keeps_relative_accuracy_of_tiny_probabilities() {
        // A birth-death chain that climbs with 1e-3 and falls with 1/2: pi(k) falls like (2e-3)^k.
        let n = 12;
        let p = Matrix::from_fn(n, n, |i, j| match (i, j) {
            (i, j) if j == i + 1 => 1e-3,
            (i, j) if j + 1 == i => 0.5,
            (i, j) if i == j => {
                1.0 - if i + 1 < n { 1e-3 } else { 0.0 } - if i > 0 { 0.5 } else { 0.0 }
            }
            _ => 0.0,
        });
        let chain = Chain::from_dense(&p).unwrap();
        let pi = chain.stationary();
        for k in 1..n {
            let expected = pi[0] * 2e-3_f64.powi(k as i32);
            assert!(
                (pi[k] / expected - 1.0).abs() < 1e-14,
                "pi({k}) = {:e}",
                pi[k]
            );
        }
    }

    #[test]
    fn direct_and_iterated_stationary_distributions_agree() {
        let n = 60;
        let entry = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 97 + 1) as f64;
        let p = Matrix::from_fn(n, n, |i, j| {
            entry(i, j) / (0..n).map(|k| entry(i, k)).sum::<f64>()
        });
        let sparse = SparseMatrix::from_dense(&p);
        let direct = stationary(&sparse).unwrap();
        let iterated = iterate_stationary(&sparse).unwrap();
        for (a, b) in direct.iter().zip(&iterated) {
            assert!((a / b - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn discounted_values_solve_the_bellman_equation() {
        let p = chain(&[&[0.5, 0.4, 0.1], &[0.1, 0.6, 0.3], &[0.6, 0.2, 0.2]]).unwrap();
        let reward = [1.0, -2.0, 0.25];
        for discount in [0.0, 0.3, 0.99, 0.999_999] {
            let values = p.discounted_values(discount, &reward);
            let onward = p.transition().times(&values);
            for s in 0..3 {
                let residual = reward[s] + discount * onward[s] - values[s];
                assert!(residual.abs() <= 4e-16 * values[s].abs().max(1.0) * 4.0);
            }
        }
    }

    #[test]
    fn refusals_name_the_place() {
        let refused = |rows: &[&[f64]]| chain(rows).unwrap_err().to_string();
        assert_eq!(
            refused(&[&[0.5, 0.5], &[0.4, 0.5]]),
            "transition: row 1 sums to 0.9, not to 1 within 1e-9"
        );
        assert_eq!(
            refused(&[&[0.5, 0.5], &[-0.5, 1.5]]),
            "transition: row 1, column 0 is -0.5, not a probability in [0, 1]"
        );
        assert!(refused(&[&[f64::NAN, 1.0], &[0.5, 0.5]]).contains("row 0, column 0 is NaN"));
        assert_eq!(
            refused(&[&[1.0, 0.0], &[0.5, 0.5]]),
            "the chain is reducible: its communicating classes are {0} (closed), {1} (transient)"
        );
        assert!(refused(&[&[0.0, 1.0], &[1.0, 0.0]]).contains("period 2"));
        assert!(refused(&[&[0.5, 0.5]]).contains("1 x 2"));
    }
}
