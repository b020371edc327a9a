//! Maps the column names of known data sets to roles.
//!
//! | layout | obs | next_obs | reward | terminated | truncated | episode |
//! |---|---|---|---|---|---|---|
//! | `standard` | `obs` | `next_obs` | `reward` | `terminated` | `truncated` | `episode` |
//! | `minari` | `observations` | `next_observations` | `rewards` | `terminations` | `truncations` | `episode_id` |
//! | `rllib` | `obs` | `new_obs` | `rewards` | `terminateds` | `truncateds` | `eps_id` |
//! | `d3rlpy` | `observations`, `observation` | `next_observations`, `next_observation` | `rewards`, `reward` | `terminals` | `timeouts` | `episode` |
//! | `d4rl` | `observations` | `next_observations` | `rewards` | `terminals` | `timeouts` | none |
//!
//! Actions are `action` (`standard`) or `actions`; what a policy that was not followed does is `target`, `next_target`, `target_action`,
//! `next_action` and `behaviour_prob` in every layout, and importance ratios are `rho`. A vector may be one list column, or columns named with `_0`,
//! `_1`, ... (or `:0`, `:1`, ...) appended.
//!
//! - Minari (its Arrow storage) stores an episode of T steps in T + 1 rows, because the final observation has
//!   its own row, padded with zeros. The padding is recognised only by `episode_id`, which this layout
//!   requires unless there are next observations. The padding never becomes a transition.
//! - RLlib writes these names from its columnar table format (`Columns.OBS`, `Columns.NEXT_OBS`, ...). Older
//!   versions write `dones`, which is ambiguous and rejected like any lone `done`.
//! - d3rlpy and D4RL name the arrays of `MDPDataset` and of `get_dataset()`; there `terminals` never contains
//!   a time limit.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::role::Role;

/// A known layout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The default names of this program.
    #[default]
    Standard,
    /// Minari, Farama Foundation.
    Minari,
    /// RLlib's columnar table format.
    Rllib,
    /// d3rlpy's `MDPDataset`.
    D3rlpy,
    /// D4RL's `get_dataset` and `qlearning_dataset`.
    D4rl,
}

impl Preset {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Minari => "minari",
            Self::Rllib => "rllib",
            Self::D3rlpy => "d3rlpy",
            Self::D4rl => "d4rl",
        }
    }

    /// The column names of a role, the preferred one first.
    #[must_use]
    pub fn names(self, role: Role) -> &'static [&'static str] {
        use Preset::{D3rlpy, D4rl, Minari, Rllib, Standard};
        match (role, self) {
            (Role::Obs, Standard | Rllib) => &["obs"],
            (Role::Obs, Minari | D4rl) => &["observations"],
            (Role::Obs, D3rlpy) => &["observations", "observation"],
            (Role::NextObs, Standard) => &["next_obs"],
            (Role::NextObs, Rllib) => &["new_obs"],
            (Role::NextObs, Minari | D4rl) => &["next_observations"],
            (Role::NextObs, D3rlpy) => &["next_observations", "next_observation"],
            (Role::Reward, Standard) => &["reward"],
            (Role::Reward, Minari | Rllib | D4rl) => &["rewards"],
            (Role::Reward, D3rlpy) => &["rewards", "reward"],
            (Role::Terminated, Standard) => &["terminated"],
            (Role::Terminated, Minari) => &["terminations"],
            (Role::Terminated, Rllib) => &["terminateds"],
            (Role::Terminated, D3rlpy | D4rl) => &["terminals"],
            (Role::Truncated, Standard) => &["truncated"],
            (Role::Truncated, Minari) => &["truncations"],
            (Role::Truncated, Rllib) => &["truncateds"],
            (Role::Truncated, D3rlpy | D4rl) => &["timeouts"],
            (Role::Episode, Standard | D3rlpy) => &["episode"],
            (Role::Episode, Minari) => &["episode_id"],
            (Role::Episode, Rllib) => &["eps_id"],
            (Role::Episode, D4rl) => &[],
            // Only a column that the user names.
            (Role::Cluster, _) => &[],
            (Role::Rho, _) => &["rho"],
            (Role::Action, Standard) => &["action"],
            (Role::Action, Minari | Rllib | D3rlpy | D4rl) => &["actions", "action"],
            (Role::Target, _) => &["target"],
            (Role::NextTarget, _) => &["next_target"],
            (Role::TargetAction, _) => &["target_action"],
            (Role::NextAction, _) => &["next_action"],
            (Role::BehaviourProb, _) => &["behaviour_prob", "behavior_prob"],
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        [
            Self::Standard,
            Self::Minari,
            Self::Rllib,
            Self::D3rlpy,
            Self::D4rl,
        ]
        .into_iter()
        .find(|preset| preset.name() == name)
        .ok_or_else(|| Error::UnknownName {
            what: "layout",
            name: name.to_owned(),
            choices: "standard, minari, rllib, d3rlpy, d4rl",
        })
    }
}
