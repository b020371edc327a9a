//! Provides a method's inputs and records where each came from.

use crate::error::{Error, Result};
use crate::method::prepared::{Guarantee, Input, Prepared, Quantity, Source};
use crate::method::{HORIZON, Known, Parameter, Setting, refused};
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// Provides the inputs of a method and records them.
#[derive(Debug)]
pub struct Inputs<'a> {
    id: &'static str,
    parameters: &'static [Parameter],
    setting: &'a Setting<'a>,
    given: Vec<(&'static str, f64)>,
    used: Vec<Input>,
    notes: Vec<String>,
    guarantee: Option<Guarantee>,
}

impl<'a> Inputs<'a> {
    /// No inputs yet; `given` are the values set by the user.
    pub(super) fn new(
        id: &'static str,
        parameters: &'static [Parameter],
        setting: &'a Setting<'a>,
        given: Vec<(&'static str, f64)>,
    ) -> Self {
        Self {
            id,
            parameters,
            setting,
            given,
            used: Vec::new(),
            notes: Vec::new(),
            guarantee: None,
        }
    }

    /// The learner with the record of its inputs.
    pub(super) fn prepared<L>(self, learner: L) -> Prepared<L> {
        Prepared {
            learner,
            inputs: self.used,
            notes: self.notes,
            guarantee: self.guarantee,
        }
    }

    /// The method's id.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.setting.discount
    }

    /// d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.setting.dimension
    }

    /// T.
    pub fn horizon(&mut self) -> u64 {
        let horizon = self.setting.horizon;
        self.note_input(HORIZON, horizon as f64, Source::Known);
        horizon
    }

    /// The planned number of samples, at which a bound is evaluated; unlike [`Inputs::horizon`] it is not recorded as an
    /// input of the method.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.setting.horizon
    }

    /// phi_inf.
    pub fn phi_inf(&mut self) -> f64 {
        let phi_inf = self.setting.phi_inf;
        self.note_input("phi_inf", phi_inf, Source::Known);
        phi_inf
    }

    /// A declared parameter, if the user set it.
    pub fn given(&mut self, name: &'static str) -> Option<f64> {
        let value = self.given.iter().find(|&&(n, _)| n == name)?.1;
        self.note_input(name, value, Source::Given);
        Some(value)
    }

    /// A declared parameter, or its default.
    pub fn value(&mut self, name: &'static str, default: f64) -> f64 {
        self.given(name).unwrap_or_else(|| {
            self.note_input(name, default, Source::Known);
            default
        })
    }

    /// A declared parameter, or its value from the exact problem.
    ///
    /// # Errors
    /// If neither is available; the error states the parameter's meaning and range.
    pub fn value_or_oracle(
        &mut self,
        name: &'static str,
        oracle: impl FnOnce(&Known<'a>) -> Result<f64>,
    ) -> Result<f64> {
        if let Some(value) = self.given(name) {
            return Ok(value);
        }
        let Some(known) = self.setting.known else {
            let declared = self.parameters.iter().find(|p| p.name == name);
            return Err(Error::MissingInput {
                method: self.id,
                name,
                meaning: declared.map_or("a property of the problem", |p| p.meaning),
                expected: declared.map_or_else(|| "finite".into(), |p| p.range.words()),
            });
        };
        let value = oracle(&known)?;
        self.note_input(name, value, Source::Oracle);
        Ok(value)
    }

    /// omega, in the units of the features.
    ///
    /// # Errors
    /// When it is neither given nor known.
    pub fn omega(&mut self) -> Result<f64> {
        self.value_or_oracle("omega", |known| Ok(known.problem.omega()))
    }

    /// The radius of the projection ball; with the exact problem, the radius of Bhandari et al.,
    /// R = 2 r_inf / (sqrt(omega) (1-gamma)^{3/2}), whose ball contains theta*.
    ///
    /// # Errors
    /// When it is neither given nor known.
    pub fn radius(&mut self) -> Result<f64> {
        self.value_or_oracle("radius", |known| {
            let problem = known.problem;
            let rest = 1.0 - problem.discount();
            let radius = 2.0 * problem.r_inf() / (problem.omega().sqrt() * rest * rest.sqrt());
            // Without rewards theta* = 0 and any ball contains it.
            Ok(if radius > 0.0 { radius } else { 1.0 })
        })
    }

    /// The exact problem.
    ///
    /// # Errors
    /// When it is not known.
    pub fn problem(&mut self) -> Result<&'a Problem> {
        match self.setting.known {
            Some(known) => Ok(known.problem),
            None => Err(self.not_applicable("it needs the exact problem, not data alone")),
        }
    }

    /// The exact problem, if it is known.
    #[must_use]
    pub fn known_problem(&self) -> Option<&'a Problem> {
        self.setting.known.map(|known| known.problem)
    }

    /// The mixing of the exact problem, if known.
    #[must_use]
    pub fn known_mixing(&self) -> Option<&'a Mixing> {
        self.setting.known.and_then(|known| known.mixing)
    }

    /// The mixing of the chain.
    ///
    /// # Errors
    /// If the problem is not known, or too large to compute it.
    pub fn mixing(&mut self) -> Result<&'a Mixing> {
        self.problem()?;
        let unavailable =
            "it needs the mixing time, but the chain has too many states to compute it";
        self.known_mixing()
            .ok_or_else(|| self.not_applicable(unavailable))
    }

    /// Records an input that was computed from the exact problem.
    pub fn note_oracle(&mut self, name: &'static str, value: f64) {
        self.note_input(name, value, Source::Oracle);
    }

    /// Records a constant of the method that is available in practice.
    pub fn note_known(&mut self, name: &'static str, value: f64) {
        self.note_input(name, value, Source::Known);
    }

    /// Warns that a condition of the method's theory does not hold.
    pub fn warn(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// States a verified bound.
    pub fn guarantee(&mut self, quantity: Quantity, bound: f64, statement: &'static str) {
        self.guarantee = Some(Guarantee {
            quantity,
            bound,
            statement,
        });
    }

    /// The error for a method that cannot run in this setting.
    #[must_use]
    pub fn not_applicable(&self, why: impl Into<String>) -> Error {
        Error::NotApplicable {
            method: self.id,
            why: why.into(),
        }
    }

    /// The error for a value out of range.
    #[must_use]
    pub fn refused(&self, name: &'static str, value: f64, expected: impl Into<String>) -> Error {
        refused(self.id, name, value, expected)
    }

    fn note_input(&mut self, name: &'static str, value: f64, source: Source) {
        if self.used.iter().all(|input| input.name != name) {
            self.used.push(Input {
                name,
                value,
                source,
            });
        }
    }
}
