//! Runs differential TD: the values relative to the average reward, without a discount.
//!
//! # Reference
//! Wan, Naik & Sutton, "Learning and planning in average-reward Markov decision processes", ICML 2021 (arXiv:2006.16318); Tsitsiklis & Van Roy, "Average
//! cost temporal-difference learning", Automatica 35, 1999, for linear features.
//!
//! # Update rule
//! ```text
//! delta_t     = r_t - G_t + phi(s_{t+1}).theta_t - phi(s_t).theta_t
//! theta_{t+1} = theta_t + eta delta_t phi(s_t),          theta_0 = 0
//! G_{t+1}     = G_t + ratio eta phi_inf^2 delta_t,       G_0 = 0
//! ```
//! G tends to the gain g, the reward per step, and phi(s).theta to the bias h(s) up to a constant; [`AverageReward`](crate::AverageReward) has both exactly. The output is the last
//! theta.
//!
//! The discounted value near gamma = 1 is g/(1-gamma) + h(s) + O(1-gamma). So [`Learner::value`] is phi(s).theta - phibar.theta + G/(1-gamma), with phibar the mean of the features so far: an
//! approximation whose accuracy does not suffer from a discount close to 1. Its constant is [`Learner::value_offset`], which `compare` does not see: f there is that of theta.
//!
//! # Inputs
//! phi_inf and T for the default step eta = 1/(phi_inf^2 sqrt T). `ratio` is the step of G relative to that of theta, for features of norm 1.
//!
//! # Assumptions
//! A continuing process: after a terminated episode the next value is 0, as if all episodes led to a state of value 0. We have verified no finite-time bound.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::given_or_default_step;
use crate::matrix::dot;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::Transition;

/// The learner `differential-td`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedDifferentialTd")]
pub struct DifferentialTd {
    params: DifferentialTdParams,
    iterate: Iterate,
    /// G.
    #[serde(with = "crate::exact_float")]
    gain: f64,
    #[serde(with = "crate::exact_float")]
    feature_sum: Vec<f64>,
}

impl Learner for DifferentialTd {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let DifferentialTdParams {
            step, gain_step, ..
        } = self.params;
        let phi = transition.features;
        let delta = transition.td_error(self.iterate.theta(), 1.0) - self.gain;
        phi.axpy(1.0, &mut self.feature_sum);
        self.iterate.advance(step * delta, phi);
        self.gain += gain_step * delta;
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    fn value_offset(&self) -> f64 {
        if self.steps() == 0 {
            return 0.0;
        }
        let mean = dot(&self.feature_sum, self.theta()) / self.steps() as f64;
        self.gain / (1.0 - self.params.discount) - mean
    }

    read_iterate!(iterate);
}

impl DifferentialTd {
    /// The learner at theta_0 = 0 and G_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: DifferentialTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            gain: 0.0,
            feature_sum: vec![0.0; dimension],
        })
    }

    /// G, the estimate of the reward per step.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.gain
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma, only for the values that are shown | [0, 1) |
/// | `step` | none | eta | finite, > 0 |
/// | `gain_step` | none | the step of G | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferentialTdParams {
    /// gamma, only for the values that are shown.
    pub discount: f64,
    /// eta.
    pub step: f64,
    /// The step of G.
    pub gain_step: f64,
}

impl DifferentialTdParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("step", self.step)?;
        check_positive("gain_step", self.gain_step)
    }
}

/// Differential TD.
pub const METHOD: Method<DifferentialTd> = Method {
    id: "differential-td",
    title: "differential TD: values relative to the average reward",
    reference: "Wan, Naik & Sutton 2021, arXiv:2006.16318; Tsitsiklis & Van Roy 1999",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step eta of theta, in the units of the features",
            range: Range::Positive,
            default: "1 / (phi_inf^2 sqrt T)",
        },
        Parameter {
            name: "ratio",
            meaning: "the step of the average reward relative to that of theta, for features of norm 1",
            range: Range::Positive,
            default: "1",
        },
    ],
    abilities: Abilities {
        target: Target::Other,
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<DifferentialTd> {
    let step = given_or_default_step(inputs);
    let square = inputs.phi_inf().powi(2);
    let params = DifferentialTdParams {
        discount: inputs.discount(),
        step,
        gain_step: inputs.value("ratio", 1.0) * step * square,
    };
    inputs.warn(
        "theta approaches the bias of the average-reward problem, not theta*: f lacks the mean of the values, \
         gain/(1-gamma), which only predictions add",
    );
    DifferentialTd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDifferentialTd {
    params: DifferentialTdParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    gain: f64,
    #[serde(with = "crate::exact_float")]
    feature_sum: Vec<f64>,
}

impl TryFrom<SavedDifferentialTd> for DifferentialTd {
    type Error = Error;

    fn try_from(saved: SavedDifferentialTd) -> Result<Self> {
        let SavedDifferentialTd {
            params,
            iterate,
            gain,
            feature_sum,
        } = saved;
        params.check()?;
        let d = iterate.theta().len();
        check_length("the saved sum of features", d, feature_sum.len())?;
        Ok(Self {
            params,
            iterate,
            gain,
            feature_sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::average_reward::AverageReward;
    use crate::phi::Features;
    use crate::random::Stream;
    use crate::simulate::Sampler;

    #[test]
    fn two_steps_by_hand() {
        let params = DifferentialTdParams {
            discount: 0.5,
            step: 0.5,
            gain_step: 0.25,
        };
        let mut learner = DifferentialTd::new(params, 1).unwrap();
        learner.step(&Transition::new(&[1.0], 2.0, &[3.0]));
        assert_eq!((learner.theta(), learner.gain()), (&[1.0][..], 0.5));
        // delta = 1 - 0.5 + 1 - 3.
        learner.step(&Transition::new(&[3.0], 1.0, &[1.0]));
        assert_eq!(
            (learner.theta(), learner.gain()),
            (&[1.0 - 2.25][..], 0.5 - 0.375)
        );
        // G/(1-gamma) - phibar.theta, phibar = 2.
        assert_eq!(learner.value_offset(), 0.25 + 2.5);
    }

    /// The mean updates of theta and G vanish at the gain and the weights of the fixed point.
    #[test]
    fn gain_and_bias_are_its_fixed_point() {
        for name in ["ref-3", "two-state", "garnet"] {
            let average = AverageReward::new(catalog::problem(name, &[]).unwrap()).unwrap();
            let problem = average.problem();
            // Weights with these values up to a constant, by least squares on centred features, are those of a long run's limit; the mean
            // update at any of them is Phi' D (rbar - g + P V - V) with V the values.
            let values = average.fixed_point();
            let (mut along, mut gain, mut size) = (vec![0.0; problem.dimension()], 0.0, 0.0);
            for edge in problem.edges() {
                let weight = problem.stationary()[edge.from] * edge.probability;
                let delta = edge.reward - average.gain() + values[edge.to] - values[edge.from];
                Features::Dense(problem.phi(edge.from)).axpy(weight * delta, &mut along);
                gain += weight * delta;
                size += weight * delta.abs();
            }
            assert!(gain.abs() < 1e-12 * size.max(1.0), "{name}");
            assert!(
                along.iter().all(|x| x.abs() < 1e-9 * size.max(1.0)),
                "{name}: {along:?}"
            );
        }
    }

    #[test]
    fn it_learns_gain_and_bias() {
        let problem = catalog::problem("two-state", &[("alpha", 0.6), ("epsilon", 0.9)]).unwrap();
        let average = AverageReward::new(problem.clone()).unwrap();
        let samples = 200_000;
        let params = DifferentialTdParams {
            discount: 0.999,
            step: 0.003,
            gain_step: 0.003,
        };
        let mut learner = DifferentialTd::new(params, 2).unwrap();
        let mut stream = Stream::new(1, 0);
        let states = Sampler::new(&problem).trajectory(0, samples, &mut stream);
        for pair in states.windows(2) {
            learner.step(&Transition::of_problem(&problem, pair[0], pair[1]));
        }
        assert!(
            (learner.gain() - average.gain()).abs() < 0.05,
            "{}",
            learner.gain()
        );
        assert!(average.error_sq(learner.theta()).sqrt() < 0.05);
        // Values for a discount near 1: gain/(1-gamma) + bias.
        let value = learner.value_function();
        for s in 0..2 {
            let expected = learner.gain() / 0.001 + average.bias()[s];
            let found = value.value(Features::Dense(problem.phi(s)));
            assert!((found - expected).abs() < 0.05, "{found} {expected}");
        }
    }
}
