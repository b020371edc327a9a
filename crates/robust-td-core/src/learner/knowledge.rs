//! Defines what several method declarations share: parameters, horizons, mixing, certificates.

use crate::error::Result;
use crate::learner::recipe::{Output, Samples};
use crate::method::{self, Inputs, Parameter, Quantity, Range};
use crate::model::mixing::Mixing;
use crate::theory::best_bound::{best_bound, best_bound_from};
use crate::theory::constants::C0;
use crate::theory::coordinates::Coordinates;
use crate::theory::lambda::LambdaTheory;

/// T; an error if it is below the minimum of the method's formulas.
pub(crate) fn horizon_from(inputs: &mut Inputs<'_>, least: u64) -> Result<u64> {
    let horizon = inputs.horizon();
    if horizon < least {
        return Err(inputs.refused("horizon", horizon as f64, format!("at least {least}")));
    }
    Ok(horizon)
}

/// A declared parameter, or its value from the mixing of the exact problem.
pub(crate) fn given_or_from_mixing(
    inputs: &mut Inputs<'_>,
    name: &'static str,
    from: impl FnOnce(&Mixing) -> f64,
) -> Result<f64> {
    let unknown = inputs.not_applicable(format!(
        "it needs {name}, which depends on the mixing time, but the chain has too many states to compute \
         it; set it as a parameter"
    ));
    inputs.value_or_oracle(name, |model| model.mixing.map(from).ok_or(unknown))
}

/// ceil(x), tolerating rounding where x is mathematically an integer, as with logarithms of powers of two.
pub(crate) fn ceil_of_logarithms(x: f64) -> f64 {
    (x * (1.0 - 1e-12)).ceil()
}

/// The average over the later half of the updates within the horizon.
pub(crate) fn later_half(inputs: &mut Inputs<'_>, samples: Samples, horizon: u64) -> Output {
    let updates = samples.updates(horizon);
    if updates < 2 {
        inputs.warn(format!(
            "{horizon} samples give {updates} updates: too few for a tail average"
        ));
    }
    Output::half_of(updates)
}

/// Whether the exact problem is known and its features satisfy the bound assumed by the steps,
/// so that a theorem applies to it.
pub(crate) fn features_within_bound(inputs: &mut Inputs<'_>) -> bool {
    let phi_inf = inputs.phi_inf();
    inputs
        .known_problem()
        .is_some_and(|problem| problem.phi_inf() <= phi_inf)
}

/// The constant c of Algorithm 1's steps.
pub(crate) const C: Parameter = Parameter {
    name: method::C,
    meaning: "divides the steps; the theorem requires c > 40.4558",
    range: Range::Positive,
    default: "1",
};

/// States the best proved certificate, if any, for T steps of size unit(t)/c.
pub(crate) fn guarantee(inputs: &mut Inputs<'_>, horizon: u64, c: f64, unit: impl Fn(u64) -> f64) {
    let (Some(problem), Some(mixing)) = (inputs.known_problem(), inputs.known_mixing()) else {
        return;
    };
    if !features_within_bound(inputs) {
        return;
    }
    if let Some(best) = best_bound(problem, mixing, horizon, c, unit) {
        inputs.guarantee(Quantity::F, best.bound, best.statement);
    }
}

/// As [`guarantee`], for Algorithm 1 in other coordinates of the features; `unit` is its schedule there for c = 1.
pub(crate) fn guarantee_in(
    inputs: &mut Inputs<'_>,
    coordinates: &Coordinates,
    horizon: u64,
    c: f64,
    unit: impl Fn(u64) -> f64,
) {
    let (Some(problem), Some(mixing)) = (inputs.known_problem(), inputs.known_mixing()) else {
        return;
    };
    let own = |distances| coordinates.inputs(problem, distances);
    if let Some(best) = best_bound_from(own, mixing, horizon, c, unit) {
        inputs.guarantee(Quantity::F, best.bound, best.statement);
    }
}

/// Warns that the paper's theorem does not cover this c.
pub(crate) fn warn_small_c(inputs: &mut Inputs<'_>, c: f64) {
    if !(c > C0) {
        inputs.warn(format!(
            "c = {c} is not above c_0 = {C0:.4}, as Theorem 1 requires"
        ));
    }
}

/// Warns that the method's fixed point is not theta*, with the resulting f where that is known.
pub(crate) fn warn_other_target(inputs: &mut Inputs<'_>, lambda: f64) {
    if lambda * inputs.discount() == 0.0 {
        return;
    }
    let Some(problem) = inputs.known_problem() else {
        return inputs.warn("the output approaches theta*_lambda, not theta*");
    };
    if let Ok(theory) = LambdaTheory::new(problem, lambda) {
        let gap = problem.f(theory.theta_star());
        inputs.warn(format!(
            "the output approaches theta*_lambda, where f is {gap:.3e}, not theta*"
        ));
    }
}

/// The given `step`, or 1/(phi_inf^2 sqrt T), recorded as a default.
pub(crate) fn given_or_default_step(inputs: &mut Inputs<'_>) -> f64 {
    inputs.given("step").unwrap_or_else(|| {
        let step = default_step(inputs);
        inputs.note_known("step", step);
        step
    })
}

/// 1/(phi_inf^2 sqrt T): the default for baselines without their own step rule.
pub(crate) fn default_step(inputs: &mut Inputs<'_>) -> f64 {
    let (phi_inf, horizon) = (inputs.phi_inf(), inputs.horizon() as f64);
    1.0 / (phi_inf * phi_inf * horizon.sqrt())
}
