//! Runs Algorithm 1: unprojected TD(0) whose steps need neither the mixing time nor omega.
//!
//! # Reference
//! Lee & Orabona, "A Robust O(1/sqrt T) Rate for Unprojected TD Learning with Linear Function
//! Approximation", arXiv:2506.01052, Algorithm 1; the constant-step variant is that of its experiments.
//!
//! # Update rule
//! ```text
//! theta_0     = 0
//! eta_t       = 1 / ( c phi_inf^2 ln(T) ln(t+3) sqrt(t+1) )        alg1
//!             = 1 / ( c phi_inf^2 ln(T) ln(T+3) sqrt(T+1) )        alg1-const
//! delta_t     = r_t + gamma phi(s_{t+1}).theta_t - phi(s_t).theta_t
//! theta_{t+1} = theta_t + eta_t delta_t phi(s_t)
//! output      = sum_{k<t} eta_k theta_k / sum_{k<t} eta_k
//! ```
//!
//! # Assumptions
//! |phi(s)| <= phi_inf. For a guarantee also: an irreducible aperiodic chain, c > 15 + 18 sqrt(2), a horizon
//! that is long for the mixing time, and the output taken after T steps. The learner runs without them, and
//! past its horizon, by the same formula.
//!
//! # Performance
//! O(d) per step with dense features and O(nonzeros) with sparse ones; no allocation.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::average::AveragedIterate;
use crate::learner::knowledge::features_within_bound;
use crate::learner::method::{Inputs, Method, Parameter, Quantity, Range, Standing};
use crate::learner::recipe::{Output, Recipe};
use crate::learner::upcoming::Upcoming;
use crate::learner::{AnyLearner, Health, Learner, Steps, Transition, check_discount};
use crate::schedule::{RobustConstant, RobustDecay, Schedule};
use crate::theory::best_bound::best_bound;
use crate::theory::constants::C0;

/// The constant c of Algorithm 1's steps.
pub(crate) const C: Parameter = Parameter {
    name: "c",
    meaning: "divides the steps; the theorem asks for c > 40.4558",
    range: Range::Positive,
    default: "1",
};

/// Algorithm 1.
pub static DECAYING: Method = Method {
    id: "alg1",
    title: "Algorithm 1: decaying steps, weighted average",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, Algorithm 1",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[C],
    build: |inputs| build(inputs, Variant::Decaying),
};

/// Its constant-step variant.
pub static CONSTANT: Method = Method {
    id: "alg1-const",
    title: "Algorithm 1 with its last step throughout",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, experiments",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[C],
    build: |inputs| build(inputs, Variant::Constant),
};

fn build(inputs: &mut Inputs<'_>, variant: Variant) -> Result<AnyLearner> {
    let params = Params {
        variant,
        discount: inputs.discount(),
        phi_inf: inputs.phi_inf(),
        horizon: inputs.horizon(),
        c: inputs.value("c", 1.0),
    };
    warn_small_c(inputs, params.c);
    let learner = Alg1::new(params.check()?, inputs.dimension())?;
    let unit = Params { c: 1.0, ..params }.check()?.steps;
    guarantee(inputs, params.horizon, params.c, |t| unit.step_size(t));
    Ok(learner.into())
}

/// States the best certificate for T of the steps unit(t)/c, if one is proved.
pub(crate) fn guarantee(inputs: &mut Inputs<'_>, horizon: u64, c: f64, unit: impl Fn(u64) -> f64) {
    let (Some(problem), Some(mixing)) = (inputs.known_problem(), inputs.known_mixing()) else {
        return;
    };
    if !features_within_bound(inputs) {
        return;
    }
    if let Some(best) = best_bound(problem, mixing, horizon, c, unit) {
        inputs.guarantee(Quantity::F, best.bound, best.statement);
    }
}

/// Says that the paper's theorem does not cover this c.
pub(crate) fn warn_small_c(inputs: &mut Inputs<'_>, c: f64) {
    if !(c > C0) {
        inputs.warn(format!(
            "c = {c} is not above c_0 = {C0:.4}, as Theorem 1 asks"
        ));
    }
}

/// Which of the two step-size rules is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The decaying steps of Algorithm 1, id `alg1`.
    Decaying,
    /// Their value at t = T for all t, id `alg1-const`.
    Constant,
}

/// The parameters, not yet checked.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `variant` | none | decaying or constant steps | |
/// | `discount` | none | gamma | [0, 1) |
/// | `horizon` | none | T, the number of steps to come | >= 3 |
/// | `c` | none | divides the steps; the theorem asks for c > 40.4558 | finite, > 0 |
/// | `phi_inf` | 1 | an upper bound on the norm of the features | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Decaying or constant steps.
    pub variant: Variant,
    /// gamma.
    pub discount: f64,
    /// T, the number of steps to come.
    pub horizon: u64,
    /// The constant that divides the steps.
    pub c: f64,
    /// An upper bound on the norm of the features.
    pub phi_inf: f64,
}

impl Params {
    /// The parameters of `alg1`.
    #[must_use]
    pub fn decaying(discount: f64, horizon: u64, c: f64) -> Self {
        Self {
            variant: Variant::Decaying,
            discount,
            horizon,
            c,
            phi_inf: 1.0,
        }
    }

    /// The parameters of `alg1-const`.
    #[must_use]
    pub fn constant(discount: f64, horizon: u64, c: f64) -> Self {
        Self {
            variant: Variant::Constant,
            ..Self::decaying(discount, horizon, c)
        }
    }

    /// Sets the bound on the norm of the features.
    #[must_use]
    pub fn phi_inf(self, phi_inf: f64) -> Self {
        Self { phi_inf, ..self }
    }

    /// Checks every range once, so that the learner never has to.
    ///
    /// # Errors
    /// Names the parameter that is out of its range.
    pub fn check(self) -> Result<ValidParams> {
        let Self {
            variant,
            discount,
            horizon,
            c,
            phi_inf,
        } = self;
        check_discount(discount)?;
        let steps = match variant {
            Variant::Decaying => Rule::Decaying(RobustDecay::new(horizon, c, phi_inf)?),
            Variant::Constant => Rule::Constant(RobustConstant::new(horizon, c, phi_inf)?),
        };
        Ok(ValidParams {
            params: self,
            steps,
        })
    }
}

/// Parameters that are within their ranges, with the schedule that they define.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Params", into = "Params")]
pub struct ValidParams {
    params: Params,
    steps: Rule,
}

impl ValidParams {
    /// The values.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }
}

impl TryFrom<Params> for ValidParams {
    type Error = Error;

    fn try_from(params: Params) -> Result<Self> {
        params.check()
    }
}

impl From<ValidParams> for Params {
    fn from(valid: ValidParams) -> Self {
        valid.params
    }
}

/// The schedule of either variant.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    Decaying(RobustDecay),
    Constant(RobustConstant),
}

impl Schedule for Rule {
    #[inline]
    fn step_size(&self, t: u64) -> f64 {
        match self {
            Self::Decaying(schedule) => schedule.step_size(t),
            Self::Constant(schedule) => schedule.step_size(t),
        }
    }
}

/// The learner `alg1`, or `alg1-const`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alg1 {
    params: ValidParams,
    state: AveragedIterate,
    #[serde(skip)]
    upcoming: Upcoming,
}

impl Alg1 {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0.
    pub fn new(params: ValidParams, dimension: usize) -> Result<Self> {
        Ok(Self {
            params,
            state: AveragedIterate::zero(dimension)?,
            upcoming: Upcoming::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        self.params.params()
    }
}

impl Learner for Alg1 {
    fn id(&self) -> &'static str {
        match self.params().variant {
            Variant::Decaying => "alg1",
            Variant::Constant => "alg1-const",
        }
    }

    fn discount(&self) -> f64 {
        self.params().discount
    }

    fn steps(&self) -> u64 {
        self.state.steps()
    }

    fn recipe(&self) -> Option<Recipe> {
        let steps = match self.params.steps {
            Rule::Decaying(schedule) => Steps::Robust {
                scale: schedule.scale(),
            },
            Rule::Constant(schedule) => Steps::Constant {
                eta: schedule.step_size(0),
            },
        };
        let (id, discount) = (self.id(), self.params().discount);
        Some(Recipe::plain(id, discount, steps, Output::StepWeighted))
    }

    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        self.learn(transition);
    }

    #[inline]
    fn learn(&mut self, transition: &Transition<'_>) -> f64 {
        let delta = transition.td_error(self.state.theta(), self.params.params.discount);
        let eta = (self.upcoming).step_size(&self.params.steps, self.state.steps());
        self.state.advance(eta, eta * delta, transition.features);
        delta
    }

    fn theta(&self) -> &[f64] {
        self.state.theta()
    }

    fn output(&self) -> Vec<f64> {
        self.state.average()
    }

    fn health(&self) -> &Health {
        self.state.health()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Features;

    #[test]
    fn three_steps_by_hand() {
        let mut learner = Alg1::new(Params::decaying(0.5, 3, 2.0).check().unwrap(), 1).unwrap();
        let phi = Features::Dense(&[1.0]);
        let (mut theta, mut weighted, mut total) = (0.0, 0.0, 0.0);
        for t in 0..3 {
            let eta = 1.0 / (2.0 * 3f64.ln() * (t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt());
            weighted += eta * theta;
            total += eta;
            theta += eta * (1.0 - 0.5 * theta);
            learner.step(&Transition::continues(phi, 1.0, phi));
        }
        assert!((learner.theta()[0] - theta).abs() < 1e-15);
        assert!((learner.output()[0] - weighted / total).abs() < 1e-15);
        assert_eq!(
            (learner.id(), learner.steps(), learner.dimension()),
            ("alg1", 3, 1)
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let name = |params: Params| match params.check() {
            Err(Error::Parameter { name, .. }) => name,
            Err(Error::Discount { .. }) => "discount",
            other => panic!("{other:?}"),
        };
        let good = Params::decaying(0.9, 10, 1.0);
        for discount in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(Params { discount, ..good }), "discount");
        }
        assert_eq!(name(Params { horizon: 2, ..good }), "horizon");
        assert_eq!(
            name(Params {
                c: f64::NAN,
                ..good
            }),
            "c"
        );
        assert_eq!(name(good.phi_inf(0.0)), "phi_inf");
        assert!(Alg1::new(good.check().unwrap(), 0).is_err());
    }
}
