//! Writes files atomically, alone or as a set.

mod lock;
mod set;
mod temporary;
mod whole;

pub use lock::DirectoryLock;
pub use set::{FileSet, open};
pub use temporary::remove_temporaries;
pub use whole::{LONGEST_TEXT, text};
pub(crate) use whole::{longest, open_regular, regular_bytes};

use std::fs::File;
use std::io::{Error as IoError, Read, Seek, Write};
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
    /// An output that is neither a regular file nor a new name.
    #[error("cannot write {}: {what}", path.display())]
    NotAFile {
        /// The name.
        path: PathBuf,
        /// What it is, and the remedy.
        what: &'static str,
    },
    /// A directory that another process writes to.
    #[error("{} is in use by another robust-td; wait until it ends, or name another directory", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
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
    /// Whether the name of the output cannot be used, so that nothing was started; otherwise writing failed.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        matches!(
            self,
            Self::CreateDirectory { .. }
                | Self::NoDirectory { .. }
                | Self::NotAFile { .. }
                | Self::Busy { .. }
        )
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
    let target = target(path)?;
    match tempfile::tempfile_in(directory_of(&target)?) {
        Ok(_) => Ok(()),
        Err(source) => Err(cannot_write(path, source)),
    }
}

/// The file that a name stands for: itself, or what a symbolic link points to. A rename would replace a device, a pipe or a link.
fn target(path: &Path) -> Result<PathBuf, WriteError> {
    let refused = |what| {
        Err(WriteError::NotAFile {
            path: path.into(),
            what,
        })
    };
    match (std::fs::metadata(path), std::fs::symlink_metadata(path)) {
        (Ok(data), _) if data.is_dir() => refused("it is a directory"),
        (Ok(data), _) if !data.is_file() => {
            refused("it is a device, a pipe or a socket; name a file")
        }
        (Ok(_), _) => std::fs::canonicalize(path).map_err(|source| cannot_write(path, source)),
        (Err(_), Ok(_)) => refused("it is a symbolic link to a file that does not exist"),
        (Err(_), Err(_)) => Ok(path.into()),
    }
}

/// Writes a file through a temporary one in the same directory, so that no reader sees an incomplete file.
///
/// A new file has the permissions that the umask allows, an existing one keeps its own.
pub fn write_with<T, E: From<WriteError>>(
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> Result<T, E>,
) -> Result<T, E> {
    let target = target(path)?;
    let failed = |error| cannot_write(path, error);
    let mut file = temporary::create(directory_of(&target)?).map_err(failed)?;
    let result = fill(file.as_file_mut())?;
    copy_permissions(&target, file.as_file()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(result)
}

/// Writes a file and reads it back before it replaces an earlier one; see [`write_with`].
pub fn write_checked(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    write_with(path, |file| {
        let failed = |error| cannot_write(path, error);
        file.write_all(contents).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let mut found = Vec::with_capacity(contents.len());
        file.rewind().map_err(failed)?;
        file.read_to_end(&mut found).map_err(failed)?;
        match found == contents {
            true => Ok(()),
            false => Err(failed(IoError::other(
                "the bytes read back are not those written; check the disk",
            ))),
        }
    })
}

/// Gives a file the permissions of the one that it replaces, if there is one.
fn copy_permissions(from: &Path, to: &File) -> Result<(), IoError> {
    match std::fs::metadata(from) {
        Ok(data) => to.set_permissions(data.permissions()),
        Err(_) => Ok(()),
    }
}

fn cannot_write(path: &Path, source: IoError) -> WriteError {
    WriteError::Write {
        path: path.into(),
        source,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_files_and_new_names_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write_file(&path("real"), b"one").unwrap();
        symlink(path("real"), path("link")).unwrap();
        write_file(&path("link"), b"two").unwrap();
        assert!(path("link").symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(path("real")).unwrap(), b"two");
        symlink(path("missing"), path("dangling")).unwrap();
        let refused = [
            (
                path("dangling"),
                "a symbolic link to a file that does not exist",
            ),
            (folder.path().into(), "it is a directory"),
            ("/dev/null".into(), "it is a device"),
        ];
        for (name, why) in refused {
            for error in [write_file(&name, b"x"), check_writable(&name)].map(Result::unwrap_err) {
                assert!(
                    error.is_invalid_input() && error.to_string().contains(why),
                    "{error}"
                );
            }
        }
        assert!(!path("missing").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn permissions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("private");
        let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        write_file(&file, b"one").unwrap();
        // What the umask allows, as for any new file.
        std::fs::write(folder.path().join("plain"), b"").unwrap();
        assert_eq!(mode(&file), mode(&folder.path().join("plain")));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        write_file(&file, b"two").unwrap();
        assert_eq!(mode(&file), 0o600);
    }
}
