//! States what a method is, what it must be told, and what it was told.
//!
//! Every algorithm file declares one or more [`Method`]s. [`Method::prepare`] gathers the inputs: what the user
//! gives by hand comes first, then defaults that need no knowledge, then the exact problem where it is known.
//! What came from the exact problem and cannot be known in practice marks the method as oracle-tuned.

use crate::error::{Error, Result};
use crate::learner::any::AnyLearner;
use crate::learner::check_discount;
use crate::mixing::Mixing;
use crate::problem::Problem;

/// What may be known of a problem before learning starts.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// gamma.
    pub discount: f64,
    /// d.
    pub dimension: usize,
    /// T, the number of samples to come.
    pub horizon: u64,
    /// A bound on the norm of the features.
    pub phi_inf: f64,
    /// The exact problem, when it is known.
    pub model: Option<Model<'a>>,
}

impl<'a> Setting<'a> {
    /// Everything about a known problem.
    #[must_use]
    pub fn of_problem(problem: &'a Problem, mixing: Option<&'a Mixing>, horizon: u64) -> Self {
        Self {
            discount: problem.discount(),
            dimension: problem.dimension(),
            horizon,
            phi_inf: problem.phi_inf(),
            model: Some(Model { problem, mixing }),
        }
    }
}

/// A known problem.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// How fast its chain mixes, unless it is too large to say.
    pub mixing: Option<&'a Mixing>,
}

/// A valid range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Finite and above 0.
    Positive,
    /// Finite and at least 0.
    NonNegative,
    /// Within [0, 1).
    BelowOne,
    /// Within [0, 1].
    Unit,
    /// Strictly between 0 and 1.
    OpenUnit,
    /// A whole number from this on.
    Whole(u64),
    /// Finite and above 1.
    AboveOne,
}

impl Range {
    /// The range in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Positive => "finite and above 0",
            Self::NonNegative => "finite and at least 0",
            Self::BelowOne => "at least 0 and below 1",
            Self::Unit => "between 0 and 1",
            Self::OpenUnit => "above 0 and below 1",
            Self::Whole(0) => "a whole number",
            Self::Whole(1) => "a whole number, at least 1",
            Self::Whole(3) => "a whole number, at least 3",
            Self::Whole(_) => "a large enough whole number",
            Self::AboveOne => "finite and above 1",
        }
    }

    /// Whether a value lies within; NaN never does.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        let finite = value.is_finite();
        finite
            && match self {
                Self::Positive => value > 0.0,
                Self::NonNegative => value >= 0.0,
                Self::BelowOne => (0.0..1.0).contains(&value),
                Self::Unit => (0.0..=1.0).contains(&value),
                Self::OpenUnit => value > 0.0 && value < 1.0,
                // Beyond 2^53 a whole number is no longer told from its neighbours.
                Self::Whole(least) => {
                    value.fract() == 0.0
                        && value >= least as f64
                        && value <= 9_007_199_254_740_992.0
                }
                Self::AboveOne => value > 1.0,
            }
    }
}

/// Something that a user may set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its valid range.
    pub range: Range,
    /// What it is when nobody sets it, in words.
    pub default: &'static str,
}

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

/// An algorithm that can be set up by name.
#[derive(Debug)]
pub struct Method {
    /// The name that the command line and the saved models use.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// How much is known of it.
    pub standing: Standing,
    /// What it must be told, in symbols.
    pub needs: &'static [&'static str],
    /// What a user may set.
    pub parameters: &'static [Parameter],
    /// Sets the learner up.
    pub build: fn(&mut Inputs<'_>) -> Result<AnyLearner>,
}

/// Where an input came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user.
    Given,
    /// A default or the data: anybody can know it.
    Known,
    /// The exact problem: nobody can know it in practice.
    Oracle,
}

/// An input that a method was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Where it came from.
    pub source: Source,
}

/// What a bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// E f(output).
    F,
    /// E |V_output - V*|_D^2.
    DNormSq,
    /// E |output - theta*|^2.
    ThetaErrorSq,
}

/// A verified finite-time bound for the method as it was set up.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantee {
    /// What is bounded.
    pub quantity: Quantity,
    /// By how much.
    pub bound: f64,
    /// Which theorem says so.
    pub statement: &'static str,
}

/// A learner that is ready to run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The learner, at theta_0.
    pub learner: AnyLearner,
    /// What it was told, in the order of its needs.
    pub inputs: Vec<Input>,
    /// Which conditions of its theory do not hold here.
    pub notes: Vec<String>,
    /// What is proved of it here.
    pub guarantee: Option<Guarantee>,
}

impl Prepared {
    /// Whether it was told something that cannot be known in practice.
    #[must_use]
    pub fn oracle(&self) -> bool {
        self.inputs.iter().any(|i| i.source == Source::Oracle)
    }
}

impl Method {
    /// Sets the method up, with what the user gives by hand.
    ///
    /// # Errors
    /// Names the method and the input that is unknown, out of range, given twice or missing, or why the
    /// method does not apply.
    pub fn prepare<S: AsRef<str>>(
        &'static self,
        setting: &Setting<'_>,
        given: &[(S, f64)],
    ) -> Result<Prepared> {
        check_discount(setting.discount)?;
        let known = || self.parameters.iter().map(|p| p.name).collect();
        let mut values = Vec::new();
        for (name, value) in given {
            let name = name.as_ref();
            let found = self.parameters.iter().find(|p| p.name == name);
            let parameter = found.ok_or_else(|| Error::UnknownMethodParameter {
                method: self.id,
                name: name.into(),
                known: known(),
            })?;
            if values.iter().any(|&(other, _)| other == parameter.name) {
                return Err(Error::RepeatedParameter {
                    problem: self.id,
                    name: parameter.name,
                });
            }
            if !parameter.range.contains(*value) {
                return Err(self.refused(parameter.name, *value, parameter.range.words()));
            }
            values.push((parameter.name, *value));
        }
        let mut inputs = Inputs {
            method: self,
            setting,
            given: values,
            used: Vec::new(),
            notes: Vec::new(),
            guarantee: None,
        };
        let learner = (self.build)(&mut inputs)?;
        Ok(Prepared {
            learner,
            inputs: inputs.used,
            notes: inputs.notes,
            guarantee: inputs.guarantee,
        })
    }

    /// The error for a value out of its range.
    #[must_use]
    pub fn refused(&self, name: &'static str, value: f64, expected: impl Into<String>) -> Error {
        Error::MethodParameter {
            method: self.id,
            name,
            value,
            expected: expected.into(),
        }
    }
}

/// Hands a method what it asks for, and keeps a record.
#[derive(Debug)]
pub struct Inputs<'a> {
    method: &'static Method,
    setting: &'a Setting<'a>,
    given: Vec<(&'static str, f64)>,
    used: Vec<Input>,
    notes: Vec<String>,
    guarantee: Option<Guarantee>,
}

impl<'a> Inputs<'a> {
    /// The method's name.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.method.id
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
        self.note_input("T", horizon as f64, Source::Known);
        horizon
    }

    /// The number of samples to come, for a bound to be evaluated at: unlike [`Inputs::horizon`] the method is
    /// not told.
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

    /// A declared parameter, or what the exact problem says.
    ///
    /// # Errors
    /// When neither is there, with the parameter's meaning and range.
    pub fn value_or_oracle(
        &mut self,
        name: &'static str,
        oracle: impl FnOnce(&Model<'a>) -> Result<f64>,
    ) -> Result<f64> {
        if let Some(value) = self.given(name) {
            return Ok(value);
        }
        let Some(model) = self.setting.model else {
            let declared = self.method.parameters.iter().find(|p| p.name == name);
            return Err(Error::MissingInput {
                method: self.method.id,
                name,
                meaning: declared.map_or("a property of the problem", |p| p.meaning),
                expected: declared.map_or("finite", |p| p.range.words()),
            });
        };
        let value = oracle(&model)?;
        self.note_input(name, value, Source::Oracle);
        Ok(value)
    }

    /// omega, in the units of the features.
    ///
    /// # Errors
    /// When it is neither given nor known.
    pub fn omega(&mut self) -> Result<f64> {
        self.value_or_oracle("omega", |model| Ok(model.problem.omega()))
    }

    /// The radius of the ball to project to; from the exact problem Bhandari's
    /// R = 2 r_inf / (sqrt(omega) (1-gamma)^{3/2}), which contains theta*.
    ///
    /// # Errors
    /// When it is neither given nor known.
    pub fn radius(&mut self) -> Result<f64> {
        self.value_or_oracle("radius", |model| {
            let problem = model.problem;
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
        match self.setting.model {
            Some(model) => Ok(model.problem),
            None => Err(self.not_applicable("it needs the exact problem, not data alone")),
        }
    }

    /// The exact problem, if it is known.
    #[must_use]
    pub fn known_problem(&self) -> Option<&'a Problem> {
        self.setting.model.map(|model| model.problem)
    }

    /// The mixing of the exact problem, if it is known.
    #[must_use]
    pub fn known_mixing(&self) -> Option<&'a Mixing> {
        self.setting.model.and_then(|model| model.mixing)
    }

    /// How fast the chain mixes.
    ///
    /// # Errors
    /// When the problem is not known, or too large to say.
    pub fn mixing(&mut self) -> Result<&'a Mixing> {
        self.problem()?;
        let unavailable =
            "it needs the mixing time, and the chain has too many states to compute it";
        self.known_mixing()
            .ok_or_else(|| self.not_applicable(unavailable))
    }

    /// Records an input that follows from the exact problem.
    pub fn note_oracle(&mut self, name: &'static str, value: f64) {
        self.note_input(name, value, Source::Oracle);
    }

    /// Records a constant of the method that anybody can compute.
    pub fn note_known(&mut self, name: &'static str, value: f64) {
        self.note_input(name, value, Source::Known);
    }

    /// Says that a condition of the method's theory does not hold.
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

    /// The error of a method that cannot run here.
    #[must_use]
    pub fn not_applicable(&self, why: impl Into<String>) -> Error {
        Error::NotApplicable {
            method: self.method.id,
            why: why.into(),
        }
    }

    /// The error for a value out of its range.
    #[must_use]
    pub fn refused(&self, name: &'static str, value: f64, expected: impl Into<String>) -> Error {
        self.method.refused(name, value, expected)
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
