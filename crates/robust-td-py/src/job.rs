//! Runs long work without the interpreter's lock, reports its progress, and stops it at Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use robust_td_data::Monitor;

use crate::error::{raised, refused};

/// How often signals are looked for and progress is reported.
const TICK: Duration = Duration::from_millis(50);
/// As much as the main thread of a program usually has.
const STACK: usize = 8 << 20;

/// The state of work that runs, shared with the thread that watches it.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Rows read, and the flag that stops the work.
    pub monitor: Monitor,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    messages: Mutex<Vec<String>>,
}

impl Watch {
    /// Records how much is done.
    pub fn progress(&self, progress: robust_td::Progress) {
        self.shared.done.store(progress.done, Ordering::Relaxed);
        self.shared.total.store(progress.total, Ordering::Relaxed);
    }

    /// Records a message for the log.
    pub fn say(&self, message: String) {
        let messages = self.shared.messages.lock();
        messages
            .unwrap_or_else(PoisonError::into_inner)
            .push(message);
    }

    /// What is done and the total; the rows read, where the total is not known and 0.
    fn state(&self) -> (u64, u64) {
        match self.shared.total.load(Ordering::Relaxed) {
            0 => (self.monitor.rows(), 0),
            total => (self.shared.done.load(Ordering::Relaxed), total),
        }
    }

    fn take_messages(&self) -> Vec<String> {
        let messages = self.shared.messages.lock();
        std::mem::take(&mut *messages.unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks for signals, and tells the caller's function what is new.
    fn tick(&self, tell: Option<&Py<PyAny>>, last: &mut Option<(u64, u64)>) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let (state, messages) = (self.state(), self.take_messages());
            if let Some(tell) = tell
                && (*last != Some(state) || !messages.is_empty())
            {
                tell.call1(py, (state.0, state.1, messages))?;
                *last = Some(state);
            }
            Ok(())
        })
    }
}

/// Runs work on another thread, with `tell(done, total, messages)` called now and then.
///
/// # Errors
/// Those of the work; KeyboardInterrupt, and what `tell` raises, after the work has stopped.
pub fn run<T: Send>(
    py: Python<'_>,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> robust_td::Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (done, result) = channel();
            let inside = watch.clone();
            let worker = thread::Builder::new().stack_size(STACK);
            let worker = worker.name("robust-td".into());
            let worker = worker.spawn_scoped(scope, move || {
                // The receiver waits as long as this thread runs; after a panic it is told by the closed channel.
                if let Ok(result) = catch_unwind(AssertUnwindSafe(|| work(&inside))) {
                    let _ = done.send(result);
                }
            });
            worker.map_err(|error| refused(format!("cannot start a thread: {error}")))?;
            watched(&watch, &result, tell)
        })
    })
}

/// Waits for the result; after an interruption, for the end of the work.
fn watched<T>(
    watch: &Watch,
    result: &std::sync::mpsc::Receiver<robust_td::Result<T>>,
    tell: Option<&Py<PyAny>>,
) -> PyResult<T> {
    let (mut stopped, mut last) = (None, None);
    loop {
        match result.recv_timeout(TICK) {
            Ok(found) => {
                if stopped.is_none() {
                    watch.tick(tell, &mut last)?;
                }
                return match stopped {
                    Some(error) => Err(error),
                    None => found.map_err(raised),
                };
            }
            Err(RecvTimeoutError::Timeout) if stopped.is_none() => {
                if let Err(error) = watch.tick(tell, &mut last) {
                    watch.monitor.cancel();
                    stopped = Some(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(refused("the work stopped unexpectedly"));
            }
        }
    }
}

/// Runs work that cannot be stopped: at Ctrl-C it is left to end by itself.
///
/// # Errors
/// Those of the work, and KeyboardInterrupt.
pub fn leave<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> robust_td::Result<T> + Send + 'static,
) -> PyResult<T> {
    let watch = Watch::default();
    py.detach(|| {
        let (done, result) = channel();
        let worker = thread::Builder::new().stack_size(STACK);
        let worker = worker.name("robust-td".into());
        let worker = worker.spawn(move || {
            // After an interruption there is no receiver.
            let _ = done.send(work());
        });
        worker.map_err(|error| refused(format!("cannot start a thread: {error}")))?;
        loop {
            match result.recv_timeout(TICK) {
                Ok(found) => return found.map_err(raised),
                Err(RecvTimeoutError::Timeout) => watch.tick(None, &mut None)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(refused("the work stopped unexpectedly"));
                }
            }
        }
    })
}
