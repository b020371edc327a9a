//! Lists every method by its id and sets up its learner.
//!
//! ```
//! use robust_td_core::{Learner, catalog, registry};
//!
//! let problem = catalog::problem("two-state", &[("epsilon", 0.3)])?;
//! let setting = registry::Setting::of_problem(&problem, None, 1000);
//! let prepared = registry::find("alg1")?.prepare(&setting, &[("c", 0.5)])?;
//! assert_eq!(prepared.learner.id(), "alg1");
//! # Ok::<(), robust_td_core::Error>(())
//! ```

mod any;

pub use any::AnyLearner;

pub use crate::method::{
    Abilities, Approach, C, Guarantee, HORIZON, Input, Inputs, IntervalSource, Known, Parameter,
    Quantity, Range, Setting, Source, Standing, Target,
};

use crate::error::{Error, Result};
use crate::learner::{self, alg1, algorithms};

/// The declaration of a method, with a learner of any kind.
pub type Method = crate::method::Method<AnyLearner>;

/// A learner of any kind that is ready to run.
pub type Prepared = crate::method::Prepared<AnyLearner>;

/// Collects the declarations of all algorithms.
macro_rules! methods {
    ([] $($module:ident $(: $learner:ident)? [$($method:ident),*];)*) => {
        /// All methods, in the order of the documentation.
        pub static METHODS: &[&Method] = &[$($(
            &learner::$module::$method.building(|inputs| {
                Ok((learner::$module::$method.build)(inputs)?.into())
            }),
        )*)*];
    };
}
algorithms!(methods);

/// The id of the default method for logs.
pub const FOR_LOGS: &str = learner::least_squares::METHOD.id;

/// The id of the default method that steps.
pub const DEFAULT: &str = alg1::DECAYING.id;

/// The method with an id.
///
/// # Errors
/// Lists the ids that exist.
pub fn find(id: &str) -> Result<&'static Method> {
    let found = METHODS.iter().find(|method| method.id == id);
    found.copied().ok_or_else(|| Error::UnknownMethod {
        name: id.into(),
        known: METHODS.iter().map(|method| method.id).collect(),
    })
}

/// The methods that weight samples by importance ratios; the others treat every sample as on-policy.
pub fn with_ratios() -> impl Iterator<Item = &'static Method> {
    let methods = METHODS.iter().copied();
    methods.filter(|method| method.abilities.ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_stand_ins_exist() {
        for (i, method) in METHODS.iter().enumerate() {
            assert!(METHODS[..i].iter().all(|other| other.id != method.id));
            let Abilities {
                without_c,
                without_horizon,
                ..
            } = method.abilities;
            for id in [without_c, without_horizon].into_iter().flatten() {
                assert!(find(id).is_ok(), "{id}");
                assert!(method.is_replaced_by(id));
            }
            assert!(!method.is_replaced_by(method.id));
        }
        assert!(find(DEFAULT).unwrap().needs_horizon());
    }

    #[test]
    fn a_horizon_that_is_used_is_declared() {
        let problem = crate::catalog::problem("two-state", &[]).unwrap();
        let mixing = crate::Mixing::of(problem.chain()).unwrap().unwrap();
        let setting = Setting::of_problem(&problem, Some(&mixing), 1000);
        for method in METHODS {
            if let Ok(prepared) = method.prepare::<&str>(&setting, &[]) {
                let used = prepared.inputs.iter().any(|input| input.name == HORIZON);
                assert_eq!(used, method.needs_horizon(), "{}", method.id);
            }
        }
    }
}
