//! Runs emphatic TD(lambda), which weights states by how often the target policy would reach them.
//!
//! # Reference
//! Sutton, Mahmood & White, "An emphatic approach to the problem of off-policy temporal-difference learning", JMLR 17, 2016.
//!
//! # Update rule
//! With the importance ratio rho_t of the action taken at s_t (1 on-policy) and interest 1,
//! ```text
//! F_t         = 1 + gamma rho_{t-1} F_{t-1},      F = 1 at the first state of an episode
//! M_t         = lambda + (1 - lambda) F_t
//! e_t         = rho_t ( gamma lambda e_{t-1} + M_t phi(s_t) )
//! theta_{t+1} = theta_t + a delta_t e_t
//! ```
//! The output is the last iterate. F is not capped: off-policy its variance can be huge or infinite, and then single updates
//! can be huge even when the mean error is small.
//!
//! # Inputs
//! phi_inf and T for the default step. On-policy F_t rises to 1/(1-gamma), so emphatic TD is TD(lambda) with a step
//! larger by the factor lambda + (1-lambda)/(1-gamma). For a fair comparison the default step is divided by that factor:
//! a = (1 - gamma lambda) / ( (lambda + (1-lambda)/(1-gamma)) phi_inf^2 sqrt T ). A `step` that is set is used unchanged, in the
//! units of the features. `lambda` defaults to 0.
//!
//! # Assumptions
//! The mean update is stable for every pair of policies. We know of no finite-time bound.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::iterate::trace::Trace;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{default_step, warn_other_target};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::Transition;

/// The learner `etd`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedEtd")]
pub struct Etd {
    params: EtdParams,
    iterate: Iterate,
    trace: Trace,
    /// gamma rho_{t-1} F_{t-1}, the recursive part of F; 0 at the first state of an episode.
    #[serde(with = "crate::exact_float")]
    inherited: f64,
}

impl Learner for Etd {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let EtdParams {
            discount,
            step,
            lambda,
        } = self.params;
        let follow_on = self.follow_on();
        let emphasis = lambda + (1.0 - lambda) * follow_on;
        let delta = transition.td_error(self.iterate.theta(), discount);
        let (factor, e) = self.trace.visit(discount * lambda, emphasis, transition);
        self.iterate.advance(factor * (step * delta), e);
        self.trace.leave(transition);
        self.inherited = if transition.outcome.ends_episode() {
            0.0
        } else {
            discount * transition.ratio * follow_on
        };
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn start_episode(&mut self) {
        self.trace.clear();
        self.inherited = 0.0;
    }

    /// The follow-on trace remains at lambda = 0.
    fn has_traces(&self) -> bool {
        self.params.discount > 0.0
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

impl Etd {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: EtdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            trace: Trace::zero(dimension),
            inherited: 0.0,
        })
    }

    /// F of the next state.
    #[must_use]
    pub fn follow_on(&self) -> f64 {
        self.inherited + 1.0
    }
}

/// lambda + (1-lambda)/(1-gamma): the factor by which on-policy emphasis enlarges the step in the limit.
#[must_use]
pub fn fair_factor(discount: f64, lambda: f64) -> f64 {
    lambda + (1.0 - lambda) / (1.0 - discount)
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | a | finite, > 0 |
/// | `lambda` | none | decay of the eligibility trace | [0, 1] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EtdParams {
    /// gamma.
    pub discount: f64,
    /// a.
    pub step: f64,
    /// Decay of the eligibility trace.
    pub lambda: f64,
}

impl EtdParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("step", self.step)?;
        check_lambda(self.lambda)
    }
}

/// Emphatic TD.
pub const METHOD: Method<Etd> = Method {
    id: "etd",
    title: "emphatic TD(lambda)",
    reference: "Sutton, Mahmood & White 2016, JMLR 17",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step a, in the units of the features",
            range: Range::Positive,
            default: "(1 - gamma lambda) / ((lambda + (1-lambda)/(1-gamma)) phi_inf^2 sqrt T)",
        },
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace",
            range: Range::Unit,
            default: "0",
        },
    ],
    abilities: Abilities {
        ratios: true,
        target: Target::Other,
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<Etd> {
    let lambda = inputs.value("lambda", 0.0);
    let discount = inputs.discount();
    let params = EtdParams {
        discount,
        step: match inputs.given("step") {
            Some(step) => step,
            None => {
                let plain = default_step(inputs);
                let step = plain * (1.0 - discount * lambda) / fair_factor(discount, lambda);
                inputs.note_known("step", step);
                step
            }
        },
        lambda,
    };
    warn_other_target(inputs, lambda);
    Etd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedEtd {
    params: EtdParams,
    iterate: Iterate,
    trace: Trace,
    #[serde(with = "crate::exact_float")]
    inherited: f64,
}

impl TryFrom<SavedEtd> for Etd {
    type Error = Error;

    fn try_from(saved: SavedEtd) -> Result<Self> {
        let SavedEtd {
            params,
            iterate,
            trace,
            inherited,
        } = saved;
        params.check()?;
        trace.check(iterate.theta().len())?;
        Ok(Self {
            params,
            iterate,
            trace,
            inherited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn the_emphasis_rises_to_its_limit_and_restarts() {
        let params = EtdParams {
            discount: 0.75,
            step: 1e-3,
            lambda: 0.5,
        };
        let mut learner = Etd::new(params, 1).unwrap();
        let phi = Features::Dense(&[1.0]);
        assert_eq!(learner.follow_on(), 1.0);
        learner.step(&Transition::new(phi, 1.0, phi).with_ratio(2.0));
        assert_eq!(learner.follow_on(), 1.0 + 0.75 * 2.0);
        for _ in 0..200 {
            learner.step(&Transition::new(phi, 1.0, phi));
        }
        assert!((learner.follow_on() - 4.0).abs() < 1e-12);
        assert_eq!(fair_factor(0.75, 0.5), 0.5 + 0.5 * 4.0);
        learner.step(&Transition::truncated(phi, 1.0, phi));
        assert_eq!(learner.follow_on(), 1.0);
    }
}
