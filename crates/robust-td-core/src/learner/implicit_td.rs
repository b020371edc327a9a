//! Runs implicit TD(lambda), whose steps shrink automatically where the features are large.
//!
//! # Reference
//! Tamar, Toulis, Mannor & Airoldi, "Implicit temporal differences", 2014 (arXiv:1412.6734).
//!
//! # Update rule
//! The value in the TD error is taken at the new iterate; with z_t = rho_t ( gamma lambda z_{t-1} + phi(s_t) )
//! ```text
//! theta_{t+1} = theta_t + eta ( delta_t + z_t.theta_t - z_t.theta_{t+1} ) z_t
//!             = theta_t + eta / (1 + eta |z_t|^2) delta_t z_t
//! ```
//! The step is at most min(eta, 1/|z_t|^2): for TD(0), where z = phi, it never overshoots the target of its own sample.
//! The trace restarts at each episode. The output is the last iterate.
//!
//! # Inputs
//! phi_inf and T for the default step 1/(phi_inf^2 sqrt T), the same as for the projected methods; `step` overrides it,
//! in the units of the features. `lambda` defaults to 0.
//!
//! # Assumptions
//! None for bounded steps. We have verified no finite-time bound for Markovian samples.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::iterate::trace::Trace;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{given_or_default_step, warn_other_target};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::Transition;

/// The learner `implicit-td`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedImplicitTd")]
pub struct ImplicitTd {
    params: ImplicitTdParams,
    iterate: Iterate,
    trace: Trace,
}

impl Learner for ImplicitTd {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let ImplicitTdParams {
            discount,
            step,
            lambda,
        } = self.params;
        let delta = transition.td_error(self.iterate.theta(), discount);
        let (factor, z) = self.trace.visit(discount * lambda, 1.0, transition);
        let eta = step / (1.0 + step * (factor * factor) * z.norm_sq());
        self.iterate.advance(factor * (eta * delta), z);
        self.trace.leave(transition);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn start_episode(&mut self) {
        self.trace.clear();
    }

    fn has_traces(&self) -> bool {
        self.params.discount * self.params.lambda > 0.0
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

impl ImplicitTd {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: ImplicitTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            trace: Trace::zero(dimension),
        })
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | eta before shrinking | finite, > 0 |
/// | `lambda` | none | decay of the eligibility trace | [0, 1] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImplicitTdParams {
    /// gamma.
    pub discount: f64,
    /// eta before shrinking.
    pub step: f64,
    /// Decay of the eligibility trace.
    pub lambda: f64,
}

impl ImplicitTdParams {
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

/// Implicit TD.
pub const METHOD: Method<ImplicitTd> = Method {
    id: "implicit-td",
    title: "implicit TD(lambda): steps that cannot overshoot",
    reference: "Tamar, Toulis, Mannor & Airoldi 2014, arXiv:1412.6734",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "eta before shrinking, in the units of the features",
            range: Range::Positive,
            default: "1 / (phi_inf^2 sqrt T)",
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
        target: Target::Td0Without("lambda"),
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<ImplicitTd> {
    let params = ImplicitTdParams {
        discount: inputs.discount(),
        step: given_or_default_step(inputs),
        lambda: inputs.value("lambda", 0.0),
    };
    warn_other_target(inputs, params.lambda);
    ImplicitTd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedImplicitTd {
    params: ImplicitTdParams,
    iterate: Iterate,
    trace: Trace,
}

impl TryFrom<SavedImplicitTd> for ImplicitTd {
    type Error = Error;

    fn try_from(saved: SavedImplicitTd) -> Result<Self> {
        let SavedImplicitTd {
            params,
            iterate,
            trace,
        } = saved;
        params.check()?;
        trace.check(iterate.theta().len())?;
        Ok(Self {
            params,
            iterate,
            trace,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn even_a_huge_step_only_reaches_the_target() {
        let params = ImplicitTdParams {
            discount: 0.5,
            step: 1e9,
            lambda: 0.0,
        };
        let mut learner = ImplicitTd::new(params, 1).unwrap();
        learner.step(&Transition::terminated(Features::Dense(&[10.0]), 3.0));
        // phi . theta is the target 3 up to 1/(eta |phi|^2).
        assert!((10.0 * learner.theta()[0] - 3.0).abs() < 1e-10);
    }
}
