//! Writes files whole or not at all.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};

/// The directory of a file to be written; checked up front, so that a long run does not fail at the end.
///
/// # Errors
/// When there is no such directory.
pub fn directory_of(path: &Path) -> Result<&Path> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match directory.is_dir() {
        true => Ok(directory),
        false => Err(Error::NoDirectory {
            file: path.display().to_string(),
            directory: directory.display().to_string(),
        }),
    }
}

/// Writes a file through a temporary one beside it, so that a reader never sees half of it.
///
/// # Errors
/// When the file cannot be written, and what `fill` returns; the old file then stays as it was.
pub fn write_whole<E: From<Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let directory = directory_of(path)?;
    let failed = |source: std::io::Error| cannot_write(path, source);
    let mut file = tempfile::Builder::new()
        .prefix(".robust-td-")
        .tempfile_in(directory)
        .map_err(failed)?;
    fill(file.as_file_mut())?;
    file.as_file().sync_all().map_err(failed)?;
    readable_by_all(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The error for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, source: std::io::Error) -> Error {
    Error::Write {
        file: Some(path.display().to_string()),
        source,
    }
}

/// Temporary files are private; the results are ordinary files.
#[cfg(unix)]
fn readable_by_all(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &File) -> std::io::Result<()> {
    Ok(())
}
