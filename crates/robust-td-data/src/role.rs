//! Names the roles that the columns of a log play.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a column of a log means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The observation of the state that was left.
    Obs,
    /// The observation that followed.
    NextObs,
    /// The reward on the way.
    Reward,
    /// Whether the episode came to its end: the value after it is 0.
    Terminated,
    /// Whether the observation was cut while the process went on.
    Truncated,
    /// Which episode the row belongs to.
    Episode,
    /// The importance ratio pi(a|s) / mu(a|s) of the action that was taken.
    Rho,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 7] = [
        Self::Obs,
        Self::NextObs,
        Self::Reward,
        Self::Terminated,
        Self::Truncated,
        Self::Episode,
        Self::Rho,
    ];

    /// The name on the command line, and of the column unless another is said.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Obs => "obs",
            Self::NextObs => "next_obs",
            Self::Reward => "reward",
            Self::Terminated => "terminated",
            Self::Truncated => "truncated",
            Self::Episode => "episode",
            Self::Rho => "rho",
        }
    }

    /// Whether several columns, or a list, play the role together.
    #[must_use]
    pub fn is_vector(self) -> bool {
        matches!(self, Self::Obs | Self::NextObs)
    }

    pub(crate) fn list() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|role| role.name() == name)
            .ok_or(())
    }
}
