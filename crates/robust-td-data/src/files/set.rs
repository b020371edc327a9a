//! Writes a set of files that belong together: all of them are replaced, or none.
//!
//! The files are built in a folder inside the directory. Renaming that folder decides: from then on the set is complete, and
//! its files are moved into place. Whoever opens the directory next finishes what a killed process has decided and removes what
//! it has not.

use std::fs;
use std::io::{Error as IoError, Write};
use std::path::{Path, PathBuf};

use super::lock::DirectoryLock;
use super::{WriteError, cannot_write, copy_permissions, target, temporary, write_file};

/// The folder of a set that is being built, and of one that is complete.
const BUILDING: &str = ".robust-td-building";
const COMPLETE: &str = ".robust-td-complete";
/// In the folder: the names of files to remove.
const REMOVED: &str = ".removed";
/// The file that describes the others: it disappears first and appears last, so that a directory with it is consistent.
const MANIFEST: &str = "manifest.json";

/// A set of files under construction; dropped before [`FileSet::commit`], it leaves the directory as it was.
#[derive(Debug)]
pub struct FileSet {
    lock: DirectoryLock,
    removed: Vec<String>,
}

impl FileSet {
    /// Locks a directory, which is created, and starts a set of files in it.
    ///
    /// # Errors
    /// When the directory cannot be written, or is in use.
    pub fn new(directory: &Path) -> Result<Self, WriteError> {
        let lock = open(directory)?;
        let set = Self {
            lock,
            removed: Vec::new(),
        };
        fs::create_dir(set.building()).map_err(|error| cannot_write(directory, error))?;
        Ok(set)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, name: &str, contents: &[u8]) -> Result<(), WriteError> {
        let place = self.lock.path().join(name);
        let target = target(&place)?;
        let failed = |error: IoError| cannot_write(&place, error);
        let mut file = fs::File::create(self.building().join(name)).map_err(failed)?;
        file.write_all(contents).map_err(failed)?;
        copy_permissions(&target, &file).map_err(failed)?;
        file.sync_all().map_err(failed)
    }

    /// Removes a file together with the replacement of the others.
    pub fn remove(&mut self, name: impl Into<String>) {
        self.removed.push(name.into());
    }

    /// Puts all files into place.
    ///
    /// # Errors
    /// When that fails; the set is then complete in its folder, and put into place when the directory is written again.
    pub fn commit(self) -> Result<(), WriteError> {
        let directory = self.lock.path().to_path_buf();
        let failed = |error: IoError| cannot_write(&directory, error);
        if !self.removed.is_empty() {
            let names = self.removed.join("\n");
            let mut file = fs::File::create(self.building().join(REMOVED)).map_err(failed)?;
            file.write_all(names.as_bytes()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        }
        fs::rename(self.building(), directory.join(COMPLETE)).map_err(failed)?;
        put_into_place(&directory)
    }

    fn building(&self) -> PathBuf {
        self.lock.path().join(BUILDING)
    }
}

impl Drop for FileSet {
    fn drop(&mut self) {
        // After a commit there is none.
        let _ = fs::remove_dir_all(self.building());
    }
}

/// Locks a directory for outputs, which is created; finishes or removes what a killed process has left in it.
///
/// # Errors
/// When the directory cannot be created or is in use, or a complete set cannot be put into place.
pub fn open(directory: &Path) -> Result<DirectoryLock, WriteError> {
    let lock = DirectoryLock::take(directory)?;
    put_into_place(lock.path())?;
    // Usually there is none.
    let _ = fs::remove_dir_all(lock.path().join(BUILDING));
    temporary::sweep(lock.path());
    Ok(lock)
}

/// Moves the files of a complete set into place.
fn put_into_place(directory: &Path) -> Result<(), WriteError> {
    let complete = directory.join(COMPLETE);
    let Ok(entries) = fs::read_dir(&complete) else {
        return Ok(());
    };
    let failed = |error: IoError| cannot_write(directory, error);
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(failed)?.file_name());
    }
    // The manifest is the last to move; before the first, that of the earlier files goes.
    names.sort_by_key(|name| (name == MANIFEST, name.clone()));
    if names.last().is_some_and(|name| name == MANIFEST) && names.len() > 1 {
        let manifest = directory.join(MANIFEST);
        if manifest.symlink_metadata().is_ok_and(|data| data.is_file()) {
            fs::remove_file(&manifest).map_err(failed)?;
        }
    }
    for name in &names {
        let from = complete.join(name);
        if name == REMOVED {
            let names = fs::read_to_string(&from).map_err(failed)?;
            for name in names.lines() {
                // Usually there is none.
                let _ = fs::remove_file(directory.join(name));
            }
            fs::remove_file(&from).map_err(failed)?;
            continue;
        }
        let place = directory.join(name);
        match place.is_symlink() {
            // What the link points to may be on another disk.
            true => {
                write_file(&place, &fs::read(&from).map_err(failed)?)?;
                fs::remove_file(&from).map_err(failed)?;
            }
            false => fs::rename(&from, &place).map_err(|error| cannot_write(&place, error))?,
        }
    }
    fs::remove_dir(&complete).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_set_replaces_all_files_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        for (round, commit) in [("one", true), ("two", false), ("three", true)] {
            let mut set = FileSet::new(folder.path()).unwrap();
            for name in ["a.csv", "manifest.json", "old.svg"] {
                set.add(name, round.as_bytes()).unwrap();
            }
            if round == "three" {
                fs::remove_file(set.building().join("old.svg")).unwrap();
                set.remove("old.svg");
            }
            match commit {
                true => set.commit().unwrap(),
                false => drop(set),
            }
            let expected = if round == "three" { "three" } else { "one" };
            assert_eq!((read("a.csv"), read("manifest.json")).0, expected);
        }
        assert_eq!(names(folder.path()), ["a.csv", "manifest.json"]);
    }

    #[test]
    fn what_a_killed_process_left_is_finished_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.csv"), "old").unwrap();
        fs::write(path("b.csv"), "new").unwrap();
        fs::write(path("figure.svg"), "old").unwrap();
        // Killed half way through moving: b.csv is in place already.
        fs::create_dir(path(COMPLETE)).unwrap();
        fs::write(path(COMPLETE).join("a.csv"), "new").unwrap();
        fs::write(path(COMPLETE).join(MANIFEST), "new").unwrap();
        fs::write(path(COMPLETE).join(REMOVED), "figure.svg").unwrap();
        // Killed while building.
        fs::create_dir(path(BUILDING)).unwrap();
        fs::write(path(BUILDING).join("a.csv"), "newer").unwrap();
        fs::write(path(".robust-td-123456"), "x").unwrap();
        drop(open(folder.path()).unwrap());
        assert_eq!(names(folder.path()), ["a.csv", "b.csv", "manifest.json"]);
        for name in ["a.csv", "b.csv", "manifest.json"] {
            assert_eq!(fs::read_to_string(path(name)).unwrap(), "new");
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_devices_refused() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let real = elsewhere.path().join("real.csv");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("a.csv")).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("b.csv")).unwrap();
        let mut set = FileSet::new(folder.path()).unwrap();
        set.add("a.csv", b"new").unwrap();
        assert!(set.add("b.csv", b"new").is_err());
        set.commit().unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
    }
}
