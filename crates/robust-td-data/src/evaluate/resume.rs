//! Checks that repeated options agree with a resumed model.

use robust_td_core::learner::Learner;
use robust_td_core::registry::{self, Approach};

use super::request::{Constant, Request, out_of_range};
use crate::columns::ColumnMap;
use crate::error::{Error, Result};
use crate::learned::Learned;
use crate::log::Log;
use crate::option_error::{OptionError, OptionName};
use crate::role::Role;
use crate::solved::Solved;

/// Accepts a model to resume if every option that is set has the model's value.
pub(super) fn check(request: &Request, model: &Learned) -> Result<()> {
    let learner = model.learner();
    same(OptionName::Discount, request.discount, learner.discount())?;
    if let Some(id) = &request.algorithm
        && !registry::find(id).is_ok_and(|method| {
            method.is_named(learner.id()) || method.is_replaced_by(learner.id())
        })
    {
        return Err(differs(OptionName::Algorithm, id, learner.id()));
    }
    if let Some(spec) = &request.features
        && bare(spec) != bare(model.features().spec())
    {
        return Err(differs(OptionName::Features, spec, model.features().spec()));
    }
    same(OptionName::PhiInf, request.phi_inf, model.phi_inf())?;
    if let Some(horizon) = request.horizon
        && Some(horizon) != model.limit()
    {
        let own = model.limit().map(|limit| limit.to_string());
        let own = own.unwrap_or_else(|| "none".into());
        return Err(differs(OptionName::Horizon, horizon, own));
    }
    constant(request, model)?;
    for (name, value) in &request.parameters {
        let option = OptionName::Parameter(name.clone());
        parameter(option, name, *value, model)?;
    }
    same(
        OptionName::Replicates,
        request.replicates,
        learner.replicates(),
    )?;
    if request.sandwich && !model.has_least_squares() {
        return Err(differs(OptionName::Sandwich, true, false));
    }
    if request.passes > 1 && model.keeps_errors() {
        let expected = "1: this model makes intervals, and rows that are learned from again are not new samples; \
                        only a model without replicates can make more passes";
        return Err(out_of_range(OptionName::Passes, request.passes, expected));
    }
    if model.is_complete() {
        return Err(Error::ModelComplete {
            steps: learner.steps(),
        });
    }
    Ok(())
}

/// Accepts a solved model to be solved again together with more files, if every option that is set has the model's value; sets the others.
pub(super) fn solved(request: &mut Request, solved: &Solved) -> Result<()> {
    same(OptionName::Discount, request.discount, solved.discount)?;
    if let Some(id) = request.algorithm.as_ref()
        && !request.is_auto()
    {
        return Err(differs(OptionName::Algorithm, id, registry::FOR_LOGS));
    }
    let spec = solved.features.spec();
    if let Some(given) = request
        .features
        .as_ref()
        .filter(|given| bare(given) != bare(spec))
    {
        return Err(differs(OptionName::Features, given, spec));
    }
    if let Some(limit) = solved.limit {
        same(OptionName::Horizon, request.horizon, limit)?;
        if solved.facts.transitions >= limit {
            let steps = solved.facts.transitions;
            return Err(Error::ModelComplete { steps });
        }
    }
    request.discount = Some(solved.discount);
    request.features = Some(spec.into());
    request.horizon = request.horizon.or(solved.limit);
    Ok(())
}

/// Accepts the model of a stream to continue, if every option that is set has the model's value.
pub(super) fn streamed(request: &Request, solved: &Solved, log: &Log) -> Result<()> {
    let mut others = request.clone();
    self::solved(&mut others, solved)?;
    if let Some(horizon) = request.horizon.filter(|_| solved.limit.is_none()) {
        return Err(differs(OptionName::Horizon, horizon, "none"));
    }
    let column = |columns: &ColumnMap| {
        let names = columns.get(Role::Cluster);
        names.map_or_else(|| "none".into(), |names| names.join(", "))
    };
    let (given, own) = (column(log.column_map()), column(&solved.origin.columns));
    match log.has_clusters() && given != own {
        true => Err(differs(OptionName::Cluster, given, own)),
        false => Ok(()),
    }
}

fn constant(request: &Request, model: &Learned) -> Result<()> {
    let auto = model.learner().abilities().approach == Approach::Portfolio;
    match request.c {
        None => Ok(()),
        Some(Constant::Auto) if auto => Ok(()),
        Some(Constant::Auto) => Err(differs(OptionName::C, "auto", own(model, "c"))),
        Some(Constant::Fixed(c)) if auto => Err(differs(OptionName::C, c, "auto")),
        Some(Constant::Fixed(c)) => parameter(OptionName::C, "c", c, model),
    }
}

fn parameter(option: OptionName, name: &str, value: f64, model: &Learned) -> Result<()> {
    match model.parameters().get(name) == Some(&value) {
        true => Ok(()),
        false => Err(differs(option, value, own(model, name))),
    }
}

/// A parameter of the model as text.
fn own(model: &Learned, name: &str) -> String {
    let own = model.parameters().get(name);
    own.map_or_else(|| "none".into(), f64::to_string)
}

fn same<T: PartialEq + ToString>(option: OptionName, given: Option<T>, own: T) -> Result<()> {
    match given {
        Some(given) if given != own => Err(differs(option, given, own)),
        _ => Ok(()),
    }
}

fn differs(option: OptionName, given: impl ToString, own: impl ToString) -> Error {
    OptionError::Differs {
        option,
        given: given.to_string(),
        own: own.to_string(),
    }
    .into()
}

/// The text of a feature map without blanks, which have no meaning.
fn bare(spec: &str) -> String {
    spec.split_whitespace().collect()
}
