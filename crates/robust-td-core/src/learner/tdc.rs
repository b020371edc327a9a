//! Runs TDC: TD(0) with a gradient correction.
//!
//! # Reference
//! Sutton, Maei, Precup, Bhatnagar, Silver, Szepesvari & Wiewiora, "Fast gradient-descent methods for temporal-difference
//! learning with linear function approximation", ICML 2009.
//!
//! # Update rule
//! With the importance ratio rho_t of the action taken (1 on-policy), theta_0 = w_0 = 0,
//! ```text
//! theta_{t+1} = theta_t + a rho_t ( delta_t phi(s_t) - gamma ( phi(s_t).w_t ) phi(s_{t+1}) )
//! w_{t+1}     = w_t + b ( rho_t delta_t - phi(s_t).w_t ) phi(s_t)
//! ```
//! The output is the last iterate theta.
//!
//! # Inputs
//! phi_inf and T for the default step a = 1/(phi_inf^2 sqrt T); `step_w` sets b, by default b = a. Both are in the units of
//! the features.
//!
//! # Assumptions
//! With suitably decaying steps it converges to the fixed point under the sampling distribution, on-policy (where that is theta*)
//! and off-policy; with constant steps it stays in a neighbourhood. No finite-time bound is stated.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::gradient::{GradientParams, STEP, STEP_W, TwoIterates};
use crate::method::{Abilities, Method, Standing};
use crate::phi::Transition;

/// The learner `tdc`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tdc {
    state: TwoIterates,
}

impl Learner for Tdc {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let (delta, predicted) = self.state.track(transition);
        self.state.correct(transition, delta, predicted);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.state.params.discount
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(state.iterate);
}

impl Tdc {
    /// The learner at theta_0 = w_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: GradientParams, dimension: usize) -> Result<Self> {
        Ok(Self {
            state: TwoIterates::new(params, dimension)?,
        })
    }

    /// The second iterate w.
    #[must_use]
    pub fn w(&self) -> &[f64] {
        self.state.w()
    }
}

/// TDC.
pub const METHOD: Method<Tdc> = Method {
    id: "tdc",
    title: "TDC: TD(0) with a gradient correction",
    reference: "Sutton, Maei, Precup, Bhatnagar, Silver, Szepesvari & Wiewiora 2009",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[STEP, STEP_W],
    abilities: Abilities {
        ratios: true,
        ..Abilities::PLAIN
    },
    build: |inputs| Tdc::new(GradientParams::gather(inputs), inputs.dimension()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn two_steps_by_hand() {
        let params = GradientParams {
            discount: 0.5,
            step: 0.5,
            step_w: 0.25,
        };
        let mut learner = Tdc::new(params, 2).unwrap();
        let (one, two) = (Features::Dense(&[1.0, 0.0]), Features::Dense(&[0.0, 2.0]));
        // w is 0, so this is a step of TD(0); delta = 1.
        learner.step(&Transition::new(one, 1.0, two).with_ratio(2.0));
        assert_eq!(
            (learner.theta(), learner.w()),
            (&[1.0, 0.0][..], &[0.5, 0.0][..])
        );
        // phi.w = 0.5, delta = 2: theta += 0.5 (2 (1, 0) - 0.5 * 0.5 (0, 2)), w += 0.25 (2 - 0.5) (1, 0).
        learner.step(&Transition::new(one, 3.0, two));
        assert_eq!(
            (learner.theta(), learner.w()),
            (&[2.0, -0.25][..], &[0.875, 0.0][..])
        );
        // No correction at a terminal state: delta = -2.
        learner.step(&Transition::terminated(one, 0.0));
        assert_eq!(learner.theta(), [1.0, -0.25]);
    }
}
