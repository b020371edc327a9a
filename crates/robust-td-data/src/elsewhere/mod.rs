//! Makes the passes over a log in parts, on whatever machines there are.
//!
//! A pass is a small description, a fixed list of tasks, a state per task, and states that are merged in the order of the log. A state holds sums,
//! not rows. What one machine computes with threads are the same parts, merged in the same tree: the same bits.
//!
//! | pass | a task is | its state |
//! |---|---|---|
//! | `rows` | up to 16 files | the number of rows of each |
//! | `survey` | 262,144 rows of the log | what the first pass over a log finds: see [`crate::survey`] |
//! | `fit` | the same | sums for a later stage of a feature map |
//! | `equations`, `scores`, `returns` | a node of 262,144 transitions | sums: see [`crate::solved::passes`] |
//! | `norms`, `assess` | the same | sums: see [`crate::averaged`] |
//! | `learn` | the shard of one learner | its answer |

pub(crate) mod first;
pub(crate) mod misfit;
pub(crate) mod tasks;
pub(crate) mod threads;

use std::sync::Arc;

use robust_td_core::features::FittingPart;
use robust_td_core::sealed::{self, Kind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::averaged;
use crate::error::Result;
use crate::reading::{Here, Reading};
use crate::replay::Elsewhere;
use crate::solved::passes;
use crate::stored::{Storage, Stores};
use first::First;
use misfit::{another_pass, misfit};
pub use tasks::Tasks;
use tasks::{List, Task};

const DESCRIPTION: Kind = Kind(b"pass    ");
pub(crate) const STATE: Kind = Kind(b"state   ");

/// What computes the tasks of a job, in any order, and merges their states in the order of the tasks.
///
/// A state is merged with [`merge_states`], consecutive tasks first, in groups of 64: other groups are refused.
pub trait Engine {
    /// The merged state of all tasks of a job, with a name for messages.
    ///
    /// # Errors
    /// Those of [`compute_task`], and those of the engine.
    fn run(&mut self, name: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>>;
}

/// What every task of a pass needs to know, as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Description<'a> {
    First(&'a First),
    Pass(&'a passes::Described),
    Averaged(&'a averaged::passes::Described),
}

/// The same, as it is received.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Described {
    First(Box<First>),
    Pass(Box<passes::Described>),
    Averaged(Box<averaged::passes::Described>),
}

/// What is sent with it and is exact only in bytes: what earlier passes showed of a feature map, and the texts of categories by their codes.
pub(crate) type Fitted = (Vec<FittingPart>, Vec<(u64, String)>);

impl Description<'_> {
    /// What it is, for messages and checkpoints.
    fn name(&self) -> &'static str {
        match self {
            Self::First(first) => first.name(),
            Self::Pass(pass) => pass.name(),
            Self::Averaged(pass) => pass.name(),
        }
    }

    /// Runs its tasks; returns the job, and the merged state of all of them.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn run(
        &self,
        elsewhere: &mut Elsewhere<'_>,
        fitted: &Fitted,
        list: List,
    ) -> Result<(sealed::Job, Vec<u8>)> {
        // Models are saved as JSON, too, to the bit.
        let text = serde_json::to_string(self).map_err(|error| misfit(error.to_string()))?;
        let bytes = sealed::seal(DESCRIPTION, sealed::Job::NONE, &(text, fitted));
        let job = sealed::Job::of(&bytes);
        let tasks = Tasks::new(job, elsewhere.versions.clone(), list);
        let state = elsewhere.engine.run(self.name(), bytes, tasks)?;
        Ok((job, state))
    }
}

impl Described {
    /// How to read the log.
    fn log(&self) -> &Reading {
        match self {
            Self::First(first) => &first.log,
            Self::Pass(pass) => &pass.log,
            Self::Averaged(pass) => &pass.log,
        }
    }

    fn log_mut(&mut self) -> &mut Reading {
        match self {
            Self::First(first) => &mut first.log,
            Self::Pass(pass) => &mut pass.log,
            Self::Averaged(pass) => &mut pass.log,
        }
    }

    fn open(bytes: &[u8]) -> Result<(Self, Fitted, sealed::Job)> {
        let (text, fitted): (String, Fitted) = sealed::open(DESCRIPTION, sealed::Job::NONE, bytes)?;
        let described = serde_json::from_str(&text).map_err(|error| misfit(error.to_string()))?;
        Ok((described, fitted, sealed::Job::of(bytes)))
    }
}

/// Computes the state of a task of a job, with this number of threads.
///
/// # Errors
/// Bytes that are damaged or of another version, and those of reading the files.
pub fn compute_task(description: &[u8], task: &[u8], threads: usize) -> Result<Vec<u8>> {
    compute_here(description, task, threads, Here::default())
}

/// As [`compute_task`], with files that a storage has.
///
/// # Errors
/// As [`compute_task`], and those of the storage.
pub fn compute_stored(
    description: &[u8],
    task: &[u8],
    threads: usize,
    storage: Arc<dyn Storage>,
) -> Result<Vec<u8>> {
    let here = Here {
        stores: Stores(Some(storage)),
        ..Here::default()
    };
    compute_here(description, task, threads, here)
}

/// The same, with what this machine adds.
fn compute_here(description: &[u8], task: &[u8], threads: usize, here: Here) -> Result<Vec<u8>> {
    let (mut described, fitted, job) = Described::open(description)?;
    let (task, versions, seek) = Task::open(job, task)?;
    described.log_mut().here = Here { seek, ..here };
    described
        .log()
        .check_sizes(*task.files().start(), &versions)?;
    match (described, task) {
        (Described::Pass(pass), Task::Node { mark, .. }) => pass.compute(job, mark, threads),
        (Described::Averaged(pass), task) => pass.compute(job, &task, threads),
        (Described::First(first), task) => first.compute(&fitted, job, &task, threads),
        _ => Err(another_pass()),
    }
}

/// The files that a task reads.
///
/// # Errors
/// Bytes that are damaged or of another version.
pub fn task_files(description: &[u8], task: &[u8]) -> Result<Vec<String>> {
    let (described, _, job) = Described::open(description)?;
    let files = Task::open(job, task)?.0.files();
    let all = described.log().files.iter().enumerate();
    let own = all.filter(|(k, _)| files.contains(k));
    Ok(own.map(|(_, file)| file.clone()).collect())
}

/// Merges the states of consecutive tasks of a job: of up to 64 of them, or of such groups.
///
/// # Errors
/// When a state is damaged, of another job or out of order.
pub fn merge_states<'a>(
    description: &[u8],
    states: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>> {
    let (described, fitted, job) = Described::open(description)?;
    let states = states.into_iter();
    match described {
        Described::First(first) => first.merge(&fitted, job, states),
        Described::Pass(pass) => pass.merge(job, states),
        Described::Averaged(pass) => pass.merge(job, states),
    }
}

/// The bytes of a state.
pub(crate) fn seal<T: Serialize>(job: sealed::Job, state: &T) -> Vec<u8> {
    sealed::seal(STATE, job, state)
}

/// The state in bytes, which may not fit.
///
/// # Errors
/// When they are damaged, of another version or job.
pub(crate) fn unseal<T: DeserializeOwned>(job: sealed::Job, bytes: &[u8]) -> Result<T> {
    Ok(sealed::open(STATE, job, bytes)?)
}
