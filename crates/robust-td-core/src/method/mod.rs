//! Declares a method: metadata, abilities, required inputs, and where each input came from.
//!
//! Every algorithm file declares one or more [`Method`]s. [`Method::prepare`] collects the inputs: values set by the user
//! first, then defaults, then values computed from the exact problem if it is known.
//! An input that comes from the exact problem and is not available in practice marks the method as oracle-tuned.

mod abilities;
mod inputs;
mod parameter;
mod prepared;
mod setting;
mod standing;

pub use abilities::{Abilities, Approach, IntervalSource, Rate, Target};
pub use inputs::Inputs;
pub use parameter::{Parameter, Range};
pub use prepared::{Guarantee, Input, Prepared, Quantity, Source};
pub use setting::{Known, Setting};
pub use standing::Standing;

use serde::Serialize;

use crate::check::check_discount;
use crate::error::{Error, Result};

/// The horizon T, among the needs and the recorded inputs of a method.
pub const HORIZON: &str = "T";

/// The parameter c, which divides the steps of a method.
pub const C: &str = "c";

/// The declaration of an algorithm that can be set up by name as a learner of type `L`.
///
/// As JSON it is the description that users see, without abilities.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
pub struct Method<L> {
    /// The id on the command line and in saved models.
    pub id: &'static str,
    /// A short description.
    pub title: &'static str,
    /// The paper.
    pub reference: &'static str,
    /// The state of its theory.
    pub standing: Standing,
    /// Its required inputs, in symbols.
    pub needs: &'static [&'static str],
    /// The parameters that a user may set.
    pub parameters: &'static [Parameter],
    /// Its abilities and advice.
    #[serde(skip)]
    pub abilities: Abilities,
    /// Sets the learner up.
    #[serde(skip)]
    pub build: fn(&mut Inputs<'_>) -> Result<L>,
}

impl<L> Method<L> {
    /// The same declaration for another type of learner.
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

    /// Whether it requires the number of samples in advance.
    #[must_use]
    pub fn needs_horizon(&self) -> bool {
        self.needs.contains(&HORIZON)
    }

    /// The parameter with this name, if the method has it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Whether an id that a user gives names this method.
    #[must_use]
    pub fn is_named(&self, id: &str) -> bool {
        self.id == id
    }

    /// Whether the method with another id replaces it when an input is omitted.
    #[must_use]
    pub fn is_replaced_by(&self, id: &str) -> bool {
        let Abilities {
            without_c,
            without_horizon,
            ..
        } = self.abilities;
        [without_c, without_horizon].contains(&Some(id))
    }

    /// Whether its answer with these parameters solves the equations of TD(0).
    #[must_use]
    pub fn solves_td0(&self, parameter: impl Fn(&str) -> Option<f64>) -> bool {
        match self.abilities.target {
            Target::Td0 => true,
            Target::Td0Without(name) => parameter(name).is_none_or(|value| value == 0.0),
            Target::Other => false,
        }
    }

    /// Sets up the method with the values given by the user.
    ///
    /// # Errors
    /// Names the method and the input that is unknown, out of range, given twice or missing, or states why the
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

/// The error for a value out of range.
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
