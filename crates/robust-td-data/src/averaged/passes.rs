//! Makes the passes of an average of learners, in parts: see [`crate::elsewhere`].

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Learner, LinearValue};
use robust_td_core::registry::AnyLearner;
use robust_td_core::sealed;
use serde::{Deserialize, Serialize};

use super::Spreads;
use super::learn::{Outcome, learn};
use crate::assess::Sums;
use crate::chunks::for_each_chunk;
use crate::elsewhere::misfit::{
    another_pass, check_pass, if_it_fits, misfit, missing_part, wrong_order,
};
use crate::elsewhere::tasks::{List, Shards, Task};
use crate::elsewhere::{Description, Fitted, seal, unseal};
use crate::error::Result;
use crate::fold::Fold;
use crate::reading::Reading;
use crate::replay::{Elsewhere, Replay};
use crate::solved::gather::Plan;
use crate::solved::unit::Unit;

/// A pass over a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    pub log: Reading,
    map: FeatureMap,
    discount: f64,
    episodic: bool,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    transitions: u64,
    pass: Pass,
}

/// What is computed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Pass {
    /// The largest norm of the features, squared.
    Norms,
    /// The answers of learners.
    Learn {
        /// A learner before its first transition.
        learner: Box<AnyLearner>,
        #[serde(with = "robust_td_core::exact_float")]
        phi_inf: f64,
        /// Whether learners take whole episodes.
        whole: bool,
    },
    /// The equations of the log at an answer.
    Assess {
        #[serde(with = "robust_td_core::exact_float")]
        theta: Vec<f64>,
        #[serde(with = "robust_td_core::exact_float")]
        offset: f64,
        /// Changes of the answer that are as likely as its error, and of its offset.
        #[serde(with = "robust_td_core::exact_float")]
        changes: Vec<f64>,
        #[serde(with = "robust_td_core::exact_float")]
        offsets: Vec<f64>,
    },
}

/// The number of transitions, and the largest norm of their features, squared.
type Norms = (u64, f64);

impl Described {
    pub fn new(log: Reading, plan: &Plan<'_>, pass: Pass) -> Self {
        Self {
            log,
            map: plan.map.clone(),
            discount: plan.discount,
            episodic: plan.episodic,
            transitions: plan.transitions,
            pass,
        }
    }

    /// What it is, for messages and checkpoints.
    pub fn name(&self) -> &'static str {
        match self.pass {
            Pass::Norms => "norms",
            Pass::Learn { .. } => "learn",
            Pass::Assess { .. } => "assess",
        }
    }

    fn plan(&self, threads: usize) -> Plan<'_> {
        Plan {
            map: &self.map,
            discount: self.discount,
            unit: Unit::Time,
            episodic: self.episodic,
            interleaved: false,
            transitions: self.transitions,
            holds_out: false,
            checks: false,
            threads,
            limit: None,
        }
    }

    /// Refuses a pass that does not fit its map.
    fn check(&self) -> Result<()> {
        let d = self.map.outputs();
        let whole = match &self.pass {
            Pass::Norms => true,
            Pass::Learn { learner, .. } => learner.dimension() == d && learner.steps() == 0,
            Pass::Assess {
                theta,
                changes,
                offsets,
                ..
            } => theta.len() == d && changes.len() == d * offsets.len(),
        };
        check_pass(whole, d)
    }

    /// The state of a task.
    ///
    /// # Errors
    /// Those of reading, and a task of another pass.
    pub fn compute(&self, job: sealed::Job, task: &Task, threads: usize) -> Result<Vec<u8>> {
        self.check()?;
        let mut log = self.log.log()?;
        Ok(match (&self.pass, task) {
            (Pass::Norms, Task::Node { mark, .. }) => {
                let replay = &mut Replay::of_node(&mut log, *mark, threads);
                seal(job, &norms(replay, &self.plan(threads))?)
            }
            (
                Pass::Learn {
                    learner,
                    phi_inf,
                    whole,
                },
                Task::Shard { shard, .. },
            ) => {
                let (mark, end) = (shard.mark, shard.end);
                let replay = &mut Replay::of_transitions(&mut log, mark, end, threads);
                let learner = AnyLearner::clone(learner);
                let found = learn(
                    replay,
                    &self.plan(threads),
                    (shard, *whole),
                    (learner, *phi_inf),
                )?;
                seal(job, &vec![found])
            }
            (
                Pass::Assess {
                    theta,
                    offset,
                    changes,
                    offsets,
                },
                Task::Node { mark, .. },
            ) => {
                let of = |theta: &[f64], offset: &f64| LinearValue {
                    theta: theta.to_vec(),
                    offset: *offset,
                };
                let rows = changes.chunks_exact(theta.len().max(1));
                let changes: Vec<_> = rows.zip(offsets).map(|(x, y)| of(x, y)).collect();
                let at = (&of(theta, offset), &changes[..]);
                let replay = &mut Replay::of_node(&mut log, *mark, threads);
                seal(job, &assess(replay, &self.plan(threads), at)?)
            }
            _ => return Err(another_pass()),
        })
    }

    /// Merges states.
    ///
    /// # Errors
    /// States that do not fit, or in another order.
    pub fn merge<'a>(
        &self,
        job: sealed::Job,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>> {
        self.check()?;
        match &self.pass {
            Pass::Norms => {
                let mut all: Norms = (0, 0.0);
                for state in states {
                    let (count, largest) = self.norms(job, state)?;
                    all = (all.0 + count, all.1.max(largest));
                }
                Ok(seal(job, &all))
            }
            Pass::Learn { .. } => {
                let mut all: Vec<Outcome> = Vec::new();
                for state in states {
                    let next = self.outcomes(job, state)?;
                    let follows = |last: &Outcome| {
                        (next.first()).is_some_and(|first| first.shard == last.shard + 1)
                    };
                    if !all.last().is_none_or(follows) {
                        return Err(wrong_order());
                    }
                    all.extend(next);
                }
                Ok(seal(job, &all))
            }
            Pass::Assess { .. } => {
                let parts = states.map(|state| self.sums(job, state));
                Ok(seal(job, &Fold::of_parts(parts)?))
            }
        }
    }

    fn norms(&self, job: sealed::Job, state: &[u8]) -> Result<Norms> {
        unseal(job, state)
    }

    fn outcomes(&self, job: sealed::Job, state: &[u8]) -> Result<Vec<Outcome>> {
        let all: Vec<Outcome> = unseal(job, state)?;
        let d = self.map.outputs();
        let consecutive = |pair: &[Outcome]| pair[0].shard + 1 == pair[1].shard;
        let fits = all.iter().all(|one| one.fits(d)) && all.windows(2).all(consecutive);
        if_it_fits(all, fits)
    }

    fn sums(&self, job: sealed::Job, state: &[u8]) -> Result<Fold<Sums>> {
        let fold: Fold<Sums> = unseal(job, state)?;
        let fits = fold.nodes().all(|sums| sums.fits(&self.map));
        if_it_fits(fold, fits)
    }
}

/// The largest norm over a node.
fn norms(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<Norms> {
    let mut all: Norms = (0, 0.0);
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut largest = 0.0_f64;
            chunk.for_each(plan.map, |placed| {
                let next = placed.transition.outcome.next_features();
                let next = next.map_or(0.0, |next| next.norm_sq());
                largest = largest.max(placed.transition.features.norm_sq()).max(next);
            });
            (chunk.transitions, largest)
        },
        |(count, largest)| {
            all = (all.0 + count, all.1.max(largest));
            Ok(())
        },
    )?;
    Ok(all)
}

/// The sums over a node at an answer, and for changes of it.
fn assess(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    (value, changes): (&LinearValue, &[LinearValue]),
) -> Result<Fold<Sums>> {
    let mut fold = Fold::default();
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut sums = Sums::new(plan.map.outputs());
            chunk.for_each(plan.map, |placed| {
                sums.add(placed, plan, value, false);
                sums.add_changes(placed, plan.discount, changes);
            });
            sums
        },
        |sums| {
            fold.push(sums);
            Ok(())
        },
    )?;
    Ok(fold)
}

/// Runs a pass elsewhere; returns its description and the merged state.
fn run(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    pass: Pass,
    list: impl FnOnce(&Elsewhere<'_>) -> List,
) -> Result<(Described, sealed::Job, Vec<u8>)> {
    let Some((elsewhere, log)) = replay.parts() else {
        return Err(misfit("there is nothing to compute them"));
    };
    let described = Described::new(log, plan, pass);
    let list = list(elsewhere);
    let (job, state) =
        Description::Averaged(&described).run(elsewhere, &Fitted::default(), list)?;
    Ok((described, job, state))
}

/// The largest norm of the features of a log.
///
/// # Errors
/// Those of the engine, and states that do not fit.
pub(crate) fn largest_norm(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<f64> {
    let nodes = |elsewhere: &Elsewhere<'_>| List::Nodes(elsewhere.places.clone());
    let (described, job, state) = run(replay, plan, Pass::Norms, nodes)?;
    let (count, largest) = described.norms(job, &state)?;
    match count == plan.transitions {
        true => Ok(largest.sqrt()),
        false => Err(missing_part()),
    }
}

/// What this number of learners learn from a log.
///
/// # Errors
/// Those of the engine, and states that do not fit.
pub(crate) fn outcomes(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    pass: Pass,
    count: u64,
) -> Result<Vec<Outcome>> {
    let shards = Shards {
        count,
        transitions: plan.transitions,
        whole: matches!(pass, Pass::Learn { whole: true, .. }),
    };
    let list = |elsewhere: &Elsewhere<'_>| List::Shards(elsewhere.places.clone(), shards);
    let (described, job, state) = run(replay, plan, pass, list)?;
    let all = described.outcomes(job, &state)?;
    let steps: u64 = all.iter().map(|one| one.steps).sum();
    let whole = all.len() as u64 == count && all.first().is_none_or(|one| one.shard == 0);
    match whole && steps == plan.transitions {
        true => Ok(all),
        false => Err(missing_part()),
    }
}

/// The sums over a log at an answer.
///
/// # Errors
/// Those of the engine, and states that do not fit.
pub(crate) fn sums(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    value: &LinearValue,
    spread: &Spreads,
) -> Result<Sums> {
    let (changes, offsets) = spread.changes();
    let pass = Pass::Assess {
        theta: value.theta.clone(),
        offset: value.offset,
        changes,
        offsets,
    };
    let nodes = |elsewhere: &Elsewhere<'_>| List::Nodes(elsewhere.places.clone());
    let (described, job, state) = run(replay, plan, pass, nodes)?;
    let sums = described.sums(job, &state)?.finish();
    let sums = sums.filter(|sums| sums.count == plan.transitions);
    sums.ok_or_else(missing_part)
}
