//! Solves for the TD fixed point of all samples seen so far.
//!
//! # Reference
//! Bradtke & Barto, "Linear least-squares algorithms for temporal difference learning", Machine Learning 22, 1996.
//!
//! # Update rule
//! With v_t = phi(s_t) - gamma phi(s_{t+1}) every sample adds to the sums
//! ```text
//! A += rho_t phi(s_t) v_t',   b += rho_t r_t phi(s_t)
//! ```
//! and the answer is the solution of A theta = b, the smallest one where A is singular. [`Online`](crate::online::Online) also
//! estimates the error of the answer.
//!
//! # Inputs
//! None: least squares depends neither on the units of the features nor on the number of samples.
//!
//! # Assumptions
//! Up to [`LARGEST_DIMENSION`] features, since it takes d^2 memory and work per sample. The answer is computed on demand;
//! `theta` is that at the last power of two. Nothing steps, so nothing diverges.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length};
use crate::equations::Equations;
use crate::error::{Error, Result};
use crate::iterate::{Health, nan_as_infinity};
use crate::learner::Learner;
use crate::method::{Abilities, Approach, Inputs, Method, Standing};
use crate::phi::{Transition, dot};

/// The largest dimension.
pub const LARGEST_DIMENSION: usize = 500;

/// The learner `auto`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedLeastSquares")]
pub struct LeastSquares {
    sums: Box<Equations>,
    /// The answer when the number of samples was last a power of two.
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    health: Health,
}

impl Learner for LeastSquares {
    fn step(&mut self, transition: &Transition<'_>) {
        self.sums.add(transition);
        if self.sums.count().is_power_of_two() {
            self.theta = self.output();
            let norm_sq = nan_as_infinity(dot(&self.theta, &self.theta));
            self.health.max_theta_norm_sq = self.health.max_theta_norm_sq.max(norm_sq);
        }
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.sums.discount()
    }

    fn steps(&self) -> u64 {
        self.sums.count()
    }

    fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// The solution for the samples so far; O(d^3).
    fn output(&self) -> Vec<f64> {
        let found = self.sums.solve();
        found.map_or_else(
            |_| vec![f64::NAN; self.sums.dimension()],
            |found| found.theta,
        )
    }

    fn health(&self) -> &Health {
        &self.health
    }
}

impl LeastSquares {
    /// The learner before its first sample, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the discount is out of range, or the dimension is 0 or above [`LARGEST_DIMENSION`].
    pub fn new(discount: f64, dimension: usize) -> Result<Self> {
        check(dimension, discount)?;
        Ok(Self {
            sums: Box::new(Equations::new(dimension, discount)?),
            theta: vec![0.0; dimension],
            health: Health::default(),
        })
    }
}

fn check(dimension: usize, discount: f64) -> Result<()> {
    check_discount(discount)?;
    match (1..=LARGEST_DIMENSION).contains(&dimension) {
        true => Ok(()),
        false => Err(Error::Parameter {
            name: "dimension",
            value: dimension as f64,
            expected: "from 1 to 500",
        }),
    }
}

/// Least squares of all samples.
pub const METHOD: Method<LeastSquares> = Method {
    id: "auto",
    title: "least squares of all samples, the default of evaluate",
    reference: "Bradtke & Barto 1996",
    standing: Standing::Baseline,
    needs: &[],
    parameters: &[],
    abilities: Abilities {
        approach: Approach::Solution,
        ratios: true,
        solves_files: true,
        advice: "check the units of the rewards and features",
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<LeastSquares> {
    let dimension = inputs.dimension();
    if dimension > LARGEST_DIMENSION {
        return Err(inputs.not_applicable(format!(
            "it takes up to {LARGEST_DIMENSION} features, but there are {dimension}"
        )));
    }
    LeastSquares::new(inputs.discount(), dimension)
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLeastSquares {
    sums: Box<Equations>,
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    health: Health,
}

impl TryFrom<SavedLeastSquares> for LeastSquares {
    type Error = Error;

    fn try_from(saved: SavedLeastSquares) -> Result<Self> {
        let SavedLeastSquares {
            sums,
            theta,
            health,
        } = saved;
        check(sums.dimension(), sums.discount())?;
        check_length("the saved theta", sums.dimension(), theta.len())?;
        if let Some(step) = health.diverged_at {
            let contradiction = format!("least squares that diverged at step {step}");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            sums,
            theta,
            health,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::phi::Features;
    use crate::random::Stream;

    /// Three states with a constant that is the sum of their indicators, an unused feature, and units far apart.
    const TABLE: [[f64; 5]; 3] = [
        [1e6, 0.0, 0.0, 1.0, 0.0],
        [0.0, 1e-3, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0],
    ];

    fn walk(samples: usize, mut each: impl FnMut(&Transition<'_>)) {
        let (mut stream, mut state) = (Stream::new(7, 0), 0);
        for _ in 0..samples {
            let next = (stream.uniform() * 3.0) as usize;
            let reward = state as f64 + stream.uniform();
            let ratio = 0.5 + stream.uniform();
            each(&Transition::new(&TABLE[state], reward, &TABLE[next]).with_ratio(ratio));
            state = next;
        }
    }

    #[test]
    fn the_answer_is_the_direct_solution_at_any_time() {
        let mut learner = LeastSquares::new(0.9, 5).unwrap();
        let mut equations = Equations::new(5, 0.9).unwrap();
        assert_eq!(learner.output(), [0.0; 5]);
        walk(1000, |transition| {
            learner.step(transition);
            equations.add(transition);
        });
        let (found, expected) = (learner.output(), equations.solve().unwrap().theta);
        for row in &TABLE {
            let value = |theta: &[f64]| Features::Dense(row).dot(theta);
            assert!((value(&found) - value(&expected)).abs() < 1e-9);
        }
        assert_eq!((learner.steps(), found[4]), (1000, 0.0));
        // theta is the answer after 512 samples.
        let mut before = LeastSquares::new(0.9, 5).unwrap();
        walk(512, |transition| before.step(transition));
        assert_eq!(learner.theta(), before.output());
        assert!(learner.health().max_theta_norm_sq >= dot(learner.theta(), learner.theta()));
    }

    #[test]
    fn large_answers_are_not_divergence() {
        let mut learner = LeastSquares::new(0.5, 1).unwrap();
        let small = f64::exp2(-30.0);
        learner.step(&Transition::terminated(Features::Dense(&[small]), 1e9));
        assert!((learner.output()[0] * small / 1e9 - 1.0).abs() < 1e-12);
        assert!(learner.health().max_theta_norm_sq > 1e35);
        assert!(!learner.health().diverged());
    }

    #[test]
    fn too_many_features_are_refused() {
        let error = LeastSquares::new(0.5, 501).unwrap_err().to_string();
        assert!(error.contains("500"), "{error}");
        let problem = catalog::problem("two-state", &[]).unwrap();
        let setting = crate::method::Setting {
            dimension: 501,
            ..crate::method::Setting::of_problem(&problem, None, 100)
        };
        let error = METHOD.prepare::<&str>(&setting, &[]).unwrap_err();
        assert!(error.to_string().contains("501"), "{error}");
    }
}
