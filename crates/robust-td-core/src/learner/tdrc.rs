//! Runs TDRC: TDC whose second iterate is regularised, so that one step size serves both.
//!
//! # Reference
//! Ghiassian, Patterson, Garg, Gupta, White & White, "Gradient temporal-difference learning with regularized corrections", ICML 2020
//! (arXiv:2007.00611).
//!
//! # Update rule
//! With the importance ratio rho_t of the action taken (1 on-policy), theta_0 = w_0 = 0,
//! ```text
//! theta_{t+1} = theta_t + a rho_t ( delta_t phi(s_t) - gamma ( phi(s_t).w_t ) phi(s_{t+1}) )
//! w_{t+1}     = w_t + b ( rho_t delta_t - phi(s_t).w_t ) phi(s_t) - b beta w_t
//! ```
//! The output is the last iterate theta. With beta = 0 it is TDC to the bit; as beta grows, w vanishes and it approaches TD(0).
//!
//! # Inputs
//! phi_inf and T for the default step a = 1/(phi_inf^2 sqrt T); b = a unless `step_w` is set. The paper's beta = 1 is for features of norm 1; in the units of the
//! features the default is phi_inf^2.
//!
//! # Assumptions
//! Its fixed point is that of TD(0) and TDC for every beta. No finite-time bound is stated.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::gradient::{GradientParams, STEP, STEP_W, TwoIterates};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::Transition;

/// The learner `tdrc`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTdrc")]
pub struct Tdrc {
    beta: f64,
    state: TwoIterates,
}

impl Learner for Tdrc {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let (delta, predicted) = self.state.track_shrunk(transition, self.beta);
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

impl Tdrc {
    /// The learner at theta_0 = w_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: GradientParams, beta: f64, dimension: usize) -> Result<Self> {
        check_beta(beta)?;
        Ok(Self {
            beta,
            state: TwoIterates::new(params, dimension)?,
        })
    }

    /// The second iterate w.
    #[must_use]
    pub fn w(&self) -> &[f64] {
        self.state.w()
    }
}

fn check_beta(beta: f64) -> Result<()> {
    if !(beta >= 0.0 && beta.is_finite()) {
        return Err(Error::Parameter {
            name: "beta",
            value: beta,
            expected: "finite and at least 0",
        });
    }
    Ok(())
}

/// TDRC.
pub const METHOD: Method<Tdrc> = Method {
    id: "tdrc",
    title: "TDRC: TDC with a regularised correction",
    reference: "Ghiassian, Patterson, Garg, Gupta, White & White 2020, arXiv:2007.00611",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[
        STEP,
        STEP_W,
        Parameter {
            name: "beta",
            meaning: "regularisation of the second iterate, in the squared units of the features; 0 is TDC",
            range: Range::NonNegative,
            default: "phi_inf^2",
        },
    ],
    abilities: Abilities {
        ratios: true,
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<Tdrc> {
    let params = GradientParams::gather(inputs);
    let square = inputs.phi_inf().powi(2);
    let beta = inputs.value("beta", square);
    Tdrc::new(params, beta, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTdrc {
    beta: f64,
    state: TwoIterates,
}

impl TryFrom<SavedTdrc> for Tdrc {
    type Error = Error;

    fn try_from(SavedTdrc { beta, state }: SavedTdrc) -> Result<Self> {
        check_beta(beta)?;
        Ok(Self { beta, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::learner::Tdc;
    use crate::matrix::{dot, norm_sq};
    use crate::random::Stream;
    use crate::simulate::Sampler;

    fn run(learner: &mut dyn Learner, seed: u64) {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let mut stream = Stream::new(seed, 0);
        let states = Sampler::new(&problem).trajectory(0, 500, &mut stream);
        for pair in states.windows(2) {
            let step = Transition::of_problem(&problem, pair[0], pair[1]);
            learner.step(&step.with_ratio(0.5 + stream.uniform()));
        }
    }

    #[test]
    fn without_regularisation_it_is_tdc_to_the_bit() {
        let params = GradientParams {
            discount: 0.8,
            step: 0.05,
            step_w: 0.2,
        };
        let mut tdc = Tdc::new(params, 2).unwrap();
        let mut tdrc = Tdrc::new(params, 0.0, 2).unwrap();
        run(&mut tdc, 7);
        run(&mut tdrc, 7);
        assert_eq!(tdc.theta(), tdrc.theta());
        assert_eq!(tdc.w(), tdrc.w());
        let mut other = Tdrc::new(params, 1.0, 2).unwrap();
        run(&mut other, 7);
        assert!(norm_sq(other.w()) < norm_sq(tdc.w()));
        assert!(Tdrc::new(params, -1.0, 2).is_err() && Tdrc::new(params, f64::NAN, 2).is_err());
    }

    #[test]
    fn two_steps_by_hand() {
        let params = GradientParams {
            discount: 0.5,
            step: 0.5,
            step_w: 0.25,
        };
        let mut learner = Tdrc::new(params, 2.0, 1).unwrap();
        learner.step(&Transition::new(&[1.0], 1.0, &[2.0]));
        assert_eq!((learner.theta(), learner.w()), (&[0.5][..], &[0.25][..]));
        // phi.w = 0.25, delta = 1 + 0.5 * 1 - 0.5 = 1: theta += 0.5 (1 - 0.5 * 0.25 * 2), w = 0.5 * 0.25 + 0.25 * 0.75.
        learner.step(&Transition::new(&[1.0], 1.0, &[2.0]));
        assert_eq!(
            (learner.theta(), learner.w()),
            (&[0.875][..], &[0.3125][..])
        );
    }

    /// The mean update vanishes at (theta*, 0) for every beta.
    #[test]
    fn the_fixed_point_is_that_of_td() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let mut mean = [0.0; 2];
        for edge in problem.edges() {
            let weight = problem.stationary()[edge.from] * edge.probability;
            let params = GradientParams {
                discount: problem.discount(),
                step: 1.0,
                step_w: 1.0,
            };
            let mut learner = Tdrc::new(params, 0.7, 2).unwrap();
            learner
                .state
                .iterate
                .change(|theta| theta.copy_from_slice(problem.theta_star()));
            learner.step(&Transition::of_problem(&problem, edge.from, edge.to));
            for (sum, (new, old)) in mean
                .iter_mut()
                .zip(learner.theta().iter().zip(problem.theta_star()))
            {
                *sum += weight * (new - old);
            }
        }
        assert!(dot(&mean, &mean) < 1e-28, "{mean:?}");
    }
}
