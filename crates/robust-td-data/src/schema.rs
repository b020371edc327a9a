//! Records which roles have columns in a log.

use robust_td_core::features::Input;
use serde::{Deserialize, Serialize};

use crate::actions::PolicySchema;

/// The roles that have columns; the same for all files of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The columns of the observation: one per feature, or the name of one list.
    pub observations: Vec<String>,
    /// Those of them that are categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// How they are read; empty for a list.
    #[serde(skip)]
    pub(crate) inputs: Vec<Input>,
    /// Those that are times, with what their seconds count from.
    #[serde(skip)]
    pub(crate) times: Vec<(String, &'static str)>,
    /// The columns without a role.
    #[serde(skip)]
    pub(crate) unused: Vec<String>,
    /// The bytes that open episodes may take, by the length of the files; none where that is not known.
    #[serde(skip)]
    pub(crate) for_episodes: Option<u64>,
    /// Whether there are next observations.
    pub next_obs: bool,
    /// Whether there are rewards, which learning requires.
    pub reward: bool,
    /// Whether rows mark terminated episodes.
    pub terminated: bool,
    /// Whether rows mark truncated episodes.
    pub truncated: bool,
    /// Whether rows name their episode.
    pub episode: bool,
    /// Whether rows name their cluster.
    #[serde(default)]
    pub cluster: bool,
    /// Whether there are importance ratios.
    pub ratio: bool,
    /// How the log describes a policy that was not followed, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySchema>,
}

impl Schema {
    /// The name of feature k, for messages.
    #[must_use]
    pub fn feature_name(&self, k: usize, dimension: usize) -> String {
        match self.observations.as_slice() {
            names if names.len() == dimension => names[k].clone(),
            [list] => format!("{list}[{k}]"),
            _ => format!("obs[{k}]"),
        }
    }

    /// The columns of observations of the given length.
    pub(crate) fn inputs(&self, dimension: usize) -> Vec<Input> {
        match self.inputs.len() == dimension {
            true => self.inputs.clone(),
            false => (0..dimension)
                .map(|k| Input::number(self.feature_name(k, dimension)))
                .collect(),
        }
    }

    /// Whether feature k is a category.
    pub(crate) fn is_category(&self, k: usize) -> bool {
        self.inputs.get(k).is_some_and(|input| input.category)
    }

    /// Describes the first role in which two logs differ: what this one has, what the other has.
    pub(crate) fn difference(&self, other: &Self) -> Option<(String, String)> {
        let pairs = [
            ("next_obs", self.next_obs, other.next_obs),
            ("reward", self.reward, other.reward),
            ("terminated", self.terminated, other.terminated),
            ("truncated", self.truncated, other.truncated),
            ("episode", self.episode, other.episode),
            ("cluster", self.cluster, other.cluster),
            ("rho", self.ratio, other.ratio),
        ];
        if self.policy != other.policy {
            let words = |schema: &Self| match &schema.policy {
                None => "no columns of actions and a policy".to_owned(),
                Some(policy) => policy.words(),
            };
            return Some((words(self), words(other)));
        }
        let has = |has, role| match has {
            true => format!("a column for {role}"),
            false => format!("no column for {role}"),
        };
        let (role, here, there) = pairs.into_iter().find(|(_, a, b)| a != b)?;
        Some((has(here, role), has(there, role)))
    }
}
