//! Runs TD(0) with clipped updates, for rewards without a variance.
//!
//! # Reference
//! Cayci & Eryilmaz, "Provably robust temporal difference learning for heavy-tailed rewards", NeurIPS 2023 (arXiv:2306.11455), for clipping with a growing threshold.
//! Theirs also projects; this is the version without a ball.
//!
//! # Update rule
//! With g_t = delta_t phi(s_t) and rewards that have a finite moment of order m in (1, 2],
//! ```text
//! b_t         = threshold (t+1)^(1/m)
//! theta_{t+1} = theta_t + eta min( 1, b_t / |g_t| ) g_t,          theta_0 = 0
//! output      = (theta_0 + ... + theta_{t-1}) / t
//! ```
//! Clipping biases the update towards 0, less and less as the threshold grows. With an infinite threshold it is TD(0) to the bit.
//!
//! # Inputs
//! phi_inf and T for the default step eta = 1/(phi_inf^2 sqrt T). `threshold` is in the units of |delta| |phi|; with a known problem it is r_inf phi_inf, from data it must be
//! given: a few times a typical |delta| |phi|.
//!
//! # Assumptions
//! Their analysis is for the projected version. We have verified no bound without projection.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_positive};
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::given_or_default_step;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::Transition;

/// The learner `clipped-td`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedClippedTd")]
pub struct ClippedTd {
    params: ClippedTdParams,
    state: AveragedIterate,
    clipped: u64,
}

impl Learner for ClippedTd {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let ClippedTdParams {
            discount,
            step,
            threshold,
            moment,
        } = self.params;
        let phi = transition.features;
        let delta = transition.td_error(self.state.theta(), discount);
        let mut g = step * delta;
        if threshold < f64::INFINITY {
            let limit = threshold * (self.state.steps() as f64 + 1.0).powf(1.0 / moment);
            let length = delta.abs() * phi.norm_sq().sqrt();
            if length > limit {
                g *= limit / length;
                self.clipped += 1;
            }
        }
        self.state.advance(1.0, g, phi);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn output(&self) -> Vec<f64> {
        self.state.average()
    }

    read_iterate!(state);
}

impl ClippedTd {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: ClippedTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            state: AveragedIterate::zero(dimension)?,
            clipped: 0,
        })
    }

    /// The number of clipped updates.
    #[must_use]
    pub fn clipped(&self) -> u64 {
        self.clipped
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | eta | finite, > 0 |
/// | `threshold` | none | the first limit on \|g\| | > 0, infinite for none |
/// | `moment` | none | order of a finite moment of the rewards | (1, 2] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClippedTdParams {
    /// gamma.
    pub discount: f64,
    /// eta.
    pub step: f64,
    /// The first limit on |g|.
    #[serde(with = "crate::exact_float")]
    pub threshold: f64,
    /// The order of a finite moment of the rewards.
    pub moment: f64,
}

impl ClippedTdParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("step", self.step)?;
        let refused = |name, value, expected| Error::Parameter {
            name,
            value,
            expected,
        };
        if !(self.threshold > 0.0) {
            return Err(refused("threshold", self.threshold, "above 0"));
        }
        if !(self.moment > 1.0 && self.moment <= 2.0) {
            return Err(refused("moment", self.moment, "above 1 and at most 2"));
        }
        Ok(())
    }
}

/// Clipped TD.
pub const METHOD: Method<ClippedTd> = Method {
    id: "clipped-td",
    title: "TD(0) with clipped updates, for heavy-tailed rewards",
    reference: "Cayci & Eryilmaz 2023, arXiv:2306.11455, without its projection",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T", "threshold"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step eta, in the units of the features",
            range: Range::Positive,
            default: "1 / (phi_inf^2 sqrt T)",
        },
        Parameter {
            name: "threshold",
            meaning: "the first limit on |delta| |phi|; it grows like t^(1/moment)",
            range: Range::Positive,
            default: "r_inf phi_inf, if the problem is known",
        },
        Parameter {
            name: "moment",
            meaning: "the order of a finite moment of the rewards, at most 2",
            range: Range::AboveOne,
            default: "2",
        },
    ],
    abilities: Abilities {
        advice: "try a smaller threshold or a smaller step",
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<ClippedTd> {
    let params = ClippedTdParams {
        discount: inputs.discount(),
        step: given_or_default_step(inputs),
        threshold: inputs.value_or_oracle("threshold", |known| {
            let largest = known.problem.r_inf() * known.problem.phi_inf();
            // Without rewards every update is 0.
            Ok(if largest > 0.0 { largest } else { 1.0 })
        })?,
        moment: inputs.value("moment", 2.0),
    };
    if params.moment > 2.0 {
        return Err(inputs.refused("moment", params.moment, "above 1 and at most 2"));
    }
    ClippedTd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedClippedTd {
    params: ClippedTdParams,
    state: AveragedIterate,
    #[serde(deserialize_with = "crate::count::read")]
    clipped: u64,
}

impl TryFrom<SavedClippedTd> for ClippedTd {
    type Error = Error;

    fn try_from(saved: SavedClippedTd) -> Result<Self> {
        let SavedClippedTd {
            params,
            state,
            clipped,
        } = saved;
        params.check()?;
        if clipped > state.steps() {
            let contradiction = format!("{clipped} of {} updates clipped", state.steps());
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params,
            state,
            clipped,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::learner::recipe::{Output, Recipe};
    use crate::learner::{Steps, Td0};
    use crate::random::Stream;
    use crate::simulate::Sampler;

    fn params(threshold: f64) -> ClippedTdParams {
        ClippedTdParams {
            discount: 0.8,
            step: 0.1,
            threshold,
            moment: 2.0,
        }
    }

    #[test]
    fn an_infinite_threshold_is_td_to_the_bit() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let mut stream = Stream::new(2, 0);
        let states = Sampler::new(&problem).trajectory(0, 1000, &mut stream);
        let mut clipped = ClippedTd::new(params(f64::INFINITY), 2).unwrap();
        let recipe = Recipe::plain("mitra", 0.8, Steps::Constant { eta: 0.1 }, Output::Uniform);
        let mut plain = Td0::new(recipe, 2).unwrap();
        for pair in states.windows(2) {
            let sample = Transition::of_problem(&problem, pair[0], pair[1]);
            clipped.step(&sample);
            plain.step(&sample);
        }
        assert_eq!((clipped.theta(), clipped.clipped()), (plain.theta(), 0));
        assert_eq!(clipped.output(), plain.output());
    }

    #[test]
    fn a_long_update_is_shortened_to_the_threshold() {
        let mut learner = ClippedTd::new(params(0.5), 2).unwrap();
        // |g| = 10 * 5 at t = 0: the move is 0.1 * 0.5 in the direction (3, 4)/5.
        learner.step(&Transition::terminated(&[3.0, 4.0], 10.0));
        assert!(
            (learner.theta()[0] - 0.03).abs() < 1e-15 && (learner.theta()[1] - 0.04).abs() < 1e-15
        );
        // At t = 3 the limit is 0.5 * 2; an update of length 0.9 passes.
        for _ in 0..2 {
            learner.step(&Transition::terminated(&[0.0, 0.0], 7.0));
        }
        let value = 0.04;
        learner.step(&Transition::terminated(&[0.0, 1.0], 0.9 + value));
        assert!((learner.theta()[1] - (0.04 + 0.09)).abs() < 1e-15);
        assert_eq!(learner.clipped(), 1);
        for (name, bad) in [
            ("threshold", params(0.0)),
            ("threshold", params(f64::NAN)),
            (
                "moment",
                ClippedTdParams {
                    moment: 1.0,
                    ..params(1.0)
                },
            ),
        ] {
            let error = ClippedTd::new(bad, 1).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    /// Rewards with a Pareto tail of index 1.3 have a mean but no variance: clipping keeps the worst of many runs near the truth.
    #[test]
    fn clipping_helps_where_rewards_have_no_variance() {
        let (runs, samples, index) = (100, 2000, 1.3_f64);
        let worst = |threshold: f64| {
            let errors = (0..runs).map(|run| {
                let mut stream = Stream::new(run, 1);
                let params = ClippedTdParams {
                    discount: 0.0,
                    step: 1.0 / (samples as f64).sqrt(),
                    threshold,
                    moment: 1.25,
                };
                let mut learner = ClippedTd::new(params, 1).unwrap();
                for _ in 0..samples {
                    // Symmetric, so that the mean, 0, is known and the clipping is unbiased.
                    let size = (1.0 - stream.uniform()).powf(-1.0 / index);
                    let reward = if stream.uniform() < 0.5 { size } else { -size };
                    learner.step(&Transition::terminated(&[1.0], reward));
                }
                learner.output()[0].abs()
            });
            errors.fold(0.0, f64::max)
        };
        let (plain, clipped) = (worst(f64::INFINITY), worst(0.1));
        assert!(clipped < 0.3 * plain, "{clipped} {plain}");
    }
}
