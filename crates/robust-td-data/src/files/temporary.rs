//! Makes temporary files beside outputs, and removes those that killed processes left behind.
//!
//! A living process holds a lock on its temporary file, which ends with the process.

use std::collections::HashSet;
use std::fs::File;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// The start of the names of temporary files; six letters or digits follow.
const PREFIX: &str = ".robust-td-";
const RANDOM: usize = 6;

/// The directories in which this process has removed what others left.
static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// The temporary files of this process, and some that were renamed or removed since.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of this process, which is about to end; what is being written to them fails.
pub fn remove_temporaries() {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    for path in own.drain(..) {
        let _ = std::fs::remove_file(path);
    }
}

/// Remembers a temporary file, and forgets those that no longer exist.
fn remember(path: &Path) {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    own.retain(|path| path.exists());
    own.push(path.to_path_buf());
}

/// A temporary file in a directory, with the permissions of an ordinary file.
pub(super) fn create(directory: &Path) -> Result<NamedTempFile> {
    sweep_once(directory);
    loop {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        ordinary(&mut builder);
        let file = builder.tempfile_in(directory)?;
        // Where locks do not work, no process removes the files of others.
        let _ = file.as_file().lock();
        // Another process may have removed it before it was locked.
        if file.path().exists() {
            remember(file.path());
            return Ok(file);
        }
    }
}

/// Removes the temporary files of processes that were killed.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_temporary = ours.is_some_and(|rest| {
            rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if !is_temporary || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The file of a living process is locked, and stays. The lock is held while it is removed.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn sweep_once(directory: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept
        .get_or_insert_default()
        .insert(directory.to_path_buf())
    {
        sweep(directory);
    }
}

/// Gives a temporary file, which would be private, the permissions of an ordinary file.
#[cfg(unix)]
fn ordinary(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn ordinary(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let living = create(folder.path()).unwrap();
        for name in [
            ".robust-td-aB3xY9",
            ".robust-td-notes.txt",
            ".tmpabc",
            "data.csv",
        ] {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path());
        let mut names: Vec<_> = (std::fs::read_dir(folder.path()).unwrap())
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        let mut expected =
            [".robust-td-notes.txt", ".tmpabc", "data.csv"].map(|name| folder.path().join(name));
        expected.sort();
        let mut expected = expected.to_vec();
        expected.push(living.path().into());
        expected.sort();
        assert_eq!(names, expected);
    }
}
