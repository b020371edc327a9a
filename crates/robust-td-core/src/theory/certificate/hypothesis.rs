//! Compares the assumptions of a certificate with the values of a problem.

use std::fmt;

use crate::number::short;

/// How the actual value must compare with the required one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Strictly above.
    Above,
    /// At least.
    AtLeast,
    /// Strictly below.
    Below,
    /// At most.
    AtMost,
}

impl Relation {
    fn holds(self, had: f64, needed: f64) -> bool {
        match self {
            Relation::Above => had > needed,
            Relation::AtLeast => had >= needed,
            Relation::Below => had < needed,
            Relation::AtMost => had <= needed,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Relation::Above => ">",
            Relation::AtLeast => ">=",
            Relation::Below => "<",
            Relation::AtMost => "<=",
        }
    }
}

/// One assumption of a certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// What is compared.
    pub name: String,
    /// How it must compare.
    pub relation: Relation,
    /// The required value.
    pub needed: f64,
    /// The actual value.
    pub had: f64,
    /// Whether it holds; false for NaN.
    pub holds: bool,
}

impl Hypothesis {
    /// Compares `had` with `needed`.
    pub fn new(name: impl Into<String>, relation: Relation, needed: f64, had: f64) -> Self {
        Self {
            name: name.into(),
            relation,
            needed,
            had,
            holds: relation.holds(had, needed),
        }
    }

    /// The factor by which the value misses the requirement (for positive values; at most 1 if it is met).
    pub fn shortfall(&self) -> f64 {
        match self.relation {
            Relation::Above | Relation::AtLeast => self.needed / self.had,
            Relation::Below | Relation::AtMost => self.had / self.needed,
        }
    }
}

impl fmt::Display for Hypothesis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, had) = (short(self.needed), short(self.had));
        write!(
            out,
            "{} {} {needed} required, got {had}",
            self.name,
            self.relation.symbol()
        )?;
        let factor = self.shortfall();
        if !self.holds && factor.is_finite() && factor >= 1.0 {
            write!(out, " (off by a factor of {})", short(factor))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_fail_on_nan() {
        for relation in [
            Relation::Above,
            Relation::AtLeast,
            Relation::Below,
            Relation::AtMost,
        ] {
            assert!(!Hypothesis::new("x", relation, 1.0, f64::NAN).holds);
            assert!(!Hypothesis::new("x", relation, f64::NAN, 1.0).holds);
        }
        assert!(Hypothesis::new("x", Relation::AtLeast, 1.0, 1.0).holds);
        assert!(Hypothesis::new("x", Relation::AtMost, 1.0, 1.0).holds);
        assert!(!Hypothesis::new("x", Relation::Above, 1.0, 1.0).holds);
        assert!(!Hypothesis::new("x", Relation::Below, 1.0, 1.0).holds);
    }

    #[test]
    fn a_failure_says_by_how_much() {
        let hypothesis = Hypothesis::new("log T", Relation::AtLeast, 7.6e6, 16.1181);
        assert_eq!(
            hypothesis.to_string(),
            "log T >= 7.6e6 required, got 16.12 (off by a factor of 471520)"
        );
        let hypothesis = Hypothesis::new("A2", Relation::Below, 1.0, 3.0);
        assert_eq!(hypothesis.shortfall(), 3.0);
        assert_eq!(
            hypothesis.to_string(),
            "A2 < 1 required, got 3 (off by a factor of 3)"
        );
    }
}
