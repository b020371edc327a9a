//! Locks an output directory against other processes, and against other threads of this one.
//!
//! The lock is that of the directory itself, so that nothing is left behind, whatever ends the process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use super::{WriteError, create_directory};

/// The directories that this process has locked.
static HELD: Mutex<Vec<Held>> = Mutex::new(Vec::new());

struct Held {
    path: PathBuf,
    owner: ThreadId,
    /// The number of locks of the owner.
    count: usize,
    /// Locked as long as it is open; none where the file system has no locks.
    _file: Option<File>,
    /// The directories that were created, the innermost first; those still empty at the end are removed.
    created: Vec<PathBuf>,
}

/// The right to write into a directory, until it is dropped. A thread may take it again. A directory that was created and is
/// empty at the end is removed.
#[derive(Debug)]
pub struct DirectoryLock {
    path: PathBuf,
}

impl DirectoryLock {
    /// Creates a directory for outputs and locks it.
    ///
    /// # Errors
    /// When it cannot be created, or another process or thread has locked it.
    pub fn take(directory: &Path) -> Result<Self, WriteError> {
        let created = missing(directory);
        create_directory(directory)?;
        let path = std::fs::canonicalize(directory).map_err(|source| failed(directory, source))?;
        let owner = std::thread::current().id();
        let busy = || WriteError::Busy {
            path: directory.into(),
        };
        let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|held| held.path == path) {
            Some(held) if held.owner == owner => held.count += 1,
            Some(_) => return Err(busy()),
            None => all.push(Held {
                path: path.clone(),
                owner,
                count: 1,
                _file: locked(&path).map_err(|()| busy())?,
                created,
            }),
        }
        Ok(Self { path })
    }

    /// The directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|held| held.path == self.path) {
            all[at].count -= 1;
            if all[at].count == 0 {
                let held = all.swap_remove(at);
                for directory in &held.created {
                    // One with files stays.
                    if std::fs::remove_dir(directory).is_err() {
                        break;
                    }
                }
            }
        }
    }
}

/// The directories that do not exist yet, the innermost first.
fn missing(directory: &Path) -> Vec<PathBuf> {
    let parents = directory.ancestors();
    let parents = parents.take_while(|path| *path != Path::new("") && !path.exists());
    parents.map(Into::into).collect()
}

/// The locked directory; none where directories cannot be locked, an error if another process has locked it.
fn locked(directory: &Path) -> Result<Option<File>, ()> {
    let Ok(file) = File::open(directory) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(()),
        // Some network file systems have no locks.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn failed(directory: &Path, source: std::io::Error) -> WriteError {
    WriteError::CreateDirectory {
        path: directory.into(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/out");
        let first = DirectoryLock::take(&path).unwrap();
        let again = DirectoryLock::take(&path).unwrap();
        let other = || std::thread::scope(|s| s.spawn(|| DirectoryLock::take(&path)).join());
        let error = other().unwrap().unwrap_err();
        assert!(error.is_invalid_input());
        assert!(error.to_string().contains("in use by another"), "{error}");
        drop(first);
        assert!(other().unwrap().is_err());
        drop(again);
        assert!(other().unwrap().is_ok());
        // Nothing was written.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let lock = DirectoryLock::take(&path).unwrap();
        std::fs::write(path.join("file"), "x").unwrap();
        drop(lock);
        assert!(path.join("file").exists());
    }
}
