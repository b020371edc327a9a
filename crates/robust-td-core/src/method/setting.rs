//! Says what may be known of a problem before learning starts.

use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// What may be known of a problem before learning starts.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// gamma.
    pub discount: f64,
    /// d.
    pub dimension: usize,
    /// T, the number of samples to come.
    pub horizon: u64,
    /// A bound on the norm of the features.
    pub phi_inf: f64,
    /// The exact problem, when it is known.
    pub known: Option<Known<'a>>,
}

impl<'a> Setting<'a> {
    /// Everything about a known problem.
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
    /// How fast its chain mixes, unless it is too large to say.
    pub mixing: Option<&'a Mixing>,
}
