//! Runs LSPE(lambda): value iteration in the least-squares sense, with the samples seen so far in place of the model.
//!
//! # Reference
//! Nedic & Bertsekas, "Least squares policy evaluation algorithms with linear function approximation", Discrete Event Dynamic Systems 13, 2003;
//! Bertsekas, Borkar & Nedic, "Improved temporal difference methods with linear function approximation", 2004, for the constant step.
//!
//! # Update rule
//! With z_t = rho_t ( gamma lambda z_{t-1} + phi(s_t) ) and v_t = phi(s_t) - gamma phi(s_{t+1}),
//! ```text
//! B_t = sum_{k<=t} phi_k phi_k' + ridge I,     A_t = sum_{k<=t} z_k v_k',     b_t = sum_{k<=t} z_k r_k
//! theta_{t+1} = theta_t + step B_t^{-1} ( b_t - A_t theta_t )
//! ```
//! A fixed point solves A theta = b: it is that of LSTD(lambda) without a ridge. With step = 1 each iteration is a projected value iteration, which contracts on-policy.
//! B^{-1} is updated by the Sherman-Morrison formula. The trace restarts at each episode. The output is the last iterate.
//!
//! # Inputs
//! phi_inf for the default ridge 1e-3 phi_inf^2, which only makes B invertible and does not move the fixed point. `lambda` and `step` default to 0 and 1.
//!
//! # Assumptions
//! On-policy samples, for which the mean iteration converges for 0 < step <= 1 (Bertsekas, Borkar & Nedic). No finite-time bound is stated. Its price is that of
//! LSTD: d^2 memory and work per step.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::iterate::trace::Trace;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::warn_other_target;
use crate::learner::lstd::default_ridge;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing, Target};
use crate::phi::{Features, Transition};

/// The most features: its matrices then take 256 MB.
pub const LARGEST_DIMENSION: usize = 4000;

/// The learner `lspe`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedLspe")]
pub struct Lspe {
    params: LspeParams,
    iterate: Iterate,
    trace: Trace,
    /// B^{-1} and A, row by row, and b.
    #[serde(with = "crate::exact_float")]
    inverse: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    a: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    b: Vec<f64>,
    /// Scratch space for B^{-1} phi, and for the residual b - A theta.
    #[serde(skip)]
    q: Vec<f64>,
    #[serde(skip)]
    residual: Vec<f64>,
}

impl Learner for Lspe {
    fn step(&mut self, transition: &Transition<'_>) {
        let LspeParams {
            discount,
            lambda,
            step,
            ..
        } = self.params;
        let d = self.b.len();
        let phi = transition.features;
        let next = transition.outcome.next_features();
        // B^{-1} -= q q' / (1 + phi.q), q = B^{-1} phi.
        for (q, row) in self.q.iter_mut().zip(self.inverse.chunks_exact(d)) {
            *q = phi.dot(row);
        }
        let den = 1.0 + phi.dot(&self.q);
        for (q, row) in self.q.iter().zip(self.inverse.chunks_exact_mut(d)) {
            Features::Dense(&self.q).axpy(-q / den, row);
        }
        let (factor, z) = self.trace.visit(discount * lambda, 1.0, transition);
        let (a, b) = (&mut self.a, &mut self.b);
        z.for_each(|i, z| {
            let weight = factor * z;
            b[i] += weight * transition.reward;
            let row = &mut a[i * d..(i + 1) * d];
            phi.axpy(weight, row);
            if let Some(next) = next {
                next.axpy(-discount * weight, row);
            }
        });
        let theta = Features::Dense(self.iterate.theta());
        let rows = self.a.chunks_exact(d).zip(&self.b);
        for (residual, (row, b)) in self.residual.iter_mut().zip(rows) {
            *residual = b - theta.dot(row);
        }
        let residual = Features::Dense(&self.residual);
        for (q, row) in self.q.iter_mut().zip(self.inverse.chunks_exact(d)) {
            *q = residual.dot(row);
        }
        self.iterate.advance(step, Features::Dense(&self.q));
        self.trace.leave(transition);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn start_episode(&mut self) {
        self.trace.clear();
    }

    fn has_traces(&self) -> bool {
        self.params.discount * self.params.lambda > 0.0
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

impl Lspe {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range, or the dimension is 0 or too large.
    pub fn new(params: LspeParams, dimension: usize) -> Result<Self> {
        params.check()?;
        if dimension > LARGEST_DIMENSION {
            return Err(Error::NotApplicable {
                method: METHOD.id,
                why: format!(
                    "it keeps two matrices, and {dimension} features are more than {LARGEST_DIMENSION}"
                ),
            });
        }
        let iterate = Iterate::zero(dimension)?;
        let mut inverse = vec![0.0; dimension * dimension];
        let diagonal = inverse.iter_mut().step_by(dimension + 1);
        diagonal.for_each(|entry| *entry = 1.0 / params.ridge);
        Ok(Self {
            params,
            iterate,
            trace: Trace::zero(dimension),
            inverse,
            a: vec![0.0; dimension * dimension],
            b: vec![0.0; dimension],
            q: vec![0.0; dimension],
            residual: vec![0.0; dimension],
        })
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `lambda` | none | decay of the eligibility trace | [0, 1] |
/// | `ridge` | none | initial diagonal of B | finite, > 0 |
/// | `step` | none | share of each value iteration | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LspeParams {
    /// gamma.
    pub discount: f64,
    /// Decay of the eligibility trace.
    pub lambda: f64,
    /// Initial diagonal of B.
    pub ridge: f64,
    /// Share of each value iteration.
    pub step: f64,
}

impl LspeParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_lambda(self.lambda)?;
        check_positive("ridge", self.ridge)?;
        check_positive("step", self.step)
    }
}

/// LSPE.
pub const METHOD: Method<Lspe> = Method {
    id: "lspe",
    title: "LSPE(lambda): least-squares value iteration on the samples so far",
    reference: "Nedic & Bertsekas 2003; Bertsekas, Borkar & Nedic 2004",
    standing: Standing::Baseline,
    needs: &["phi_inf"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "share of each value iteration, usually 1",
            range: Range::Positive,
            default: "1",
        },
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace",
            range: Range::Unit,
            default: "0",
        },
        Parameter {
            name: "ridge",
            meaning: "initial diagonal of the matrix B, in the squared units of the features",
            range: Range::Positive,
            default: "1e-3 phi_inf^2",
        },
    ],
    abilities: Abilities {
        ratios: true,
        target: Target::Td0Without("lambda"),
        advice: "try a smaller step, or lstd",
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<Lspe> {
    let ridge = default_ridge(inputs.phi_inf());
    let params = LspeParams {
        discount: inputs.discount(),
        step: inputs.value("step", 1.0),
        lambda: inputs.value("lambda", 0.0),
        ridge: inputs.value("ridge", ridge),
    };
    warn_other_target(inputs, params.lambda);
    Lspe::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLspe {
    params: LspeParams,
    iterate: Iterate,
    trace: Trace,
    #[serde(with = "crate::exact_float")]
    inverse: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    a: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    b: Vec<f64>,
}

impl TryFrom<SavedLspe> for Lspe {
    type Error = Error;

    fn try_from(saved: SavedLspe) -> Result<Self> {
        let SavedLspe {
            params,
            iterate,
            trace,
            inverse,
            a,
            b,
        } = saved;
        params.check()?;
        let d = iterate.theta().len();
        trace.check(d)?;
        check_length("the saved inverse", d * d, inverse.len())?;
        check_length("the saved matrix", d * d, a.len())?;
        check_length("the saved right side", d, b.len())?;
        Ok(Self {
            params,
            iterate,
            trace,
            inverse,
            a,
            b,
            q: vec![0.0; d],
            residual: vec![0.0; d],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::learner::LstdBatch;
    use crate::learner::lstd::LstdParams;
    use crate::random::Stream;
    use crate::simulate::Sampler;

    #[test]
    fn one_step_by_hand() {
        let params = LspeParams {
            discount: 0.5,
            lambda: 0.0,
            ridge: 1.0,
            step: 0.5,
        };
        let mut learner = Lspe::new(params, 1).unwrap();
        // B = 1 + 4, A = 2 (2 - 0.5), b = 6.
        learner.step(&Transition::new(&[2.0], 3.0, &[1.0]));
        assert!((learner.theta()[0] - 0.5 * 6.0 / 5.0).abs() < 1e-15);
        // B = 9, A = 6, b = 12: theta += 0.5 (12 - 6 * 0.6) / 9.
        learner.step(&Transition::new(&[2.0], 3.0, &[1.0]));
        assert!((learner.theta()[0] - (0.6 + 0.5 * (12.0 - 3.6) / 9.0)).abs() < 1e-15);
    }

    /// A log that is read again and again: the sums keep their proportions, and theta converges to the solution of LSTD.
    #[test]
    fn the_fixed_point_is_that_of_lstd() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        for (lambda, step) in [(0.0, 1.0), (0.6, 1.0), (0.0, 0.5)] {
            let mut stream = Stream::new(3, 0);
            let states = Sampler::new(&problem).trajectory(0, 200, &mut stream);
            let (discount, d) = (problem.discount(), problem.dimension());
            let params = LspeParams {
                discount,
                lambda,
                ridge: 1e-3,
                step,
            };
            let sums = LstdParams {
                discount,
                lambda,
                ridge: 1e-12,
            };
            let mut learner = Lspe::new(params, d).unwrap();
            let mut batch = LstdBatch::new(sums, d).unwrap();
            for pass in 0..40 {
                learner.start_episode();
                for pair in states.windows(2) {
                    let sample = Transition::of_problem(&problem, pair[0], pair[1]);
                    learner.step(&sample);
                    if pass == 0 {
                        batch.add(&sample);
                    }
                }
            }
            let solution = batch.solution().unwrap();
            for (found, expected) in learner.theta().iter().zip(&solution) {
                // What is left is the last pass's change of the proportions, a thousandth of the samples.
                assert!(
                    (found - expected).abs() < 2e-2,
                    "lambda = {lambda}: {found} {expected}"
                );
            }
            // Without new samples the iteration converges to it, whatever the step.
            let mut at = learner.clone();
            at.iterate.change(|theta| theta.copy_from_slice(&solution));
            let residual: f64 = (0..d)
                .map(|i| at.b[i] - Features::Dense(at.theta()).dot(&at.a[i * d..(i + 1) * d]))
                .map(f64::abs)
                .sum();
            assert!(
                residual < 1e-7 * at.b.iter().map(|b| b.abs()).sum::<f64>(),
                "{residual}"
            );
        }
    }
}
