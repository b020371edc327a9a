//! Describes, checks and stores the parameters of a catalog problem.

use std::ops::Index;

use serde::Serialize;

use crate::error::{Error, Result};

/// A number that shapes a catalog problem.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub default: f64,
    /// What it does.
    pub meaning: &'static str,
    /// Its valid values in words.
    pub range: &'static str,
    /// Whether a value is valid; NaN never is.
    #[serde(skip)]
    admits: fn(f64) -> bool,
}

impl Parameter {
    /// A parameter whose valid values are those that `admits` accepts.
    pub(super) const fn new(
        name: &'static str,
        default: f64,
        meaning: &'static str,
        range: &'static str,
        admits: fn(f64) -> bool,
    ) -> Self {
        Self {
            name,
            default,
            meaning,
            range,
            admits,
        }
    }

    /// The discount `gamma`.
    pub(super) const fn discount(default: f64) -> Self {
        Self::new(
            "discount",
            default,
            "discount gamma",
            "at least 0 and below 1",
            |x| (0.0..1.0).contains(&x),
        )
    }

    /// Whether a value is valid; NaN never is.
    pub fn admits(&self, value: f64) -> bool {
        (self.admits)(value)
    }
}

/// Whether `value` is a whole number from `lowest` to `highest`.
pub(super) fn whole_in(value: f64, lowest: u32, highest: u32) -> bool {
    value.fract() == 0.0 && (f64::from(lowest)..=f64::from(highest)).contains(&value)
}

/// A valid value for each parameter of a problem.
#[derive(Debug, Clone)]
pub struct Values {
    problem: &'static str,
    parameters: &'static [Parameter],
    values: Vec<f64>,
}

impl Values {
    /// The defaults, overridden by `settings`.
    pub(super) fn new(
        problem: &'static str,
        parameters: &'static [Parameter],
        settings: &[(impl AsRef<str>, f64)],
    ) -> Result<Self> {
        let mut given = vec![None; parameters.len()];
        for (name, value) in settings {
            let name = name.as_ref();
            let Some(k) = parameters.iter().position(|p| p.name == name) else {
                return Err(Error::UnknownParameter {
                    problem,
                    name: name.into(),
                    known: parameters.iter().map(|p| p.name).collect(),
                });
            };
            let name = parameters[k].name;
            if given[k].replace(*value).is_some() {
                return Err(Error::RepeatedParameter { problem, name });
            }
            if !parameters[k].admits(*value) {
                return Err(Error::ProblemParameter {
                    problem,
                    name,
                    value: *value,
                    expected: parameters[k].range.into(),
                });
            }
        }
        let values = parameters
            .iter()
            .zip(given)
            .map(|(parameter, value)| value.unwrap_or(parameter.default))
            .collect();
        Ok(Self {
            problem,
            parameters,
            values,
        })
    }

    /// The value of a parameter that only admits whole numbers.
    pub(super) fn whole(&self, name: &str) -> usize {
        self[name] as usize
    }

    /// Rejects a value that conflicts with the others.
    pub(super) fn require(
        &self,
        name: &'static str,
        holds: bool,
        expected: impl Into<String>,
    ) -> Result<()> {
        if holds {
            return Ok(());
        }
        Err(Error::ProblemParameter {
            problem: self.problem,
            name,
            value: self[name],
            expected: expected.into(),
        })
    }
}

/// The value of a parameter by its name.
///
/// # Panics
/// When the problem declares no parameter of that name.
impl Index<&str> for Values {
    type Output = f64;

    fn index(&self, name: &str) -> &f64 {
        match self.parameters.iter().position(|p| p.name == name) {
            Some(k) => &self.values[k],
            None => panic!("{} declares no parameter {name}", self.problem),
        }
    }
}
