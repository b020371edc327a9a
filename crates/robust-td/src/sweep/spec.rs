//! Reads the TOML file that describes a sweep.

use robust_td_core::catalog::Setting;
use robust_td_engine::grid::published_c;
use robust_td_engine::{Family, Projection};
use serde::Deserialize;
use std::collections::BTreeMap;

use super::error::SweepError;
use super::grid::log_grid;

/// A sweep as the user writes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Title of the figure.
    #[serde(default)]
    pub title: Option<String>,
    /// A catalog name, or a problem file relative to the spec.
    pub problem: String,
    /// Parameters of a catalog problem.
    #[serde(default)]
    pub set: BTreeMap<String, Setting>,
    /// Step size families, one figure each.
    #[serde(default = "decaying")]
    pub schedule: toml::Value,
    /// Projections, one figure each per family.
    #[serde(default = "unprojected")]
    pub projection: toml::Value,
    /// Feature scalings, one row of the figure each.
    #[serde(default = "unscaled")]
    pub scales: Vec<f64>,
    /// Values of c: a list, a range or "paper".
    pub c: toml::Value,
    /// How expectations are computed.
    #[serde(default)]
    pub mode: Mode,
    /// Horizon T in the step sizes.
    pub steps: u64,
    /// Steps to simulate, T by default.
    #[serde(default)]
    pub simulate: Option<u64>,
    /// Runs per value of c.
    #[serde(default = "usual_runs")]
    pub runs: u64,
    /// Seed of the random streams, in mode "algorithm".
    #[serde(default)]
    pub seed: Option<u64>,
    /// Indexing of mode "exact".
    #[serde(default)]
    pub indexing: Option<Indexing>,
    /// Points per decade of t in the learning curves.
    #[serde(default = "usual_curve_points")]
    pub curve_points_per_decade: u32,
}

fn decaying() -> toml::Value {
    toml::Value::String("decaying".into())
}

fn unprojected() -> toml::Value {
    toml::Value::String("none".into())
}

fn unscaled() -> Vec<f64> {
    vec![1.0]
}

/// The default number of runs.
pub const RUNS: u64 = 48;
/// The default number of points per decade in the learning curves.
pub const CURVE_POINTS: u32 = 10;

fn usual_runs() -> u64 {
    RUNS
}

fn usual_curve_points() -> u32 {
    CURVE_POINTS
}

/// One name, or a list of them, of things that `named` knows.
fn named<T>(
    key: &str,
    value: &toml::Value,
    named: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let one = |value: &toml::Value| match value.as_str() {
        Some(name) => named(name),
        None => Err(format!(
            "{key} is {value}, but must be a name or a list of names"
        )),
    };
    match value {
        toml::Value::Array(values) => values.iter().map(one).collect(),
        value => one(value).map(|one| vec![one]),
    }
}

/// The step size schedule of a name.
///
/// # Errors
/// An unknown name, with those that are known.
pub fn schedule(name: &str) -> Result<Family, SweepError> {
    Family::named(name).ok_or_else(|| SweepError::Schedule { name: name.into() })
}

/// The projection of a name.
///
/// # Errors
/// An unknown name, with those that are known.
pub fn projection(name: &str) -> Result<Projection, SweepError> {
    Projection::named(name).ok_or_else(|| SweepError::Projection { name: name.into() })
}

/// How a sweep computes expectations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The authors' program: its random numbers, its indexing.
    Published,
    /// Algorithm 1 as stated, with our own random streams.
    #[default]
    Algorithm,
    /// Expectations without sampling.
    Exact,
    /// The authors' engine `tdx`: SplitMix64, uniform average of theta_1..theta_T, divergence from |theta|^2 = 1e20 on.
    Tdx,
}

impl Mode {
    /// The name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Algorithm => "algorithm",
            Self::Exact => "exact",
            Self::Tdx => "tdx",
        }
    }
}

/// How exact mode counts steps and averages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Indexing {
    /// Algorithm 1: t from 0, eta-weighted average, gap at the last step.
    #[default]
    Algorithm,
    /// The authors' program: t from 1, uniform average, gap at the last logged step.
    Published,
}

/// The values of c of a spec.
fn constants(value: &toml::Value) -> Result<Vec<f64>, String> {
    const FORMS: &str = "\"paper\", a list such as [0.001, 0.01], \
         or a range such as { from = 1e-4, to = 1, per_decade = 6 }";
    let number = |value: &toml::Value| match value {
        toml::Value::Float(x) => Some(*x),
        toml::Value::Integer(x) => Some(*x as f64),
        _ => None,
    };
    match value {
        toml::Value::String(name) if name == "paper" => Ok(published_c()),
        toml::Value::Array(values) => {
            let mut numbers = Vec::with_capacity(values.len());
            for (k, value) in values.iter().enumerate() {
                let c = number(value)
                    .ok_or_else(|| format!("entry {k} of c is {value}, not a number"))?;
                numbers.push(c);
            }
            Ok(numbers)
        }
        toml::Value::Table(range) => {
            if let Some(key) = range
                .keys()
                .find(|k| !["from", "to", "per_decade"].contains(&k.as_str()))
            {
                return Err(format!(
                    "unknown key {key:?} in the range of c; c is {FORMS}"
                ));
            }
            let end = |key: &str| {
                let value = range
                    .get(key)
                    .ok_or_else(|| format!("the range of c has no {key:?}"))?;
                number(value)
                    .filter(|x| *x > 0.0 && x.is_finite())
                    .ok_or_else(|| {
                        format!("{key} in the range of c is {value}, not a positive number")
                    })
            };
            let (from, to, per_decade) = (end("from")?, end("to")?, end("per_decade")?);
            if !(from < to) {
                return Err(format!("the range of c from {from} to {to} is empty"));
            }
            log_grid(from, to, per_decade)
        }
        other => Err(format!("c is {other}, but must be {FORMS}")),
    }
}

impl Spec {
    /// The step size families.
    pub fn families(&self) -> Result<Vec<Family>, String> {
        let of = |name: &str| schedule(name).map_err(|error| error.to_string());
        named("schedule", &self.schedule, of)
    }

    /// The projections.
    pub fn projections(&self) -> Result<Vec<Projection>, String> {
        let of = |name: &str| projection(name).map_err(|error| error.to_string());
        named("projection", &self.projection, of)
    }

    /// The values of c.
    pub fn constants(&self) -> Result<Vec<f64>, String> {
        constants(&self.c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::grid::{GridPoint, grid_of};

    fn parse(text: &str) -> Result<Spec, String> {
        crate::spec_file::parse(text)
    }

    fn parsed(c: &str) -> Result<Vec<GridPoint>, String> {
        let spec = parse(&format!("problem = \"ref-2\"\nsteps = 100\nc = {c}"))?;
        grid_of(&spec.constants()?).map_err(|error| error.to_string())
    }

    #[test]
    fn the_forms_of_a_grid() {
        assert_eq!(parsed("\"paper\"").unwrap().len(), 97);
        let list = parsed("[1, 0.001, 0.01]").unwrap();
        assert_eq!(
            list.iter().map(|p| p.c).collect::<Vec<_>>(),
            [0.001, 0.01, 1.0]
        );
        // The paper's 1e-2 is 0.1 * 0.1, which is not 0.01.
        assert_eq!(
            list.iter().map(|p| p.index).collect::<Vec<_>>(),
            [Some(30), None, Some(48)]
        );
        let range = parsed("{ from = 1e-2, to = 10, per_decade = 2 }").unwrap();
        assert_eq!(range.len(), 7);
        assert!((range[6].c - 10.0).abs() < 1e-12);
    }

    #[test]
    fn bad_grids_are_refused_by_name() {
        for (c, words) in [
            ("[]", "no value of c"),
            ("[0]", "c is 0"),
            ("[5e-324]", "c is 5e-324"),
            ("[1, -2]", "c is -2"),
            ("[nan]", "NaN"),
            ("[1, 1]", "the value 1 twice"),
            ("[\"x\"]", "entry 0 of c is \"x\""),
            ("\"papers\"", "papers"),
            ("{ from = 1, to = 10 }", "per_decade"),
            ("{ from = 10, to = 1, per_decade = 1 }", "empty"),
            ("{ from = 1, to = 10, per_decade = 1, by = 2 }", "\"by\""),
            ("3", "c is 3"),
        ] {
            let message = parsed(c).unwrap_err();
            assert!(message.contains(words), "{c}: {message}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_types_name_the_line() {
        let message = parse("problem = \"ref-2\"\nsteps = 100\nc = [1]\nrunz = 3").unwrap_err();
        assert!(
            message.contains("line 4") && message.contains("runz"),
            "{message}"
        );
        let message = parse("problem = \"ref-2\"\nc = [1]").unwrap_err();
        assert_eq!(message, "missing key `steps`");
        let spec = parse("problem = \"x\"\nsteps = 9\nc = [1]\nschedule = \"fast\"").unwrap();
        assert!(
            spec.families()
                .unwrap_err()
                .contains("schedule is \"fast\"")
        );
        let message = parse("problem = \"ref-2\"\nsteps = -3\nc = [1]").unwrap_err();
        assert!(message.contains("line 2: `steps = -3`"), "{message}");
    }
}
