//! Sets up unprojected TD(0) with the constant step of Srikant and Ying.
//!
//! # Reference
//! Srikant & Ying, "Finite-Time Error Bounds For Linear Stochastic Approximation and TD Learning", COLT 2019,
//! Theorem 7.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = theta_t + eps k^2 delta_t phi(s_t),      theta_0 = 0,      k = 1 / (phi_inf sqrt(1+gamma))
//! ```
//! The theorem is stated for features k phi, for which |A(s,s')| <= 1; k^2 rescales the step for them. In the units of
//! these features let P solve A' P + P A = I with extreme eigenvalues g_min <= g_max, and
//!
//! ```text
//! b_max = r_inf ph + 2 ph^2 |theta*|,   ph = 1/sqrt(1+gamma);      tau(eps) = 1 + min{ t : 2 max(b_max, 2 ph^2) d(t) <= eps }
//! 62 g_max (1 + b_max) eps tau(eps) + eps g_max <= 0.05     and     eps tau(eps) <= 1/4
//! ```
//! eps is g_max ln(T)/T if that satisfies the condition, else the largest eps that does.
//!
//! # Inputs
//! The exact problem: A, theta*, r_inf and the mixing of the chain.
//!
//! # Output
//! The last iterate, with, for T >= tau,
//!
//! ```text
//! E|theta_T - theta*|^2 <= (g_max/g_min) (1 - 0.9 eps/g_max)^{T-tau} (1.5 |theta*| + 0.5 b_max)^2
//!                          + 2 (55 g_max (1+b_max)^3 + g_max b_max^2) g_max eps tau / (0.9 g_min)
//! ```

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::{features_within_bound, horizon_from};
use crate::learner::recipe::{Output, Recipe};
use crate::method::{Abilities, Inputs, Method, Quantity, Rate, Standing};
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;
use crate::schedule::Steps;
use crate::theory::best_bound::WORK;
use crate::theory::lyapunov::Lyapunov;

/// The largest dimension for which the Lyapunov equation is solved.
pub const MAX_DIMENSION: usize = 100;

/// The maximum lag in the search for tau.
const MAX_LAG: usize = 1 << 20;

/// Unprojected TD(0) with a constant step.
pub const METHOD: Method<Td0> = Method {
    id: "srikant-ying",
    title: "TD(0), constant step from a Lyapunov equation, last iterate",
    reference: "Srikant & Ying 2019, Theorem 7",
    standing: Standing::Proved,
    needs: &["phi_inf", "A", "alpha", "|theta*|", "T"],
    parameters: &[],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| {
        let (problem, mixing) = (inputs.problem()?, inputs.mixing()?);
        let phi_inf = inputs.phi_inf();
        let horizon = horizon_from(inputs, 1)?;
        if problem.dimension() > MAX_DIMENSION {
            return Err(inputs.not_applicable(format!(
                "it solves a Lyapunov equation, supported for up to {MAX_DIMENSION} features; the problem has {}",
                problem.dimension()
            )));
        }
        let constants = Constants::of(problem, phi_inf)?;
        inputs.note_oracle("t_mix", mixing.t_mix() as f64);
        inputs.note_oracle("g_max", constants.g_max);
        inputs.note_oracle("|theta*|", problem.theta_star_norm());
        let distances = mixing.bounds(constants.reach(mixing, horizon), WORK);
        let Some(largest) = constants.largest_step(&distances) else {
            return Err(
                inputs.not_applicable("the chain mixes too slowly for any step to be allowed")
            );
        };
        let eps = constants.step(&distances, horizon).unwrap_or(largest);
        inputs.note_oracle("step", eps);
        guarantee(inputs, &constants, &distances, eps, horizon);
        let eta = eps * constants.scale * constants.scale;
        let steps = Steps::Constant { eta };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::Last);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The quantities in the conditions on the step, in the units of the features k phi.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// k.
    pub scale: f64,
    /// The largest eigenvalue of the Lyapunov solution.
    pub g_max: f64,
    /// The smallest eigenvalue.
    pub g_min: f64,
    /// A bound on the updates at theta*.
    pub b_max: f64,
    /// |theta*|.
    pub distance: f64,
    /// 2 max(b_max, 2 ph^2), which multiplies the mixing distances.
    pub mixing_factor: f64,
}

impl Constants {
    /// The constants of a problem, for features of norm at most `phi_inf`.
    ///
    /// # Errors
    /// When the Lyapunov equation has no solution to rounding.
    pub fn of(problem: &Problem, phi_inf: f64) -> Result<Self> {
        let norm_sq = 1.0 / (1.0 + problem.discount());
        let scale = norm_sq.sqrt() / phi_inf;
        // For k^2 A the solution is that for A over k^2.
        let lyapunov = Lyapunov::of(problem.a())?;
        let distance = problem.theta_star_norm() / scale;
        let b_max = problem.r_inf() * norm_sq.sqrt() + 2.0 * norm_sq * distance;
        Ok(Self {
            scale,
            g_max: lyapunov.largest / (scale * scale),
            g_min: lyapunov.smallest / (scale * scale),
            b_max,
            distance,
            mixing_factor: 2.0 * b_max.max(2.0 * norm_sq),
        })
    }

    /// The largest step that both conditions allow for this tau.
    #[must_use]
    pub fn limit(&self, tau: f64) -> f64 {
        let kappa = 62.0 * self.g_max * (1.0 + self.b_max);
        (0.05 / (kappa * tau + self.g_max)).min(0.25 / tau)
    }

    /// tau(eps), or `None` if it exceeds the given distances.
    #[must_use]
    pub fn tau(&self, distances: &[f64], eps: f64) -> Option<f64> {
        let mixed = |d: &f64| self.mixing_factor * d <= eps;
        distances.iter().position(mixed).map(|t| t as f64 + 1.0)
    }

    /// Whether eps satisfies both conditions.
    #[must_use]
    pub fn allows(&self, distances: &[f64], eps: f64) -> bool {
        self.tau(distances, eps)
            .is_some_and(|tau| eps <= self.limit(tau))
    }

    /// The largest step that satisfies both conditions.
    ///
    /// Where tau(eps) = 1 + t, eps is at least mixing_factor d(t), and at most limit(1 + t), which falls with t.
    /// So the first t at which the two are compatible gives the largest eps, which is limit(1 + t).
    #[must_use]
    pub fn largest_step(&self, distances: &[f64]) -> Option<f64> {
        let limits = (1_u32..).map(|tau| self.limit(f64::from(tau)));
        distances
            .iter()
            .zip(limits)
            .find(|&(d, limit)| self.mixing_factor * d <= limit)
            .map(|(_, limit)| limit)
    }

    /// g_max ln(T)/T, if it satisfies both conditions.
    #[must_use]
    pub fn step(&self, distances: &[f64], horizon: u64) -> Option<f64> {
        let eps = self.g_max * (horizon as f64).ln() / horizon as f64;
        (eps > 0.0 && self.allows(distances, eps)).then_some(eps)
    }

    /// A lag at which the chain has mixed enough for both candidates: d(t) <= 2 * 2^(-t/t_mix) is below what
    /// they require.
    fn reach(&self, mixing: &Mixing, horizon: u64) -> usize {
        let t_mix = mixing.t_mix() as f64;
        let lag = |eps: f64| t_mix * (2.0 * self.mixing_factor / eps).log2().max(1.0);
        let wanted = self.g_max * (horizon as f64).ln().max(1.0) / horizon as f64;
        // The lag that limit(1 + t) requires grows like log t, so doubling reaches it soon.
        let mut largest = t_mix;
        while largest < MAX_LAG as f64 && lag(self.limit(1.0 + largest)) > largest {
            largest *= 2.0;
        }
        largest.max(lag(wanted)).ceil().min(MAX_LAG as f64) as usize
    }
}

fn guarantee(inputs: &mut Inputs<'_>, x: &Constants, distances: &[f64], eps: f64, horizon: u64) {
    let Some(tau) = x.tau(distances, eps) else {
        return;
    };
    if !(horizon as f64 >= tau) {
        inputs.warn(format!("T = {horizon} is below tau = {tau}: no theorem"));
        return;
    }
    if !features_within_bound(inputs) {
        return;
    }
    let ratio = x.g_max / x.g_min;
    let decay = (1.0 - 0.9 * eps / x.g_max).powf(horizon as f64 - tau);
    let start = (1.5 * x.distance + 0.5 * x.b_max).powi(2);
    let kappa = 55.0 * x.g_max * (1.0 + x.b_max).powi(3);
    let noise = 2.0 * (kappa + x.g_max * x.b_max * x.b_max);
    let bound = ratio * decay * start + noise * ratio * eps * tau / 0.9;
    // theta = k theta' for the features k phi.
    inputs.guarantee(
        Quantity::ThetaErrorSq,
        x.scale * x.scale * bound,
        "Srikant & Ying 2019, Theorem 7",
    );
}
