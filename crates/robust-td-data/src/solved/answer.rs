//! Defines what either solver finds.

use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::Influence;
use robust_td_core::learner::Features;

use super::Solver;
use super::gather::Summary;
use crate::diagnostics::TdErrors;
use crate::off_policy::support::Shown;

/// The maximum number of multiplications per row to see whether its value is determined.
const MOST_WORK: usize = 1 << 16;

/// The TD fixed point of a log and its error.
pub(super) struct Answer {
    pub solver: Solver,
    /// The number of products of an iterative solution.
    pub products: Option<u64>,
    pub theta: Vec<f64>,
    /// What is found without what is held out.
    pub held_out: Option<HeldOut>,
    pub rank: Option<usize>,
    pub relative_residual: f64,
    /// The relative residual up to which it counts as converged.
    pub tolerance: f64,
    pub identified: Identified,
    pub influence: Option<Influence>,
    /// What each group contributes to the error of the value of the policy, beyond `influence`.
    pub contributions: Vec<f64>,
    pub td_errors: TdErrors,
    /// How much of a policy that was not followed the log shows; none if it is not known.
    pub shown: Option<Shown>,
    /// The mean features of the rows that the value of the policy is the mean of.
    pub start_features: Vec<f64>,
    /// The number of independent units.
    pub units: u64,
    pub log: Summary,
}

/// The answer without what is held out.
pub(super) struct HeldOut {
    pub theta: Vec<f64>,
    /// What it determines, if that is less than all rows do.
    pub identified: Option<Identified>,
}

impl HeldOut {
    /// An answer that determines what all rows do, or only what is identified; none if it takes too long to see what that is.
    pub fn new(theta: Vec<f64>, determines_all: bool, identified: Identified) -> Option<Self> {
        let work = identified.directions().saturating_mul(theta.len());
        (determines_all || work <= MOST_WORK).then_some(Self {
            theta,
            identified: (!determines_all).then_some(identified),
        })
    }
}

impl Answer {
    /// The mean features of the starts.
    pub fn start_phi(&self) -> Features<'_> {
        Features::Dense(&self.start_features)
    }
}
