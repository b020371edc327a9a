//! Executes a plan over threads, with progress, cancellation and checkpoints.
//!
//! Units are independent, and each is advanced by one thread at a time, so results do not depend on
//! the number of threads, the order of units or interruptions.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Serialize, de::DeserializeOwned};

use crate::checkpoint::{self, Stage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::memory;
use crate::panics::caught;
use crate::plan::Plan;
use crate::results::{Results, UnitResult, collect};
use crate::threads::threads;
use crate::unit::{BLOCK, Scratch, UnitState};

/// TD updates between two checks of the clock: a few milliseconds.
const SLICE: u64 = 4_000_000;
/// The time between checkpoints.
pub(crate) const INTERVAL: Duration = Duration::from_millis(900);
/// A unit that makes no step in this number of slices makes none for ever.
const MOST_WITHOUT_A_STEP: u64 = 1 << 20;

/// Progress in TD updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Lane-steps done, including those of a resumed checkpoint.
    pub done: u64,
    /// Lane-steps of the whole plan.
    pub total: u64,
}

/// Options for executing a plan. None of them changes the results.
pub struct Options<'a> {
    /// Number of threads; 0 means one per CPU.
    pub threads: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// The checkpoint file, if any.
    pub checkpoint: Option<PathBuf>,
    /// Whether to resume from the checkpoint, if it exists.
    pub resume: bool,
    /// The bytes of a checkpoint to start from, whatever the file.
    pub start: Option<&'a [u8]>,
    /// Time between checkpoints.
    pub interval: Duration,
    /// Called at the start, then every few milliseconds from the worker threads.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Stops the run soon after it becomes true, after writing a checkpoint.
    pub cancel: Option<&'a AtomicBool>,
    /// The bytes that the run may take; `None` for no limit.
    pub max_memory: Option<u64>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            kernel: Kernel::best(),
            checkpoint: None,
            resume: false,
            start: None,
            interval: INTERVAL,
            progress: None,
            cancel: None,
            max_memory: None,
        }
    }
}

impl Options<'_> {
    /// The name of the checkpoint in messages.
    fn path(&self) -> &Path {
        self.checkpoint
            .as_deref()
            .unwrap_or(Path::new("the checkpoint"))
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T = Results> {
    /// All steps are done. The checkpoint of the finished run is left to the caller.
    Finished(T),
    /// The run was cancelled; the checkpoint, if any, is up to date.
    Cancelled(Progress),
}

impl<T> Outcome<T> {
    /// The results; a cancelled run is an error.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn finished(self) -> Result<T> {
        match self {
            Self::Finished(results) => Ok(results),
            Self::Cancelled(Progress { done, total }) => Err(Error::Cancelled { done, total }),
        }
    }

    pub(crate) fn map<U>(self, finish: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Finished(results) => Outcome::Finished(finish(results)),
            Self::Cancelled(progress) => Outcome::Cancelled(progress),
        }
    }
}

/// Executes a plan.
///
/// # Errors
/// When the plan is invalid, this CPU does not support the kernel, or the checkpoint is damaged, from another plan or not writable.
pub fn run(plan: Plan, options: &Options<'_>) -> Result<Outcome> {
    plan.check()?;
    options.kernel.check()?;
    let needed = plan.memory(threads(options.threads));
    memory::check(plan.runs, needed, options.max_memory)?;
    let context = Context::new(plan);
    let outcome = execute(&context, options)?;
    // The results of a forged checkpoint need not fit the plan.
    caught(|| outcome.map(|units| collect(&context, units)))
}

/// Executes a plan on the calling thread without checkpoints or progress.
///
/// # Errors
/// As for [`run`].
pub fn single(plan: Plan, kernel: Kernel) -> Result<Results> {
    plan.check()?;
    kernel.check()?;
    let context = Context::new(plan);
    let mut scratch = context.scratch();
    let mut units = Vec::with_capacity(context.units());
    for unit in 0..context.units() {
        let mut state = context.start(unit);
        context.advance(unit, &mut state, kernel, &mut scratch, context.steps());
        units.push(context.finish(unit, state));
    }
    Ok(collect(&context, units))
}

/// Independent units of work that advance step by step.
pub(crate) trait Sweep: Sync {
    /// A unit in progress.
    type State: Serialize + DeserializeOwned + Send;
    /// The result of a finished unit.
    type Output: Serialize + DeserializeOwned;
    /// Scratch space of a thread.
    type Scratch;

    /// A hash of everything that determines the results.
    fn hash(&self) -> blake3::Hash;
    /// Number of units.
    fn units(&self) -> usize;
    /// The number of steps of every unit.
    fn steps(&self) -> u64;
    /// TD updates per step of a unit.
    fn updates_per_step(&self, unit: usize) -> u64;
    /// The number of steps in a few milliseconds of work.
    fn slice(&self, unit: usize) -> u64;
    /// Scratch space for a thread.
    fn scratch(&self) -> Self::Scratch;
    /// A unit before its first step.
    fn start(&self, unit: usize) -> Self::State;
    /// Steps done by a unit.
    fn done(&self, state: &Self::State) -> u64;
    /// Advances a unit by at least `steps` steps, or to the end.
    fn advance(
        &self,
        unit: usize,
        state: &mut Self::State,
        kernel: Kernel,
        scratch: &mut Self::Scratch,
        steps: u64,
    );
    /// The result of a finished unit.
    fn finish(&self, unit: usize, state: Self::State) -> Self::Output;
    /// Whether a state that was read can be one of the unit.
    fn state_fits(&self, unit: usize, state: &Self::State) -> bool;
    /// Whether a result that was read can be that of the unit.
    fn output_fits(&self, unit: usize, output: &Self::Output) -> bool;
}

impl Sweep for Context {
    type State = UnitState;
    type Output = UnitResult;
    type Scratch = Scratch;

    fn hash(&self) -> blake3::Hash {
        self.plan.hash()
    }
    fn units(&self) -> usize {
        self.units.len()
    }
    fn steps(&self) -> u64 {
        self.plan.simulate
    }
    fn updates_per_step(&self, unit: usize) -> u64 {
        let lanes = self.units[unit].computed_lanes() as u64;
        lanes.saturating_mul(self.plan.runs as u64)
    }
    fn slice(&self, unit: usize) -> u64 {
        (SLICE / self.updates_per_step(unit).max(1)).max(BLOCK as u64)
    }
    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }
    fn start(&self, unit: usize) -> UnitState {
        UnitState::new(self, &self.units[unit])
    }
    fn done(&self, state: &UnitState) -> u64 {
        state.done
    }
    fn advance(
        &self,
        unit: usize,
        state: &mut UnitState,
        kernel: Kernel,
        scratch: &mut Scratch,
        steps: u64,
    ) {
        state.advance(self, &self.units[unit], kernel, scratch, steps);
    }
    fn finish(&self, unit: usize, state: UnitState) -> UnitResult {
        UnitResult::of(self, unit, state)
    }
    fn state_fits(&self, unit: usize, state: &UnitState) -> bool {
        state.fits(self, unit)
    }
    fn output_fits(&self, unit: usize, output: &UnitResult) -> bool {
        output.fits(self, unit)
    }
}

/// Executes the units of a sweep; the results are in order.
pub(crate) fn execute<S: Sweep>(
    sweep: &S,
    options: &Options<'_>,
) -> Result<Outcome<Vec<S::Output>>> {
    let hash = sweep.hash();
    let (path, units) = (options.path(), sweep.units());
    let found = match options.start {
        Some(bytes) => Some(checkpoint::parse(path, bytes, &hash, units)?),
        None if options.resume && options.checkpoint.is_some() => {
            checkpoint::read(path, &hash, units)?
        }
        None => None,
    };
    // Not clones of one: what the compiler makes of them reads bytes that no variant has, which valgrind reports.
    let waiting = || (0..units).map(|_| Stage::Waiting).collect();
    let stages = found.unwrap_or_else(waiting);
    let shared = Shared::new(sweep, options, stages)?;
    // Reports once before the work, also when a resumed run has nothing left to do.
    if let Some(progress) = options.progress {
        progress(shared.progress());
    }
    let workers = threads(options.threads).min(sweep.units()).max(1);
    shared.active.store(workers, Ordering::Relaxed);

    let written = std::thread::scope(|scope| {
        for _ in 0..workers {
            let spawned = std::thread::Builder::new().spawn_scoped(scope, || shared.work());
            if let Err(e) = spawned {
                shared.stop.store(true, Ordering::Relaxed);
                return Err(Error::Threads {
                    threads: workers,
                    why: e.to_string(),
                });
            }
        }
        shared.write_checkpoints(&hash)
    });
    // A failed worker is the reason, whatever followed.
    if let Some(error) = lock(&shared.failed).take() {
        return Err(error);
    }
    written?;
    let progress = shared.progress();
    let stages = shared
        .stages
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut units = Vec::with_capacity(stages.len());
    for stage in &stages {
        match stage {
            Stage::Finished(bytes) => units.push(checkpoint::decode(path, bytes)?),
            Stage::Waiting | Stage::Running(_) => return Ok(Outcome::Cancelled(progress)),
        }
    }
    Ok(Outcome::Finished(units))
}

/// The state shared by the threads.
struct Shared<'a, S: Sweep> {
    sweep: &'a S,
    options: &'a Options<'a>,
    /// Remaining units, those in progress first; a unit not yet started has no state.
    queue: Mutex<VecDeque<(usize, Option<S::State>)>>,
    stages: Mutex<Vec<Stage>>,
    done: AtomicU64,
    total: u64,
    active: AtomicUsize,
    stop: AtomicBool,
    /// Why the first worker failed.
    failed: Mutex<Option<Error>>,
    idle: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is replaced as a whole, so a panic elsewhere leaves it usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, S: Sweep> Shared<'a, S> {
    fn new(sweep: &'a S, options: &'a Options<'a>, stages: Vec<Stage>) -> Result<Self> {
        let mut queue = VecDeque::new();
        let (mut done, mut total) = (0, 0);
        let path = options.path();
        for (index, stage) in stages.iter().enumerate() {
            let per_step = sweep.updates_per_step(index);
            total = u64::saturating_add(total, per_step.saturating_mul(sweep.steps()));
            match stage {
                Stage::Waiting => queue.push_back((index, None)),
                Stage::Finished(bytes) => {
                    // Refused now rather than after the work.
                    let output: S::Output = checkpoint::decode(path, bytes)?;
                    checkpoint::require(path, sweep.output_fits(index, &output))?;
                    done = u64::saturating_add(done, per_step.saturating_mul(sweep.steps()));
                }
                Stage::Running(bytes) => {
                    let state: S::State = checkpoint::decode(path, bytes)?;
                    checkpoint::require(path, sweep.state_fits(index, &state))?;
                    done = done.saturating_add(per_step.saturating_mul(sweep.done(&state)));
                    queue.push_front((index, Some(state)));
                }
            }
        }
        Ok(Self {
            sweep,
            options,
            queue: Mutex::new(queue),
            stages: Mutex::new(stages),
            done: AtomicU64::new(done),
            total,
            active: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            failed: Mutex::new(None),
            idle: Condvar::new(),
        })
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.done.load(Ordering::Relaxed),
            total: self.total,
        }
    }

    fn cancelled(&self) -> bool {
        let asked = self
            .options
            .cancel
            .is_some_and(|c| c.load(Ordering::Relaxed));
        asked || self.stop.load(Ordering::Relaxed)
    }

    /// One worker thread. After a failure the others stop, and what they have done is kept in the checkpoint.
    fn work(&self) {
        if let Err(error) = caught(|| self.units()).flatten() {
            self.stop.store(true, Ordering::Relaxed);
            lock(&self.failed).get_or_insert(error);
        }
        let stages = lock(&self.stages);
        self.active.fetch_sub(1, Ordering::Relaxed);
        drop(stages);
        self.idle.notify_all();
    }

    /// Processes units until none is left.
    fn units(&self) -> Result<()> {
        let mut scratch = self.sweep.scratch();
        loop {
            let next = lock(&self.queue).pop_front();
            match next {
                Some((index, state)) if !self.cancelled() => {
                    let state = state.unwrap_or_else(|| self.sweep.start(index));
                    self.unit(index, state, &mut scratch)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn unit(&self, index: usize, mut state: S::State, scratch: &mut S::Scratch) -> Result<()> {
        let per_step = self.sweep.updates_per_step(index);
        let (slice, steps) = (self.sweep.slice(index), self.sweep.steps());
        let mut deposited = Instant::now();
        let mut without_a_step = 0;
        while self.sweep.done(&state) < steps {
            let before = self.sweep.done(&state);
            self.sweep
                .advance(index, &mut state, self.options.kernel, scratch, slice);
            let advanced = self.sweep.done(&state).saturating_sub(before);
            // Preparing jumps takes several slices.
            without_a_step = if advanced == 0 { without_a_step + 1 } else { 0 };
            if without_a_step == MOST_WITHOUT_A_STEP {
                return Err(Error::Worker {
                    message: format!("unit {index} does not advance beyond step {before}"),
                });
            }
            self.done
                .fetch_add(advanced.saturating_mul(per_step), Ordering::Relaxed);
            if let Some(progress) = self.options.progress {
                progress(self.progress());
            }
            let cancelled = self.cancelled();
            let due = deposited.elapsed() >= self.options.interval;
            if self.options.checkpoint.is_some() && (cancelled || due) {
                let stage = Stage::Running(checkpoint::encode(&state));
                lock(&self.stages)[index] = stage;
                deposited = Instant::now();
            }
            if cancelled && self.sweep.done(&state) < steps {
                return Ok(());
            }
        }
        let result = self.sweep.finish(index, state);
        let stage = Stage::Finished(checkpoint::encode(&result));
        lock(&self.stages)[index] = stage;
        Ok(())
    }

    /// Writes checkpoints periodically until the worker threads have ended, then a last one.
    fn write_checkpoints(&self, hash: &blake3::Hash) -> Result<()> {
        loop {
            let mut stages = lock(&self.stages);
            let start = Instant::now();
            while self.active.load(Ordering::Relaxed) > 0 && start.elapsed() < self.options.interval
            {
                let rest = self.options.interval.saturating_sub(start.elapsed());
                let waited = self.idle.wait_timeout(stages, rest);
                stages = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let ended = self.active.load(Ordering::Relaxed) == 0;
            if let Some(path) = &self.options.checkpoint {
                let copy = stages.clone();
                drop(stages);
                if let Err(e) = checkpoint::write(path, hash, &copy) {
                    self.stop.store(true, Ordering::Relaxed);
                    return Err(e);
                }
            }
            if ended {
                return Ok(());
            }
        }
    }
}
