//! Holds a learner that is ready to run, with its inputs and its guarantee.

/// Where an input came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user.
    Given,
    /// A default or the data: available in practice.
    Known,
    /// The exact problem: not available in practice.
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

/// The quantity that a bound applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// E f(output).
    F,
    /// E |V_output - V*|_D^2.
    DNormSq,
    /// E |output - theta*|^2.
    ThetaErrorSq,
}

/// A verified finite-time bound for the method with these inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantee {
    /// The bounded quantity.
    pub quantity: Quantity,
    /// The bound.
    pub bound: f64,
    /// The theorem.
    pub statement: &'static str,
}

/// A learner that is ready to run.
#[derive(Debug, Clone)]
pub struct Prepared<L> {
    /// The learner, at theta_0.
    pub learner: L,
    /// Its inputs, in the order of its needs.
    pub inputs: Vec<Input>,
    /// The conditions of its theory that do not hold here.
    pub notes: Vec<String>,
    /// The proved bound, if any.
    pub guarantee: Option<Guarantee>,
}

impl<L> Prepared<L> {
    /// Whether any input is not available in practice.
    #[must_use]
    pub fn oracle(&self) -> bool {
        self.inputs.iter().any(|i| i.source == Source::Oracle)
    }
}
