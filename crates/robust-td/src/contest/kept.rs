//! Opens the checkpoint of contests.

use std::path::{Path, PathBuf};

use robust_td_data::files::{self, DirectoryLock};
use robust_td_engine::contest::{Contest, Series};

use crate::error::Result;
use crate::sweep::CHECKPOINT;

/// Where contests keep their checkpoint, if anywhere.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    path: Option<PathBuf>,
    /// Whether to continue from it if there is one.
    pub resume: bool,
}

impl Kept {
    /// In this directory, under the name that sweeps use.
    pub fn keep_in(&mut self, directory: &Path) {
        self.path = Some(directory.join(CHECKPOINT));
    }

    /// The contests with what is done of them. The directory is locked until the lock is dropped.
    pub fn open<C: Iterator<Item = Contest>>(
        &self,
        contests: C,
    ) -> Result<(Option<DirectoryLock>, Series)> {
        let Some(path) = &self.path else {
            return Ok((None, Series::unsaved(contests.count())));
        };
        let lock = path.parent().map(files::open).transpose()?;
        let series = Series::saved(path, self.resume, contests)?;
        Ok((lock, series))
    }

    /// Removes the checkpoint once the results are on disk.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            // One that is already gone is fine.
            let _ = std::fs::remove_file(path);
        }
    }
}
