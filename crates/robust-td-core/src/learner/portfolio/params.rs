//! Checks the parameters of the portfolio.

use serde::{Deserialize, Serialize};

use super::run::CONSTANTS;
use crate::check::check_discount;
use crate::error::{Error, Result};
use crate::schedule::{Phase, RobustDecay};

/// The length of the first phase when the number of samples is not known.
const FIRST_PHASE: u64 = 1024;

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `phi_inf` | none | an upper bound on the norm of the features | finite, > 0 |
/// | `horizon` | unknown | T, the planned number of samples | >= 3 |
/// | `replicates` | 0 | bootstrap replicates for intervals | 0, or 8 to 4096 |
/// | `seed` | 1 | seed of the replicates' random signs | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobustTdParams {
    /// gamma.
    pub discount: f64,
    /// An upper bound on the norm of the features.
    pub phi_inf: f64,
    /// T, if known.
    pub horizon: Option<u64>,
    /// Bootstrap replicates.
    pub replicates: usize,
    /// Seed of the replicates' random signs.
    pub seed: u64,
}

impl RobustTdParams {
    /// The defaults for this discount and bound on the norm of the features.
    #[must_use]
    pub fn new(discount: f64, phi_inf: f64) -> Self {
        Self {
            discount,
            phi_inf,
            horizon: None,
            replicates: 0,
            seed: 1,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        let horizon = self.horizon.unwrap_or(FIRST_PHASE);
        for c in CONSTANTS {
            RobustDecay::new(horizon, c, self.phi_inf)?;
        }
        if self.replicates != 0 && !(8..=4096).contains(&self.replicates) {
            return Err(Error::Parameter {
                name: "replicates",
                value: self.replicates as f64,
                expected: "0 (no intervals), or from 8 to 4096",
            });
        }
        Ok(())
    }

    /// The first phase, or the only one.
    pub(super) fn first_phase(&self) -> Phase {
        Phase::first(self.horizon.unwrap_or(FIRST_PHASE))
    }
}
