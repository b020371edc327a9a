//! Runs TD(0) with two constant steps and extrapolates their averages to step 0.
//!
//! # Reference
//! Huo, Chen & Xie, "Bias and extrapolation in Markovian linear stochastic approximation with constant stepsizes", SIGMETRICS 2023 (arXiv:2210.00953).
//!
//! # Update rule
//! Two iterates follow the same samples, with the steps eta and 2 eta:
//! ```text
//! theta_{t+1} = theta_t + eta delta_t phi(s_t),        theta2_{t+1} = theta2_t + 2 eta delta2_t phi(s_t),        both from 0
//! output      = 2 avg - avg2,                          averages over the later half of T
//! ```
//! With Markovian samples and a constant step the mean of theta_t converges to theta* + eta b + O(eta^2): averaging removes the noise, not this bias. The extrapolation
//! removes eta b. [`Learner::theta`] is the iterate with the smaller step; the health is that of the one with the larger step, which diverges first.
//!
//! # Inputs
//! phi_inf and T for the default step eta = 1/(phi_inf^2 sqrt T); `step` overrides it, in the units of the features.
//!
//! # Assumptions
//! 2 eta small enough for mean-square stability. The bias of the output is O(eta^2) as T grows; we have verified no bound at finite T.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::knowledge::{given_or_default_step, later_half};
use crate::learner::recipe::{Output, Recipe, Samples};
use crate::learner::{Health, Learner, Td0};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::Transition;
use crate::schedule::Steps;

/// The learner `td-rr`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedRichardsonRomberg")]
pub struct RichardsonRomberg {
    // Boxed, so that a learner of any kind is not twice as large because of this one.
    small: Box<Td0>,
    large: Box<Td0>,
}

impl Learner for RichardsonRomberg {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        self.small.step(transition);
        self.large.step(transition);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.small.discount()
    }

    fn steps(&self) -> u64 {
        self.small.steps()
    }

    fn theta(&self) -> &[f64] {
        self.small.theta()
    }

    fn output(&self) -> Vec<f64> {
        let pairs = self.small.output().into_iter().zip(self.large.output());
        pairs.map(|(small, large)| 2.0 * small - large).collect()
    }

    fn health(&self) -> &Health {
        self.large.health()
    }
}

impl RichardsonRomberg {
    /// The learner at theta_0 = 0 with the steps eta and 2 eta, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the discount or the step is out of range, or the dimension is 0.
    pub fn new(discount: f64, step: f64, output: Output, dimension: usize) -> Result<Self> {
        let td = |eta| {
            let recipe = Recipe::plain(METHOD.id, discount, Steps::Constant { eta }, output);
            Td0::new(recipe, dimension).map(Box::new)
        };
        Ok(Self {
            small: td(step)?,
            large: td(2.0 * step)?,
        })
    }
}

/// Constant steps with Richardson-Romberg extrapolation.
pub const METHOD: Method<RichardsonRomberg> = Method {
    id: "td-rr",
    title: "TD(0) with two constant steps, extrapolated to step 0",
    reference: "Huo, Chen & Xie 2023, arXiv:2210.00953",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[Parameter {
        name: "step",
        meaning: "the smaller step eta, in the units of the features",
        range: Range::Positive,
        default: "1 / (phi_inf^2 sqrt T)",
    }],
    abilities: Abilities::PLAIN,
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<RichardsonRomberg> {
    let step = given_or_default_step(inputs);
    let horizon = inputs.horizon();
    let output = later_half(inputs, Samples::Every, horizon);
    RichardsonRomberg::new(inputs.discount(), step, output, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedRichardsonRomberg {
    small: Box<Td0>,
    large: Box<Td0>,
}

impl TryFrom<SavedRichardsonRomberg> for RichardsonRomberg {
    type Error = Error;

    fn try_from(SavedRichardsonRomberg { small, large }: SavedRichardsonRomberg) -> Result<Self> {
        let matching = small.dimension() == large.dimension() && small.steps() == large.steps();
        if !matching {
            let contradiction = format!(
                "two iterates of dimension {} and {} after {} and {} steps",
                small.dimension(),
                large.dimension(),
                small.steps(),
                large.steps()
            );
            return Err(Error::Saved { contradiction });
        }
        Ok(Self { small, large })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::matrix::{add_scaled, dot, norm_sq};
    use crate::model::problem::Problem;

    /// The exact limit of E theta_t - theta* with a constant step, by iterating the conditional first moments
    /// m(s') = E[theta_t; s_t = s'] = sum_s P(s,s') ( (I + eta phi(s) (gamma phi(s') - phi(s))') m(s) + eta pi(s) r(s,s') phi(s) ).
    fn bias(problem: &Problem, eta: f64) -> Vec<f64> {
        let (n, d) = (problem.states(), problem.dimension());
        let mut m = vec![vec![0.0; d]; n];
        for _ in 0..(40.0 / (eta * 0.05)) as usize {
            let mut next = vec![vec![0.0; d]; n];
            for edge in problem.edges() {
                let from = &m[edge.from];
                let there = dot(problem.phi(edge.to), from);
                let here = dot(problem.phi(edge.from), from);
                let reward = problem.stationary()[edge.from] * edge.reward;
                let move_by = eta * (reward + problem.discount() * there - here);
                let target = &mut next[edge.to];
                add_scaled(target, edge.probability, from);
                add_scaled(target, edge.probability * move_by, problem.phi(edge.from));
            }
            m = next;
        }
        let mut mean = vec![0.0; d];
        m.iter().for_each(|m| add_scaled(&mut mean, 1.0, m));
        problem.error(&mean)
    }

    #[test]
    fn the_extrapolation_removes_the_bias_of_first_order() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let size = |x: &[f64]| norm_sq(x).sqrt();
        let biases: Vec<Vec<f64>> = [0.05, 0.1, 0.2].map(|eta| bias(&problem, eta)).into();
        // Of first order: halving the step halves it.
        for pair in biases.windows(2) {
            let ratio = size(&pair[1]) / size(&pair[0]);
            assert!((1.8..2.2).contains(&ratio), "{ratio}");
        }
        // Extrapolated: halving the step divides it by four.
        let extrapolated: Vec<f64> = (biases.windows(2))
            .map(|pair| {
                let both = pair[0].iter().zip(&pair[1]);
                size(
                    &both
                        .map(|(small, large)| 2.0 * small - large)
                        .collect::<Vec<f64>>(),
                )
            })
            .collect();
        let ratio = extrapolated[1] / extrapolated[0];
        assert!((3.3..4.7).contains(&ratio), "{ratio}");
        assert!(extrapolated[0] < 0.1 * size(&biases[0]), "{extrapolated:?}");
    }

    #[test]
    fn the_output_is_that_of_two_plain_runs() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let output = Output::half_of(50);
        let mut learner = RichardsonRomberg::new(problem.discount(), 0.1, output, 2).unwrap();
        let plain = |eta| {
            let steps = Steps::Constant { eta };
            Td0::new(Recipe::plain("mitra", problem.discount(), steps, output), 2).unwrap()
        };
        let (mut small, mut large) = (plain(0.1), plain(0.2));
        for t in 0..50 {
            let sample = Transition::of_problem(&problem, t % 3, (t + 1) % 3);
            learner.step(&sample);
            small.step(&sample);
            large.step(&sample);
        }
        let expected: Vec<f64> = (small.output().iter().zip(large.output()))
            .map(|(small, large)| 2.0 * small - large)
            .collect();
        assert_eq!(learner.output(), expected);
        assert_eq!(learner.theta(), small.theta());
        assert_eq!(learner.health(), large.health());
    }
}
