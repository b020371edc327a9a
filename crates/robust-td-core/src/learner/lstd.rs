//! Runs recursive LSTD(lambda), which solves for the fixed point of the samples seen so far.
//!
//! # Reference
//! Bradtke & Barto, "Linear least-squares algorithms for temporal difference learning", Machine Learning 22, 1996;
//! Boyan, "Technical update: least-squares temporal difference learning", Machine Learning 49, 2002, for lambda.
//!
//! # Update rule
//! With z_t = rho_t ( gamma lambda z_{t-1} + phi(s_t) ) and v_t = phi(s_t) - gamma phi(s_{t+1}) the answer is
//! ```text
//! theta = ( sum_t z_t v_t' + ridge I )^{-1} sum_t z_t r_t
//! ```
//! updated by the Sherman-Morrison formula, from M = I/ridge and theta = 0:
//! ```text
//! q = M z,   p = M' v,   den = 1 + v.q,   theta += q (r - v.theta) / den,   M -= q p' / den
//! ```
//! The trace restarts at each episode. [`LstdBatch`](crate::learner::LstdBatch) keeps the sums instead and solves once.
//!
//! # Inputs
//! phi_inf for the default ridge 1e-3 phi_inf^2, a thousandth of one sample's weight: it makes the first d samples
//! solvable, and its influence decays as 1/T. `lambda` defaults to 0, for which the target is theta*.
//!
//! # Assumptions
//! A sample that would make the matrix numerically singular, |den| <= 1e-12, is skipped and counted
//! ([`Lstd::skipped`]). There is no step size and no lasting divergence; the price is d^2 memory and work per step.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_lambda, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::iterate::trace::Trace;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::warn_other_target;
use crate::method::{
    Abilities, Approach, Inputs, IntervalSource, Method, Parameter, Range, Standing, Target,
};
use crate::phi::{Features, Transition};

/// Sherman-Morrison denominators up to this size are treated as 0.
const SINGULAR: f64 = 1e-12;

/// The learner `lstd`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedLstd")]
pub struct Lstd {
    params: LstdParams,
    iterate: Iterate,
    trace: Trace,
    /// M, row by row.
    #[serde(with = "crate::exact_float")]
    inverse: Vec<f64>,
    skipped: u64,
    /// Scratch space for q and p.
    #[serde(skip)]
    q: Vec<f64>,
    #[serde(skip)]
    p: Vec<f64>,
}

impl Learner for Lstd {
    fn step(&mut self, transition: &Transition<'_>) {
        let LstdParams {
            discount, lambda, ..
        } = self.params;
        let d = self.q.len();
        let phi = transition.features;
        let next = transition.outcome.next_features();
        let (factor, z) = self.trace.visit(discount * lambda, 1.0, transition);
        for (q, row) in self.q.iter_mut().zip(self.inverse.chunks_exact(d)) {
            *q = factor * z.dot(row);
        }
        let onward = next.map_or(0.0, |next| next.dot(&self.q));
        let den = 1.0 + (phi.dot(&self.q) - discount * onward);
        if den.abs() > SINGULAR {
            self.p.fill(0.0);
            add_rows(&mut self.p, &self.inverse, 1.0, phi);
            if let Some(next) = next {
                add_rows(&mut self.p, &self.inverse, -discount, *next);
            }
            // r - v.theta is the TD error.
            let delta = transition.td_error(self.iterate.theta(), discount);
            self.iterate.advance(delta / den, Features::Dense(&self.q));
            for (q, row) in self.q.iter().zip(self.inverse.chunks_exact_mut(d)) {
                Features::Dense(&self.p).axpy(-q / den, row);
            }
        } else {
            self.skipped += 1;
            self.iterate.stay();
        }
        self.trace.leave(transition);
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn updates(&self) -> u64 {
        self.steps() - self.skipped
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

impl Lstd {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: LstdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        let iterate = Iterate::zero(dimension)?;
        let mut inverse = vec![0.0; dimension * dimension];
        let diagonal = inverse.iter_mut().step_by(dimension + 1);
        diagonal.for_each(|entry| *entry = 1.0 / params.ridge);
        Ok(Self {
            params,
            iterate,
            trace: Trace::zero(dimension),
            inverse,
            skipped: 0,
            q: vec![0.0; dimension],
            p: vec![0.0; dimension],
        })
    }

    /// The number of samples skipped because they made the matrix singular.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Adds factor x' M to p: the rows of M, weighted by the entries of x.
fn add_rows(p: &mut [f64], matrix: &[f64], factor: f64, x: Features<'_>) {
    let d = p.len();
    x.for_each(|i, x| {
        Features::Dense(&matrix[i * d..(i + 1) * d]).axpy(factor * x, p);
    });
}

/// The default ridge: a thousandth of one sample's weight.
#[must_use]
pub fn default_ridge(phi_inf: f64) -> f64 {
    1e-3 * phi_inf.powi(2)
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `lambda` | none | decay of the eligibility trace | [0, 1] |
/// | `ridge` | none | initial diagonal of the matrix | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LstdParams {
    /// gamma.
    pub discount: f64,
    /// Decay of the eligibility trace.
    pub lambda: f64,
    /// Initial diagonal of the matrix.
    pub ridge: f64,
}

impl LstdParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_lambda(self.lambda)?;
        check_positive("ridge", self.ridge)
    }
}

/// LSTD.
pub const METHOD: Method<Lstd> = Method {
    id: "lstd",
    title: "recursive least-squares TD(lambda)",
    reference: "Bradtke & Barto 1996; Boyan 2002",
    standing: Standing::Baseline,
    needs: &["phi_inf"],
    parameters: &[
        Parameter {
            name: "ridge",
            meaning: "initial diagonal of the matrix, in the squared units of the features",
            range: Range::Positive,
            default: "1e-3 phi_inf^2",
        },
        Parameter {
            name: "lambda",
            meaning: "decay of the eligibility trace",
            range: Range::Unit,
            default: "0",
        },
    ],
    abilities: Abilities {
        approach: Approach::Solution,
        ratios: true,
        target: Target::Td0Without("lambda"),
        intervals: IntervalSource::LeastSquares,
        advice: "try a larger ridge",
        ..Abilities::PLAIN
    },
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<Lstd> {
    let params = LstdParams {
        discount: inputs.discount(),
        lambda: inputs.value("lambda", 0.0),
        ridge: match inputs.given("ridge") {
            Some(ridge) => ridge,
            None => {
                let ridge = default_ridge(inputs.phi_inf());
                inputs.note_known("ridge", ridge);
                ridge
            }
        },
    };
    warn_other_target(inputs, params.lambda);
    Lstd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLstd {
    params: LstdParams,
    iterate: Iterate,
    trace: Trace,
    #[serde(with = "crate::exact_float")]
    inverse: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    skipped: u64,
}

impl TryFrom<SavedLstd> for Lstd {
    type Error = Error;

    fn try_from(saved: SavedLstd) -> Result<Self> {
        let SavedLstd {
            params,
            iterate,
            trace,
            inverse,
            skipped,
        } = saved;
        params.check()?;
        let d = iterate.theta().len();
        trace.check(d)?;
        check_length("the saved inverse", d * d, inverse.len())?;
        if skipped > iterate.steps() {
            let contradiction = format!("{skipped} of {} samples skipped", iterate.steps());
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params,
            iterate,
            trace,
            inverse,
            skipped,
            q: vec![0.0; d],
            p: vec![0.0; d],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_makes_the_matrix_singular_is_left_out() {
        let params = LstdParams {
            discount: 0.5,
            lambda: 0.0,
            ridge: 1.0,
        };
        let mut learner = Lstd::new(params, 1).unwrap();
        // z v = 1 (1 - 0.5 * 4) = -1 cancels the ridge.
        let (one, four) = (Features::Dense(&[1.0]), Features::Dense(&[4.0]));
        learner.step(&Transition::new(one, 1.0, four));
        assert_eq!(
            (learner.skipped(), learner.steps(), learner.updates()),
            (1, 1, 0)
        );
        assert_eq!(learner.theta(), [0.0]);
        // A + ridge = 2, b = 3.
        learner.step(&Transition::terminated(one, 3.0));
        assert_eq!(learner.theta(), [1.5]);
    }
}
