//! Describes, checks and stores the parameters of a catalog problem.

use std::ops::Index;

use serde::Serialize;

use super::setting::{Setting, Standard};
use crate::error::{Error, Result};

/// A number or a choice that shapes a catalog problem.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub default: Standard,
    /// What it does.
    pub meaning: &'static str,
    /// Its valid values in words.
    pub range: &'static str,
    /// The words that it takes; empty for a number.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub words: &'static [&'static str],
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
            default: Standard::Number(default),
            meaning,
            range,
            words: &[],
            admits,
        }
    }

    /// A choice between words, of which the first is the default; `range` lists them.
    pub(super) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
        range: &'static str,
    ) -> Self {
        Self {
            name,
            default: Standard::Word(words[0]),
            meaning,
            range,
            words,
            admits: |_| false,
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

    /// Whether a number is valid; NaN never is, and no number is a word.
    pub fn admits(&self, value: f64) -> bool {
        (self.admits)(value)
    }

    /// A valid value: the number, or the place of the word.
    fn check(&self, problem: &'static str, value: Setting) -> Result<f64> {
        let valid = match &value {
            Setting::Number(number) => self.admits(*number).then_some(*number),
            Setting::Word(word) if self.words.is_empty() => {
                return Err(Error::ProblemParameterWord {
                    problem,
                    name: self.name,
                    word: word.clone(),
                    expected: self.range,
                });
            }
            Setting::Word(word) => {
                let place = self.words.iter().position(|known| known == word);
                place.map(|place| place as f64)
            }
        };
        valid.ok_or_else(|| Error::ProblemParameter {
            problem,
            name: self.name,
            value,
            expected: self.range.into(),
        })
    }

    /// The default as [`check`](Self::check) returns it.
    fn standard(&self) -> f64 {
        match self.default {
            Standard::Number(number) => number,
            // The default is the first word.
            Standard::Word(_) => 0.0,
        }
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
    pub(super) fn new<'a>(
        problem: &'static str,
        parameters: &'static [Parameter],
        settings: impl IntoIterator<Item = (&'a str, Setting)>,
    ) -> Result<Self> {
        let mut given = vec![None; parameters.len()];
        for (name, value) in settings {
            let Some(k) = parameters.iter().position(|p| p.name == name) else {
                return Err(Error::UnknownParameter {
                    problem,
                    name: name.into(),
                    known: parameters.iter().map(|p| p.name).collect(),
                });
            };
            let name = parameters[k].name;
            let value = parameters[k].check(problem, value)?;
            if given[k].replace(value).is_some() {
                return Err(Error::RepeatedParameter { problem, name });
            }
        }
        let values = parameters
            .iter()
            .zip(given)
            .map(|(parameter, value)| value.unwrap_or(parameter.standard()))
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

    /// The word of a choice.
    ///
    /// # Panics
    /// When the problem declares no choice of that name.
    pub(super) fn word(&self, name: &str) -> &'static str {
        let found = self.parameters.iter().find(|p| p.name == name);
        match found.and_then(|parameter| parameter.words.get(self.whole(name))) {
            Some(word) => word,
            None => panic!("{} declares no choice {name}", self.problem),
        }
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
            value: self[name].into(),
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
