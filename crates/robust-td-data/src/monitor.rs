//! Watches long work from another thread: how many rows were read, and stopping it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The number of rows read so far, and a flag that stops the work soon after it is set; clones share both.
#[derive(Debug, Clone, Default)]
pub struct Monitor(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    rows: AtomicU64,
}

impl Monitor {
    /// Stops the work; it returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work must stop.
    #[inline]
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// The flag itself, for work that takes one.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0.cancelled
    }

    /// The number of rows read so far, in all passes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.rows.load(Ordering::Relaxed)
    }

    pub(crate) fn add_rows(&self, rows: usize) {
        self.0.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}
