//! Runs Algorithm 1: unprojected TD(0) whose step sizes need neither the mixing time nor omega.
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
//! |phi(s)| <= phi_inf. The guarantee also needs an irreducible aperiodic chain, c > 15 + 18 sqrt(2), a horizon
//! that is long relative to the mixing time, and the output taken after T steps. Without these the learner still runs,
//! and beyond its horizon it continues with the same formula.
//!
//! # Performance
//! O(d) per step with dense features and O(nonzeros) with sparse ones; no allocation.

use serde::{Deserialize, Serialize};

use crate::check::check_discount;
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{C, guarantee, warn_small_c};
use crate::learner::recipe::{Output, Recipe};
use crate::learner::{Learner, doubling, portfolio};
use crate::method::{Abilities, Inputs, Method, Rate, Standing};
use crate::phi::Transition;
use crate::schedule::upcoming::Upcoming;
use crate::schedule::{RobustDecay, Schedule, Steps};

/// The learner `alg1`, or `alg1-const`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedAlg1")]
pub struct Alg1 {
    params: Alg1Params,
    // Derived from the parameters.
    #[serde(skip)]
    steps: Steps,
    state: AveragedIterate,
    #[serde(skip)]
    upcoming: Upcoming,
}

impl Learner for Alg1 {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        self.learn(transition);
    }

    #[inline]
    fn learn(&mut self, transition: &Transition<'_>) -> f64 {
        let delta = transition.td_error(self.state.theta(), self.params.discount);
        let eta = (self.upcoming).step_size(&self.steps, self.state.steps());
        self.state.advance(eta, eta * delta, transition.features);
        delta
    }

    fn id(&self) -> &'static str {
        match self.params.variant {
            Variant::Decaying => DECAYING.id,
            Variant::Constant => CONSTANT.id,
        }
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn recipe(&self) -> Option<Recipe> {
        let (id, discount) = (self.id(), self.params.discount);
        Some(Recipe::plain(
            id,
            discount,
            self.steps,
            Output::StepWeighted,
        ))
    }

    fn output(&self) -> Vec<f64> {
        self.state.average()
    }

    read_iterate!(state);
}

impl Alg1 {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: Alg1Params, dimension: usize) -> Result<Self> {
        Ok(Self {
            params,
            steps: params.steps()?,
            state: AveragedIterate::zero(dimension)?,
            upcoming: Upcoming::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Alg1Params {
        &self.params
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

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `variant` | none | decaying or constant steps | |
/// | `discount` | none | gamma | [0, 1) |
/// | `horizon` | none | T, the planned number of steps | >= 3 |
/// | `c` | none | divides the steps; the theorem requires c > 40.4558 | finite, > 0 |
/// | `phi_inf` | none | an upper bound on the norm of the features | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alg1Params {
    /// Decaying or constant steps.
    pub variant: Variant,
    /// gamma.
    pub discount: f64,
    /// T, the planned number of steps.
    pub horizon: u64,
    /// The constant that divides the steps.
    pub c: f64,
    /// An upper bound on the norm of the features.
    pub phi_inf: f64,
}

impl Alg1Params {
    /// The parameters of `alg1`.
    #[must_use]
    pub fn decaying(discount: f64, horizon: u64, c: f64, phi_inf: f64) -> Self {
        Self {
            variant: Variant::Decaying,
            discount,
            horizon,
            c,
            phi_inf,
        }
    }

    /// The parameters of `alg1-const`.
    #[must_use]
    pub fn constant(discount: f64, horizon: u64, c: f64, phi_inf: f64) -> Self {
        Self {
            variant: Variant::Constant,
            ..Self::decaying(discount, horizon, c, phi_inf)
        }
    }

    /// Checks every range and returns the step sizes.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn steps(&self) -> Result<Steps> {
        check_discount(self.discount)?;
        let decay = RobustDecay::new(self.horizon, self.c, self.phi_inf)?;
        Ok(match self.variant {
            Variant::Decaying => Steps::Robust {
                scale: decay.scale(),
            },
            Variant::Constant => Steps::Constant {
                eta: decay.step_size(self.horizon),
            },
        })
    }
}

/// Algorithm 1.
pub const DECAYING: Method<Alg1> = Method {
    id: "alg1",
    title: "Algorithm 1: decaying steps, weighted average",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, Algorithm 1",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[C],
    abilities: Abilities {
        without_c: Some(portfolio::METHOD.id),
        without_horizon: Some(doubling::METHOD.id),
        rate: Some(Rate::ROBUST),
        ..Abilities::DIVIDED_BY_C
    },
    build: |inputs| build(inputs, Variant::Decaying),
};

/// Its constant-step variant.
pub const CONSTANT: Method<Alg1> = Method {
    id: "alg1-const",
    title: "Algorithm 1 with its last step size at every step",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, experiments",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[C],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate::ROBUST),
    build: |inputs| build(inputs, Variant::Constant),
};

fn build(inputs: &mut Inputs<'_>, variant: Variant) -> Result<Alg1> {
    let params = Alg1Params {
        variant,
        discount: inputs.discount(),
        phi_inf: inputs.phi_inf(),
        horizon: inputs.horizon(),
        c: inputs.value(C.name, 1.0),
    };
    warn_small_c(inputs, params.c);
    let learner = Alg1::new(params, inputs.dimension())?;
    let unit = Alg1Params { c: 1.0, ..params }.steps()?;
    guarantee(inputs, params.horizon, params.c, |t| unit.step_size(t));
    Ok(learner)
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedAlg1 {
    params: Alg1Params,
    state: AveragedIterate,
}

impl TryFrom<SavedAlg1> for Alg1 {
    type Error = Error;

    fn try_from(SavedAlg1 { params, state }: SavedAlg1) -> Result<Self> {
        Ok(Self {
            params,
            steps: params.steps()?,
            state,
            upcoming: Upcoming::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn three_steps_by_hand() {
        let mut learner = Alg1::new(Alg1Params::decaying(0.5, 3, 2.0, 1.0), 1).unwrap();
        let phi = Features::Dense(&[1.0]);
        let (mut theta, mut weighted, mut total) = (0.0, 0.0, 0.0);
        for t in 0..3 {
            let eta = 1.0 / (2.0 * 3f64.ln() * (t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt());
            weighted += eta * theta;
            total += eta;
            theta += eta * (1.0 - 0.5 * theta);
            learner.step(&Transition::new(phi, 1.0, phi));
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
        let name = |params: Alg1Params| match Alg1::new(params, 1) {
            Err(Error::Parameter { name, .. }) => name,
            Err(Error::Discount { .. }) => "discount",
            other => panic!("{other:?}"),
        };
        let good = Alg1Params::decaying(0.9, 10, 1.0, 1.0);
        for discount in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(Alg1Params { discount, ..good }), "discount");
        }
        assert_eq!(name(Alg1Params { horizon: 2, ..good }), "horizon");
        assert_eq!(
            name(Alg1Params {
                c: f64::NAN,
                ..good
            }),
            "c"
        );
        assert_eq!(
            name(Alg1Params {
                phi_inf: 0.0,
                ..good
            }),
            "phi_inf"
        );
        assert!(Alg1::new(good, 0).is_err());
    }
}
