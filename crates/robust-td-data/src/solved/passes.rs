//! Makes the passes over a log in parts, on whatever machines there are.
//!
//! After the first pass over the files, each further one is a small description, a fixed list of tasks, one per node of the log (see
//! [`crate::fold`]), a state per task, and states that are merged in the order of the log. A state holds sums, not rows. What one machine
//! computes with threads are the same nodes, merged in the same tree: the same bits.

use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::learner::LinearValue;
use robust_td_core::sealed::{self, Kind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::direct::{DenseScores, Scored};
use super::gather::{Dense, Gathered, Plan};
use super::scores::{At, Job};
use super::unit::{Groups, Unit};
use crate::error::{Error, Result};
use crate::fold::{Fold, Merge};
use crate::mark::Mark;
use crate::reading::Reading;
use crate::replay::{Elsewhere, Replay};
use crate::returns::{self, Checked, Predicts};

const DESCRIPTION: Kind = Kind(b"pass    ");
const TASK: Kind = Kind(b"node    ");
const STATE: Kind = Kind(b"state   ");

/// What computes the tasks of a job, in any order, and merges their states in the order of the tasks.
///
/// A state is merged with [`merge_states`], consecutive tasks first, in groups of 64: other groups are refused.
pub trait Engine {
    /// The merged state of all tasks of a job, with a name for messages.
    ///
    /// # Errors
    /// Those of [`compute_task`], and those of the engine.
    fn run(
        &mut self,
        name: &'static str,
        description: Vec<u8>,
        tasks: Vec<Vec<u8>>,
    ) -> Result<Vec<u8>>;
}

/// A pass over a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    log: Reading,
    map: FeatureMap,
    discount: f64,
    unit: Unit,
    episodic: bool,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    transitions: u64,
    holds_out: bool,
    checks: bool,
    pass: Pass,
}

/// A node of the log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    mark: Mark,
    /// The last file that it has rows of.
    last: usize,
}

impl Task {
    fn read(job: sealed::Job, bytes: &[u8]) -> Result<Self> {
        let json: String = sealed::open(TASK, job, bytes)?;
        parsed(&json)
    }
}

/// What is computed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Pass {
    /// The equations.
    Equations,
    /// The scores at their solution.
    Scores {
        #[serde(with = "robust_td_core::exact_float")]
        theta: Vec<f64>,
        #[serde(with = "robust_td_core::exact_float")]
        start_features: Vec<f64>,
        #[serde(deserialize_with = "robust_td_core::count::read")]
        starts: u64,
        identified: Identified,
        groups: Groups,
    },
    /// Returns against predictions.
    Check {
        #[serde(with = "robust_td_core::exact_float")]
        theta: Vec<f64>,
        identified: Option<Identified>,
        #[serde(with = "robust_td_core::exact_float")]
        all: Vec<f64>,
        #[serde(with = "robust_td_core::exact_float")]
        edges: Vec<f64>,
    },
}

impl Pass {
    /// What it is, for messages and checkpoints.
    fn name(&self) -> &'static str {
        match self {
            Self::Equations => "equations",
            Self::Scores { .. } => "scores",
            Self::Check { .. } => "returns",
        }
    }
}

/// Runs a pass elsewhere, for a plan; returns what the nodes of the log give.
///
/// # Errors
/// Those of the engine, and states that do not fit.
pub(super) fn run<T: State>(
    elsewhere: &mut Elsewhere<'_>,
    log: Reading,
    plan: &Plan<'_>,
    pass: Pass,
) -> Result<Fold<T>> {
    let described = Described {
        log,
        map: plan.map.clone(),
        discount: plan.discount,
        unit: plan.unit,
        episodic: plan.episodic,
        transitions: plan.transitions,
        holds_out: plan.holds_out,
        checks: plan.checks,
        pass,
    };
    let description = sealed::seal(DESCRIPTION, sealed::Job::NONE, &text(&described)?);
    let job = sealed::Job::of(&description);
    let marks = &elsewhere.marks;
    let ends = marks.iter().skip(1).map(|next| next.file);
    let ends = ends.chain([described.log.files.len().saturating_sub(1)]);
    let tasks = marks.iter().zip(ends).map(|(mark, last)| {
        let mark = mark.clone();
        Ok(sealed::seal(TASK, job, &text(&Task { mark, last })?))
    });
    let tasks = tasks.collect::<Result<Vec<_>>>()?;
    let name = described.pass.name();
    let state = elsewhere.engine.run(name, description, tasks)?;
    open(&described, job, &state)
}

/// Compares returns with predictions elsewhere.
///
/// # Errors
/// As [`run`].
pub(crate) fn check(
    elsewhere: &mut Elsewhere<'_>,
    log: Reading,
    plan: &Plan<'_>,
    predicts: &Predicts<'_>,
    mut edges: Vec<Vec<f64>>,
) -> Result<Fold<Vec<Checked>>> {
    let pass = Pass::Check {
        theta: predicts.value.theta.clone(),
        identified: predicts.identified.cloned(),
        all: predicts.all.theta.clone(),
        edges: edges.pop().unwrap_or_default(),
    };
    run(elsewhere, log, plan, pass)
}

/// Plain data as JSON: models are saved so, too, to the bit.
fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| misfit(error.to_string()))
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| misfit(error.to_string()))
}

fn misfit(message: String) -> Error {
    Error::Parts { message }
}

/// What a chunk gives, as a state.
pub(super) trait State: Merge + Serialize + DeserializeOwned {
    /// Whether its sizes are those of the pass.
    fn fits(&self, map: &FeatureMap, pass: &Pass, holds_out: bool) -> bool;
}

impl State for Vec<Gathered<Dense>> {
    fn fits(&self, map: &FeatureMap, _: &Pass, holds_out: bool) -> bool {
        matches!(&self[..], [one] if one.fits(map.outputs(), map.inputs(), holds_out))
    }
}

impl State for Vec<Scored> {
    fn fits(&self, map: &FeatureMap, pass: &Pass, _: bool) -> bool {
        let Pass::Scores { groups, .. } = pass else {
            return false;
        };
        matches!(&self[..], [one] if one.fits(groups.count(), map.outputs()))
    }
}

impl State for Vec<Checked> {
    fn fits(&self, _: &FeatureMap, pass: &Pass, _: bool) -> bool {
        let Pass::Check { edges, .. } = pass else {
            return false;
        };
        matches!(&self[..], [one] if one.fits(edges.len() + 1))
    }
}

fn open<T: State>(described: &Described, job: sealed::Job, bytes: &[u8]) -> Result<Fold<T>> {
    let fold: Fold<T> = sealed::open(STATE, job, bytes)?;
    let Described {
        map,
        pass,
        holds_out,
        ..
    } = described;
    let fits = fold.nodes().all(|node| node.fits(map, pass, *holds_out));
    match fits {
        true => Ok(fold),
        false => Err(misfit(
            "the sizes of a state are not those of its pass".to_owned(),
        )),
    }
}

/// Reads a description.
fn described(description: &[u8]) -> Result<(Described, sealed::Job)> {
    let json: String = sealed::open(DESCRIPTION, sealed::Job::NONE, description)?;
    let described: Described = parsed(&json)?;
    let d = described.map.outputs();
    let whole = match &described.pass {
        Pass::Equations => true,
        Pass::Scores {
            theta,
            start_features,
            identified,
            ..
        } => theta.len() == d && start_features.len() == d && identified.fits(d),
        Pass::Check {
            theta,
            identified,
            all,
            ..
        } => {
            let known = identified.as_ref().is_none_or(|known| known.fits(d));
            theta.len() == d && all.len() == d && known
        }
    };
    match whole {
        true => Ok((described, sealed::Job::of(description))),
        false => Err(misfit(format!(
            "a pass does not fit its map of {d} features"
        ))),
    }
}

/// Computes the state of a task of a job, with this number of threads.
///
/// # Errors
/// Bytes that are damaged or of another version, and those of reading the files.
pub fn compute_task(description: &[u8], task: &[u8], threads: usize) -> Result<Vec<u8>> {
    let (described, job) = described(description)?;
    let task = Task::read(job, task)?;
    described.log.check_sizes(task.mark.file..=task.last)?;
    let mut log = described.log.log()?;
    let replay = &mut Replay::of_node(&mut log, task.mark, threads);
    let plan = Plan {
        map: &described.map,
        discount: described.discount,
        unit: described.unit,
        episodic: described.episodic,
        interleaved: false,
        transitions: described.transitions,
        holds_out: described.holds_out,
        checks: described.checks,
        threads,
        limit: None,
    };
    Ok(match &described.pass {
        Pass::Equations => {
            let (fold, _) = Gathered::<Dense>::fold(replay, &[plan])?;
            sealed::seal(STATE, job, &fold)
        }
        Pass::Scores {
            theta,
            start_features,
            starts,
            identified,
            groups,
        } => {
            let scoring = DenseScores::new(groups.count(), theta.len());
            let at = At {
                theta,
                start_features,
                starts: *starts,
                identified,
            };
            let job_here = Job {
                plan: &plan,
                groups,
                at,
                scoring: &scoring,
            };
            sealed::seal(STATE, job, &Scored::fold(replay, &[job_here])?)
        }
        Pass::Check {
            theta,
            identified,
            all,
            edges,
        } => {
            let value = |theta: &Vec<f64>| LinearValue {
                theta: theta.clone(),
                offset: 0.0,
            };
            let predicts = Predicts {
                value: value(theta),
                identified: identified.as_ref(),
                all: value(all),
            };
            let edges = std::slice::from_ref(edges);
            sealed::seal(
                STATE,
                job,
                &returns::fold(replay, &[(plan, predicts)], edges)?,
            )
        }
    })
}

/// The files that a task reads.
///
/// # Errors
/// Bytes that are damaged or of another version.
pub fn task_files(description: &[u8], task: &[u8]) -> Result<Vec<String>> {
    let (described, job) = described(description)?;
    let Task { mark, last } = Task::read(job, task)?;
    let files = described.log.files.into_iter().enumerate();
    let files = files.filter(|(k, _)| (mark.file..=last).contains(k));
    Ok(files.map(|(_, file)| file).collect())
}

/// Merges the states of consecutive tasks of a job: of up to 64 of them, or of such groups.
///
/// # Errors
/// When a state is damaged, of another job or out of order.
pub fn merge_states<'a>(
    description: &[u8],
    states: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>> {
    let (described, job) = described(description)?;
    let states = states.into_iter();
    match &described.pass {
        Pass::Equations => merged::<Vec<Gathered<Dense>>>(&described, job, states),
        Pass::Scores { .. } => merged::<Vec<Scored>>(&described, job, states),
        Pass::Check { .. } => merged::<Vec<Checked>>(&described, job, states),
    }
}

fn merged<'a, T: State>(
    described: &Described,
    job: sealed::Job,
    states: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<u8>> {
    let mut all = Fold::<T>::default();
    for state in states {
        all.append(open(described, job, state)?)?;
    }
    Ok(sealed::seal(STATE, job, &all))
}
