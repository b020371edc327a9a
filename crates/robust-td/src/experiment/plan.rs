//! Turns a spec into points: for each value a problem, a horizon and methods that are ready to run.

use std::collections::BTreeMap;
use std::path::Path;

use robust_td_core::catalog::{self, Setting};
use robust_td_core::learner::bhandari::stationary_bound_a;
use robust_td_core::{Mixing, Problem};

use super::error::ExperimentError;
use super::spec::ExperimentSpec;
use crate::contest::choice::{Choice, Override};
use crate::contest::field::{Contestant, gather};
use crate::contest::run::{Length, race};
use crate::error::{Error, Result};
use crate::problem::problem_beside;

/// The largest number of entries of a list: a problem is made for each value, and a learner for each method at each value.
const MOST: usize = 1000;
/// The largest number of learners that are prepared.
const MOST_LEARNERS: usize = 100_000;

/// A valid experiment, ready to run.
pub struct Plan {
    /// What the user wrote.
    pub spec: ExperimentSpec,
    /// What varies.
    vary: Option<(String, Target)>,
    /// One point per value, or a single one.
    pub points: Vec<Point>,
}

/// The meaning of a varied name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Horizon,
    Problem,
    Method,
}

/// One value of what varies, ready to run.
pub struct Point {
    /// The value.
    pub value: Option<f64>,
    /// The problem.
    pub problem: Problem,
    /// Horizon, runs and seed.
    pub length: Length,
    /// The methods.
    pub contestants: Vec<Contestant>,
    /// The bound of Bhandari et al., Theorem 3(a), on |V - V*|_D^2 with the ball of radius |theta*|, for a first state drawn from pi.
    pub comparison_bound: Option<f64>,
}

impl Plan {
    /// Checks a spec and prepares all its points; `directory` is where a problem file is looked up.
    pub fn new(spec: ExperimentSpec, directory: &Path) -> Result<Self> {
        let lists = [
            ("algorithms", spec.algorithms.len()),
            ("agents", spec.agents.len()),
        ];
        let lists = lists.map(|(name, found)| (name.to_owned(), found));
        let varied = spec.vary.iter();
        let varied = varied.map(|(name, values)| (name.clone(), values.len()));
        if let Some((name, found)) = lists.into_iter().chain(varied).find(|x| x.1 > MOST) {
            let most = MOST;
            return Err(ExperimentError::TooMany { name, found, most }.into());
        }
        check_learners(&spec)?;
        let choices = spec.algorithms.iter().map(|text| Choice::parse(text));
        let choices: Vec<Choice> = choices.collect::<std::result::Result<_, _>>()?;
        // A missing problem is reported first, before errors in its parameters.
        if catalog::find(&spec.problem).is_err() {
            let none: [(&str, f64); 0] = [];
            problem_beside(&spec.problem, &none, directory)?;
        }
        if choices.is_empty() {
            return Err(ExperimentError::NoAlgorithms.into());
        }
        if spec.vary.len() > 1 {
            let names = spec.vary.keys().cloned().collect();
            return Err(ExperimentError::SeveralVary { names }.into());
        }
        if let Some(&agents) = spec.agents.iter().find(|&&agents| agents == 0) {
            return Err(ExperimentError::Agents { agents }.into());
        }
        if !spec.agents.is_empty() && spec.runs < 2 {
            return Err(ExperimentError::AgentsNeedRuns.into());
        }
        let vary = match spec.vary.iter().next() {
            Some((name, values)) => {
                let target = target(&spec, name, &choices)?;
                check_values(name, values, target)?;
                Some((name.clone(), target))
            }
            None => None,
        };
        let values: Vec<Option<f64>> = match spec.vary.values().next() {
            Some(values) => values.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let mut points = Vec::with_capacity(values.len());
        for value in values {
            let point = point(&spec, &choices, vary.as_ref(), value, directory);
            let point = point.map_err(|error| match (&vary, value) {
                (Some((name, _)), Some(value)) => Error::from(ExperimentError::At {
                    name: name.clone(),
                    value,
                    source: Box::new(error),
                }),
                _ => error,
            })?;
            // Before the others are prepared, which are as large.
            if points.is_empty() {
                let contest = race(&point.problem, &point.contestants, point.length);
                contest.check_memory(false, robust_td_data::memory::limit())?;
            }
            points.push(point);
        }
        Ok(Self { spec, vary, points })
    }

    /// The name of what varies.
    #[must_use]
    pub fn varied(&self) -> &str {
        self.vary.as_ref().map_or("", |(name, _)| name)
    }

    /// Whether anything varies.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.vary.is_some()
    }
}

/// Refuses too many learners.
fn check_learners(spec: &ExperimentSpec) -> Result<(), ExperimentError> {
    let (methods, values) = (spec.algorithms.len(), spec.vary.values().map(Vec::len));
    let values = values.max().unwrap_or(1);
    match methods * values > MOST_LEARNERS {
        true => Err(ExperimentError::TooManyLearners {
            methods,
            values,
            most: MOST_LEARNERS,
        }),
        false => Ok(()),
    }
}

/// The meaning of a name: the horizon, a parameter of the problem, or else one of the methods.
fn target(
    spec: &ExperimentSpec,
    name: &str,
    choices: &[Choice],
) -> Result<Target, ExperimentError> {
    let fixed = |how| ExperimentError::FixedAndVaried {
        name: name.into(),
        how,
    };
    let entry = catalog::find(&spec.problem);
    let parameters = entry.map_or(&[][..], |entry| entry.parameters);
    if name == "horizon" {
        if spec.horizon.is_some() {
            return Err(fixed("fixed"));
        }
        return Ok(Target::Horizon);
    }
    if parameters.iter().any(|parameter| parameter.name == name) {
        if spec.set.contains_key(name) {
            return Err(fixed("set"));
        }
        return Ok(Target::Problem);
    }
    if spec.param.contains_key(name) {
        return Err(fixed("in param"));
    }
    let varied = Override::new(name, 1.0)?;
    let open = |choice: &Choice| {
        let own = choice.settings.iter().any(|(key, _)| *key == varied.name);
        varied.concerns(choice.method) && !own
    };
    match choices.iter().any(open) {
        true => Ok(Target::Method),
        false => Err(ExperimentError::NothingToVary {
            name: name.into(),
            problem: spec.problem.clone(),
        }),
    }
}

fn check_values(name: &str, values: &[f64], target: Target) -> Result<(), ExperimentError> {
    let name = || name.to_string();
    if values.is_empty() {
        return Err(ExperimentError::NoValues { name: name() });
    }
    for (k, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(ExperimentError::NotFinite {
                name: name(),
                value,
            });
        }
        if values[..k].contains(&value) {
            return Err(ExperimentError::RepeatedValue {
                name: name(),
                value,
            });
        }
        // Up to 2^53 a whole number is exact.
        let whole = value.fract() == 0.0 && (3.0..=9_007_199_254_740_992.0).contains(&value);
        if target == Target::Horizon && !whole {
            return Err(ExperimentError::HorizonValue { value });
        }
    }
    Ok(())
}

/// The pairs of a map.
fn own<V: Clone>(map: &BTreeMap<String, V>) -> Vec<(String, V)> {
    let pairs = map.iter();
    pairs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn point(
    spec: &ExperimentSpec,
    choices: &[Choice],
    vary: Option<&(String, Target)>,
    value: Option<f64>,
    directory: &Path,
) -> Result<Point> {
    let mut settings: Vec<(String, Setting)> = own(&spec.set);
    let mut params: Vec<(String, f64)> = own(&spec.param);
    let mut horizon = spec.horizon;
    if let (Some((name, target)), Some(value)) = (vary, value) {
        match target {
            Target::Horizon => horizon = Some(value as u64),
            Target::Problem => settings.push((name.clone(), value.into())),
            Target::Method => params.push((name.clone(), value)),
        }
    }
    let length = Length {
        horizon: horizon.ok_or(ExperimentError::NoHorizon)?,
        runs: spec.runs,
        seed: spec.seed,
        points_per_decade: 1,
    };
    length.check()?;
    let problem = problem_beside(&spec.problem, &settings, directory)?;
    let mixing = Mixing::of(problem.chain())?;
    let overrides = params.iter();
    let overrides = overrides.map(|(key, value)| Override::new(key, *value));
    let overrides: Vec<Override> = overrides.collect::<std::result::Result<_, _>>()?;
    let field = gather(
        &problem,
        mixing.as_ref().ok(),
        length.horizon,
        Some(choices),
        &overrides,
    );
    let comparison_bound = mixing.as_ref().ok().and_then(|mixing| {
        stationary_bound_a(&problem, mixing, length.horizon, problem.theta_star_norm())
    });
    Ok(Point {
        value,
        contestants: field?.contestants,
        comparison_bound,
        problem,
        length,
    })
}
