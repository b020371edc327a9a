//! Measures the distance of an answer from the solution of the problem.

use robust_td_core::Problem;
use robust_td_core::iterate::nan_as_infinity;

use crate::diagnostics::Estimate;

/// The output of a method: V(s) = phi(s).theta.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// theta.
    pub theta: Vec<f64>,
}

impl Answer {
    /// The mean of several answers.
    pub fn mean(answers: &[Self]) -> Self {
        let count = answers.len() as f64;
        let dimension = answers.first().map_or(0, |first| first.theta.len());
        let sum = |j: usize| answers.iter().map(|answer| answer.theta[j]).sum::<f64>();
        Self {
            theta: (0..dimension).map(|j| sum(j) / count).collect(),
        }
    }
}

/// Compares answers with the exact solution.
#[derive(Debug)]
pub struct Judge<'a> {
    problem: &'a Problem,
}

impl<'a> Judge<'a> {
    /// A judge for a problem.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem }
    }

    /// Mean and standard error of a measure over the runs' answers.
    pub fn estimate(&self, answers: &[Answer], measure: fn(&Self, &Answer) -> f64) -> Estimate {
        let values: Vec<f64> = answers.iter().map(|answer| measure(self, answer)).collect();
        Estimate::of(&values)
    }

    /// f(theta).
    pub fn f(&self, answer: &Answer) -> f64 {
        nan_as_infinity(self.problem.f(&answer.theta))
    }

    /// |V - V*|_D^2.
    pub fn d_norm_sq(&self, answer: &Answer) -> f64 {
        let problem = self.problem;
        let values = problem.values(&problem.error(&answer.theta));
        nan_as_infinity(problem.d_norm_sq(&values))
    }

    /// |theta - theta*|^2.
    pub fn theta_error_sq(&self, answer: &Answer) -> f64 {
        let error = self.problem.error(&answer.theta);
        nan_as_infinity(error.iter().map(|e| e * e).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use robust_td_core::{Chain, Matrix, Reward};

    #[test]
    fn an_answer_is_judged_by_its_value_function() {
        let rows = [[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.6, 0.0, 0.4]];
        let chain = Chain::from_dense(&Matrix::from_rows(&rows).unwrap()).unwrap();
        let phi = Matrix::from_rows(&[[1.0, 0.2], [-0.5, 0.5], [0.3, 2.0]]).unwrap();
        let reward = Reward::PerState(vec![1.0, -2.0, 0.5]);
        let problem = Problem::new(chain, phi, reward, 0.8, 0).unwrap();
        let judge = Judge::new(&problem);
        for theta in [[0.3, -1.0], [2.0, 0.1], [-1.0, 0.4]] {
            let answer = Answer {
                theta: theta.to_vec(),
            };
            let x = problem.values(&problem.error(&answer.theta));
            let d_norm_sq = problem.d_norm_sq(&x);
            let f = 0.2 * d_norm_sq + 0.8 * problem.dirichlet_sq(&x);
            assert!((judge.d_norm_sq(&answer) / d_norm_sq - 1.0).abs() < 1e-12);
            assert!((judge.f(&answer) / f - 1.0).abs() < 1e-12);
        }
        assert_eq!(
            judge.f(&Answer {
                theta: vec![f64::NAN; 2]
            }),
            f64::INFINITY
        );
    }
}
