//! Holds a learner that is ready to run, with its inputs and what is proved of it.

/// Where an input came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user.
    Given,
    /// A default or the data: it can be known in practice.
    Known,
    /// The exact problem: it cannot be known in practice.
    Oracle,
}

/// An input of a method.
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
pub struct Prepared<L> {
    /// The learner, at theta_0.
    pub learner: L,
    /// Its inputs, in the order of its needs.
    pub inputs: Vec<Input>,
    /// Which conditions of its theory do not hold here.
    pub notes: Vec<String>,
    /// What is proved of it here.
    pub guarantee: Option<Guarantee>,
}

impl<L> Prepared<L> {
    /// Whether an input cannot be known in practice.
    #[must_use]
    pub fn oracle(&self) -> bool {
        self.inputs.iter().any(|i| i.source == Source::Oracle)
    }
}
