//! Runs Algorithm 1 in phases of growing length, for an unknown number of samples.
//!
//! # Reference
//! Lee & Orabona, arXiv:2506.01052, appendix on the doubling trick.
//!
//! # Update rule
//! Phase j = 0, 1, 2, ... runs Algorithm 1 with horizon T_j from theta = 0 on the next T_j samples of the same
//! stream. The output is the average of the last *completed* phase; before phase 0 is complete, the
//! average so far. [`Phase`] defines T_j. A phase is closed when the next sample arrives, so at the boundary `theta` is
//! still the last iterate of the completed phase.
//!
//! # Cost
//! Just before phase j+1 ends, the output uses phase j alone: a share T_j / (T_0 + ... + T_{j+1} - 1) of the
//! samples, which tends to (b-1)/b^2 for factor b: at most 1/4, at b = 2. (The paper states one half.)
//!
//! # Assumptions
//! Those of [`alg1`](crate::learner::alg1), for the completed phase.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_horizon, check_length};
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{C, guarantee, warn_small_c};
use crate::method::{Abilities, Method, Parameter, Range, Rate, Standing};
use crate::phi::Transition;
use crate::schedule::{Phase, RobustDecay, Schedule};

/// The learner `alg1-doubling`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedDoubling")]
pub struct Doubling {
    params: DoublingParams,
    // Derived from the parameters and the number of steps.
    #[serde(skip)]
    phase: Phase,
    #[serde(skip)]
    schedule: RobustDecay,
    state: AveragedIterate,
    /// The average of the previous phase; zero in phase 0.
    #[serde(with = "crate::exact_float")]
    completed: Vec<f64>,
}

impl Learner for Doubling {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        if self.state.steps() == self.phase.end() {
            self.open_next_phase();
        }
        let eta = self
            .schedule
            .step_size(self.state.steps() - self.phase.start);
        let delta = transition.td_error(self.state.theta(), self.params.discount);
        self.state.advance(eta, eta * delta, transition.features);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    /// The average of the last completed phase; the average so far in phase 0.
    fn output(&self) -> Vec<f64> {
        if self.reports_earlier_phase() {
            self.completed.clone()
        } else {
            self.state.average()
        }
    }

    read_iterate!(state);
}

impl Doubling {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: DoublingParams, dimension: usize) -> Result<Self> {
        params.check()?;
        let state = AveragedIterate::zero(dimension)?;
        Self::at_phase(Phase::first(params.t0), params, state, vec![0.0; dimension])
    }

    fn at_phase(
        phase: Phase,
        params: DoublingParams,
        state: AveragedIterate,
        completed: Vec<f64>,
    ) -> Result<Self> {
        let schedule = RobustDecay::new(phase.length, params.c, params.phi_inf)?;
        Ok(Self {
            params,
            phase,
            schedule,
            state,
            completed,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &DoublingParams {
        &self.params
    }

    /// The running phase, or the one just completed.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether the output belongs to an earlier phase than [`Doubling::phase`].
    fn reports_earlier_phase(&self) -> bool {
        self.phase.index > 0 && self.state.steps() < self.phase.end()
    }

    /// Keeps the average of the completed phase and starts the next one.
    #[cold]
    fn open_next_phase(&mut self) {
        self.state.write_average(&mut self.completed);
        self.state.restart();
        self.phase = self.phase.next(self.params.factor);
        self.schedule = self.schedule.with_horizon(self.phase.length);
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `c` | none | divides the steps; the theorem requires c > 40.4558 | finite, > 0 |
/// | `phi_inf` | none | an upper bound on the norm of the features | finite, > 0 |
/// | `t0` | 1024 | length of the first phase | >= 3 |
/// | `factor` | 2 | growth factor of the phases | finite, > 1 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoublingParams {
    /// gamma.
    pub discount: f64,
    /// The constant that divides the steps.
    pub c: f64,
    /// An upper bound on the norm of the features.
    pub phi_inf: f64,
    /// Length of the first phase.
    pub t0: u64,
    /// Growth factor of the phases.
    pub factor: f64,
}

impl DoublingParams {
    /// The defaults for this discount, constant c and bound on the norm of the features.
    #[must_use]
    pub fn new(discount: f64, c: f64, phi_inf: f64) -> Self {
        Self {
            discount,
            c,
            phi_inf,
            t0: 1024,
            factor: 2.0,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_horizon("t0", self.t0)?;
        if !(self.factor > 1.0 && self.factor.is_finite()) {
            let expected = "finite and above 1";
            return Err(Error::Parameter {
                name: "factor",
                value: self.factor,
                expected,
            });
        }
        RobustDecay::new(self.t0, self.c, self.phi_inf)?;
        Ok(())
    }
}

/// Algorithm 1 with the doubling trick.
pub const METHOD: Method<Doubling> = Method {
    id: "alg1-doubling",
    title: "Algorithm 1 in phases of doubling length",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, appendix on the doubling trick",
    standing: Standing::Proved,
    needs: &["phi_inf"],
    parameters: &[
        C,
        Parameter {
            name: "t0",
            meaning: "length of the first phase",
            range: Range::Whole(3),
            default: "1024",
        },
        Parameter {
            name: "factor",
            meaning: "growth factor of the phases",
            range: Range::AboveOne,
            default: "2",
        },
    ],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate::ROBUST),
    build: |inputs| {
        let params = DoublingParams {
            discount: inputs.discount(),
            phi_inf: inputs.phi_inf(),
            t0: inputs.value("t0", 1024.0) as u64,
            factor: inputs.value("factor", 2.0),
            c: inputs.value(C.name, 1.0),
        };
        warn_small_c(inputs, params.c);
        let learner = Doubling::new(params, inputs.dimension())?;
        // Each phase starts from zero in some state: Algorithm 1 with the horizon of the last complete phase.
        let complete = Phase::last_complete(params.t0, params.factor, inputs.samples());
        if let Some(phase) = complete {
            let unit = RobustDecay::new(phase.length, 1.0, params.phi_inf)?;
            guarantee(inputs, phase.length, params.c, |t| unit.step_size(t));
        }
        Ok(learner)
    },
};

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDoubling {
    params: DoublingParams,
    state: AveragedIterate,
    #[serde(with = "crate::exact_float")]
    completed: Vec<f64>,
}

impl TryFrom<SavedDoubling> for Doubling {
    type Error = Error;

    fn try_from(
        SavedDoubling {
            params,
            state,
            completed,
        }: SavedDoubling,
    ) -> Result<Self> {
        check_length(
            "the saved completed phase",
            state.theta().len(),
            completed.len(),
        )?;
        params.check()?;
        let mut phase = Phase::first(params.t0);
        while phase.end() < state.steps() {
            phase = phase.next(params.factor);
        }
        Self::at_phase(phase, params, state, completed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let name = |params: DoublingParams| match params.check() {
            Err(Error::Parameter { name, .. }) => name,
            Err(Error::Discount { .. }) => "discount",
            other => panic!("{other:?}"),
        };
        let good = DoublingParams::new(0.9, 1.0, 1.0);
        assert!(good.check().is_ok());
        for factor in [1.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(DoublingParams { factor, ..good }), "factor");
        }
        assert_eq!(name(DoublingParams { t0: 2, ..good }), "t0");
        assert_eq!(name(DoublingParams { c: 0.0, ..good }), "c");
        assert_eq!(
            name(DoublingParams {
                phi_inf: f64::NAN,
                ..good
            }),
            "phi_inf"
        );
        assert_eq!(
            name(DoublingParams {
                discount: 1.0,
                ..good
            }),
            "discount"
        );
    }
}
