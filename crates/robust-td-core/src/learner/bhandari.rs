//! Sets up projected TD(0) with the three step sizes of Bhandari, Russo and Singal.
//!
//! # Reference
//! Bhandari, Russo & Singal, "A Finite Time Analysis of Temporal Difference Learning With Linear Function
//! Approximation", COLT 2018 and Operations Research 2021, Theorem 3 (a), (b), (c).
//!
//! # Update rule
//! ```text
//! theta_{t+1} = Proj_R( theta_t + eta_t delta_t phi(s_t) ),     Proj_R(x) = x min(1, R/|x|),   theta_0 = 0
//! eta_t = 1 / (phi_inf^2 sqrt T)                       bhandari-a
//!       = a0 / phi_inf^2                               bhandari-b
//!       = 1 / (omega (1-gamma) (t+1))                  bhandari-c
//! ```
//! The paper normalises phi_inf to 1; here the steps are in the units of the features (in (c) phi_inf cancels).
//!
//! # Inputs
//! R, by default 2 r_inf / (sqrt(omega) (1-gamma)^{3/2}) from the exact problem. (a) also needs T; (b) and (c) need omega.
//! The theorem requires a0 < 1 / (2 omega' (1-gamma)) with omega' = omega/phi_inf^2 <= 1; a small omega allows
//! steps far above 1, where the update itself overshoots. The default is a0 = min(0.1, half of that limit):
//! 0.1 keeps the noise floor, which is proportional to a0, low, and still converges in reasonable time.
//!
//! # Assumptions
//! R >= |theta*| and s_0 ~ pi.
//!
//! # Output
//! The mean of theta_0, ..., theta_{t-1} for (a) and (c), the last iterate for (b).

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::horizon_from;
use crate::learner::recipe::{Output, Recipe};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;
use crate::schedule::Steps;
use crate::theory::horizon::{free_of_mixing, tau};

/// The radius of the ball.
pub(crate) const RADIUS: Parameter = Parameter {
    name: "radius",
    meaning: "radius of the ball to project to, at least |theta*|",
    range: Range::Positive,
    default: "2 r_inf / (sqrt(omega) (1-gamma)^1.5)",
};

/// The default a0, if the theorem allows it.
const SENSIBLE_STEP: f64 = 0.1;

/// Projected TD(0) with steps 1/sqrt T.
pub const A: Method<Td0> = Method {
    id: "bhandari-a",
    title: "projected TD(0), steps 1/sqrt T, uniform average",
    reference: "Bhandari, Russo & Singal 2018, Theorem 3(a)",
    standing: Standing::Proved,
    needs: &["phi_inf", "R", "T"],
    parameters: &[RADIUS],
    abilities: Abilities::PLAIN.with_rate(Rate::ROBUST.projected()),
    build: |inputs| {
        let recipe = robust(inputs)?;
        let radius = radius(inputs)?;
        if inputs.known_problem().is_some() {
            inputs.warn(
                "Theorem 3(a) requires s_0 ~ pi, but this problem starts at a fixed state: no bound",
            );
        }
        learner(inputs, recipe.projected(radius))
    },
};

/// Projected TD(0) with a constant step.
pub const B: Method<Td0> = Method {
    id: "bhandari-b",
    title: "projected TD(0), constant step, last iterate",
    reference: "Bhandari, Russo & Singal 2018, Theorem 3(b)",
    standing: Standing::Proved,
    needs: &["phi_inf", "R", "omega"],
    parameters: &[
        RADIUS,
        Parameter {
            name: "step",
            meaning: "a0 for features of norm 1; below 1 / (2 omega (1-gamma))",
            range: Range::Positive,
            default: "min(0.1, 1 / (4 omega (1-gamma)))",
        },
    ],
    abilities: Abilities::PLAIN.with_rate(Rate {
        rate: "geometric, to O(step)",
        ..Rate::FAST.projected()
    }),
    build: |inputs| {
        let square = inputs.phi_inf().powi(2);
        let rest = 1.0 - inputs.discount();
        let limit = |omega: f64| 1.0 / (2.0 * (omega / square) * rest);
        let by_hand = inputs.given("step").is_some();
        let step = inputs.value_or_oracle("step", |known| {
            Ok(SENSIBLE_STEP.min(0.5 * limit(known.problem.omega())))
        })?;
        match inputs.known_problem() {
            Some(problem) => {
                // omega only checks a step set by the user; it does not determine it.
                if !by_hand {
                    inputs.note_oracle("omega", problem.omega());
                }
                let limit = limit(problem.omega());
                if !(step < limit) {
                    let range = format!("above 0 and below 1 / (2 omega (1-gamma)) = {limit}");
                    return Err(inputs.refused("step", step, range));
                }
            }
            None => {
                inputs.warn("omega is not known: step < 1 / (2 omega (1-gamma)) is not checked")
            }
        }
        let radius = radius(inputs)?;
        let steps = Steps::Constant { eta: step / square };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::Last);
        learner(inputs, recipe.projected(radius))
    },
};

/// Projected TD(0) with harmonic steps.
pub const C: Method<Td0> = Method {
    id: "bhandari-c",
    title: "projected TD(0), steps 1/(omega (1-gamma) (t+1)), uniform average",
    reference: "Bhandari, Russo & Singal 2018, Theorem 3(c)",
    standing: Standing::Proved,
    needs: &["R", "omega"],
    parameters: &[
        RADIUS,
        Parameter {
            name: "omega",
            meaning: "smallest eigenvalue of Phi' D Phi",
            range: Range::Positive,
            default: "from the exact problem",
        },
    ],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST.projected()),
    build: |inputs| {
        let omega = inputs.omega()?;
        if let Some(problem) = inputs.known_problem()
            && !(omega <= problem.omega() * (1.0 + 1e-12))
        {
            let exact = problem.omega();
            inputs.warn(format!("omega = {omega} is above the true {exact}"));
        }
        let radius = radius(inputs)?;
        let first = 1.0 / (omega * (1.0 - inputs.discount()));
        let steps = Steps::Harmonic { first };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::Uniform);
        learner(inputs, recipe.projected(radius))
    },
};

/// Unprojected TD(0) with steps 1 / (phi_inf^2 sqrt T) and the uniform average.
pub(crate) fn robust(inputs: &mut Inputs<'_>) -> Result<Recipe> {
    let phi_inf = inputs.phi_inf();
    let horizon = horizon_from(inputs, 1)? as f64;
    let eta = 1.0 / (phi_inf * phi_inf * horizon.sqrt());
    let (id, discount) = (inputs.id(), inputs.discount());
    let steps = Steps::Constant { eta };
    Ok(Recipe::plain(id, discount, steps, Output::Uniform))
}

/// The radius; warns when the ball does not contain theta*.
pub(crate) fn radius(inputs: &mut Inputs<'_>) -> Result<f64> {
    let radius = inputs.radius()?;
    if let Some(problem) = inputs.known_problem()
        && !(radius >= problem.theta_star_norm())
    {
        let norm = problem.theta_star_norm();
        inputs.warn(format!("radius {radius} is below |theta*| = {norm}"));
    }
    Ok(radius)
}

/// The bound of Theorem 3(a) on E|V_avg - V*|_D^2, for runs whose first state is drawn from pi: in normalised units,
/// theta' = phi_inf theta, R' = phi_inf R, G = r_inf + 2 R',
///
/// ```text
/// E|V_avg - V*|_D^2 <= ( |theta*'|^2 + G^2 (9 + 12 tau(1/sqrt T)) ) / ( 2 sqrt T (1-gamma) )
/// ```
///
/// A [`Problem`] starts at a fixed state, so the method itself states no bound. `None` when the ball does not contain theta*
/// or tau is not defined.
#[must_use]
pub fn stationary_bound_a(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    radius: f64,
) -> Option<f64> {
    let tau = tau(2.0, mixing.alpha(), 1.0 / (horizon as f64).sqrt())?;
    bound_a(problem, horizon, radius, tau as f64)
}

/// The bound of Theorem 3(a) with `log^2 T + 1` in place of tau(1/sqrt T): free of the mixing of the chain, for horizons that satisfy
/// [`free_of_mixing`] with `C = 2`. `None` for shorter ones and where [`stationary_bound_a`] is `None`.
#[must_use]
pub fn stationary_bound_a_free_of_mixing(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    radius: f64,
) -> Option<f64> {
    let tau = free_of_mixing(horizon, 2.0, mixing.alpha())?;
    bound_a(problem, horizon, radius, tau.right)
}

fn bound_a(problem: &Problem, horizon: u64, radius: f64, tau: f64) -> Option<f64> {
    let units = Units::of(problem, radius)?;
    let root = (horizon as f64).sqrt();
    let noise = units.update * units.update * (9.0 + 12.0 * tau);
    Some((units.start_sq + noise) / (2.0 * root * (1.0 - problem.discount())))
}

/// The bound of Theorem 3(b) on E|theta_T - theta*|^2 after T steps of size a0 / phi_inf^2, for runs whose first state is drawn from pi: in
/// normalised units, with omega' = omega / phi_inf^2,
///
/// ```text
/// E|theta_T' - theta*'|^2 <= exp(-2 a0 (1-gamma) omega' T) |theta*'|^2 + a0 G^2 (9 + 12 tau(a0)) / (2 (1-gamma) omega')
/// ```
///
/// The recursion E|e_{t+1}|^2 <= (1 - 2 a0 (1-gamma) omega') E|e_t|^2 + 2 a0 E zeta_t + a0^2 G^2 with their bound
/// E zeta_t <= a0 G^2 (4 + 6 tau(a0)) on the bias gives it by a geometric sum. `None` when the ball does not contain theta*, when
/// `a0 >= 1/(2 omega' (1-gamma))`, or where tau is not defined.
#[must_use]
pub fn stationary_bound_b(
    problem: &Problem,
    mixing: &Mixing,
    (horizon, step): (u64, f64),
    radius: f64,
) -> Option<f64> {
    let units = Units::of(problem, radius)?;
    let rate = (1.0 - problem.discount()) * units.omega;
    if !(step > 0.0 && 2.0 * step * rate < 1.0) {
        return None;
    }
    let tau = tau(2.0, mixing.alpha(), step)? as f64;
    let start = (-2.0 * step * rate * horizon as f64).exp() * units.start_sq;
    let noise = step * units.update * units.update * (9.0 + 12.0 * tau) / (2.0 * rate);
    Some((start + noise) / problem.phi_inf().powi(2))
}

/// The bound of Theorem 3(c) on E|V_avg - V*|_D^2, for runs whose first state is drawn from pi: in normalised units,
///
/// ```text
/// E|V_avg - V*|_D^2 <= G^2 (9 + 24 tau(a_T)) (1 + log T) / (T (1-gamma)^2 omega'),   a_t = 1 / (omega' (1-gamma) (t+1))
/// ```
///
/// With 1/a_t = omega' (1-gamma) (t+1) the distances telescope, which leaves (1-gamma) sum E|V_t - V*|_D^2 <= G^2 sum a_t + 2 sum E zeta_t; their
/// bound on the bias, E zeta_t <= 6 G^2 (a_0 + ... + a_{t-1}) up to tau and G^2 (4 + 6 tau) a_{t-tau} after it, sums to G^2 (4 + 12 tau) sum a_t.
/// `None` when the ball does not contain theta* or tau is not defined.
#[must_use]
pub fn stationary_bound_c(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    radius: f64,
) -> Option<f64> {
    let units = Units::of(problem, radius)?;
    let (t, rest) = (horizon as f64, 1.0 - problem.discount());
    let last = 1.0 / (units.omega * rest * (t + 1.0));
    let tau = tau(2.0, mixing.alpha(), last)? as f64;
    let noise = units.update * units.update * (9.0 + 24.0 * tau);
    Some(noise * (1.0 + t.ln()) / (t * rest * rest * units.omega))
}

/// Constants for features of norm at most 1: theta' = phi_inf theta.
struct Units {
    /// G = r_inf + 2 R'.
    update: f64,
    /// |theta*'|^2.
    start_sq: f64,
    /// omega'.
    omega: f64,
}

impl Units {
    /// `None` when the ball does not contain theta*.
    fn of(problem: &Problem, radius: f64) -> Option<Self> {
        let phi_inf = problem.phi_inf();
        (radius >= problem.theta_star_norm()).then(|| Self {
            update: problem.r_inf() + 2.0 * phi_inf * radius,
            start_sq: (phi_inf * problem.theta_star_norm()).powi(2),
            omega: problem.omega() / (phi_inf * phi_inf),
        })
    }
}

fn learner(inputs: &Inputs<'_>, recipe: Recipe) -> Result<Td0> {
    Td0::new(recipe, inputs.dimension())
}
