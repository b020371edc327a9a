//! Files for the readers that need one: a folder per thread, removed with it.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder");
}

/// The folder of this thread.
pub(crate) fn folder() -> PathBuf {
    FOLDER.with(|folder| folder.path().to_owned())
}

/// Writes a file of this thread's folder; returns its path.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    write(&path, bytes);
    path
}

/// Writes a file of this thread's folder that always has the same bytes.
pub(crate) fn fixed(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    if !path.exists() {
        write(&path, bytes);
    }
    path
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("room for a temporary file");
}
