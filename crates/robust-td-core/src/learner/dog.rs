//! Runs TD(0) with the DoG step size: distance over gradients.
//!
//! # Reference
//! Ivgi, Hinder & Carmon, "DoG is SGD's best friend: a parameter-free dynamic step size schedule", ICML 2023; `t-dog` is the
//! tamed variant, for which the paper proves its high-probability bounds.
//!
//! # Update rule
//! With the TD direction g_t = delta_t phi(s_t) and theta_0 = 0,
//! ```text
//! rbar_t      = max( r_eps, max_{k<=t} |theta_k - theta_0| )
//! G_t         = sum_{k<=t} |g_k|^2
//! theta_{t+1} = theta_t + rbar_t / sqrt(G_t + 1e-8) g_t                                                    dog
//! theta_{t+1} = theta_t + rbar_t / sqrt( 8^4 th (1 + ln(t+1))^2 (G_{t-1} + 16 th lg^2) ) g_t              t-dog
//!               th = ln( 60 ln(6T) / delta )
//! output      = sum_{k<t} rbar_k theta_k / sum_{k<t} rbar_k
//! ```
//!
//! # Inputs
//! r_eps is the initial distance; it only has to be small. `t-dog` also takes the horizon T, the failure probability delta and
//! lg, a bound on |g|. Its theorem keeps |theta_t| <= 3 |theta*|, where |g| <= r_inf phi_inf + (1+gamma) phi_inf^2 3 |theta*|: this
//! is lg when the problem is known.
//!
//! # Assumptions
//! The theory covers convex stochastic optimisation, not TD from Markovian samples: the method is experimental.
//!
//! # Performance
//! O(nonzeros) per step, no allocation.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_positive};
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::Transition;

/// The learner `dog`, or `t-dog`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedDog")]
pub struct Dog {
    params: DogParams,
    state: AveragedIterate,
    /// rbar_t.
    #[serde(with = "crate::exact_float")]
    distance: f64,
    /// G_{t-1}.
    #[serde(with = "crate::exact_float")]
    squares: f64,
}

impl Learner for Dog {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let delta = transition.td_error(self.state.theta(), self.params.discount);
        let before = self.squares;
        self.squares += delta * delta * transition.features.norm_sq();
        let under = match self.params.taming {
            None => self.squares + 1e-8,
            Some(taming) => taming.tamed(self.state.steps(), before),
        };
        let eta = self.distance / under.sqrt();
        self.state
            .advance(self.distance, eta * delta, transition.features);
        let norm = self.state.norm_sq().sqrt();
        // A norm that overflowed carries no information; `health` already records the divergence.
        if norm > self.distance && norm.is_finite() {
            self.distance = norm;
        }
    }

    fn id(&self) -> &'static str {
        match self.params.taming {
            None => DOG.id,
            Some(_) => T_DOG.id,
        }
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    /// The average of theta_0, ..., theta_{t-1} with weights rbar.
    fn output(&self) -> Vec<f64> {
        self.state.average()
    }

    read_iterate!(state);
}

impl Dog {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0 or a parameter is out of range.
    pub fn new(params: DogParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            state: AveragedIterate::zero(dimension)?,
            distance: params.r_eps,
            squares: 0.0,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &DogParams {
        &self.params
    }
}

/// The inputs of T-DoG.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taming {
    /// T, at least 1.
    pub horizon: u64,
    /// Failure probability, in (0, 1).
    pub delta: f64,
    /// Bound on the norm of an update, finite and above 0.
    pub lg: f64,
}

impl Taming {
    /// `th = ln(60 ln(6T) / delta)`.
    fn th(&self) -> f64 {
        (60.0 * (6.0 * self.horizon as f64).ln() / self.delta).ln()
    }

    /// Replaces G_t in `t-dog`.
    fn tamed(&self, t: u64, before: f64) -> f64 {
        let (th, log) = (self.th(), 1.0 + (t as f64 + 1.0).ln());
        4096.0 * th * log * log * (before + 16.0 * th * self.lg * self.lg)
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `r_eps` | 1e-4 | initial distance from the start, which scales the first step | finite, > 0 |
/// | `taming` | none | the extra inputs of `t-dog` | see [`Taming`] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DogParams {
    /// gamma.
    pub discount: f64,
    /// Initial distance from the start, which scales the first step.
    pub r_eps: f64,
    /// The extra inputs of `t-dog`.
    pub taming: Option<Taming>,
}

impl DogParams {
    /// The defaults of `dog` for this discount.
    #[must_use]
    pub fn new(discount: f64) -> Self {
        Self {
            discount,
            r_eps: 1e-4,
            taming: None,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("r_eps", self.r_eps)?;
        let Some(taming) = self.taming else {
            return Ok(());
        };
        check_positive("lg", taming.lg)?;
        check_positive("horizon", taming.horizon as f64)?;
        if !Range::OpenUnit.contains(taming.delta) {
            return Err(Error::Parameter {
                name: "delta",
                value: taming.delta,
                expected: "above 0 and below 1",
            });
        }
        Ok(())
    }
}

/// The initial distance.
const R_EPS: Parameter = Parameter {
    name: "r_eps",
    meaning: "initial distance from the start, which scales the first step",
    range: Range::Positive,
    default: "1e-4",
};

/// Distance over gradients.
pub const DOG: Method<Dog> = Method {
    id: "dog",
    title: "TD(0) with distance-over-gradients steps",
    reference: "Ivgi, Hinder & Carmon 2023, DoG",
    standing: Standing::Experimental,
    needs: &[],
    parameters: &[R_EPS],
    abilities: Abilities::PLAIN,
    build: |inputs| build(inputs, None),
};

/// Tamed distance over gradients.
pub const T_DOG: Method<Dog> = Method {
    id: "t-dog",
    title: "TD(0) with tamed distance-over-gradients steps",
    reference: "Ivgi, Hinder & Carmon 2023, T-DoG",
    standing: Standing::Experimental,
    needs: &["T", "lg"],
    parameters: &[
        R_EPS,
        Parameter {
            name: "delta",
            meaning: "failure probability",
            range: Range::OpenUnit,
            default: "0.01",
        },
        Parameter {
            name: "lg",
            meaning: "bound on the norm of an update",
            range: Range::Positive,
            default: "from the problem",
        },
    ],
    abilities: Abilities::PLAIN,
    build: |inputs| {
        let taming = Taming {
            horizon: inputs.horizon(),
            delta: inputs.value("delta", 0.01),
            lg: inputs.value_or_oracle("lg", |known| {
                let problem = known.problem;
                let (growth, phi_inf) = (1.0 + problem.discount(), problem.phi_inf());
                let radius = 3.0 * problem.theta_star_norm();
                let bound = phi_inf * (problem.r_inf() + growth * phi_inf * radius);
                // Without rewards every update is zero, so any bound holds.
                Ok(if bound > 0.0 { bound } else { 1.0 })
            })?,
        };
        build(inputs, Some(taming))
    },
};

fn build(inputs: &mut Inputs<'_>, taming: Option<Taming>) -> Result<Dog> {
    let params = DogParams {
        r_eps: inputs.value("r_eps", 1e-4),
        taming,
        ..DogParams::new(inputs.discount())
    };
    Dog::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDog {
    params: DogParams,
    state: AveragedIterate,
    #[serde(with = "crate::exact_float")]
    distance: f64,
    #[serde(with = "crate::exact_float")]
    squares: f64,
}

impl TryFrom<SavedDog> for Dog {
    type Error = Error;

    fn try_from(saved: SavedDog) -> Result<Self> {
        let SavedDog {
            params,
            state,
            distance,
            squares,
        } = saved;
        params.check()?;
        if !(distance >= params.r_eps) {
            let contradiction = format!("a distance of {distance} below r_eps = {}", params.r_eps);
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params,
            state,
            distance,
            squares,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn the_first_step_of_dog_has_the_length_r_eps() {
        let mut learner = Dog::new(DogParams::new(0.5), 2).unwrap();
        let phi = Features::Dense(&[3.0, 4.0]);
        learner.step(&Transition::new(phi, 1e3, phi));
        let [x, y] = learner.theta() else { panic!() };
        assert!((x / 0.6e-4 - 1.0).abs() < 1e-12 && (y / 0.8e-4 - 1.0).abs() < 1e-12);
        // The average of theta_0 alone, up to the rounding of theta_1 in its summation by parts.
        assert!(learner.output().iter().all(|x| x.abs() < 1e-19));
    }
}
