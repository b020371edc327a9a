//! Processes a log in chunks on several threads, with results that do not depend on their number.
//!
//! A chunk is a fixed number of consecutive transitions, whatever the files, batches and threads. Threads process chunks
//! independently; the caller receives the results in the order of the log.

use std::ops::{ControlFlow, Range};
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
use crate::pairing::{Count, Pairing, Step, StepSink, Stretch};
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

/// Consecutive transitions of one episode and one cluster with dense features; each continues the one before it, none ends an episode,
/// and none has an action.
pub(crate) struct Run<'a> {
    /// The features of their observations and of the next ones, row by row.
    pub phi: &'a [f64],
    pub next: &'a [f64],
    /// Whether the latter are those of the transitions that follow.
    is_sequence: bool,
    pub rewards: &'a [f64],
    pub ratios: &'a [f64],
    /// The observations, row by row.
    pub obs: &'a [f64],
    /// The number of the first in the log, from 0.
    pub number: u64,
    /// The number of their episode.
    pub episode: u64,
    pub cluster: u64,
}

impl<'a> Run<'a> {
    /// The number of transitions.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Transitions that are all the same but for their numbers.
    #[cfg(test)]
    pub fn of_numbers(numbers: &'a [f64], number: u64) -> Self {
        Self {
            phi: numbers,
            next: numbers,
            is_sequence: true,
            rewards: numbers,
            ratios: numbers,
            obs: numbers,
            number,
            episode: 3,
            cluster: 5,
        }
    }

    /// The transitions one by one.
    pub fn transitions(&self) -> impl Iterator<Item = Transition<'a>> {
        let each = self.phi.len() / self.len().max(1);
        let features = self
            .phi
            .chunks_exact(each)
            .zip(self.next.chunks_exact(each));
        let numbers = self.rewards.iter().zip(self.ratios);
        features.zip(numbers).map(|((phi, next), (reward, ratio))| {
            Transition::new(phi, *reward, next).with_ratio(*ratio)
        })
    }

    /// The features of next observations that are not those of the transitions that follow.
    pub fn own_next(&self, dimension: usize) -> impl Iterator<Item = &'a [f64]> {
        let first = match self.is_sequence {
            true => self.next.len() - dimension,
            false => 0,
        };
        self.next[first..].chunks_exact(dimension)
    }

    /// Replaces the values phi.theta by those of the observations, and of the next ones.
    pub fn values(&self, theta: &[f64], [here, next]: [&mut Vec<f64>; 2]) {
        let value = |phi: &[f64]| Features::Dense(phi).dot(theta);
        here.clear();
        here.extend(self.phi.chunks_exact(theta.len()).map(value));
        next.clear();
        if self.is_sequence {
            next.extend_from_slice(here.get(1..).unwrap_or_default());
        }
        next.extend(self.own_next(theta.len()).map(value));
    }

    /// Some of them.
    pub fn part(&self, rows: Range<usize>) -> Self {
        let of = |all: &'a [f64]| {
            let each = all.len() / self.len().max(1);
            &all[rows.start * each..rows.end * each]
        };
        Self {
            phi: of(self.phi),
            next: of(self.next),
            rewards: of(self.rewards),
            ratios: of(self.ratios),
            obs: of(self.obs),
            number: self.number + rows.start as u64,
            ..*self
        }
    }

    /// Calls `take` with the longest parts in which `of` the number in the log is the same. It must not return to a value that it had: for
    /// most runs only both ends are looked at.
    pub fn split<T: PartialEq>(&self, of: impl Fn(u64) -> T, mut take: impl FnMut(T, &Self)) {
        let mut start = 0;
        while start < self.len() {
            let at = |row: usize| of(self.number + row as u64);
            let (value, last) = (at(start), self.len() - 1);
            let end = match at(last) == value {
                true => self.len(),
                false => (start..last).find(|&row| at(row) != value).unwrap_or(last),
            };
            take(value, &self.part(start..end));
            start = end;
        }
    }
}

/// What receives the transitions of a chunk, in order.
pub(crate) trait TransitionSink {
    /// Takes one.
    fn one(&mut self, placed: &Placed<'_>);
    /// Takes several.
    fn run(&mut self, run: &Run<'_>);
}

/// A function of single transitions.
struct OneByOne<F>(F);

impl<F: FnMut(&Placed<'_>)> TransitionSink for OneByOne<F> {
    #[inline(always)]
    fn one(&mut self, placed: &Placed<'_>) {
        (self.0)(placed);
    }

    fn run(&mut self, _: &Run<'_>) {}
}

impl Chunk {
    /// Visits the transitions in order, until the work is cancelled.
    pub fn for_each(&self, map: &FeatureMap, visit: impl FnMut(&Placed<'_>)) {
        self.walk(map, &mut OneByOne(visit), false);
    }

    /// As [`for_each`](Self::for_each), to a sink, with several transitions at a time where nothing distinguishes them.
    pub fn send_to(&self, map: &FeatureMap, sink: &mut impl TransitionSink) {
        self.walk(map, sink, true);
    }

    fn walk(&self, map: &FeatureMap, sink: &mut impl TransitionSink, together: bool) {
        let rows = FeatureRows::for_map(map);
        let policy = PolicyRows::for_map(map);
        let has_actions = !map.actions().is_empty();
        let most = match together && policy.is_none() && !has_actions {
            true => rows.most_together(map),
            false => 0,
        };
        let mut walk = Walk {
            chunk: self,
            map: map.clone(),
            rows,
            policy,
            has_actions,
            most,
            left: self.transitions,
            batch: &Batch::default(),
            sink,
        };
        let (mut pairing, mut from) = (self.pairing.clone(), self.from);
        for batch in &self.batches {
            if walk.left == 0 || self.monitor.is_cancelled() {
                return;
            }
            walk.batch = batch;
            walk.rows.start_batch(map, batch);
            pairing.push_to(&self.schema, batch, from, &mut walk);
            from = 0;
        }
    }
}

/// A visit of the transitions of a chunk.
struct Walk<'a, S> {
    chunk: &'a Chunk,
    map: FeatureMap,
    rows: FeatureRows,
    policy: Option<PolicyRows>,
    has_actions: bool,
    /// The maximum number of transitions in a run; 0 for one by one.
    most: usize,
    /// The number of transitions still to visit.
    left: u64,
    batch: &'a Batch,
    sink: &'a mut S,
}

impl<S: TransitionSink> Walk<'_, S> {
    /// The number of the next transition.
    #[inline(always)]
    fn number(&self) -> u64 {
        self.chunk.before + self.chunk.transitions - self.left
    }

    #[inline(always)]
    fn goes_on(&self) -> ControlFlow<()> {
        match self.left == 0 || self.chunk.monitor.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl<S: TransitionSink> StepSink for Walk<'_, S> {
    #[inline(always)]
    fn most(&self) -> usize {
        match self.most {
            0 => 0,
            _ => usize::try_from(self.left).unwrap_or(usize::MAX),
        }
    }

    #[inline(always)]
    fn step(&mut self, step: Step<'_>) -> ControlFlow<()> {
        let number = self.number();
        let (transition, obs, own) = match &mut self.policy {
            // The value of an action does not depend on how often it is taken.
            Some(policy) => {
                let (transition, obs, own) = policy.of(&self.map, &step);
                (transition, obs, Some(own))
            }
            None => {
                let (features, outcome) = self.rows.of(&mut self.map, self.batch, &step);
                let transition = Transition {
                    features,
                    reward: step.reward,
                    outcome,
                    ratio: step.ratio,
                };
                (transition, step.obs, None)
            }
        };
        self.sink.one(&Placed {
            transition,
            obs,
            own,
            ratio: step.ratio,
            choice: self.has_actions.then(|| step.choice()),
            number,
            run: step.run,
            restarts: step.restart,
            starts: step.starts_episode(),
            batch: self.batch,
            row: step.row,
        });
        self.left -= 1;
        self.goes_on()
    }

    fn stretch(&mut self, stretch: Stretch) -> ControlFlow<()> {
        let (batch, d) = (self.batch, self.batch.dimension());
        let mut rows = stretch.rows.clone();
        while !rows.is_empty() {
            let end = rows.end.min(rows.start + self.most);
            let own = rows.start..end;
            rows.start = end;
            let number = self.number();
            let (phi, next) = self.rows.of_stretch(&self.map, batch, own.clone());
            self.sink.run(&Run {
                phi,
                next,
                is_sequence: batch.next_obs.is_empty(),
                rewards: &batch.rewards[own.clone()],
                ratios: &batch.ratios[own.clone()],
                obs: &batch.obs[own.start * d..own.end * d],
                number,
                episode: stretch.run,
                cluster: batch.clusters[stretch.cluster_row],
            });
            self.left -= own.len() as u64;
        }
        self.goes_on()
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
    let (length, limit) = (plan.chunk_length(), plan.limit);
    let rows = length.min(plan.transitions);
    let values = rows.saturating_mul(plan.map.inputs() as u64);
    let threads = replay.threads_for(values, plan.threads);
    // The sums of a chunk are at most those of dense equations.
    let sums = (plan.map.outputs() as u64).saturating_pow(2);
    let bytes = values.saturating_add(sums).saturating_mul(8);
    let monitor = replay.monitor().clone();
    let counts = in_order(
        threads,
        |_| bytes,
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
            let mut count = Count {
                count: chunk.transitions,
                limit: most,
            };
            from = pairing.push_to(schema, batch, from, &mut count);
            chunk.transitions = count.count;
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
