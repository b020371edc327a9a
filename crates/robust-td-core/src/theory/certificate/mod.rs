//! Proves explicit bounds on `E f(avg_T)` and names the hypotheses under which they hold.
//!
//! Four certificates, from the paper's own to the sharpest:
//!
//! | name | file | step sizes | needs |
//! |---|---|---|---|
//! | P | [`paper`] | Algorithm 1 with `c > c_0` | a long horizon |
//! | X | [`zero_centred`] | any decreasing convex ones | mixing distances |
//! | Y | [`centred`] | any decreasing convex ones | mixing distances, `theta*` |
//! | C | [`constant_step`] | one tuned constant | mixing distances, `theta*` |
//!
//! Monotone, with the other inputs fixed: P in `r_inf` and `|theta*|`; X in `r_inf`, `|theta*|`, the mixing distances and the discount; Y in `|theta*|`,
//! `Gs`, `G0`, the mixing distances and the discount; C as its file says, not in the discount. As functions of a *problem*, where `theta*` and `Gs` change
//! with the discount, none of them is monotone in it.
//!
//! Every bound is on an expectation; Markov's inequality gives `P(f(avg) >= x) <= bound / x`.

pub mod centred;
pub mod constant_step;
mod hypothesis;
pub mod paper;
mod recursion;
pub mod zero_centred;

pub use hypothesis::{Hypothesis, Relation};
pub use recursion::Solution;

/// The properties of a problem that the certificates need, with `theta_0 = 0`.
///
/// Every number may be an upper bound on the true one; none may be an estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// `phi_inf = max |phi(s)|`.
    pub phi_inf: f64,
    /// `r_inf = max |r(s,s')|` over possible transitions.
    pub r_inf: f64,
    /// The discount `gamma`.
    pub discount: f64,
    /// `d0 = |theta*|`, the distance from the start to the solution.
    pub distance: f64,
    /// `Gs`, the largest update `|g(theta*; s,s')|` at the solution.
    pub update_at_solution: f64,
    /// `G0`, the largest update `|g(0; s,s')|` at the start.
    pub update_at_start: f64,
    /// The mixing distances `d(0..=U)`.
    pub distances: Vec<f64>,
}

impl Inputs {
    /// The growth `1 + gamma` of an update in `phi_inf^2 |theta|`; the paper rounds it up to 2.
    pub fn growth(&self) -> f64 {
        1.0 + self.discount
    }

    /// The scale `m = max(r_inf/phi_inf, |theta*|)` of the theorem.
    pub fn scale(&self) -> f64 {
        (self.r_inf / self.phi_inf).max(self.distance)
    }
}

/// A bound with its hypotheses.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Bound on `E f(avg_T)`; `None` when the formula has no value. It is proved only if [`Self::applies`].
    pub bound: Option<f64>,
    /// Bound on `E|theta_t - theta*|^2` for all `t <= T`.
    pub iterate_bound: Option<f64>,
    /// Bound on `E|theta_t|^2` for all `t <= T`.
    pub norm_bound: Option<f64>,
    /// The lag `u` at which the trajectory was cut.
    pub lag: Option<u64>,
    /// The coefficient `A2` of the squared radius, which must be below 1 for the recursion to close.
    pub a2: Option<f64>,
    /// The assumptions, and whether they hold.
    pub hypotheses: Vec<Hypothesis>,
}

impl Certificate {
    /// Whether every hypothesis holds, so that the bound is proved.
    pub fn applies(&self) -> bool {
        self.bound.is_some() && self.hypotheses.iter().all(|hypothesis| hypothesis.holds)
    }

    /// One sentence on the hypotheses that fail and by how much; `None` when the certificate applies.
    pub fn why_not(&self) -> Option<String> {
        if self.applies() {
            return None;
        }
        let failed: Vec<String> = self
            .hypotheses
            .iter()
            .filter(|h| !h.holds)
            .map(ToString::to_string)
            .collect();
        Some(format!("not certified: {}", failed.join("; ")))
    }

    /// The certificate from a closed (or open) recursion for step sizes that sum to `total`.
    fn from_solution(inputs: &Inputs, lag: u64, total: f64, solution: &Solution) -> Self {
        let iterate_bound = solution.distance.map(|distance| distance * distance);
        Self {
            bound: solution.bound(total),
            iterate_bound,
            norm_bound: solution
                .distance
                .map(|distance| (distance + inputs.distance).powi(2)),
            lag: Some(lag),
            a2: Some(solution.a2),
            hypotheses: vec![Hypothesis::new(
                "the recursion for the iterates closes, A2",
                Relation::Below,
                1.0,
                solution.a2,
            )],
        }
    }
}
