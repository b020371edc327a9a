//! Runs Algorithm 1 in coordinates in which the features have covariance I, where its rate does not contain omega.
//!
//! # Reference
//! Lee & Orabona, arXiv:2506.01052, Algorithm 1 and Corollary 1, applied to the features M phi with M = Sigma^(-1/2); see
//! [`theory::coordinates`](crate::theory::coordinates) for the statement and `docs/findings.md` for what it does. Preconditioning TD with Sigma^{-1} goes back to
//! Yao & Liu, "Preconditioned temporal difference learning", ICML 2008.
//!
//! # Update rule
//! ```text
//! Q           = Sigma^{-1}                   alg1-whitened,         diag(Sigma)^{-1}      alg1-scaled
//! phi_inf'^2  = max_s phi(s)' Q phi(s)
//! eta_t       = 1 / ( c phi_inf'^2 ln(T) ln(t+3) sqrt(t+1) )
//! theta_{t+1} = theta_t + eta_t delta_t Q phi(s_t),          theta_0 = 0
//! output      = sum_{k<t} eta_k theta_k / sum_{k<t} eta_k
//! ```
//! In the coordinates theta' = Sigma^(1/2) theta this is Algorithm 1 on the features Sigma^(-1/2) phi. There omega = 1, |theta*'|^2 = |V*|_D^2, and no
//! linear change of the original features (for `alg1-scaled`: no change of their units) makes a difference to any prediction.
//!
//! # Inputs
//! The exact Sigma of a known problem. From data it is a plug-in estimate: theta stays 0 for the first `share` of T samples, while their second moments
//! are summed; then the rest is learned from, with T the number of the rest. phi_inf'^2 is then the largest phi' Q phi so far, or the rank of the
//! estimate (the mean of phi' Q phi over the first samples) if that is larger.
//!
//! # Assumptions
//! Those of Algorithm 1. With the exact Sigma its certificates hold, in the new coordinates. With the estimate nothing is certified. A singular estimate is
//! inverted on its range: theta does not move in directions that the first samples did not show.
//!
//! # Performance
//! O(d nonzeros) per step and d^2 memory, and once an eigendecomposition; `alg1-scaled`: O(nonzeros) and O(d).

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::average::AveragedIterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::knowledge::{C, guarantee_in, warn_small_c};
use crate::matrix::Matrix;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::model::whitening::Whitening;
use crate::phi::{Features, Transition};
use crate::schedule::{RobustDecay, Schedule, Steps};
use crate::theory::coordinates::Coordinates;

/// The most features of `alg1-whitened`: its matrix then takes 128 MB and its eigendecomposition minutes.
pub const LARGEST_DIMENSION: usize = 4000;

/// The default share of the samples from which Sigma is estimated.
const SHARE: f64 = 0.1;

/// The learner `alg1-whitened`, or `alg1-scaled`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedWhitened")]
pub struct Whitened {
    params: WhitenedParams,
    #[serde(skip)]
    steps: Steps,
    state: AveragedIterate,
    /// The sums of phi phi' during the first samples, then Q; row by row, or the diagonal.
    #[serde(with = "crate::exact_float")]
    matrix: Vec<f64>,
    /// phi_inf'^2.
    #[serde(with = "crate::exact_float")]
    square: f64,
    /// Scratch space for Q phi.
    #[serde(skip)]
    direction: Vec<f64>,
}

impl Learner for Whitened {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let t = self.state.steps();
        if t < self.params.first {
            return self.estimate(transition.features);
        }
        let delta = transition.td_error(self.state.theta(), self.params.discount);
        let phi = transition.features;
        let direction = apply(self.params.shape, &self.matrix, phi, &mut self.direction);
        if self.params.first > 0 {
            let leverage = match direction {
                Features::Dense(direction) => phi.dot(direction),
                Features::Sparse { .. } => sparse_product(phi, direction),
            };
            if leverage > self.square {
                self.square = leverage;
            }
        }
        let eta = self.steps.step_size(t - self.params.first) / self.square;
        self.state.advance(eta, eta * delta, direction);
    }

    fn id(&self) -> &'static str {
        match self.params.shape {
            Shape::Full => FULL.id,
            Shape::Diagonal => DIAGONAL.id,
        }
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn updates(&self) -> u64 {
        self.steps().saturating_sub(self.params.first)
    }

    fn output(&self) -> Vec<f64> {
        self.state.average()
    }

    read_iterate!(state);
}

impl Whitened {
    /// The learner with a known Q, row by row or its diagonal, and phi_inf'^2.
    ///
    /// # Errors
    /// When a parameter is out of range, the dimension is 0 or too large, or Q does not have its shape.
    pub fn known(
        params: WhitenedParams,
        dimension: usize,
        q: Vec<f64>,
        square: f64,
    ) -> Result<Self> {
        let params = WhitenedParams { first: 0, ..params };
        check_positive("phi_inf_whitened", square)?;
        Self::with(params, dimension, q, square)
    }

    /// The learner that estimates Q from its first samples.
    ///
    /// # Errors
    /// When a parameter is out of range, or the dimension is 0 or too large.
    pub fn estimated(params: WhitenedParams, dimension: usize) -> Result<Self> {
        let size = params.shape.size(dimension)?;
        if params.first == 0 {
            return Err(Error::Parameter {
                name: "first",
                value: 0.0,
                expected: "at least 1",
            });
        }
        Self::with(params, dimension, vec![0.0; size], 0.0)
    }

    fn with(
        params: WhitenedParams,
        dimension: usize,
        matrix: Vec<f64>,
        square: f64,
    ) -> Result<Self> {
        let size = params.shape.size(dimension)?;
        check_length("the matrix of the coordinates", size, matrix.len())?;
        Ok(Self {
            steps: params.steps()?,
            params,
            state: AveragedIterate::zero(dimension)?,
            matrix,
            square,
            direction: vec![0.0; dimension],
        })
    }

    /// Q once it is known, row by row or its diagonal.
    #[must_use]
    pub fn coordinates(&self) -> Option<&[f64]> {
        (self.steps() >= self.params.first).then_some(&self.matrix)
    }

    /// phi_inf'^2, which divides the steps; 0 while Q is not known.
    #[must_use]
    pub fn largest_square(&self) -> f64 {
        self.square
    }

    /// Learns the second moments from one of the first samples, and Q from all of them.
    fn estimate(&mut self, phi: Features<'_>) {
        let d = self.direction.len();
        match self.params.shape {
            Shape::Diagonal => phi.add_squares(&mut self.matrix),
            Shape::Full => {
                phi.for_each(|i, x| phi.axpy(x, &mut self.matrix[i * d..(i + 1) * d]));
            }
        }
        self.state.stay();
        if self.state.steps() == self.params.first {
            let rank = self.invert();
            self.square = (rank as f64).max(1.0);
        }
    }

    /// Replaces the sums by Q; returns its rank.
    #[inline(never)]
    fn invert(&mut self) -> usize {
        let count = self.params.first as f64;
        match self.params.shape {
            Shape::Diagonal => {
                let mut rank = 0;
                for sum in &mut self.matrix {
                    let known = *sum > 0.0;
                    *sum = if known { count / *sum } else { 0.0 };
                    rank += usize::from(known);
                }
                rank
            }
            Shape::Full => {
                let d = self.direction.len();
                let sums = std::mem::take(&mut self.matrix);
                let mean = Matrix::from_fn(d, d, |i, j| sums[i * d + j] / count);
                // Features whose squares overflow have no covariance: theta then stays 0.
                let whitening = Whitening::of_covariance(&mean).unwrap_or(Whitening {
                    inverse: Matrix::zeros(d, d),
                    rank: 0,
                });
                self.matrix = whitening.inverse.as_slice().to_vec();
                whitening.rank
            }
        }
    }
}

/// Q phi; for a diagonal Q it is as sparse as phi.
#[inline]
fn apply<'a>(shape: Shape, q: &[f64], phi: Features<'a>, out: &'a mut [f64]) -> Features<'a> {
    match (shape, phi) {
        (Shape::Full, _) => {
            let d = out.len();
            out.fill(0.0);
            // Q is symmetric, so its rows are its columns.
            phi.for_each(|j, x| Features::Dense(&q[j * d..(j + 1) * d]).axpy(x, out));
            Features::Dense(out)
        }
        (Shape::Diagonal, Features::Dense(phi)) => {
            for ((out, x), q) in out.iter_mut().zip(phi).zip(q) {
                *out = q * x;
            }
            Features::Dense(out)
        }
        (Shape::Diagonal, Features::Sparse { indices, values }) => {
            for ((out, &i), x) in out.iter_mut().zip(indices).zip(values) {
                *out = q[i as usize] * x;
            }
            let values = &out[..indices.len()];
            Features::Sparse { indices, values }
        }
    }
}

/// The inner product of two sparse vectors with the same indices.
#[inline]
fn sparse_product(x: Features<'_>, y: Features<'_>) -> f64 {
    match (x, y) {
        (Features::Sparse { values: x, .. }, Features::Sparse { values: y, .. }) => {
            x.iter().zip(y).map(|(x, y)| x * y).sum()
        }
        _ => f64::NAN,
    }
}

/// Which coordinates are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Q = Sigma^{-1}, id `alg1-whitened`.
    Full,
    /// Q = diag(Sigma)^{-1}, id `alg1-scaled`.
    Diagonal,
}

impl Shape {
    /// The number of entries of Q.
    fn size(self, dimension: usize) -> Result<usize> {
        match self {
            Self::Diagonal => Ok(dimension),
            Self::Full if dimension <= LARGEST_DIMENSION => Ok(dimension * dimension),
            Self::Full => Err(Error::NotApplicable {
                method: FULL.id,
                why: format!(
                    "it needs d^2 numbers, and {dimension} features are more than {LARGEST_DIMENSION}; \
                     {} needs d",
                    DIAGONAL.id
                ),
            }),
        }
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `shape` | none | full or diagonal | |
/// | `discount` | none | gamma | [0, 1) |
/// | `horizon` | none | the planned number of samples | >= `first` + 3 |
/// | `c` | none | divides the steps | finite, > 0 |
/// | `first` | none | samples for the estimate of Sigma; 0 if it is known | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhitenedParams {
    /// Full or diagonal.
    pub shape: Shape,
    /// gamma.
    pub discount: f64,
    /// The planned number of samples.
    pub horizon: u64,
    /// The constant that divides the steps.
    pub c: f64,
    /// Samples for the estimate of Sigma; 0 if it is known.
    pub first: u64,
}

impl WhitenedParams {
    /// Checks every range and returns the step sizes for phi_inf' = 1.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn steps(&self) -> Result<Steps> {
        check_discount(self.discount)?;
        let rest = self.horizon.saturating_sub(self.first);
        let scale = RobustDecay::new(rest, self.c, 1.0)?.scale();
        Ok(Steps::Robust { scale })
    }
}

/// The share of the samples for the estimate.
const SHARE_PARAMETER: Parameter = Parameter {
    name: "share",
    meaning: "share of the samples for a plug-in estimate of Sigma, before learning starts",
    range: Range::OpenUnit,
    default: "0.1; with a known problem none, the exact Sigma",
};

/// Algorithm 1 on whitened features.
pub const FULL: Method<Whitened> = Method {
    id: "alg1-whitened",
    title: "Algorithm 1 on features with covariance I; from data a plug-in estimate",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, in the coordinates Sigma^(-1/2) phi",
    standing: Standing::Proved,
    needs: &["Sigma", "T"],
    parameters: &[C, SHARE_PARAMETER],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate::ROBUST),
    build: |inputs| build(inputs, Shape::Full),
};

/// Its diagonal version.
pub const DIAGONAL: Method<Whitened> = Method {
    id: "alg1-scaled",
    title: "Algorithm 1 on features with second moment 1 each; from data a plug-in estimate",
    reference: "Lee & Orabona 2025, arXiv:2506.01052, in the coordinates diag(Sigma)^(-1/2) phi",
    standing: Standing::Proved,
    needs: &["diag(Sigma)", "T"],
    parameters: &[C, SHARE_PARAMETER],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate::ROBUST),
    build: |inputs| build(inputs, Shape::Diagonal),
};

fn build(inputs: &mut Inputs<'_>, shape: Shape) -> Result<Whitened> {
    let mut params = WhitenedParams {
        shape,
        discount: inputs.discount(),
        horizon: inputs.horizon(),
        c: inputs.value(C.name, 1.0),
        first: 0,
    };
    warn_small_c(inputs, params.c);
    let given = inputs.given(SHARE_PARAMETER.name);
    let known = inputs.known_problem().filter(|_| given.is_none());
    let dimension = inputs.dimension();
    let Some(problem) = known else {
        let share = given.unwrap_or_else(|| inputs.value(SHARE_PARAMETER.name, SHARE));
        let most = params.horizon.saturating_sub(3).max(1);
        params.first = ((share * params.horizon as f64).ceil() as u64).clamp(1, most);
        inputs.warn(format!(
            "Sigma is a plug-in estimate from the first {} samples: nothing is certified",
            params.first
        ));
        return Whitened::estimated(params, dimension);
    };
    shape.size(dimension)?;
    let (coordinates, q) = match shape {
        Shape::Full => {
            let (whitening, _) = Whitening::of_problem(problem)?;
            let q = whitening.inverse.as_slice().to_vec();
            (Coordinates::whitened(problem)?, q)
        }
        Shape::Diagonal => {
            let sigma = problem.sigma();
            let q = (0..dimension).map(|i| 1.0 / sigma.get(i, i)).collect();
            (Coordinates::diagonal(problem), q)
        }
    };
    inputs.note_oracle("phi_inf_whitened", coordinates.phi_inf);
    let square = coordinates.phi_inf.powi(2);
    let learner = Whitened::known(params, dimension, q, square)?;
    let unit = WhitenedParams { c: 1.0, ..params }.steps()?;
    let steps = |t| unit.step_size(t) / square;
    guarantee_in(inputs, &coordinates, params.horizon, params.c, steps);
    Ok(learner)
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedWhitened {
    params: WhitenedParams,
    state: AveragedIterate,
    #[serde(with = "crate::exact_float")]
    matrix: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    square: f64,
}

impl TryFrom<SavedWhitened> for Whitened {
    type Error = Error;

    fn try_from(saved: SavedWhitened) -> Result<Self> {
        let SavedWhitened {
            params,
            state,
            matrix,
            square,
        } = saved;
        let d = state.theta().len();
        if state.steps() >= params.first {
            check_positive("phi_inf_whitened", square)?;
        }
        let fresh = Self::with(params, d, matrix, square)?;
        Ok(Self { state, ..fresh })
    }
}
