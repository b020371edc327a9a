//! Runs true online TD(lambda), whose iterate is that of the forward view at every step, not only for small steps.
//!
//! # Reference
//! van Seijen, Mahmood, Pilarski, Machado & Sutton, "True online temporal-difference learning", JMLR 17, 2016, Algorithm 1.
//!
//! # Update rule
//! With the Dutch trace z, V = phi(s_t).theta_t, V' = phi(s_{t+1}).theta_t, and V_old = phi(s_t).theta_{t-1} (0 at the start of an episode),
//! ```text
//! delta_t     = r_t + gamma V' - V
//! z_t         = gamma lambda z_{t-1} + ( 1 - eta gamma lambda z_{t-1}.phi(s_t) ) phi(s_t)
//! theta_{t+1} = theta_t + eta ( delta_t + V - V_old ) z_t - eta ( V - V_old ) phi(s_t)
//! ```
//! Within an episode theta_t is exactly the result of the online lambda-return algorithm: of one pass of gradient steps towards the lambda-returns
//! that end at time t, from the theta with which the episode started. The trace restarts at each episode. The output is the last iterate. With
//! lambda = 0 it is TD(0).
//!
//! # Inputs
//! phi_inf and T for the default step 1/(phi_inf^2 sqrt T); `step` overrides it, in the units of the features. `lambda` defaults to 0.9.
//!
//! # Assumptions
//! On-policy samples. eta |phi|^2 should not exceed 1. We have verified no finite-time bound for Markovian samples.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{given_or_default_step, warn_other_target};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::{Features, Transition};

/// The learner `true-online-td`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTrueOnline")]
pub struct TrueOnline {
    params: TrueOnlineParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    z: Vec<f64>,
    /// The value of the current state under the iterate before the last step.
    #[serde(with = "crate::exact_float")]
    old_value: f64,
    /// Whether the next transition starts an episode.
    fresh: bool,
}

impl Learner for TrueOnline {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let TrueOnlineParams {
            discount,
            step,
            lambda,
        } = self.params;
        let phi = transition.features;
        let value = phi.dot(self.iterate.theta());
        let next = transition.outcome.next_value(self.iterate.theta());
        let delta = transition.reward + discount * next - value;
        // At the start of an episode z = 0, and V - V_old changes nothing.
        let change = if self.fresh {
            0.0
        } else {
            value - self.old_value
        };
        let decay = discount * lambda;
        let overlap = if decay == 0.0 {
            0.0
        } else {
            decay * phi.dot(&self.z)
        };
        for z in &mut self.z {
            *z *= decay;
        }
        phi.axpy(1.0 - step * overlap, &mut self.z);
        self.iterate
            .add(step * (delta + change), Features::Dense(&self.z));
        self.iterate.add(-step * change, phi);
        self.iterate.finish_step();
        self.old_value = next;
        self.fresh = false;
        if transition.outcome.ends_episode() {
            self.start_episode();
        }
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn start_episode(&mut self) {
        self.z.fill(0.0);
        self.old_value = 0.0;
        self.fresh = true;
    }

    fn has_traces(&self) -> bool {
        self.params.discount * self.params.lambda > 0.0
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

impl TrueOnline {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: TrueOnlineParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            z: vec![0.0; dimension],
            old_value: 0.0,
            fresh: true,
        })
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | eta | finite, > 0 |
/// | `lambda` | none | decay of the trace | [0, 1] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueOnlineParams {
    /// gamma.
    pub discount: f64,
    /// eta.
    pub step: f64,
    /// Decay of the trace.
    pub lambda: f64,
}

impl TrueOnlineParams {
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

/// True online TD(lambda).
pub const METHOD: Method<TrueOnline> = Method {
    id: "true-online-td",
    title: "true online TD(lambda): the forward view at every step",
    reference: "van Seijen, Mahmood, Pilarski, Machado & Sutton 2016",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step eta, in the units of the features",
            range: Range::Positive,
            default: "1 / (phi_inf^2 sqrt T)",
        },
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace: 0 is TD(0), 1 is Monte Carlo",
            range: Range::Unit,
            default: "0.9",
        },
    ],
    abilities: Abilities {
        target: Target::Td0Without("lambda"),
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<TrueOnline> {
    let params = TrueOnlineParams {
        discount: inputs.discount(),
        step: given_or_default_step(inputs),
        lambda: inputs.value("lambda", 0.9),
    };
    warn_other_target(inputs, params.lambda);
    TrueOnline::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTrueOnline {
    params: TrueOnlineParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    z: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    old_value: f64,
    fresh: bool,
}

impl TryFrom<SavedTrueOnline> for TrueOnline {
    type Error = Error;

    fn try_from(saved: SavedTrueOnline) -> Result<Self> {
        let SavedTrueOnline {
            params,
            iterate,
            z,
            old_value,
            fresh,
        } = saved;
        params.check()?;
        check_length("the saved trace", iterate.theta().len(), z.len())?;
        Ok(Self {
            params,
            iterate,
            z,
            old_value,
            fresh,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::matrix::dot;
    use crate::random::Stream;
    use crate::simulate::Sampler;

    /// The online lambda-return algorithm: at every horizon h one pass over the states of the episode so far, towards their interim
    /// lambda-returns G_k^{lambda|h}, whose n-step returns use the iterate that was current when their last state was reached.
    fn forward_view(
        samples: &[(Vec<f64>, f64, Vec<f64>)],
        TrueOnlineParams {
            discount,
            step,
            lambda,
        }: TrueOnlineParams,
    ) -> Vec<Vec<f64>> {
        let d = samples[0].0.len();
        let mut online = vec![vec![0.0; d]];
        for h in 1..=samples.len() {
            // The n-step return from k bootstraps at time k + n with theta_{k+n-1}.
            let n_step = |k: usize, n: usize| {
                let rewards: f64 = (0..n)
                    .map(|i| discount.powi(i as i32) * samples[k + i].1)
                    .sum();
                let last = dot(&samples[k + n - 1].2, &online[k + n - 1]);
                rewards + discount.powi(n as i32) * last
            };
            let mut theta = vec![0.0; d];
            for k in 0..h {
                let most = h - k;
                let mut target = lambda.powi(most as i32 - 1) * n_step(k, most);
                for n in 1..most {
                    target += (1.0 - lambda) * lambda.powi(n as i32 - 1) * n_step(k, n);
                }
                let phi = &samples[k].0;
                let error = target - dot(phi, &theta);
                theta
                    .iter_mut()
                    .zip(phi)
                    .for_each(|(t, x)| *t += step * error * x);
            }
            online.push(theta);
        }
        online
    }

    #[test]
    fn every_iterate_is_that_of_the_forward_view() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        for (seed, lambda) in [(1, 0.0), (2, 0.4), (3, 0.9), (4, 1.0)] {
            let mut stream = Stream::new(seed, 0);
            let states = Sampler::new(&problem).trajectory(problem.start(), 40, &mut stream);
            let params = TrueOnlineParams {
                discount: problem.discount(),
                step: 0.3,
                lambda,
            };
            let samples: Vec<_> = states
                .windows(2)
                .map(|pair| {
                    let (here, next) = (problem.phi(pair[0]), problem.phi(pair[1]));
                    (
                        here.to_vec(),
                        problem.reward(pair[0], pair[1]),
                        next.to_vec(),
                    )
                })
                .collect();
            let expected = forward_view(&samples, params);
            let mut learner = TrueOnline::new(params, problem.dimension()).unwrap();
            for (t, (phi, reward, next)) in samples.iter().enumerate() {
                learner.step(&Transition::new(phi, *reward, next));
                for (found, expected) in learner.theta().iter().zip(&expected[t + 1]) {
                    assert!(
                        (found - expected).abs() < 1e-12,
                        "step {t}, lambda = {lambda}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_new_episode_starts_from_scratch_at_its_theta() {
        let params = TrueOnlineParams {
            discount: 0.5,
            step: 0.5,
            lambda: 0.5,
        };
        let mut learner = TrueOnline::new(params, 1).unwrap();
        let one = Features::Dense(&[1.0]);
        learner.step(&Transition::terminated(one, 1.0));
        assert_eq!(learner.theta(), [0.5]);
        // delta = 2 - 0.5; no trace of the first episode.
        learner.step(&Transition::truncated(one, 2.0, Features::Dense(&[0.0])));
        assert_eq!(learner.theta(), [0.5 + 0.5 * 1.5]);
        // TD(0) with the same step, up to rounding, is its lambda = 0.
        let plain = TrueOnlineParams {
            lambda: 0.0,
            ..params
        };
        let mut learner = TrueOnline::new(plain, 1).unwrap();
        let mut theta = 0.0;
        for reward in [1.0, -2.0, 0.5] {
            learner.step(&Transition::new(one, reward, one));
            theta += 0.5 * (reward + 0.5 * theta - theta);
            assert!((learner.theta()[0] - theta).abs() < 1e-15);
        }
    }
}
