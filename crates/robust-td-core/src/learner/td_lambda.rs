//! Runs TD(lambda) with accumulating traces and the steps of Algorithm 1.
//!
//! # Reference
//! Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3, 1988, for the method; Liu &
//! Olshevsky, "Temporal difference learning as gradient splitting", ICML 2021, for its potential f_lambda; the steps are
//! those of Lee & Orabona (arXiv:2506.01052) divided by the growth 1/(1 - gamma lambda) of the trace. Off-policy traces
//! carry per-decision importance ratios (Precup, Sutton & Singh 2000).
//!
//! # Update rule
//! ```text
//! theta_0     = 0,   z_{-1} = 0
//! z_t         = rho_t ( gamma lambda z_{t-1} + phi(s_t) )
//! eta_t       = (1 - gamma lambda) / ( c phi_inf^2 ln(T) ln(t+3) sqrt(t+1) )
//! theta_{t+1} = theta_t + eta_t delta_t z_t
//! output      = sum_{k<t} eta_k theta_k / sum_{k<t} eta_k
//! ```
//! The trace restarts at each episode. With lambda = 0 this is Algorithm 1 to the bit.
//!
//! # Inputs
//! phi_inf, T. `lambda` defaults to 0.9, in the range (0.8 to 0.95) that does best in most published comparisons.
//!
//! # Assumptions
//! Those of Algorithm 1. The output approaches theta*_lambda, not theta*; see [`theory::lambda`](crate::theory::lambda) for it
//! and for the certificate. Off-policy it can diverge, as TD(0) does.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_positive};
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::iterate::trace::Trace;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{C, warn_other_target, warn_small_c};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::Transition;
use crate::schedule::{RobustDecay, Schedule, Steps};

/// The learner `td-lambda`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTdLambda")]
pub struct TdLambda {
    params: TdLambdaParams,
    state: AveragedIterate,
    trace: Trace,
}

impl Learner for TdLambda {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let TdLambdaParams {
            discount,
            lambda,
            steps,
        } = self.params;
        let eta = steps.step_size(self.state.steps());
        let delta = transition.td_error(self.state.theta(), discount);
        let (factor, z) = self.trace.visit(discount * lambda, 1.0, transition);
        self.state.advance(eta, factor * (eta * delta), z);
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
        self.state.average()
    }

    read_iterate!(state);
}

impl TdLambda {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: TdLambdaParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            state: AveragedIterate::zero(dimension)?,
            trace: Trace::zero(dimension),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &TdLambdaParams {
        &self.params
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `lambda` | none | decay of the eligibility trace | [0, 1] |
/// | `steps` | none | eta_t, in the units of the features | positive |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TdLambdaParams {
    /// gamma.
    pub discount: f64,
    /// Decay of the eligibility trace.
    pub lambda: f64,
    /// eta_t.
    pub steps: Steps,
}

impl TdLambdaParams {
    /// The steps of Algorithm 1 times (1 - gamma lambda).
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn robust(discount: f64, lambda: f64, horizon: u64, c: f64, phi_inf: f64) -> Result<Self> {
        check_discount(discount)?;
        check_lambda(lambda)?;
        let scale = RobustDecay::new(horizon, c, phi_inf)?.scale() / (1.0 - discount * lambda);
        let steps = Steps::Robust { scale };
        Ok(Self {
            discount,
            lambda,
            steps,
        })
    }

    /// A constant step; the output is then the uniform average.
    #[must_use]
    pub fn constant(discount: f64, lambda: f64, eta: f64) -> Self {
        Self {
            discount,
            lambda,
            steps: Steps::Constant { eta },
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_lambda(self.lambda)?;
        check_positive("step", self.steps.step_size(0))
    }
}

/// TD(lambda).
pub const METHOD: Method<TdLambda> = Method {
    id: "td-lambda",
    title: "TD(lambda) with the steps of Algorithm 1",
    reference: "Sutton 1988; Liu & Olshevsky 2021; steps of arXiv:2506.01052",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[
        C,
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace: 0 is TD(0), 1 is Monte Carlo",
            range: Range::Unit,
            default: "0.9",
        },
    ],
    abilities: Abilities {
        ratios: true,
        target: Target::Td0Without("lambda"),
        ..Abilities::DIVIDED_BY_C
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<TdLambda> {
    let c = inputs.value(C.name, 1.0);
    let lambda = inputs.value("lambda", 0.9);
    let (phi_inf, horizon) = (inputs.phi_inf(), inputs.horizon());
    let params = TdLambdaParams::robust(inputs.discount(), lambda, horizon, c, phi_inf)?;
    warn_small_c(inputs, c);
    warn_other_target(inputs, lambda);
    TdLambda::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTdLambda {
    params: TdLambdaParams,
    state: AveragedIterate,
    trace: Trace,
}

impl TryFrom<SavedTdLambda> for TdLambda {
    type Error = Error;

    fn try_from(saved: SavedTdLambda) -> Result<Self> {
        let SavedTdLambda {
            params,
            state,
            trace,
        } = saved;
        params.check()?;
        trace.check(state.theta().len())?;
        Ok(Self {
            params,
            state,
            trace,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn three_steps_by_hand() {
        let mut learner = TdLambda::new(TdLambdaParams::constant(0.5, 0.5, 0.5), 2).unwrap();
        let (one, two) = (Features::Dense(&[1.0, 0.0]), Features::Dense(&[0.0, 1.0]));
        learner.step(&Transition::new(one, 1.0, two));
        assert_eq!(learner.theta(), [0.5, 0.0]);
        // delta = 2 + 0.5 * 0.5 - 0, z = (0.25, 1).
        learner.step(&Transition::truncated(two, 2.0, one));
        assert_eq!(learner.theta(), [0.5 + 0.28125, 1.125]);
        // The trace starts again: delta = 1 - 0.78125, z = (1, 0).
        learner.step(&Transition::terminated(one, 1.0));
        assert_eq!(learner.theta(), [0.78125 + 0.109375, 1.125]);
        assert_eq!(learner.output(), [(0.0 + 0.5 + 0.78125) / 3.0, 0.375]);
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let name = |params: TdLambdaParams| match TdLambda::new(params, 2) {
            Err(Error::Parameter { name, .. }) => name,
            Err(Error::Discount { .. }) => "discount",
            other => panic!("{other:?}"),
        };
        assert_eq!(name(TdLambdaParams::constant(1.0, 0.5, 0.1)), "discount");
        for lambda in [-0.1, 1.1, f64::NAN] {
            assert_eq!(name(TdLambdaParams::constant(0.9, lambda, 0.1)), "lambda");
            assert!(TdLambdaParams::robust(0.9, lambda, 10, 1.0, 1.0).is_err());
        }
        for eta in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(name(TdLambdaParams::constant(0.9, 0.5, eta)), "step");
        }
    }
}
