//! Holds a learner of any kind, so that it can be chosen by name, cloned, saved and restored.

use serde::{Deserialize, Serialize};

use crate::learner::forward::forward;
use crate::learner::{self, Learner, algorithms};
use crate::registry::{Abilities, find};

/// Declares the kinds.
macro_rules! kinds {
    ([] $($module:ident $(: $learner:ident)? [$($method:ident),*];)*) => {
        /// A learner of any kind.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyLearner {
            $($(
                #[doc = concat!("See [`", stringify!($module), "`](learner::", stringify!($module), ").")]
                $learner(learner::$learner),
            )?)*
        }

        $($(impl From<learner::$learner> for AnyLearner {
            fn from(learner: learner::$learner) -> Self {
                Self::$learner(learner)
            }
        })?)*
    };
}
algorithms!(kinds);

/// Evaluates an expression with the learner inside, whatever its kind.
macro_rules! matched {
    (
        [$any:expr, $inside:ident => $call:expr]
        $($module:ident $(: $learner:ident)? [$($method:ident),*];)*
    ) => {
        match $any {
            $($(AnyLearner::$learner($inside) => $call,)?)*
        }
    };
}

/// As [`matched`], called as [`forward`] calls it.
macro_rules! inside {
    ($any:expr, $inside:ident => $call:expr) => {
        algorithms!(matched $any, $inside => $call)
    };
}

impl Learner for AnyLearner {
    forward! {
        inside: id dimension discount steps updates projections recipe choice replicates
        step learn start_episode theta output value_offset health
    }
}

impl AnyLearner {
    /// What its method declares; for a recipe that was made by hand under another id, what any TD(0)-type method does.
    #[must_use]
    pub fn abilities(&self) -> Abilities {
        find(self.id()).map_or(Abilities::PLAIN, |method| method.abilities)
    }
}
