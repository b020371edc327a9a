//! Certifies Algorithm 1 in other linear coordinates of the features, where its guarantee can be free of omega.
//!
//! # Statement
//! Let `M` be invertible, `phi' = M phi`, `theta' = M^(-T) theta`. The values `phi'.theta' = phi.theta`, hence `f`, the D-norm and the TD errors, are those of
//! the original features; omega, `phi_inf` and `|theta*|` are not. So every certificate holds for Algorithm 1 run on `phi'`, which in the original
//! coordinates is `theta_{t+1} = theta_t + eta_t delta_t Q phi(s_t)` with `Q = M' M`, and
//!
//! ```text
//! phi_inf'^2 = max_s phi(s)' Q phi(s),     |theta*'|^2 = theta*' Q^{-1} theta*
//! ```
//!
//! - The step sizes are `1/phi_inf'^2` times numbers without coordinates. In units of `1/phi_inf'` the recursions of P and X contain the coordinates only in
//!   `K = phi_inf' |theta*'|`, and those of Y and C also in `Gs/phi_inf' <= max |delta at theta*|` and `G0/phi_inf' <= r_inf`; all bounds grow with each. So the
//!   best coordinates are those with the smallest `K`, and the bound of Corollary 1 is `O~( max(r_inf, K)^2 / sqrt T )`.
//! - **Whitened**, `Q = Sigma^{-1}`: `omega' = 1`, `|theta*'|^2 = |V*|_D^2` and `phi_inf'^2 = max_s phi(s)' Sigma^{-1} phi(s)`, the largest leverage. No omega is left.
//!   Among all `Q` it has the smallest worst case of `K` over the problems with a given `|V*|_D`: `theta*'Q^{-1}theta* <= b |V*|_D^2` for all theta* means
//!   `Q >= Sigma^{-1}/b`, and then `max_s phi'Q phi >= max_s phi' Sigma^{-1} phi / b`.
//! - **Diagonal**, `Q = diag(Sigma)^{-1}`, costs O(d) instead of O(d^2) per step.
//! - **Optimised**: the diagonal `Q` with the smallest `K`, which is a convex problem ([`scaling`]). It uses theta*.
//! - Over all `Q` the infimum of `K` is `max_s |V*(s)|`, approached by `Q = theta* theta*' + small`: by Cauchy and Schwarz `V*(s)^2 <= phi'Q phi theta*'Q^{-1} theta*`. Such
//!   coordinates contain the answer, so the problem over all `Q` is no guide to an algorithm.

use super::certificate::{self, Certificate, Inputs};
use super::certify::MixingBounds;
use super::horizon::Horizon;
use super::recommend::{Recommendation, recommend};
use super::scaling;
use super::step_sums::StepProfile;
use crate::error::Result;
use crate::matrix::norm_sq;
use crate::model::problem::Problem;
use crate::model::whitening::Whitening;

/// Linear coordinates of a problem's features.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinates {
    /// `identity`, `diagonal`, `whitened` or `optimised`.
    pub name: &'static str,
    /// The id of the method that runs Algorithm 1 in these coordinates, if there is one.
    pub method: Option<&'static str>,
    /// `phi_inf'`.
    pub phi_inf: f64,
    /// `|theta*'|`.
    pub theta_star_norm: f64,
    /// The factors `m_i` of the features, for a diagonal `M`.
    pub scaling: Option<Vec<f64>>,
    /// `|phi'(s)|^2` by state.
    squares: Vec<f64>,
}

impl Coordinates {
    /// The features as they are.
    #[must_use]
    pub fn identity(problem: &Problem) -> Self {
        let squares = states(problem, norm_sq);
        let distance_sq = norm_sq(problem.theta_star());
        Self::new("identity", Some("alg1"), squares, distance_sq, None)
    }

    /// The features with covariance I.
    ///
    /// # Errors
    /// When the singular values of the features are not found.
    pub fn whitened(problem: &Problem) -> Result<Self> {
        let (_, leverages) = Whitening::of_problem(problem)?;
        let values = problem.values(problem.theta_star());
        let distance_sq = problem.d_norm_sq(&values);
        Ok(Self::new(
            "whitened",
            Some("alg1-whitened"),
            leverages,
            distance_sq,
            None,
        ))
    }

    /// The features with second moment 1 each.
    #[must_use]
    pub fn diagonal(problem: &Problem) -> Self {
        let d = problem.dimension();
        let q: Vec<f64> = (0..d).map(|i| 1.0 / problem.sigma().get(i, i)).collect();
        Self::scaled("diagonal", Some("alg1-scaled"), problem, &q)
    }

    /// The features scaled so that the certificates are smallest.
    #[must_use]
    pub fn optimised(problem: &Problem) -> Self {
        Self::scaled(
            "optimised",
            None,
            problem,
            &scaling::optimise(problem).squares,
        )
    }

    /// All but the identity.
    ///
    /// # Errors
    /// As for [`whitened`](Self::whitened).
    pub fn others(problem: &Problem) -> Result<[Self; 3]> {
        Ok([
            Self::diagonal(problem),
            Self::whitened(problem)?,
            Self::optimised(problem),
        ])
    }

    fn scaled(
        name: &'static str,
        method: Option<&'static str>,
        problem: &Problem,
        q: &[f64],
    ) -> Self {
        let squares = states(problem, |phi| {
            phi.iter().zip(q).map(|(x, q)| q * x * x).sum()
        });
        let theta = problem.theta_star().iter().zip(q);
        let distance_sq = theta.map(|(t, q)| t * t / q).sum();
        let scaling = q.iter().map(|q| q.sqrt()).collect();
        Self::new(name, method, squares, distance_sq, Some(scaling))
    }

    fn new(
        name: &'static str,
        method: Option<&'static str>,
        squares: Vec<f64>,
        distance_sq: f64,
        scaling: Option<Vec<f64>>,
    ) -> Self {
        Self {
            name,
            method,
            phi_inf: squares.iter().copied().fold(0.0, f64::max).sqrt(),
            theta_star_norm: distance_sq.sqrt(),
            scaling,
            squares,
        }
    }

    /// `K = phi_inf' |theta*'|`, the only number of the coordinates that matters for the rate.
    #[must_use]
    pub fn product(&self) -> f64 {
        self.phi_inf * self.theta_star_norm
    }

    /// The inputs of the certificates in these coordinates, with upper bounds on the mixing distances.
    #[must_use]
    pub fn inputs(&self, problem: &Problem, distances: Vec<f64>) -> Inputs {
        let largest = |values: &[f64]| {
            let updates = problem.edges().map(|edge| {
                let delta = edge.reward + problem.discount() * values[edge.to] - values[edge.from];
                delta.abs() * self.squares[edge.from].sqrt()
            });
            updates.fold(0.0, f64::max)
        };
        Inputs {
            phi_inf: self.phi_inf,
            r_inf: problem.r_inf(),
            discount: problem.discount(),
            distance: self.theta_star_norm,
            update_at_solution: largest(&problem.values(problem.theta_star())),
            update_at_start: largest(&vec![0.0; problem.states()]),
            distances,
        }
    }
}

fn states(problem: &Problem, square: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    (0..problem.states())
        .map(|s| square(problem.phi(s)))
        .collect()
}

/// The certificates in some coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinateBounds {
    /// The coordinates.
    pub coordinates: Coordinates,
    /// The `c` that minimises certificate Y here.
    pub recommended: Option<Recommendation>,
    /// The constant of P, X and Y: the one asked for, or the recommended one.
    pub c: Option<f64>,
    /// The paper's certificate.
    pub p: Option<Certificate>,
    /// The certificate centred at zero.
    pub x: Option<Certificate>,
    /// The certificate centred at the solution.
    pub y: Option<Certificate>,
    /// The certificate of the tuned constant step.
    pub constant_step: Certificate,
}

impl CoordinateBounds {
    /// All certificates under their letters.
    #[must_use]
    pub fn certificates(&self) -> [(&'static str, Option<&Certificate>); 4] {
        [
            ("P", self.p.as_ref()),
            ("X", self.x.as_ref()),
            ("Y", self.y.as_ref()),
            ("C", Some(&self.constant_step)),
        ]
    }

    /// The smallest bound proved for Algorithm 1 in these coordinates: with its `c`, or with the recommended one.
    #[must_use]
    pub fn best(&self) -> Option<f64> {
        let [p, x, y, _] = self.certificates();
        let proved = [p, x, y].into_iter().filter_map(|(_, certificate)| {
            certificate.filter(|c| c.applies()).and_then(|c| c.bound)
        });
        let recommended = self.recommended.map(|recommended| recommended.bound);
        proved.chain(recommended).min_by(f64::total_cmp)
    }
}

/// The setting that the certificates of all coordinates share.
pub(super) struct Common<'a> {
    pub problem: &'a Problem,
    pub horizon: u64,
    pub conditions: &'a Horizon,
    /// `d(0), d(1), ...` up to the largest lag of X and Y, and up to that of C.
    pub distances: &'a [f64],
    pub all_distances: &'a [f64],
    pub c: Option<f64>,
}

impl Common<'_> {
    /// The certificates of the features as they are.
    pub fn identity(&self, bounds: &MixingBounds, c: Option<f64>) -> CoordinateBounds {
        CoordinateBounds {
            coordinates: Coordinates::identity(self.problem),
            recommended: bounds.recommended,
            c,
            p: bounds.p.clone(),
            x: bounds.x.clone(),
            y: bounds.y.clone(),
            constant_step: bounds.constant_step.clone(),
        }
    }

    /// The certificates in some coordinates; `unit` holds the sums of Algorithm 1's step sizes for the problem's own `phi_inf` and c = 1.
    ///
    /// The coordinates are divided by a number so that they have this `phi_inf`, too: then the sums are theirs as well. Bounds on iterates are
    /// multiplied back.
    pub fn bounds<F: Fn(u64) -> f64>(
        &self,
        coordinates: Coordinates,
        unit: &mut StepProfile<F>,
    ) -> CoordinateBounds {
        let factor = self.problem.phi_inf() / coordinates.phi_inf;
        let own = coordinates.inputs(self.problem, self.distances.to_vec());
        let inputs = Inputs {
            phi_inf: self.problem.phi_inf(),
            distance: own.distance / factor,
            update_at_solution: own.update_at_solution * factor,
            update_at_start: own.update_at_start * factor,
            ..own
        };
        let longer = Inputs {
            distances: self.all_distances.to_vec(),
            ..inputs.clone()
        };
        let back = |certificate: Certificate| Certificate {
            iterate_bound: certificate
                .iterate_bound
                .map(|bound| bound * factor * factor),
            norm_bound: certificate.norm_bound.map(|bound| bound * factor * factor),
            ..certificate
        };
        let recommended = recommend(&inputs, unit);
        let c = self.c.or(recommended.map(|recommended| recommended.c));
        let (horizon, total, growth) = (self.horizon, unit.total(), inputs.growth());
        let paper = |c| certificate::paper::certify(&inputs, horizon, self.conditions, total, c);
        CoordinateBounds {
            coordinates,
            recommended,
            c,
            p: c.map(|c| back(paper(c))),
            x: c.map(|c| back(certificate::zero_centred::certify(&inputs, growth, unit, c))),
            y: c.map(|c| back(certificate::centred::certify(&inputs, unit, c))),
            constant_step: back(certificate::constant_step::certify(&longer, horizon)),
        }
    }
}
