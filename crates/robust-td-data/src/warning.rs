//! Defines the warnings about a model or its log.

use std::fmt;

use crate::divergence::Divergence;
use crate::findings::finding;
use crate::inspect::{Finding, FindingKind};

/// Something about a model or its log that may mislead.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The log has importance ratios, but the algorithm does not use them.
    UnusedRatios {
        /// The algorithm's id.
        algorithm: &'static str,
        /// The algorithms that use them.
        users: Vec<&'static str>,
    },
    /// The iterates diverged.
    Diverged {
        /// How.
        divergence: Divergence,
    },
    /// The two routes to intervals differ.
    RoutesDisagree,
    /// There is only one route to intervals.
    OneRoute,
    /// Blocks are too short for the correlation of the samples.
    ShortBlocks,
    /// The log is too short for intervals.
    TooFewRows,
}

impl Warning {
    /// The same as a finding.
    pub(crate) fn finding(&self) -> Finding {
        let kind = match self {
            Self::UnusedRatios { .. } => FindingKind::UnusedRatios,
            Self::Diverged { .. } => FindingKind::Diverged,
            Self::RoutesDisagree => FindingKind::NotLearned,
            Self::OneRoute | Self::ShortBlocks | Self::TooFewRows => FindingKind::IntervalsUnknown,
        };
        finding(kind, self.to_string())
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnusedRatios { algorithm, users } => {
                return write!(
                    f,
                    "the log has importance ratios (rho), but {algorithm} does not use them: the values are those of the logging \
                     policy; algorithms that use them: {}",
                    users.join(", ")
                );
            }
            Self::Diverged { divergence } => {
                return write!(
                    f,
                    "this model diverged ({divergence}); do not rely on its values"
                );
            }
            Self::RoutesDisagree => {
                "the two routes disagree: most likely theta_bar has not converged; if the log is long, in directions in which \
                 the features hardly vary. The intervals still reach the fixed point, because least squares widens them. With \
                 more data the two agree; the algorithm lstd has no step size and gives the second kind of interval."
            }
            Self::OneRoute => {
                "Least squares was not run (more than 64 features, or too few rows), so there is no check that theta_bar has \
                 converged; if it has not, the intervals are too narrow. The option sandwich allows up to 500 features."
            }
            Self::ShortBlocks => {
                "the scores stay correlated for longer than the blocks of this log, so the intervals may be too \
                 narrow. A longer log has longer blocks."
            }
            Self::TooFewRows => "no intervals: they need 16 blocks of transitions, of at least 32 each",
        })
    }
}
