//! Writes files atomically.

use std::io::{Error as IoError, Write};
use std::path::{Path, PathBuf};

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output directory could not be created.
    #[error("cannot create the directory {}: {source}", path.display())]
    CreateDirectory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: IoError,
    },
    /// A file was to be written into a directory that does not exist.
    #[error("cannot write {}: there is no directory {}", path.display(), directory.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// The missing directory.
        directory: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: IoError,
    },
}

impl WriteError {
    /// Whether the output directory cannot be made, so that nothing was started; otherwise writing failed.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        matches!(self, Self::CreateDirectory { .. })
    }
}

/// Creates a directory for outputs.
pub fn create_directory(path: &Path) -> Result<(), WriteError> {
    std::fs::create_dir_all(path).map_err(|source| WriteError::CreateDirectory {
        path: path.into(),
        source,
    })
}

/// Writes a file of a directory; see [`write_with`].
pub fn write(directory: &Path, name: &str, contents: &[u8]) -> Result<(), WriteError> {
    write_file(&directory.join(name), contents)
}

/// Writes a file; see [`write_with`].
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    write_with(path, |file| {
        file.write_all(contents).map_err(|e| cannot_write(path, e))
    })
}

/// The directory of a file to be written; checked up front, so that a long run does not fail at the end.
pub fn directory_of(path: &Path) -> Result<&Path, WriteError> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match directory.is_dir() {
        true => Ok(directory),
        false => Err(WriteError::NoDirectory {
            path: path.into(),
            directory: directory.into(),
        }),
    }
}

/// Checks that a file can be written, up front, so that a long run does not fail at the end. Nothing is left behind.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let directory = directory_of(path)?;
    if path.is_dir() {
        return Err(cannot_write(path, IoError::other("it is a directory")));
    }
    match tempfile::tempfile_in(directory) {
        Ok(_) => Ok(()),
        Err(source) => Err(cannot_write(path, source)),
    }
}

/// Writes a file through a temporary one in the same directory, so that no reader sees an incomplete file.
pub fn write_with<T, E: From<WriteError>>(
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> Result<T, E>,
) -> Result<T, E> {
    let directory = directory_of(path)?;
    let failed = |error| cannot_write(path, error);
    let mut file = tempfile::Builder::new()
        .prefix(".robust-td-")
        .tempfile_in(directory)
        .map_err(failed)?;
    let result = fill(file.as_file_mut())?;
    file.as_file().sync_all().map_err(failed)?;
    readable_by_all(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(result)
}

fn cannot_write(path: &Path, source: IoError) -> WriteError {
    WriteError::Write {
        path: path.into(),
        source,
    }
}

/// Gives a temporary file, which is private, the permissions of an ordinary file.
#[cfg(unix)]
fn readable_by_all(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
