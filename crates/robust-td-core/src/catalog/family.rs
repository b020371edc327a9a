//! Shares what the eleven problem families of the authors' engine have in common.
//!
//! Source: W. Lee and F. Orabona's experiments beyond the paper, github.com/SupernovaTitanium/TDexperiments, engine `tdx`,
//! state of April 2026: `toyexample` and E1 to E10. Start state 0, discount 0.99, `r(s)` times `rho`.
//!
//! Features are scaled in this order: all columns but column 0 are multiplied by `beta`; then all of Phi is divided by its
//! largest row norm, so that `phi_inf = 1`. Closed forms in the families' files are after this division. Scaling a column
//! does not change the span of the features, so f(0) and the values do not depend on `beta`.

use super::{Parameter, Values};
use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix, norm_sq};
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

/// Whether a factor is in the range in which every family keeps all its digits.
fn factor(x: f64) -> bool {
    (1e-8..=1e8).contains(&x)
}

/// The probability that shapes the chain.
pub(super) const fn eps1(default: f64, meaning: &'static str) -> Parameter {
    Parameter::new("eps1", default, meaning, "from 1e-15 to 0.999", |x| {
        (1e-15..=0.999).contains(&x)
    })
}

/// The size of the weak feature.
pub(super) const fn eps2(meaning: &'static str) -> Parameter {
    Parameter::new("eps2", 1e-2, meaning, "from 1e-8 to 1e8", factor)
}

/// The factor on all columns but the first.
pub(super) const BETA: Parameter =
    beta("factor on all feature columns but column 0, before the largest row is scaled to norm 1");

/// As [`BETA`], in other words.
pub(super) const fn beta(meaning: &'static str) -> Parameter {
    Parameter::new("beta", 1.0, meaning, "from 1e-8 to 1e8", factor)
}

/// The factor on the reward.
pub(super) const RHO: Parameter =
    Parameter::new("rho", 1.0, "factor on the reward", "from 0 to 1e100", |x| {
        (0.0..=1e100).contains(&x)
    });

/// The discount of all families.
pub(super) const DISCOUNT: Parameter = Parameter::discount(0.99);

/// A problem on `transition`, triplets of a matrix for as many states as `features` has rows.
pub(super) fn problem(
    values: &Values,
    transition: impl IntoIterator<Item = (usize, usize, f64)>,
    features: Matrix,
    reward: impl Fn(usize) -> f64,
) -> Result<Problem> {
    let states = features.rows();
    let reward = (0..states).map(|s| values["rho"] * reward(s)).collect();
    Problem::new(
        Chain::from_sparse(SparseMatrix::from_triplets(
            "transition",
            states,
            transition,
        )?)?,
        rescaled(&features, values["beta"]),
        Reward::PerState(reward),
        values["discount"],
        0,
    )
}

/// All columns but column 0 times `beta`, then everything over the largest row norm.
pub(super) fn rescaled(features: &Matrix, beta: f64) -> Matrix {
    let (rows, columns) = (features.rows(), features.columns());
    let scaled = Matrix::from_fn(rows, columns, |s, j| {
        features.get(s, j) * if j == 0 { 1.0 } else { beta }
    });
    let squares = (0..rows).map(|s| norm_sq(scaled.row(s)));
    let largest = squares.fold(0.0, f64::max).sqrt();
    Matrix::from_fn(rows, columns, |s, j| scaled.get(s, j) / largest)
}

/// A ring of `m` states that stays with probability `eps1` and otherwise moves on by one.
pub(super) fn ring(m: usize, eps1: f64) -> impl Iterator<Item = (usize, usize, f64)> {
    (0..m).flat_map(move |s| [(s, s, eps1), (s, (s + 1) % m, 1.0 - eps1)])
}

#[cfg(test)]
pub(super) mod tests {
    use crate::catalog::{Setting, find};
    use crate::matrix::norm_sq;
    use crate::model::mixing::Mixing;
    use crate::model::problem::Problem;

    /// The known answers of a problem; those that are `None` have no closed form.
    pub struct Answer {
        pub omega: Option<f64>,
        pub lambda2: Option<f64>,
        pub f_zero: Option<f64>,
        pub theta_star: Vec<f64>,
    }

    pub fn build(name: &str, numbers: &[(&str, f64)], mode: &str) -> Problem {
        let numbers = numbers.iter().map(|&(key, x)| (key, Setting::from(x)));
        let settings: Vec<_> = numbers.chain([("mode", mode.into())]).collect();
        find(name).unwrap().build(&settings).unwrap()
    }

    /// Asserts that a problem has its answer to eleven digits, and theta* relative to its norm.
    pub fn check(problem: &Problem, answer: &Answer) {
        let close = |what: &str, found: f64, expected: f64| {
            let error = (found - expected).abs();
            assert!(
                error <= 1e-11 * expected.abs(),
                "{what}: {found} is not {expected}"
            );
        };
        close("phi_inf", problem.phi_inf(), 1.0);
        if let Some(omega) = answer.omega {
            close("omega", problem.omega(), omega);
        }
        if let Some(lambda2) = answer.lambda2 {
            let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
            close("lambda2", mixing.lambda2(), lambda2);
        }
        if let Some(f_zero) = answer.f_zero {
            close("f(0)", problem.f_zero(), f_zero);
        }
        if !answer.theta_star.is_empty() {
            let size = norm_sq(&answer.theta_star).sqrt();
            let found = problem.theta_star();
            assert_eq!(found.len(), answer.theta_star.len());
            for (a, b) in found.iter().zip(&answer.theta_star) {
                assert!((a - b).abs() <= 1e-11 * size, "{found:?} {size}");
            }
        }
    }

    #[test]
    fn the_ends_of_every_range_make_a_problem() {
        let ends = [
            ("eps1", [1e-15, 0.999]),
            ("eps2", [1e-8, 1e8]),
            ("beta", [1e-8, 1e8]),
        ];
        let names = crate::catalog::entries().iter().map(|entry| entry.name);
        let family = |name: &&str| *name == "toyexample" || name.starts_with('e');
        for entry in names.filter(family).map(|name| find(name).unwrap()) {
            let known = |key: &str| entry.parameters.iter().any(|p| p.name == key);
            for corner in 0..8 {
                let chosen = ends.iter().enumerate().filter(|(_, (key, _))| known(key));
                let settings: Vec<(&str, f64)> = chosen
                    .map(|(bit, (key, values))| (*key, values[corner >> bit & 1]))
                    .collect();
                let problem = entry.build(&settings);
                let problem =
                    problem.unwrap_or_else(|e| panic!("{} {settings:?}: {e}", entry.name));
                assert!((problem.phi_inf() - 1.0).abs() <= 1e-15);
                assert!(problem.omega() > 0.0 && problem.f_zero().is_finite());
            }
        }
    }
}
