//! Defines the roles of the columns of a log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The observation before the transition.
    Obs,
    /// The observation after the transition.
    NextObs,
    /// The reward of the transition.
    Reward,
    /// Whether the episode terminated: the value afterwards is 0.
    Terminated,
    /// Whether observation stopped while the process continued.
    Truncated,
    /// The episode of the row.
    Episode,
    /// The unit whose rows may depend on each other, such as a user or a machine; units are independent.
    Cluster,
    /// The importance ratio pi(a|s) / mu(a|s) of the action taken.
    Rho,
    /// The action that was taken.
    Action,
    /// The probabilities of all actions under the policy to be evaluated.
    Target,
    /// The same at the next observation.
    NextTarget,
    /// The action of the policy to be evaluated.
    TargetAction,
    /// The same at the next observation.
    NextAction,
    /// The probability with which the action was taken.
    BehaviourProb,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 14] = [
        Self::Obs,
        Self::NextObs,
        Self::Reward,
        Self::Terminated,
        Self::Truncated,
        Self::Episode,
        Self::Cluster,
        Self::Rho,
        Self::Action,
        Self::Target,
        Self::NextTarget,
        Self::TargetAction,
        Self::NextAction,
        Self::BehaviourProb,
    ];

    /// The name of the role, and of its column by default.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Obs => "obs",
            Self::NextObs => "next_obs",
            Self::Reward => "reward",
            Self::Terminated => "terminated",
            Self::Truncated => "truncated",
            Self::Episode => "episode",
            Self::Cluster => "cluster",
            Self::Rho => "rho",
            Self::Action => "action",
            Self::Target => "target",
            Self::NextTarget => "next_target",
            Self::TargetAction => "target_action",
            Self::NextAction => "next_action",
            Self::BehaviourProb => "behaviour_prob",
        }
    }

    /// Whether the role takes several columns or a list.
    #[must_use]
    pub fn is_vector(self) -> bool {
        matches!(
            self,
            Self::Obs | Self::NextObs | Self::Target | Self::NextTarget
        )
    }

    /// Whether the role describes actions, for a policy that was not followed.
    #[must_use]
    pub fn is_of_actions(self) -> bool {
        self >= Self::Action
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
