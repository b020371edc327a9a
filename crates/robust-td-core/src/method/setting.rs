//! Describes what is known about a problem before learning starts.

use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// What is known about a problem before learning starts.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// gamma.
    pub discount: f64,
    /// d.
    pub dimension: usize,
    /// T, the planned number of samples.
    pub horizon: u64,
    /// A bound on the norm of the features.
    pub phi_inf: f64,
    /// The exact problem, if known.
    pub known: Option<Known<'a>>,
}

impl<'a> Setting<'a> {
    /// The setting of a fully known problem.
    #[must_use]
    pub fn of_problem(problem: &'a Problem, mixing: Option<&'a Mixing>, horizon: u64) -> Self {
        Self {
            discount: problem.discount(),
            dimension: problem.dimension(),
            horizon,
            phi_inf: problem.phi_inf(),
            known: Some(Known { problem, mixing }),
        }
    }
}

/// A known problem.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The mixing of its chain, unless the chain is too large to compute it.
    pub mixing: Option<&'a Mixing>,
}
