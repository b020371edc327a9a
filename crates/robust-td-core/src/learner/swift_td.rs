//! Runs SwiftTD: true-online TD(lambda) with a learned step size per feature and a bounded learning rate.
//!
//! # Reference
//! Javed, Sharifnassab & Sutton, "SwiftTD: A fast and robust algorithm for temporal difference learning", RLC 2024. This is the
//! dense form of the authors' program, except that the lower bound on the step sizes takes effect. (In the original it
//! compares a step size with the logarithm of the bound and never binds.)
//!
//! # Update rule
//! At each observation x, with the reward r received on arrival:
//! ```text
//! v = w.x;  delta = r + gamma v - v_old
//! for each i:  dw = delta z - zd v_delta;   w += dw
//!              beta += (meta / e^beta) (delta - v_delta) p,  then e^beta is clipped to [eta_min, eta_max]
//!              h_old = h;   h = h_tmp + delta zbar - zd v_delta;   z, p, zbar *= gamma lambda
//! v_delta = dw.x;   E = sum e^beta x^2;   m = min(1, eta_max / E);   b = z.x
//! for each i:  zd = m e^beta x;   z += zd (1 - b);   p += h_old x;   zbar += zd (1 - b - zbar x)
//!              h_tmp = h - h_old x (z - zd) - h zd x
//!              where E > eta_max:  h_tmp = h = zbar = 0;   beta += ln(decay) x^2
//! v_old = v
//! ```
//! An episode starts with its first observation and reward 0; each transition then feeds (phi(s'), r), and a zero vector
//! after a terminated episode. The output is the last iterate.
//!
//! # Episodes
//! At each new episode the traces z, zd, p and zbar restart from zero, and so do v_old and v_delta. The step sizes and the
//! derivative h of the weights in them persist, as the weights do; the look-ahead h_tmp is dropped.
//!
//! # Assumptions
//! No proof of convergence from Markovian samples is known: the method is experimental.
//!
//! # Performance
//! O(d) per step, also with sparse features, because traces are dense. No allocation.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::{Features, Transition, dot};

/// The learner `swift-td`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedSwiftTd")]
pub struct SwiftTd {
    params: SwiftTdParams,
    iterate: Iterate,
    memory: Vec<Memory>,
    #[serde(with = "crate::exact_float")]
    v_old: f64,
    #[serde(with = "crate::exact_float")]
    v_delta: f64,
    /// Whether an episode is in progress.
    under_way: bool,
    /// The observation, dense; only used within a step.
    #[serde(skip)]
    x: Vec<f64>,
}

impl Learner for SwiftTd {
    fn step(&mut self, transition: &Transition<'_>) {
        if !self.under_way {
            self.restart_traces();
            self.observe(Some(transition.features), 0.0);
        }
        self.observe(
            transition.outcome.next_features().copied(),
            transition.reward,
        );
        self.under_way = !transition.outcome.ends_episode();
        self.iterate.finish_step();
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn start_episode(&mut self) {
        self.under_way = false;
    }

    /// The prediction for a transition's first state is that of the transition before.
    fn has_traces(&self) -> bool {
        true
    }

    /// The last iterate.
    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

impl SwiftTd {
    /// The learner at w = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0 or a parameter is out of range.
    pub fn new(params: SwiftTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            memory: vec![Memory::with_step_size(params.alpha_init); dimension],
            v_old: 0.0,
            v_delta: 0.0,
            under_way: false,
            x: vec![0.0; dimension],
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &SwiftTdParams {
        &self.params
    }

    /// The step size of each feature.
    pub fn step_sizes(&self) -> impl Iterator<Item = f64> + '_ {
        self.memory.iter().map(|memory| memory.beta.exp())
    }

    /// Starts the traces of a new episode.
    fn restart_traces(&mut self) {
        (self.v_old, self.v_delta) = (0.0, 0.0);
        for memory in &mut self.memory {
            let Memory { beta, h, h_old, .. } = *memory;
            *memory = Memory {
                h,
                h_old,
                h_tmp: h,
                beta,
                ..Memory::with_step_size(1.0)
            };
        }
    }

    /// Processes an observation (`None` is a zero vector) and its reward.
    fn observe(&mut self, features: Option<Features<'_>>, reward: f64) {
        let Self {
            iterate,
            memory,
            x,
            v_old,
            v_delta,
            ..
        } = self;
        let SwiftTdParams {
            discount,
            lambda,
            eta_max,
            eta_min,
            decay,
            meta,
            ..
        } = self.params;
        x.fill(0.0);
        if let Some(features) = features {
            features.axpy(1.0, x);
        }
        let v = dot(x, iterate.theta());
        let delta = reward + discount * v - *v_old;
        let (smallest, largest) = (eta_min.ln(), eta_max.ln());
        let (mut moved, mut rate, mut overlap) = (0.0, 0.0, 0.0);
        iterate.change(|weights| {
            for ((w, m), &x) in weights.iter_mut().zip(&mut *memory).zip(&*x) {
                let correction = m.zd * *v_delta;
                let dw = delta * m.z - correction;
                *w += dw;
                m.beta += meta / m.beta.exp() * (delta - *v_delta) * m.p;
                m.beta = m.beta.clamp(smallest, largest);
                m.h_old = m.h;
                m.h = m.h_tmp + delta * m.zbar - correction;
                m.z *= discount * lambda;
                m.p *= discount * lambda;
                m.zbar *= discount * lambda;
                m.zd = m.beta.exp() * x;
                moved += dw * x;
                rate += m.zd * x;
                overlap += m.z * x;
            }
        });
        let share = f64::min(1.0, eta_max / rate);
        for (m, &x) in memory.iter_mut().zip(&*x) {
            m.zd *= share;
            m.z += m.zd * (1.0 - overlap);
            m.p += m.h_old * x;
            m.zbar += m.zd * (1.0 - overlap - m.zbar * x);
            m.h_tmp = m.h - m.h_old * x * (m.z - m.zd) - m.h * m.zd * x;
            if rate > eta_max {
                (m.h_tmp, m.h, m.zbar) = (0.0, 0.0, 0.0);
                m.beta += decay.ln() * x * x;
            }
        }
        *v_delta = moved;
        *v_old = v;
    }
}

/// The parameters, not yet validated.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `lambda` | 0.95 | decay of the eligibility trace, together with gamma | [0, 1] |
/// | `alpha_init` | 0.01 | initial step size of every feature | finite, > 0 |
/// | `eta_max` | 0.1 | upper bound on the learning rate and on every step size | finite, > 0 |
/// | `eta_min` | 1e-10 | smallest step size | > 0, <= eta_max |
/// | `decay` | 0.999 | factor on the step sizes where the learning rate is too high | (0, 1] |
/// | `meta` | 0.001 | step size of the step sizes | finite, >= 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwiftTdParams {
    /// gamma.
    pub discount: f64,
    /// Decay of the eligibility trace, together with gamma.
    pub lambda: f64,
    /// Initial step size of every feature.
    pub alpha_init: f64,
    /// Upper bound on the learning rate and on every step size.
    pub eta_max: f64,
    /// Smallest step size.
    pub eta_min: f64,
    /// Factor on the step sizes where the learning rate is too high.
    pub decay: f64,
    /// Step size of the step sizes.
    pub meta: f64,
}

impl SwiftTdParams {
    /// The defaults for this discount.
    #[must_use]
    pub fn new(discount: f64) -> Self {
        Self {
            discount,
            lambda: 0.95,
            alpha_init: 1e-2,
            eta_max: 0.1,
            eta_min: 1e-10,
            decay: 0.999,
            meta: 1e-3,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        let within = |name, value, valid: bool, expected| match valid {
            true => Ok(()),
            false => Err(Error::Parameter {
                name,
                value,
                expected,
            }),
        };
        check_lambda(self.lambda)?;
        check_positive("alpha_init", self.alpha_init)?;
        check_positive("eta_max", self.eta_max)?;
        check_positive("eta_min", self.eta_min)?;
        let valid = Range::NonNegative.contains(self.meta);
        within("meta", self.meta, valid, "finite and at least 0")?;
        let (decay, least) = (self.decay, self.eta_min);
        let valid = decay > 0.0 && decay <= 1.0;
        within("decay", decay, valid, "above 0 and at most 1")?;
        within("eta_min", least, least <= self.eta_max, "at most eta_max")
    }
}

/// The state per feature besides its weight; the names are those of the update rule.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    #[serde(with = "crate::exact_float")]
    beta: f64,
    #[serde(with = "crate::exact_float")]
    z: f64,
    #[serde(with = "crate::exact_float")]
    zd: f64,
    #[serde(with = "crate::exact_float")]
    zbar: f64,
    #[serde(with = "crate::exact_float")]
    p: f64,
    #[serde(with = "crate::exact_float")]
    h: f64,
    #[serde(with = "crate::exact_float")]
    h_old: f64,
    #[serde(with = "crate::exact_float")]
    h_tmp: f64,
}

impl Memory {
    fn with_step_size(alpha: f64) -> Self {
        Self {
            beta: alpha.ln(),
            z: 0.0,
            zd: 0.0,
            zbar: 0.0,
            p: 0.0,
            h: 0.0,
            h_old: 0.0,
            h_tmp: 0.0,
        }
    }
}

/// SwiftTD.
pub const METHOD: Method<SwiftTd> = Method {
    id: "swift-td",
    title: "SwiftTD: learned step sizes, bounded learning rate",
    reference: "Javed, Sharifnassab & Sutton 2024, SwiftTD",
    standing: Standing::Experimental,
    needs: &[],
    parameters: &[
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace, together with gamma",
            range: Range::Unit,
            default: "0.95",
        },
        Parameter {
            name: "alpha_init",
            meaning: "initial step size of every feature",
            range: Range::Positive,
            default: "0.01",
        },
        Parameter {
            name: "eta_max",
            meaning: "upper bound on the learning rate and on every step size",
            range: Range::Positive,
            default: "0.1",
        },
        Parameter {
            name: "eta_min",
            meaning: "smallest step size; at most eta_max",
            range: Range::Positive,
            default: "1e-10",
        },
        Parameter {
            name: "decay",
            meaning: "factor on the step sizes where the learning rate is too high; above 0",
            range: Range::Unit,
            default: "0.999",
        },
        Parameter {
            name: "meta",
            meaning: "step size of the step sizes",
            range: Range::NonNegative,
            default: "0.001",
        },
    ],
    abilities: Abilities {
        target: Target::Td0Without("lambda"),
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<SwiftTd> {
    let default = SwiftTdParams::new(inputs.discount());
    let params = SwiftTdParams {
        discount: default.discount,
        lambda: inputs.value("lambda", default.lambda),
        alpha_init: inputs.value("alpha_init", default.alpha_init),
        eta_max: inputs.value("eta_max", default.eta_max),
        eta_min: inputs.value("eta_min", default.eta_min),
        decay: inputs.value("decay", default.decay),
        meta: inputs.value("meta", default.meta),
    };
    let SwiftTdParams {
        alpha_init,
        eta_min,
        eta_max,
        ..
    } = params;
    if !(params.decay > 0.0) {
        return Err(inputs.refused("decay", params.decay, "above 0 and at most 1"));
    }
    if !(eta_min <= eta_max) {
        let expected = format!("at most eta_max = {eta_max}");
        return Err(inputs.refused("eta_min", eta_min, expected));
    }
    if !(eta_min..=eta_max).contains(&alpha_init) {
        inputs.warn(format!(
            "alpha_init = {alpha_init} is outside [eta_min, eta_max] = [{eta_min}, {eta_max}]; the step sizes start at the nearer end"
        ));
    }
    SwiftTd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSwiftTd {
    params: SwiftTdParams,
    iterate: Iterate,
    memory: Vec<Memory>,
    #[serde(with = "crate::exact_float")]
    v_old: f64,
    #[serde(with = "crate::exact_float")]
    v_delta: f64,
    under_way: bool,
}

impl TryFrom<SavedSwiftTd> for SwiftTd {
    type Error = Error;

    fn try_from(saved: SavedSwiftTd) -> Result<Self> {
        saved.params.check()?;
        let dimension = saved.iterate.theta().len();
        check_length("the saved memory", dimension, saved.memory.len())?;
        Ok(Self {
            params: saved.params,
            iterate: saved.iterate,
            memory: saved.memory,
            v_old: saved.v_old,
            v_delta: saved.v_delta,
            under_way: saved.under_way,
            x: vec![0.0; dimension],
        })
    }
}
