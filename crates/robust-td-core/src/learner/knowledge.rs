//! Asks for what several methods must know: a horizon, the mixing of the chain, a tail to average.

use crate::error::Result;
use crate::learner::recipe::{Output, Samples};
use crate::method::Inputs;
use crate::model::mixing::Mixing;

/// T, refused below the least that the method's formulas are defined for.
pub(crate) fn horizon_from(inputs: &mut Inputs<'_>, least: u64) -> Result<u64> {
    let horizon = inputs.horizon();
    if horizon < least {
        return Err(inputs.refused("horizon", horizon as f64, format!("at least {least}")));
    }
    Ok(horizon)
}

/// A declared parameter, or what the mixing of the exact problem says.
pub(crate) fn given_or_from_mixing(
    inputs: &mut Inputs<'_>,
    name: &'static str,
    from: impl FnOnce(&Mixing) -> f64,
) -> Result<f64> {
    let unknown = inputs.not_applicable(format!(
        "it needs {name}, which follows from the mixing time, and the chain has too many states to compute \
         that; it can be given by hand"
    ));
    inputs.value_or_oracle(name, |model| model.mixing.map(from).ok_or(unknown))
}

/// ceil(x), without the one that rounding would add where x is a whole number, as logarithms of powers of two are.
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

/// Whether the exact problem is known and its features are within the bound that the steps are made for,
/// so that a theorem can be applied to it.
pub(crate) fn features_within_bound(inputs: &mut Inputs<'_>) -> bool {
    let phi_inf = inputs.phi_inf();
    inputs
        .known_problem()
        .is_some_and(|problem| problem.phi_inf() <= phi_inf)
}
