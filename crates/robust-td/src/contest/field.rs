//! Prepares the chosen methods with their inputs.

use robust_td_core::registry::METHODS;
use robust_td_core::registry::{Method, Prepared, Setting};
use robust_td_core::{Error, Mixing, Problem};

use super::choice::{Choice, Override};
use super::error::ContestError;
use crate::error::Result;

/// A method that is ready to run.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// What to call it.
    pub label: String,
    /// The method.
    pub method: &'static Method,
    /// What the user set.
    pub settings: Vec<(String, f64)>,
    /// The learner and its inputs.
    pub prepared: Prepared,
}

/// A method that cannot run on a problem.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Skipped {
    /// The method.
    pub id: &'static str,
    /// The reason.
    pub why: String,
}

/// The methods of a contest.
#[derive(Debug, Clone)]
pub struct Field {
    /// Those that run.
    pub contestants: Vec<Contestant>,
    /// Those that were not named and do not apply.
    pub skipped: Vec<Skipped>,
}

/// Prepares the chosen methods, or all that apply. The most specific setting wins: that of the entry, then of its id, then of
/// all methods.
pub fn gather(
    problem: &Problem,
    mixing: Option<&Mixing>,
    horizon: u64,
    choices: Option<&[Choice]>,
    overrides: &[Override],
) -> Result<Field> {
    let everyone: Vec<Choice>;
    let entries = match choices {
        Some(choices) => choices,
        None => {
            everyone = METHODS.iter().copied().map(Choice::plain).collect();
            &everyone
        }
    };
    check(entries, overrides)?;
    let setting = Setting::of_problem(problem, mixing, horizon);
    let (mut contestants, mut skipped) = (Vec::new(), Vec::new());
    for entry in entries {
        let settings = settings(entry, overrides);
        match (entry.method.prepare(&setting, &settings), choices) {
            (Ok(prepared), _) => contestants.push(Contestant {
                label: entry.label.clone(),
                method: entry.method,
                settings,
                prepared,
            }),
            (Err(error), None) => skipped.push(Skipped {
                id: entry.method.id,
                why: why_skipped(error)?,
            }),
            (Err(error), Some(_)) => return Err(error.into()),
        }
    }
    if contestants.is_empty() {
        return Err(ContestError::NoneApplies.into());
    }
    Ok(Field {
        contestants,
        skipped,
    })
}

/// Refuses identical entries and parameters that no entry has.
fn check(entries: &[Choice], overrides: &[Override]) -> Result<(), ContestError> {
    for (k, entry) in entries.iter().enumerate() {
        if entries[..k].iter().any(|other| other.label == entry.label) {
            return Err(ContestError::RepeatedEntry {
                label: entry.label.clone(),
                id: entry.method.id,
            });
        }
    }
    for (k, given) in overrides.iter().enumerate() {
        let key = given.key();
        if overrides[..k].iter().any(|other| other.key() == key) {
            return Err(ContestError::RepeatedParameter { key });
        }
        if entries.iter().any(|entry| given.concerns(entry.method)) {
            continue;
        }
        if let Some(id) = &given.id {
            return Err(ContestError::AbsentMethod {
                key,
                id: id.clone(),
            });
        }
        let parameters = entries.iter().flat_map(|entry| entry.method.parameters);
        let mut known: Vec<&'static str> = parameters.map(|parameter| parameter.name).collect();
        known.sort_unstable();
        known.dedup();
        return Err(ContestError::UnknownParameter { key, known });
    }
    Ok(())
}

/// The settings of an entry, its own first.
fn settings(entry: &Choice, overrides: &[Override]) -> Vec<(String, f64)> {
    let mut settings = entry.settings.clone();
    for of_one in [true, false] {
        let level = overrides
            .iter()
            .filter(|given| given.id.is_some() == of_one);
        for given in level.filter(|given| given.concerns(entry.method)) {
            if settings.iter().all(|(name, _)| *name != given.name) {
                settings.push((given.name.clone(), given.value));
            }
        }
    }
    settings
}

/// Why a method that was not named is skipped; an error unless the method does not fit the problem.
fn why_skipped(error: Error) -> Result<String> {
    match error {
        Error::NotApplicable { why, .. } => Ok(why),
        Error::MissingInput { name, meaning, .. } => Ok(format!("it needs {name} ({meaning})")),
        // At the edges of floating-point numbers; the others can still run.
        Error::Decomposition { .. } => Ok(error.to_string()),
        other => Err(other.into()),
    }
}
