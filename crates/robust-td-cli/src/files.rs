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

/// Writes a file through a temporary one beside it, so that a reader never sees half of it.
pub fn write(directory: &Path, name: &str, contents: &[u8]) -> Result<(), Failure> {
    let path = directory.join(name);
    let attempt = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".robust-td-")
            .tempfile_in(directory)?;
        file.write_all(contents)?;
        file.as_file().sync_all()?;
        readable_by_all(file.as_file())?;
        file.persist(&path)?;
        Ok(())
    };
    attempt().map_err(|error| Failure::Run(format!("cannot write {}: {error}", path.display())))
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
