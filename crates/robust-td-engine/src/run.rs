//! Executes a plan over threads, with progress, cancellation and checkpoints.
//!
//! Units are independent and each is advanced by one thread at a time, so results do not depend on
//! the number of threads, on the order of units or on interruptions.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::checkpoint::{self, Stage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::plan::Plan;
use crate::results::{Results, UnitResult, collect};
use crate::unit::{BLOCK, Scratch, UnitState};

/// TD updates between two looks at the clock: some milliseconds.
const SLICE: u64 = 4_000_000;

/// TD updates done and to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Lane-steps done, those of a resumed checkpoint included.
    pub done: u64,
    /// Lane-steps of the whole plan.
    pub total: u64,
}

/// How to execute a plan. Nothing here changes the results.
pub struct Options<'a> {
    /// Number of threads; 0 means one per CPU.
    pub threads: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// File of the checkpoint, if any.
    pub checkpoint: Option<PathBuf>,
    /// Whether to continue from the checkpoint if there is one.
    pub resume: bool,
    /// Time between checkpoints.
    pub interval: Duration,
    /// Called every few milliseconds, from the working threads.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Stops the run soon after it becomes true, leaving a checkpoint.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            kernel: Kernel::best(),
            checkpoint: None,
            resume: false,
            interval: Duration::from_millis(900),
            progress: None,
            cancel: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All steps are done. The checkpoint, now that of a finished run, is left to the caller.
    Finished(Results),
    /// The run was cancelled; the checkpoint, if any, is up to date.
    Cancelled(Progress),
}

/// Executes a plan.
///
/// # Errors
/// A wrong plan, a kernel this CPU lacks, or a checkpoint that is damaged, foreign or not writable.
pub fn run(plan: Plan, options: &Options<'_>) -> Result<Outcome> {
    plan.check()?;
    options.kernel.check()?;
    let hash = plan.hash();
    let context = Context::new(plan);
    let stages = restore(&context, options, &hash)?;
    let shared = Shared::new(&context, options, stages)?;
    let workers = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let workers = workers.min(context.units.len()).max(1);
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
    written?;
    let progress = shared.progress();
    let stages = shared
        .stages
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let path = options.checkpoint.as_deref().unwrap_or(Path::new(""));
    let mut units = Vec::with_capacity(stages.len());
    for stage in &stages {
        match stage {
            Stage::Finished(bytes) => units.push(checkpoint::decode::<UnitResult>(path, bytes)?),
            Stage::Waiting | Stage::Running(_) => return Ok(Outcome::Cancelled(progress)),
        }
    }
    Ok(Outcome::Finished(collect(&context, units)))
}

fn restore(context: &Context, options: &Options<'_>, hash: &blake3::Hash) -> Result<Vec<Stage>> {
    let found = match &options.checkpoint {
        Some(path) if options.resume => checkpoint::read(path, hash, context.units.len())?,
        _ => None,
    };
    Ok(found.unwrap_or_else(|| vec![Stage::Waiting; context.units.len()]))
}

/// What the threads share.
struct Shared<'a> {
    context: &'a Context,
    options: &'a Options<'a>,
    /// Units to do, those under way first.
    queue: Mutex<VecDeque<(usize, UnitState)>>,
    stages: Mutex<Vec<Stage>>,
    done: AtomicU64,
    active: AtomicUsize,
    stop: AtomicBool,
    idle: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is replaced whole, so a panic elsewhere leaves it usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Shared<'a> {
    fn new(context: &'a Context, options: &'a Options<'a>, stages: Vec<Stage>) -> Result<Self> {
        let mut queue = VecDeque::new();
        let mut done = 0;
        for (index, stage) in stages.iter().enumerate() {
            let unit = &context.units[index];
            let per_step = (unit.computed_lanes() * context.plan.runs) as u64;
            match stage {
                Stage::Waiting => queue.push_back((index, UnitState::new(context, unit))),
                Stage::Finished(_) => done += per_step * context.plan.simulate,
                Stage::Running(bytes) => {
                    let path = options.checkpoint.as_deref().unwrap_or(Path::new(""));
                    let state: UnitState = checkpoint::decode(path, bytes)?;
                    done += per_step * state.done;
                    queue.push_front((index, state));
                }
            }
        }
        Ok(Self {
            context,
            options,
            queue: Mutex::new(queue),
            stages: Mutex::new(stages),
            done: AtomicU64::new(done),
            active: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            idle: Condvar::new(),
        })
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.done.load(Ordering::Relaxed),
            total: self.context.lane_steps(),
        }
    }

    fn cancelled(&self) -> bool {
        let asked = self
            .options
            .cancel
            .is_some_and(|c| c.load(Ordering::Relaxed));
        asked || self.stop.load(Ordering::Relaxed)
    }

    /// One working thread: takes units until none is left.
    fn work(&self) {
        let mut scratch = Scratch::new(self.context);
        loop {
            let next = lock(&self.queue).pop_front();
            match next {
                Some((index, state)) if !self.cancelled() => self.unit(index, state, &mut scratch),
                _ => break,
            }
        }
        let stages = lock(&self.stages);
        self.active.fetch_sub(1, Ordering::Relaxed);
        drop(stages);
        self.idle.notify_all();
    }

    fn unit(&self, index: usize, mut state: UnitState, scratch: &mut Scratch) {
        let unit = &self.context.units[index];
        let per_step = (unit.computed_lanes() * self.context.plan.runs).max(1) as u64;
        let slice = (SLICE / per_step).max(BLOCK as u64);
        let mut deposited = Instant::now();
        while !state.is_finished(self.context) {
            let before = state.done;
            state.advance(self.context, unit, self.options.kernel, scratch, slice);
            self.done
                .fetch_add((state.done - before) * per_step, Ordering::Relaxed);
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
            if cancelled && !state.is_finished(self.context) {
                return;
            }
        }
        let result = UnitResult::of(self.context, index, state);
        let stage = Stage::Finished(checkpoint::encode(&result));
        lock(&self.stages)[index] = stage;
    }

    /// Writes a checkpoint now and then until the working threads have ended, and a last one then.
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
