//! Chooses the learner for a log.

use std::collections::BTreeMap;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::recipe::{Output, Recipe};
use robust_td_core::learner::{Learner, Td0};
use robust_td_core::portfolio::{RobustTd, RobustTdParams};
use robust_td_core::registry::{
    self, AnyLearner, Approach, IntervalSource, Method, Prepared, Setting,
};
use robust_td_core::sandwich;
use robust_td_core::schedule::SHORTEST_HORIZON;

use super::request::{Constant, Request, out_of_range};
use crate::error::{Error, Result};
use crate::learned::Learned;
use crate::memory;
use crate::option_error::{OptionError, OptionName};
use crate::schema::Schema;
use crate::spec::Spec;
use crate::warning::Warning;

/// Stands for an unknown horizon; methods that need it are refused.
const UNKNOWN: u64 = u64::MAX;
/// The maximum number of features at which least squares is cheap.
const SMALL: usize = 64;
/// The default number of replicates.
const REPLICATES: usize = 64;

/// What a new model needs beyond the length of observations.
pub(super) struct NewModel {
    method: &'static Method,
    discount: f64,
    given: Vec<(String, f64)>,
    spec: Spec,
    phi_inf: Option<f64>,
    limit: Option<u64>,
    replicates: usize,
    least_squares: LeastSquares,
}

/// Whether least squares runs alongside the learner, for its standard errors.
#[derive(Clone, Copy, PartialEq)]
enum LeastSquares {
    /// Requested.
    Always,
    /// Only where it is cheap.
    IfSmall,
    /// Never: it would not describe the answer.
    Never,
}

impl NewModel {
    /// Chooses the method; the number of transitions of a stream is not known.
    pub fn choose(request: &Request, is_stream: bool) -> Result<Self> {
        let discount = request.discount()?;
        if discount >= 1.0 {
            let expected =
                "below 1 for a learner; only auto takes 1, on files where every episode terminates";
            return Err(out_of_range(OptionName::Discount, discount, expected));
        }
        let unknown_length = is_stream && request.horizon.is_none();
        let fixed = matches!(request.c, Some(Constant::Fixed(_)))
            || request.parameters.iter().any(|(name, _)| name == "c");
        let named = registry::find(request.algorithm.as_deref().unwrap_or(registry::DEFAULT))?;
        let stand_in = match (fixed, unknown_length) {
            (false, _) => named.abilities.without_c,
            (true, true) => named.abilities.without_horizon,
            (true, false) => None,
        };
        let method = stand_in.map_or(Ok(named), registry::find)?;
        let replicates = replicates(request, method)?;
        let given = given(request, method)?;
        Ok(Self {
            replicates,
            least_squares: least_squares(request, method, &given, replicates)?,
            method,
            discount,
            given,
            spec: Spec::or(request.features.as_ref(), "identity"),
            phi_inf: request.phi_inf,
            limit: request.horizon,
        })
    }

    /// The feature map as text.
    pub fn features(&self) -> &Spec {
        &self.spec
    }

    /// Whether everything that a first pass over the files would measure is set.
    pub fn needs_no_survey(&self) -> bool {
        self.phi_inf.is_some() && self.limit.is_some() && self.spec.text() == "identity"
    }

    /// The model for observations of the length of the first row.
    pub fn model(&self, schema: &Schema, inputs: usize) -> Result<Learned> {
        let features = self.spec.fitting(schema, inputs)?.finish()?;
        let bound = features.norm_bound();
        self.build(features, bound, UNKNOWN)
    }

    /// The model for fitted features, with a bound on their norm, if it is known, and the number of transitions for what was
    /// not set.
    pub fn build(
        &self,
        features: FeatureMap,
        bound: Option<f64>,
        transitions: u64,
    ) -> Result<Learned> {
        let phi_inf = self.phi_inf.or(bound);
        let horizon = self.limit.unwrap_or(transitions);
        let setting = Setting {
            discount: self.discount,
            dimension: features.outputs(),
            horizon,
            phi_inf: phi_inf.unwrap_or(1.0),
            known: None,
        };
        if horizon < SHORTEST_HORIZON && self.method.needs_horizon() {
            return Err(Error::TooFewTransitions {
                algorithm: self.method.id,
                found: horizon,
            });
        }
        if self.method.abilities.approach == Approach::Solution {
            memory::check_learner(setting.dimension)?;
        }
        memory::check_replicates(setting.dimension, self.replicates)?;
        let prepared = self.method.prepare(&setting, &self.given)?;
        let uses_bound = prepared.inputs.iter().any(|input| input.name == "phi_inf");
        if phi_inf.is_none() && uses_bound {
            return Err(OptionError::Missing {
                option: OptionName::PhiInf,
                why: "a stream cannot be measured beforehand".into(),
            }
            .into());
        }
        let parameters = parameters(self.method, &prepared);
        let learner = self.learner(&setting, prepared)?;
        let model = Learned::new(features, learner, phi_inf, self.limit)?;
        self.add_least_squares(model.with_parameters(parameters))
    }

    fn learner(&self, setting: &Setting<'_>, prepared: Prepared) -> Result<AnyLearner> {
        let horizon = setting.horizon;
        if self.method.abilities.intervals == IntervalSource::Replicates {
            let params = RobustTdParams {
                horizon: (horizon != UNKNOWN).then_some(horizon),
                replicates: self.replicates,
                ..RobustTdParams::new(self.discount, setting.phi_inf)
            };
            return Ok(RobustTd::new(params, setting.dimension)?.into());
        }
        if horizon != UNKNOWN {
            return Ok(prepared.learner);
        }
        if prepared.inputs.iter().any(|input| input.name == "T") {
            let id = self.method.id;
            return Err(OptionError::Missing {
                option: OptionName::Horizon,
                why: format!(
                    "{id} uses the number of transitions, which is not known for a stream"
                ),
            }
            .into());
        }
        Ok(without_horizon(prepared.learner)?)
    }

    /// Adds least squares alongside the learner, if it is wanted.
    fn add_least_squares(&self, model: Learned) -> Result<Learned> {
        let dimension = model.features().outputs();
        let wanted = match self.least_squares {
            LeastSquares::Always => true,
            LeastSquares::IfSmall => dimension <= SMALL,
            LeastSquares::Never => false,
        };
        if !wanted {
            return Ok(model);
        }
        if dimension > sandwich::LARGEST_DIMENSION {
            return Err(OptionError::TooManyFeatures {
                option: OptionName::Sandwich,
                found: dimension,
                limit: sandwich::LARGEST_DIMENSION,
            }
            .into());
        }
        model.with_least_squares()
    }
}

/// The parameters that a method runs with, including defaults.
fn parameters(method: &Method, prepared: &Prepared) -> BTreeMap<String, f64> {
    let declared = |name| method.parameter(name).is_some();
    let inputs = prepared.inputs.iter().filter(|input| declared(input.name));
    inputs
        .map(|input| (input.name.into(), input.value))
        .collect()
}

/// The number of replicates, if the method uses them.
fn replicates(request: &Request, method: &Method) -> Result<usize> {
    let auto = method.abilities.intervals == IntervalSource::Replicates;
    let Some(number) = request.replicates else {
        // Rows that are learned from again are not new samples.
        return Ok(if auto && request.passes == 1 {
            REPLICATES
        } else {
            0
        });
    };
    let needs = |other, value, why: String| OptionError::Needs {
        option: OptionName::Replicates,
        other,
        value,
        why,
    };
    if number > 0 && !auto {
        let why = format!("{} with a fixed constant has none", method.id);
        return Err(needs(OptionName::C, "auto", why).into());
    }
    if number > 0 && request.passes > 1 {
        let why = "rows that are learned from again are not new samples";
        return Err(needs(OptionName::Passes, "1", why.into()).into());
    }
    Ok(number)
}

/// Whether least squares is wanted for its standard errors.
fn least_squares(
    request: &Request,
    method: &Method,
    given: &[(String, f64)],
    replicates: usize,
) -> Result<LeastSquares> {
    let parameter = |name: &str| Some(given.iter().find(|(given, _)| given == name)?.1);
    let intervals = method.abilities.intervals;
    let fits = match intervals {
        IntervalSource::LeastSquares => method.solves_td0(parameter),
        IntervalSource::Replicates => true,
        IntervalSource::None => false,
    };
    let once = request.passes == 1;
    if request.sandwich && !(fits && once) {
        return Err(OptionError::Needs {
            option: OptionName::Sandwich,
            other: OptionName::C,
            value: "auto",
            why: "it applies only to alg1 with c = auto and to lstd with lambda = 0, in one pass"
                .into(),
        }
        .into());
    }
    Ok(match (request.sandwich, fits && once) {
        (true, _) => LeastSquares::Always,
        (false, true) if intervals == IntervalSource::LeastSquares || replicates > 0 => {
            LeastSquares::IfSmall
        }
        _ => LeastSquares::Never,
    })
}

/// The same learner with a tail average that does not need the number of samples.
fn without_horizon(learner: AnyLearner) -> robust_td_core::Result<AnyLearner> {
    match learner.recipe() {
        Some(recipe) if matches!(recipe.output, Output::Tail { .. }) => {
            let recipe = Recipe {
                output: Output::DoublingTail,
                ..recipe
            };
            Ok(Td0::new(recipe, learner.dimension())?.into())
        }
        _ => Ok(learner),
    }
}

/// The parameters that are set, including c.
fn given(request: &Request, method: &Method) -> Result<Vec<(String, f64)>> {
    let id = method.id;
    if !method.abilities.logs {
        return Err(Error::NeedsChoices { algorithm: id });
    }
    let mut given = request.parameters.clone();
    let has_c = method.parameter("c").is_some();
    match request.c {
        Some(Constant::Fixed(_)) if !has_c => Err(OptionError::NotOf {
            option: OptionName::C,
            algorithm: id,
        }
        .into()),
        Some(Constant::Fixed(c)) => {
            given.push(("c".into(), c));
            Ok(given)
        }
        _ if has_c && given.iter().all(|(name, _)| name != "c") => Err(OptionError::Missing {
            option: OptionName::C,
            why: format!("{id} takes a finite constant above 0; alg1 can choose one from the data"),
        }
        .into()),
        _ => Ok(given),
    }
}

/// Refuses a method that would evaluate another policy than the one that a log describes.
pub(super) fn check_policy(id: &'static str, schema: &Schema) -> Result<()> {
    let weighs = registry::find(id).is_ok_and(|method| method.abilities.ratios);
    match weighs && schema.ratio {
        true => Ok(()),
        false => Err(Error::PolicyAlgorithm { id }),
    }
}

/// The warning that a method ignores importance ratios.
pub(super) fn unused_ratios(id: &'static str) -> Option<Warning> {
    let uses = registry::find(id).is_ok_and(|method| method.abilities.ratios);
    (!uses).then(|| Warning::UnusedRatios {
        algorithm: id,
        users: registry::with_ratios().map(|method| method.id).collect(),
    })
}
