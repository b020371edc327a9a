//! Watches long work from another thread: how many rows were read, stopping it, and ending a stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The number of rows read so far, a flag that stops the work soon after it is set, and one that ends a stream; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    cancelled: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    rows: AtomicU64,
    /// The last row that was used when a stream was ended, plus 1.
    last: AtomicU64,
}

impl Monitor {
    /// Stops the work once the flag is set, by a signal handler for instance.
    #[must_use]
    pub fn cancelled_by(flag: Arc<AtomicBool>) -> Self {
        Self {
            cancelled: flag,
            ..Self::default()
        }
    }

    /// Ends a stream once the flag is set, as if it had no more rows: the answer is that of the rows so far, and can be resumed.
    #[must_use]
    pub fn ended_by(flag: Arc<AtomicBool>) -> Self {
        Self {
            ended: flag,
            ..Self::default()
        }
    }

    /// Stops the work; it returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work must stop.
    #[inline]
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The flag itself, for work that takes one.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// The number of rows read so far, in all passes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shared.rows.load(Ordering::Relaxed)
    }

    /// The last row that was used, if a stream was ended before its own end; 0 if there was none.
    #[must_use]
    pub fn ended_after(&self) -> Option<u64> {
        self.shared.last.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Whether a stream must end.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Records where a stream was ended.
    pub(crate) fn end_after(&self, row: u64) {
        self.shared.last.store(row + 1, Ordering::Relaxed);
    }

    pub(crate) fn add_rows(&self, rows: usize) {
        self.shared.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}
