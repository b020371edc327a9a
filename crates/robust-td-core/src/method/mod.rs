//! Declares a method: metadata, abilities, required inputs, and where each input came from.
//!
//! Every algorithm file declares one or more [`Method`]s. [`Method::prepare`] gathers the inputs: what the user
//! gives by hand comes first, then defaults that need no knowledge, then the exact problem where it is known.
//! An input that came from the exact problem and cannot be known in practice marks the method as oracle-tuned.

mod abilities;
mod inputs;
mod parameter;
mod prepared;
mod setting;

pub use abilities::{Abilities, Approach, IntervalSource};
pub use inputs::Inputs;
pub use parameter::{Parameter, Range};
pub use prepared::{Guarantee, Input, Prepared, Quantity, Source};
pub use setting::{Known, Setting};

use crate::check::check_discount;
use crate::error::{Error, Result};

/// How much is known of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// There is a theorem for Markovian samples.
    Proved,
    /// In common use, its theory is asymptotic or of another kind.
    Baseline,
    /// No guarantee is known for TD learning from Markovian samples.
    Experimental,
}

/// The declaration of an algorithm that can be set up by name and gives a learner of type `L`.
#[derive(Debug)]
pub struct Method<L> {
    /// The name that the command line and the saved models use.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// How much is known of it.
    pub standing: Standing,
    /// What it requires, in symbols.
    pub needs: &'static [&'static str],
    /// What a user may set.
    pub parameters: &'static [Parameter],
    /// What it can do, and what to advise.
    pub abilities: Abilities,
    /// Sets the learner up.
    pub build: fn(&mut Inputs<'_>) -> Result<L>,
}

impl<L> Method<L> {
    /// The same declaration with another type of learner.
    pub(crate) const fn building<M>(&self, build: fn(&mut Inputs<'_>) -> Result<M>) -> Method<M> {
        Method {
            id: self.id,
            title: self.title,
            reference: self.reference,
            standing: self.standing,
            needs: self.needs,
            parameters: self.parameters,
            abilities: self.abilities,
            build,
        }
    }

    /// Whether it requires the number of samples ahead.
    #[must_use]
    pub fn needs_horizon(&self) -> bool {
        self.needs.contains(&"T")
    }

    /// The parameter with a name, if the method has it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Whether the method with another id takes its place where something is not given.
    #[must_use]
    pub fn is_replaced_by(&self, id: &str) -> bool {
        let Abilities {
            without_c,
            without_horizon,
            ..
        } = self.abilities;
        [without_c, without_horizon].contains(&Some(id))
    }

    /// Sets the method up, with what the user gives by hand.
    ///
    /// # Errors
    /// Names the method and the input that is unknown, out of range, given twice or missing, or why the
    /// method does not apply.
    pub fn prepare<S: AsRef<str>>(
        &self,
        setting: &Setting<'_>,
        given: &[(S, f64)],
    ) -> Result<Prepared<L>> {
        check_discount(setting.discount)?;
        let mut values = Vec::new();
        for (name, value) in given {
            let name = name.as_ref();
            let parameter =
                (self.parameter(name)).ok_or_else(|| Error::UnknownMethodParameter {
                    method: self.id,
                    name: name.into(),
                    known: self.parameters.iter().map(|p| p.name).collect(),
                })?;
            if values.iter().any(|&(other, _)| other == parameter.name) {
                return Err(Error::RepeatedParameter {
                    problem: self.id,
                    name: parameter.name,
                });
            }
            if !parameter.range.contains(*value) {
                let expected = parameter.range.words();
                return Err(refused(self.id, parameter.name, *value, expected));
            }
            values.push((parameter.name, *value));
        }
        let mut inputs = Inputs::new(self.id, self.parameters, setting, values);
        let learner = (self.build)(&mut inputs)?;
        Ok(inputs.prepared(learner))
    }
}

/// The error for a value out of its range.
fn refused(
    method: &'static str,
    name: &'static str,
    value: f64,
    expected: impl Into<String>,
) -> Error {
    Error::MethodParameter {
        method,
        name,
        value,
        expected: expected.into(),
    }
}
