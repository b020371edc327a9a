//! Describes a sweep: problems, lanes, runs, horizon, random numbers and diagnostics.

use robust_td_core::iterate::DIVERGENCE_THRESHOLD;
use robust_td_core::schedule::SHORTEST_HORIZON;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub use crate::family::{Family, Projection};
use crate::grid::{last_logged, log_spaced};
use crate::schedule::{Pattern, decay};
use crate::tables::Tables;

/// |theta_t|^2 from which the authors' engine stops a run.
pub const TDX_DIVERGENCE: f64 = 1e20;

/// The largest number of runs.
const MOST_RUNS: u64 = 1_000_000;
/// The largest horizon: beyond it not every step is a floating-point number.
const MOST_STEPS: u64 = 1 << 53;
/// The largest number of points of learning curves per decade.
const MOST_POINTS: u64 = 1000;

/// One learner of the sweep: a feature variant, its step sizes and its projection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Index of the feature variant.
    pub variant: usize,
    /// Family of its step sizes.
    pub family: Family,
    /// Parameter c (or the step of [`Family::Plain`]).
    pub c: f64,
    /// The ball that its iterates stay in.
    pub projection: Projection,
}

impl Lane {
    /// A learner without projection.
    pub fn new(variant: usize, family: Family, c: f64) -> Self {
        Self {
            variant,
            family,
            c,
            projection: Projection::None,
        }
    }
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
    /// The authors' engine `tdx`: a trajectory of SplitMix64 per (c, run) under the published seeds, step sizes from t = 1, uniform
    /// average of theta_1..theta_t reported at the last step; a run has diverged from |theta_t|^2 = 1e20 on.
    Tdx,
}

impl Mode {
    /// Whether steps are counted as the authors' programs do: t from 1, uniform average of theta_1..theta_t, and a trajectory per
    /// (c, run).
    pub fn is_theirs(self) -> bool {
        !matches!(self, Self::Algorithm { .. })
    }
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
        for (what, found, most) in [
            ("runs", self.runs as u64, MOST_RUNS),
            ("steps", self.horizon, MOST_STEPS),
            (
                "points per decade",
                u64::from(self.curve_points_per_decade),
                MOST_POINTS,
            ),
        ] {
            if found > most {
                return Err(Error::TooMany { what, found, most });
            }
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
        hasher.update(b"robust-td plan 2");
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
            Mode::Algorithm { .. } | Mode::Tdx => self.simulate,
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

    /// The step size eta = b_t k1 + k0 of a lane, as (k1, k0), with b_t of the family's pattern.
    pub fn step_size(&self, lane: &Lane) -> (f64, f64) {
        let tables = &self.variants[lane.variant];
        let phi2 = tables.phi_inf_squared();
        let scale = 1.0 / (lane.c * phi2 * (self.horizon as f64).ln());
        match lane.family {
            Family::Decaying | Family::Theory => (scale, 0.0),
            Family::Constant => (0.0, scale * decay(self.horizon)),
            Family::Plain => (0.0, lane.c),
            Family::TheoryLog2 => (1.0 / (lane.c * phi2), 0.0),
            Family::InvT | Family::InvSqrtT | Family::InvT23 => (1.0 / lane.c, 0.0),
            Family::InvOmegaT => (1.0 / (lane.c * tables.curvature()), 0.0),
            Family::ConstantOmega => (0.0, tables.curvature() / lane.c),
            Family::InvC => (0.0, 1.0 / lane.c),
        }
    }

    /// The step size of a lane at the update number `update` (1, 2, ..).
    pub fn eta(&self, lane: &Lane, update: u64) -> f64 {
        let (k1, k0) = self.step_size(lane);
        self.pattern(lane.family).at(update).mul_add(k1, k0)
    }

    /// How the step sizes of a family fall; constant ones share the pattern of [`Family::Decaying`], which they do not use.
    pub(crate) fn pattern(&self, family: Family) -> Pattern {
        let first = u64::from(self.mode.is_theirs());
        Pattern::of(family, first)
    }

    /// The radius of the ball that a lane's iterates stay in; infinite without a projection.
    ///
    /// A radius of zero, of a problem without rewards, means no projection, as in the authors' engine.
    pub fn radius(&self, lane: &Lane) -> f64 {
        let tables = &self.variants[lane.variant];
        let rest = 1.0 - tables.discount;
        let radius = match lane.projection {
            Projection::None => f64::INFINITY,
            Projection::Oracle => tables.theta_star_squared().sqrt(),
            Projection::Upper => {
                2.0 * tables.r_max / (tables.curvature().sqrt() * (rest * rest.sqrt()))
            }
        };
        match radius > 0.0 {
            true => radius,
            false => f64::INFINITY,
        }
    }

    /// Whether a run whose largest |theta_t|^2 was `maximum` has diverged; NaN has.
    pub fn diverged(&self, maximum: f64) -> bool {
        match self.mode {
            Mode::Tdx => !(maximum < TDX_DIVERGENCE),
            Mode::Published | Mode::Algorithm { .. } => !(maximum <= DIVERGENCE_THRESHOLD),
        }
    }
}
