//! Splits a sweep into parts that any machine can compute, and joins their results.
//!
//! A part is a range of units, which are independent of each other. So the results are the same bytes however the units are grouped, and
//! wherever and how often a part is computed. States are sealed (see [`robust_td_core::sealed`]) and hold one summary per lane, not per run.

use std::ops::Range;

use robust_td_core::sealed::{self, Kind};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exact::ExactSweep;
use crate::kernel::Kernel;
use crate::memory;
use crate::plan::Plan;
use crate::results::{LaneResult, Results, lanes};
use crate::run::{Options, Sweep, execute};
use crate::threads::threads;

const DESCRIPTION: Kind = Kind(b"sweep   ");
const STATE: Kind = Kind(b"lanes   ");
/// The TD updates of a part of a large sweep: about a second.
const PART: u64 = 2_000_000_000;
/// The number of parts up to which there is one for each unit.
const MANY: u64 = 256;

/// A sweep that is computed in parts.
pub struct Job {
    description: Vec<u8>,
    id: sealed::Job,
    work: Work,
}

enum Work {
    Sampled(Box<Context>),
    Exact(Box<ExactSweep>),
}

#[derive(Serialize, Deserialize)]
struct Described {
    exact: bool,
    plan: Plan,
}

/// The lanes of consecutive units, each with its index in the plan.
#[derive(Serialize, Deserialize)]
struct State {
    units: Range<u64>,
    lanes: Vec<(usize, LaneResult)>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("units", &self.units())
            .finish_non_exhaustive()
    }
}

impl Job {
    /// The job of a plan: sampled, or in expectation.
    ///
    /// # Errors
    /// When the plan is invalid.
    pub fn new(plan: Plan, exact: bool) -> Result<Self> {
        Self::of(Described { exact, plan })
    }

    fn of(described: Described) -> Result<Self> {
        let description = sealed::seal(DESCRIPTION, sealed::Job::NONE, &described);
        let Described { exact, plan } = described;
        plan.check()?;
        Ok(Self {
            id: sealed::Job::of(&description),
            description,
            work: match exact {
                true => Work::Exact(Box::new(ExactSweep::checked(plan)?)),
                false => Work::Sampled(Box::new(Context::new(plan))),
            },
        })
    }

    /// The description, to be sent to other machines.
    pub fn description(&self) -> &[u8] {
        &self.description
    }

    /// The job of a description.
    ///
    /// # Errors
    /// When the bytes are damaged or of another version, or the plan is invalid.
    pub fn read(description: &[u8]) -> Result<Self> {
        Self::of(sealed::open(DESCRIPTION, sealed::Job::NONE, description)?)
    }

    fn plan(&self) -> &Plan {
        match &self.work {
            Work::Sampled(context) => &context.plan,
            Work::Exact(sweep) => &sweep.plan,
        }
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        match &self.work {
            Work::Sampled(context) => context.units(),
            Work::Exact(sweep) => sweep.units(),
        }
    }

    fn updates(&self, unit: usize) -> u64 {
        let per_step = match &self.work {
            Work::Sampled(context) => context.updates_per_step(unit),
            Work::Exact(sweep) => sweep.updates_per_step(unit),
        };
        per_step.saturating_mul(self.plan().simulate)
    }

    /// The number of TD updates.
    pub fn lane_steps(&self) -> u64 {
        let updates = (0..self.units()).map(|unit| self.updates(unit));
        updates.fold(0, u64::saturating_add)
    }

    /// The parts: ranges of units of about the same work, whatever the machines.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let least = PART.min(self.lane_steps() / MANY);
        let (mut parts, mut start, mut work) = (Vec::new(), 0, 0_u64);
        for unit in 0..self.units() {
            work = work.saturating_add(self.updates(unit));
            if work >= least {
                parts.push(start..unit + 1);
                (start, work) = (unit + 1, 0);
            }
        }
        if start < self.units() {
            parts.push(start..self.units());
        }
        parts
    }

    /// Computes a part.
    ///
    /// # Errors
    /// A range beyond the units, a kernel that this CPU lacks, and a cancelled run.
    pub fn run(&self, units: Range<usize>, options: &Options<'_>) -> Result<Vec<u8>> {
        options.kernel.check()?;
        if units.start >= units.end || units.end > self.units() {
            return Err(Error::Part {
                what: format!(
                    "the units {} to {} of {} are not a part",
                    units.start,
                    units.end,
                    self.units()
                ),
            });
        }
        let threads = threads(options.threads);
        match &self.work {
            Work::Sampled(_) => {
                let needed = self.plan().memory(threads);
                memory::check(self.plan().runs, needed, options.max_memory)?;
            }
            Work::Exact(_) => memory::check_exact(self.plan(), threads, options.max_memory)?,
        }
        let lanes = match &self.work {
            Work::Sampled(context) => {
                let portion = Portion::new(context.as_ref(), &units);
                let found = execute(&portion, options)?.finished()?;
                lanes(context, found)
            }
            Work::Exact(sweep) => {
                let portion = Portion::new(sweep.as_ref(), &units);
                let found = execute(&portion, options)?.finished()?;
                found.into_iter().flatten().collect()
            }
        };
        Ok(self.seal(&State {
            units: units.start as u64..units.end as u64,
            lanes,
        }))
    }

    fn seal(&self, state: &State) -> Vec<u8> {
        sealed::seal(STATE, self.id, state)
    }

    fn open(&self, bytes: &[u8]) -> Result<State> {
        let state: State = sealed::open(STATE, self.id, bytes)?;
        let known = self.plan().lanes.len();
        let fits = state.units.start < state.units.end
            && state.units.end <= self.units() as u64
            && state.lanes.iter().all(|(lane, _)| *lane < known);
        match fits {
            true => Ok(state),
            false => Err(Error::Part {
                what: "its lanes or units are not those of the plan".into(),
            }),
        }
    }

    /// Joins the states of consecutive parts.
    ///
    /// # Errors
    /// When a state is damaged or of another job, or one is missing between two of them.
    pub fn join<'a>(&self, states: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>> {
        Ok(self.seal(&self.joined(states)?))
    }

    fn joined<'a>(&self, states: impl IntoIterator<Item = &'a [u8]>) -> Result<State> {
        let mut all: Option<State> = None;
        for bytes in states {
            let next = self.open(bytes)?;
            all = Some(match all {
                None => next,
                Some(mut all) if all.units.end == next.units.start => {
                    all.units.end = next.units.end;
                    all.lanes.extend(next.lanes);
                    all
                }
                Some(all) => {
                    return Err(Error::Part {
                        what: format!(
                            "unit {} follows unit {}",
                            next.units.start,
                            all.units.end.saturating_sub(1)
                        ),
                    });
                }
            });
        }
        all.ok_or_else(|| Error::Part {
            what: "there are no states".into(),
        })
    }

    /// The results of all parts.
    ///
    /// # Errors
    /// As [`Job::join`], and when some parts are missing.
    pub fn finish<'a>(&self, states: impl IntoIterator<Item = &'a [u8]>) -> Result<Results> {
        let State { units, lanes } = self.joined(states)?;
        let results = Results::new(lanes, self.lane_steps(), self.plan());
        let lanes = results.lanes.iter().map(|found| found.lane);
        match units == (0..self.units() as u64) && lanes.eq(self.plan().lanes.iter().copied()) {
            true => Ok(results),
            false => Err(Error::Part {
                what: "some parts are missing".into(),
            }),
        }
    }
}

/// Some units of a sweep.
struct Portion<'a, S> {
    sweep: &'a S,
    first: usize,
    count: usize,
}

impl<'a, S: Sweep> Portion<'a, S> {
    fn new(sweep: &'a S, units: &Range<usize>) -> Self {
        Self {
            sweep,
            first: units.start,
            count: units.len(),
        }
    }
}

impl<S: Sweep> Sweep for Portion<'_, S> {
    type State = S::State;
    type Output = S::Output;
    type Scratch = S::Scratch;

    fn hash(&self) -> blake3::Hash {
        self.sweep.hash()
    }
    fn units(&self) -> usize {
        self.count
    }
    fn steps(&self) -> u64 {
        self.sweep.steps()
    }
    fn updates_per_step(&self, unit: usize) -> u64 {
        self.sweep.updates_per_step(self.first + unit)
    }
    fn slice(&self, unit: usize) -> u64 {
        self.sweep.slice(self.first + unit)
    }
    fn scratch(&self) -> S::Scratch {
        self.sweep.scratch()
    }
    fn start(&self, unit: usize) -> S::State {
        self.sweep.start(self.first + unit)
    }
    fn done(&self, state: &S::State) -> u64 {
        self.sweep.done(state)
    }
    fn advance(
        &self,
        unit: usize,
        state: &mut S::State,
        kernel: Kernel,
        scratch: &mut S::Scratch,
        steps: u64,
    ) {
        let unit = self.first + unit;
        self.sweep.advance(unit, state, kernel, scratch, steps);
    }
    fn finish(&self, unit: usize, state: S::State) -> S::Output {
        self.sweep.finish(self.first + unit, state)
    }
    fn state_fits(&self, unit: usize, state: &S::State) -> bool {
        self.sweep.state_fits(self.first + unit, state)
    }
    fn output_fits(&self, unit: usize, output: &S::Output) -> bool {
        self.sweep.output_fits(self.first + unit, output)
    }
}
