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

/// Writes a file of a directory, whole or not at all.
pub fn write(directory: &Path, name: &str, contents: &[u8]) -> Result<(), Failure> {
    let path = directory.join(name);
    robust_td_data::write_whole(&path, |file| {
        file.write_all(contents)
            .map_err(|error| Failure::Run(format!("cannot write {}: {error}", path.display())))
    })
}
