//! Tracks the episodes of a stream.

use robust_td_core::online::Distinct;
use serde::{Deserialize, Serialize};

use crate::pairing::Step;

/// The episodes so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Episodes {
    /// Runs of consecutive transitions that start at the first row of an episode.
    runs: u64,
    /// Whether the log has names of episodes, or an episode has ended.
    exist: bool,
    /// The name of the last one, and those before it.
    last: Option<u64>,
    names: Distinct,
    /// Whether one of them resumed after another one.
    mixed: bool,
}

impl Episodes {
    /// Adds a transition of an episode of this name; returns the number of its run.
    #[inline]
    pub fn next(&mut self, step: &Step<'_>, name: Option<u64>) -> u64 {
        self.runs += u64::from(step.starts_episode());
        self.exist |= name.is_some() || step.outcome.ends_episode();
        if let Some(name) = name
            && self.last != Some(name)
        {
            self.last = Some(name);
            self.mixed |= !self.names.add(name);
        }
        self.runs.saturating_sub(1)
    }

    /// Whether the first rows of episodes are known.
    pub fn have_starts(&self) -> bool {
        self.exist && !self.mixed
    }

    /// Whether rows of several episodes are interleaved.
    pub fn are_mixed(&self) -> bool {
        self.mixed
    }
}
