//! Says which roles a log has columns for.

use serde::{Deserialize, Serialize};

/// The roles that are played; it is the same for all files of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The columns of the observation: one per feature, or the name of one list.
    pub observations: Vec<String>,
    /// Whether next observations are given.
    pub next_obs: bool,
    /// Whether rewards are given; to learn they must be.
    pub reward: bool,
    /// Whether rows say that the episode came to its end.
    pub terminated: bool,
    /// Whether rows say that the episode was cut.
    pub truncated: bool,
    /// Whether rows say to which episode they belong.
    pub episode: bool,
    /// Whether importance ratios are given.
    pub ratio: bool,
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

    /// Words for the first role in which two logs differ: what this one has, what the other has.
    pub(crate) fn difference(&self, other: &Self) -> Option<(String, String)> {
        let pairs = [
            ("next_obs", self.next_obs, other.next_obs),
            ("reward", self.reward, other.reward),
            ("terminated", self.terminated, other.terminated),
            ("truncated", self.truncated, other.truncated),
            ("episode", self.episode, other.episode),
            ("rho", self.ratio, other.ratio),
        ];
        let has = |has, role| match has {
            true => format!("a column for {role}"),
            false => format!("no column for {role}"),
        };
        let (role, here, there) = pairs.into_iter().find(|(_, a, b)| a != b)?;
        Some((has(here, role), has(there, role)))
    }
}
