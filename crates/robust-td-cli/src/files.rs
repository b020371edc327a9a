//! Writes files whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

/// Creates a directory for outputs.
pub fn create_directory(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| {
        Failure::Usage(format!(
            "cannot create the directory {}: {error}",
            path.display()
        ))
    })
}

/// Writes a file of a directory; see [`write_with`].
pub fn write(directory: &Path, name: &str, contents: &[u8]) -> Result<(), Failure> {
    let path = directory.join(name);
    write_with(&path, |file| {
        file.write_all(contents)
            .map_err(|error| cannot_write(&path, &error))
    })
}

/// The directory of a file to be written; asked before long work, so that it is not done in vain.
pub fn directory_of(path: &Path) -> Result<&Path, Failure> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match directory.is_dir() {
        true => Ok(directory),
        false => Err(Failure::Run(format!(
            "cannot write {}: there is no directory {}",
            path.display(),
            directory.display()
        ))),
    }
}

/// Writes a file through a temporary one beside it, so that a reader never sees half of it.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let directory = directory_of(path)?;
    let failed = |error: std::io::Error| cannot_write(path, &error);
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

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Run(format!("cannot write {}: {error}", path.display()))
}

/// Temporary files are private; the results are ordinary files.
#[cfg(unix)]
fn readable_by_all(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
