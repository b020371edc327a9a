//! Describes a problem by its constants.

use robust_td_core::catalog::{self, Entry};
use robust_td_core::{Constants, Mixing, Problem};
use serde::Serialize;

use crate::error::Result;

/// A problem with its constants, under the names and in the order of the JSON output.
#[derive(Debug, Clone, Serialize)]
pub struct ProblemReport<'a> {
    /// Its catalog name or file.
    pub problem: &'a str,
    /// Its entry in the catalog; `None` for a file.
    pub description: Option<&'static Entry>,
    /// The start state.
    pub start: usize,
    /// The number of possible transitions.
    pub transitions: usize,
    /// Its constants.
    #[serde(flatten)]
    pub constants: Constants,
    /// Why the mixing of the chain was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixing_unavailable: Option<String>,
}

impl<'a> ProblemReport<'a> {
    /// Describes a problem that was found under `name`.
    ///
    /// # Errors
    /// When the eigenvalues of the chain cannot be computed.
    pub fn new(name: &'a str, problem: &Problem) -> Result<Self> {
        let mixing = Mixing::of(problem.chain())?;
        Ok(Self {
            problem: name,
            description: catalog::find(name).ok(),
            start: problem.start(),
            transitions: problem.chain().transition().stored(),
            constants: Constants::new(problem, mixing.as_ref().ok()),
            mixing_unavailable: mixing.err().map(|reason| reason.to_string()),
        })
    }
}
