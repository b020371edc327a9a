//! Names the state of the theory for a method.

use serde::{Serialize, Serializer};

/// The state of the theory for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A theorem covers Markovian samples.
    Proved,
    /// In common use; its theory is asymptotic or covers another setting.
    Baseline,
    /// No guarantee is known for TD learning from Markovian samples.
    Experimental,
}

impl Standing {
    /// The standing in one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Baseline => "baseline",
            Self::Experimental => "experimental",
        }
    }
}

impl Serialize for Standing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
