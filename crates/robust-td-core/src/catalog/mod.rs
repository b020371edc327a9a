//! Lists named problems with known answers.
//!
//! One module per problem. Each says where the problem comes from and what its answer is, and its tests check that
//! answer; [`episode`] describes how episodic tasks become chains. To add a problem, write such a file with an `ENTRY` and
//! add its name to the list below: the tests that hold for every problem, the command line and its help find it there.

pub mod episode;
mod family;
mod parameter;
mod setting;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::model::problem::Problem;

pub use parameter::{Parameter, Values};
pub use setting::{Setting, Standard};

/// A family of problems under one name.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Entry {
    /// The name, as on the command line.
    pub name: &'static str,
    /// Other names for it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub aliases: &'static [&'static str],
    /// A one-line summary.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    #[serde(skip)]
    build: fn(&Values) -> Result<Problem>,
}

/// Declares the modules of the problems and lists their entries.
macro_rules! problems {
    ($($module:ident)*) => {
        $(pub mod $module;)*
        static ENTRIES: &[Entry] = &[$($module::ENTRY),*];
    };
}

// In the order in which they are shown. `cargo fmt` does not see modules that a macro declares: `rustfmt --edition 2024 FILE` formats them.
problems! {
    paper_ring
    two_state
    ref_2
    ref_3
    random_walk
    thousand_walk
    boyan
    garnet
    grid_world
    two_cluster
    toyexample
    alternating_scalar
    sticky_pair
    metastable_trap
    cycle_transport
    conveyor
    rotating_arc
    open_arc
    bow_tie
    corridor
    two_halves
}

/// All entries of the catalog.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// Looks up an entry by its name or one of its aliases.
pub fn find(name: &str) -> Result<&'static Entry> {
    ENTRIES
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
        .ok_or_else(|| Error::UnknownProblem {
            name: name.into(),
            known: ENTRIES.iter().map(|entry| entry.name).collect(),
        })
}

/// Builds a catalog problem by name; parameters that are not set take their defaults.
///
/// ```
/// let problem = robust_td_core::catalog::problem("two-state", &[("epsilon", 0.01)])?;
/// assert!((problem.omega() - 1e-4).abs() < 1e-16);
/// # Ok::<(), robust_td_core::Error>(())
/// ```
pub fn problem(name: &str, settings: &[(&str, f64)]) -> Result<Problem> {
    find(name)?.build(settings)
}

impl Entry {
    /// Builds the problem; parameters that are not set take their defaults.
    ///
    /// # Errors
    /// An unknown or repeated parameter, a value outside its range, or values that conflict with each other.
    pub fn build<V>(&self, settings: &[(impl AsRef<str>, V)]) -> Result<Problem>
    where
        for<'a> &'a V: Into<Setting>,
    {
        let settings = settings.iter();
        let settings = settings.map(|(name, value)| (name.as_ref(), value.into()));
        (self.build)(&Values::new(self.name, self.parameters, settings)?)
    }
}

/// Asserts that numbers of order one agree to fourteen digits.
#[cfg(test)]
fn all_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-14, "{found:?} is not {expected:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, settings: &[(&str, f64)]) -> String {
        problem(name, settings).unwrap_err().to_string()
    }

    #[test]
    fn names_are_unique_and_found() {
        for (k, entry) in entries().iter().enumerate() {
            assert_eq!(find(entry.name).unwrap().name, entry.name);
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(find(name).unwrap().name, entry.name);
                let clash = |other: &Entry| other.name == *name || other.aliases.contains(name);
                assert!(!entries()[..k].iter().any(clash), "{name} is taken");
            }
            assert!(!entry.summary.is_empty() && !entry.source.is_empty());
        }
    }

    #[test]
    fn defaults_are_valid_and_nan_never_is() {
        for entry in entries() {
            for (k, parameter) in entry.parameters.iter().enumerate() {
                let name = parameter.name;
                match parameter.default {
                    Standard::Number(default) => assert!(parameter.admits(default), "{name}"),
                    Standard::Word(default) => assert_eq!(parameter.words[0], default),
                }
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
                    assert!(!parameter.admits(bad), "{} {name} {bad}", entry.name);
                    let message = refused(entry.name, &[(name, bad)]);
                    let expected = format!("{}: {name} is {bad}, but must be ", entry.name);
                    assert_eq!(message, expected + parameter.range);
                }
                assert!(entry.parameters[..k].iter().all(|other| other.name != name));
            }
        }
    }

    #[test]
    fn a_choice_takes_its_words_and_a_number_takes_none() {
        for entry in entries() {
            for parameter in entry.parameters {
                let refusal = entry.build(&[(parameter.name, Setting::from("nonsense"))]);
                let message = refusal.unwrap_err().to_string();
                let Parameter { name, range, .. } = parameter;
                let expected = match parameter.words {
                    [] => format!("{name}: \"nonsense\" is not a number; it must be {range}"),
                    _ => format!("{name} is nonsense, but must be {range}"),
                };
                assert_eq!(message, format!("{}: {expected}", entry.name));
                for &word in parameter.words {
                    assert!(range.contains(word), "{name} {word}");
                    entry.build(&[(*name, Setting::from(word))]).unwrap();
                }
            }
        }
    }

    #[test]
    fn refusals_name_what_exists() {
        assert!(
            refused("ring", &[])
                .starts_with("unknown catalog problem \"ring\"; known problems: paper-ring, ")
        );
        assert_eq!(
            refused("two-state", &[("aleph", 0.5)]),
            "two-state has no parameter \"aleph\"; it takes alpha, epsilon, discount, shift"
        );
        assert_eq!(
            refused("ref-2", &[("alpha", 0.5)]),
            "ref-2 has no parameter \"alpha\"; it takes none"
        );
        assert_eq!(
            refused("two-state", &[("alpha", 0.5), ("alpha", 0.6)]),
            "two-state: alpha is given twice"
        );
    }
}
