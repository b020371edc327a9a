//! Describes a sweep: problems, lanes, runs, horizon, random numbers and diagnostics.

use robust_td_core::schedule::SHORTEST_HORIZON;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::grid::{last_logged, log_spaced};
use crate::schedule::decay;
use crate::tables::Tables;

/// A family of step sizes with one parameter.
///
/// With L = log T and the step size index t:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// eta_t = 1 / (c phi_inf^2 L log(t+3) sqrt(t+1)), Figure 1 of the paper.
    Decaying,
    /// The constant eta_T, Figure 2 of the paper.
    Constant,
    /// The constant eta given by the lane's parameter.
    Plain,
}

/// One learner of the sweep: a feature variant and its step sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Index of the feature variant.
    pub variant: usize,
    /// Family of its step sizes.
    pub family: Family,
    /// Parameter c (or the step of [`Family::Plain`]).
    pub c: f64,
}

/// The source of the random numbers and the indexing of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The published program: a trajectory of Julia's generator per (c, run), step sizes from t = 1,
    /// uniform average of theta_1..theta_t reported at the last logged step.
    Published,
    /// Exactly Algorithm 1: one trajectory per run for all lanes, step sizes from t = 0,
    /// eta-weighted average of theta_0..theta_{T-1}.
    Algorithm {
        /// Seed of the streams.
        seed: u64,
    },
}

/// A sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Problems that differ only in their features.
    pub variants: Vec<Tables>,
    /// The learners.
    pub lanes: Vec<Lane>,
    /// Runs per lane.
    pub runs: usize,
    /// Horizon T in the step sizes.
    pub horizon: u64,
    /// Steps K <= T to simulate.
    pub simulate: u64,
    /// Random numbers and indexing.
    pub mode: Mode,
    /// Points of the learning curves per decade of t.
    pub curve_points_per_decade: u32,
}

impl Plan {
    /// Validates the plan.
    ///
    /// # Errors
    /// The first violation found.
    pub fn check(&self) -> Result<()> {
        let first = self.variants.first().ok_or(Error::NoVariants)?;
        for (variant, tables) in self.variants.iter().enumerate() {
            tables.check()?;
            if !tables.same_chain(first) {
                return Err(Error::VariantMismatch { variant });
            }
        }
        if self.lanes.is_empty() {
            return Err(Error::NoLanes);
        }
        if self.runs == 0 {
            return Err(Error::NoRuns);
        }
        if self.horizon < SHORTEST_HORIZON {
            return Err(Error::Horizon {
                horizon: self.horizon,
            });
        }
        if self.simulate == 0 || self.simulate > self.horizon {
            return Err(Error::Simulate {
                simulate: self.simulate,
                horizon: self.horizon,
            });
        }
        for (lane, l) in self.lanes.iter().enumerate() {
            if l.variant >= self.variants.len() {
                let variants = self.variants.len();
                return Err(Error::UnknownVariant {
                    lane,
                    variant: l.variant,
                    variants,
                });
            }
            if !(l.c > 0.0 && l.c.is_finite()) {
                return Err(Error::StepsizeParameter { lane, value: l.c });
            }
        }
        Ok(())
    }

    /// A stable hash of everything that determines the results.
    pub fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"robust-td plan 1");
        // A plan consists of plain numbers: serializing it to memory cannot fail, and a failure would only
        // weaken the hash.
        let bytes = postcard::to_stdvec(self).unwrap_or_default();
        hasher.update(&bytes);
        hasher.finalize()
    }

    /// The step at which the averaged iterate is reported.
    pub fn gap_step(&self) -> u64 {
        match self.mode {
            Mode::Published => last_logged(self.simulate),
            Mode::Algorithm { .. } => self.simulate,
        }
    }

    /// The steps of the learning curves, the gap step and the last step included.
    pub fn curve_steps(&self) -> Vec<u64> {
        let mut steps = log_spaced(self.simulate, self.curve_points_per_decade);
        steps.push(self.gap_step());
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// Whether the lane's average is weighted by the decaying step sizes.
    pub fn weighted(&self, family: Family) -> bool {
        family == Family::Decaying && matches!(self.mode, Mode::Algorithm { .. })
    }

    /// The step size eta = b_t k1 + k0 of a lane, as (k1, k0), with b_t = 1 / (log(t+3) sqrt(t+1)).
    pub fn step_size(&self, lane: &Lane) -> (f64, f64) {
        let phi2 = self.variants[lane.variant].phi_inf_squared();
        let scale = 1.0 / (lane.c * phi2 * (self.horizon as f64).ln());
        match lane.family {
            Family::Decaying => (scale, 0.0),
            Family::Constant => (0.0, scale * decay(self.horizon)),
            Family::Plain => (0.0, lane.c),
        }
    }

    /// Step size index t of the update number `update` (1, 2, ..).
    pub fn step_size_index(&self, update: u64) -> u64 {
        match self.mode {
            Mode::Published => update,
            Mode::Algorithm { .. } => update - 1,
        }
    }
}
