//! Holds a learner of any kind, so that it can be selected by name, cloned, saved and restored.

use serde::{Deserialize, Serialize};

use crate::learner::forward::forward;
use crate::learner::{self, Learner, algorithms};
use crate::registry::{Abilities, find};

/// Declares the kinds of learner.
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

/// Evaluates an expression with the inner learner of any kind.
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

/// As [`matched`], in the form that [`forward`] expects.
macro_rules! inside {
    ($any:expr, $inside:ident => $call:expr) => {
        algorithms!(matched $any, $inside => $call)
    };
}

impl Learner for AnyLearner {
    forward! {
        inside: id dimension discount steps updates projections recipe choice replicates
        step learn start_episode has_traces theta output value_offset health
    }
}

impl AnyLearner {
    /// The declaration of its method; for a recipe with an unregistered id, that of a generic TD(0)-type method.
    #[must_use]
    pub fn abilities(&self) -> Abilities {
        find(self.id()).map_or(Abilities::PLAIN, |method| method.abilities)
    }
}
