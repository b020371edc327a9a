//! Processes a log in chunks on several threads, with results that do not depend on their number.
//!
//! A chunk is a fixed number of consecutive transitions, whatever the files, batches and threads. Threads process chunks
//! independently; the caller receives the results in the order of the log.

use std::ops::ControlFlow;
use std::sync::Arc;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Features, Transition};

use crate::actions::Choice;
use crate::batch::Batch;
use crate::error::Result;
use crate::feature_rows::FeatureRows;
use crate::mark::Approach;
use crate::monitor::Monitor;
use crate::ordered::in_order;
use crate::pairing::{Pairing, Step};
use crate::policy_rows::PolicyRows;
use crate::replay::Replay;
use crate::schema::Schema;
use crate::solved::gather::Plan;

/// The number of transitions in a chunk that is visited on one thread.
const ALONE: u64 = 16_384;

/// Consecutive transitions of a log.
#[derive(Default)]
pub(crate) struct Chunk {
    schema: Arc<Schema>,
    batches: Vec<Arc<Batch>>,
    /// The first row in the first batch.
    from: usize,
    /// The state of pairing before that row.
    pairing: Pairing,
    /// The number of transitions, and of those before.
    pub transitions: u64,
    pub before: u64,
    /// Stops the visit of its transitions.
    monitor: Monitor,
}

/// A transition of a chunk, with its place in the log.
pub(crate) struct Placed<'a> {
    /// The transition.
    pub transition: Transition<'a>,
    /// The observation before it; for a policy that was not followed, with the weights of its actions there.
    pub obs: &'a [f64],
    /// The features of that, unless they are those of the transition.
    own: Option<Features<'a>>,
    /// The importance ratio of the row.
    pub ratio: f64,
    /// The action and the policy, if the policy was not followed.
    pub choice: Option<Choice<'a>>,
    /// Its number in the log, from 0.
    pub number: u64,
    /// The number of its episode, or of its part of a log without episodes, from 0.
    pub run: u64,
    /// Whether no transition leads to it.
    pub restarts: bool,
    /// Whether it is the first of its episode: no transition leads to it, and not because rows before it are missing.
    pub starts: bool,
    batch: &'a Batch,
    row: usize,
}

impl<'a> Placed<'a> {
    /// The features of its observation: those of the transition, unless the policy was not followed.
    pub fn own(&self) -> &Features<'a> {
        self.own.as_ref().unwrap_or(&self.transition.features)
    }

    /// The cluster that the user named.
    pub fn cluster(&self) -> u64 {
        self.batch.clusters[self.row]
    }
}

impl Chunk {
    /// Visits the transitions in order, until the work is cancelled.
    pub fn for_each(&self, map: &FeatureMap, mut visit: impl FnMut(&Placed<'_>)) {
        let mut map = map.clone();
        let mut rows = FeatureRows::for_map(&map);
        let mut policy = PolicyRows::for_map(&map);
        let (mut pairing, mut from) = (self.pairing.clone(), self.from);
        let mut left = self.transitions;
        let has_actions = !map.actions().is_empty();
        for batch in &self.batches {
            if left == 0 || self.monitor.is_cancelled() {
                return;
            }
            rows.start_batch(&map, batch);
            pairing.push(&self.schema, batch, from, |step: Step<'_>| {
                let (transition, obs, own) = match &mut policy {
                    // The value of an action does not depend on how often it is taken.
                    Some(policy) => {
                        let (transition, obs, own) = policy.of(&map, &step);
                        (transition, obs, Some(own))
                    }
                    None => {
                        let (features, outcome) = rows.of(&mut map, batch, &step);
                        let transition = Transition {
                            features,
                            reward: step.reward,
                            outcome,
                            ratio: step.ratio,
                        };
                        (transition, step.obs, None)
                    }
                };
                visit(&Placed {
                    transition,
                    obs,
                    own,
                    ratio: step.ratio,
                    choice: has_actions.then(|| step.choice()),
                    number: self.before + self.transitions - left,
                    run: step.run,
                    restarts: step.restart,
                    starts: step.starts_episode(),
                    batch,
                    row: step.row,
                });
                left -= 1;
                match left {
                    0 => ControlFlow::Break(()),
                    _ if self.monitor.is_cancelled() => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            from = 0;
        }
    }
}

/// The rows and transitions of a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PassCounts {
    pub rows: u64,
    pub transitions: u64,
    pub left_out: u64,
    /// Episodes, as far as the log shows their first rows.
    pub runs: u64,
}

impl PassCounts {
    /// What pairing counted.
    pub fn of(pairing: &Pairing) -> Self {
        Self {
            rows: pairing.rows(),
            transitions: pairing.transitions(),
            left_out: pairing.without_transition(),
            runs: pairing.runs(),
        }
    }
}

/// Calls `work` for every chunk of the log on the plan's threads, and `take` with the results, in order.
///
/// # Errors
/// Those of reading and of `take`.
pub(crate) fn for_each_chunk<T: Send>(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    work: impl Fn(&Chunk) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<PassCounts> {
    let (threads, limit) = (plan.threads, plan.limit);
    let length = plan.chunk_length();
    let monitor = replay.monitor().clone();
    let counts = in_order(
        threads,
        |send| cut(replay, length, limit, send),
        |chunk| work(&chunk),
        take,
    )?;
    // Visits that were cut short are not results.
    monitor.check()?;
    Ok(counts)
}

/// Visits the first `limit` transitions in order, on this thread.
///
/// # Errors
/// Those of reading.
pub(crate) fn for_each_transition(
    replay: &mut Replay<'_>,
    map: &FeatureMap,
    limit: Option<u64>,
    mut visit: impl FnMut(&Placed<'_>),
) -> Result<PassCounts> {
    cut(replay, ALONE, limit, |chunk| {
        chunk.for_each(map, &mut visit);
        Ok(())
    })
}

/// Cuts a log into chunks.
fn cut(
    replay: &mut Replay<'_>,
    length: u64,
    limit: Option<u64>,
    mut take: impl FnMut(Chunk) -> Result<()>,
) -> Result<PassCounts> {
    let mark = replay.mark().copied();
    let mut approach = mark.map(Approach::new);
    let limit = match &mark {
        Some(_) => replay.end(),
        None => limit.unwrap_or(u64::MAX),
    };
    let mut pairing = Pairing::default();
    let monitor = replay.monitor().clone();
    let mut chunk = Chunk {
        before: mark.map_or(0, |mark| mark.start),
        monitor: monitor.clone(),
        ..Chunk::default()
    };
    replay.for_each(|schema, batch| {
        if chunk.schema.as_ref() != schema {
            chunk.schema = Arc::new(schema.clone());
        }
        let mut from = mark.as_ref().map_or(0, |mark| mark.first(batch));
        if from < batch.len()
            && let Some(way) = &mut approach
        {
            let Some(start) = way.advance(&mut pairing, schema, batch, from) else {
                return Ok(ControlFlow::Continue(()));
            };
            (from, approach) = (start, None);
        }
        if from == batch.len() && from > 0 {
            return Ok(ControlFlow::Continue(()));
        }
        loop {
            if chunk.batches.is_empty() {
                chunk.from = from;
                chunk.pairing = pairing.fork();
            }
            chunk.batches.push(batch.clone());
            let most = length.min(limit - chunk.before);
            let here = &mut chunk.transitions;
            from = pairing.push(schema, batch, from, |_| {
                *here += 1;
                match *here == most {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            if chunk.transitions < most {
                return Ok(ControlFlow::Continue(()));
            }
            let next = Chunk {
                schema: chunk.schema.clone(),
                before: chunk.before + chunk.transitions,
                monitor: monitor.clone(),
                ..Chunk::default()
            };
            chunk.pairing.load(pairing.noted());
            let whole = std::mem::replace(&mut chunk, next);
            take(whole)?;
            if chunk.before == limit {
                return Ok(ControlFlow::Break(()));
            }
        }
    })?;
    if chunk.transitions > 0 {
        chunk.pairing.load(pairing.noted());
        take(chunk)?;
    }
    monitor.check()?;
    Ok(PassCounts::of(&pairing))
}
