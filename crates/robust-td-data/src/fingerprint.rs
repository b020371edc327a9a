//! Notices a file that changes between two passes over it.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::{Error, Result};

/// What the first pass saw of each file; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fingerprints(Arc<Mutex<HashMap<PathBuf, Seen>>>);

#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    /// The last row, once the file was read to its end.
    row: Option<u64>,
    /// Whether a pass before this one opened it.
    again: bool,
}

/// A state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    identity: [u64; 2],
}

impl Fingerprints {
    /// Compares a file that is opened with what the first pass saw of it.
    ///
    /// # Errors
    /// When it is another file, or has another size or time.
    pub fn open(&self, name: &str, path: &Path, data: &Metadata) -> Result<()> {
        let stamp = Stamp::of(data);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = files.get_mut(path) else {
            let (row, again) = (None, false);
            files.insert(path.into(), Seen { stamp, row, again });
            return Ok(());
        };
        seen.again = true;
        compare(name, &seen.stamp, &stamp)
    }

    /// Compares a file that was read to its end, with the last row, with what the first pass saw of it.
    ///
    /// # Errors
    /// When it has changed since the first pass. One that only grows during the first is read up to what was there.
    pub fn end(&self, name: &str, path: &Path, row: u64) -> Result<()> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = files.get_mut(path) else {
            return Ok(());
        };
        if seen.again
            && let Ok(data) = std::fs::metadata(path)
        {
            compare(name, &seen.stamp, &Stamp::of(&data))?;
        }
        match seen.row.replace(row) {
            Some(before) if before != row => {
                let what = format!("it had {before} rows and now has {row}");
                Err(changed(name, what))
            }
            _ => Ok(()),
        }
    }
}

impl Stamp {
    fn of(data: &Metadata) -> Self {
        Self {
            bytes: data.len(),
            modified: data.modified().ok(),
            identity: identity(data),
        }
    }
}

fn compare(name: &str, before: &Stamp, now: &Stamp) -> Result<()> {
    let what = if before.bytes != now.bytes {
        format!("it had {} bytes and now has {}", before.bytes, now.bytes)
    } else if before.identity != now.identity {
        "it was replaced by another file".to_owned()
    } else if before.modified != now.modified {
        "it was written again".to_owned()
    } else {
        return Ok(());
    };
    Err(changed(name, what))
}

fn changed(name: &str, what: String) -> Error {
    Error::FileChanged {
        file: name.to_owned(),
        what,
    }
}

/// The device and the number of a file.
#[cfg(unix)]
fn identity(data: &Metadata) -> [u64; 2] {
    use std::os::unix::fs::MetadataExt;
    [data.dev(), data.ino()]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [u64; 2] {
    [0; 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a log to its end.
    fn pass(log: &mut crate::Log) -> Result<()> {
        let mut reader = log.open(crate::options::Purpose::Evaluate)?;
        let mut batch = crate::Batch::default();
        while reader.read(&mut batch)? {}
        Ok(())
    }

    #[test]
    fn passes_over_a_log_see_the_same_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let rows = "obs_0,reward\n1,2\n3,4\n";
        std::fs::write(&path, rows).unwrap();
        let mut log = crate::Log::files([path.to_str().unwrap()]);
        pass(&mut log).unwrap();
        pass(&mut log).unwrap();
        // The same size and time, but another row: a comment.
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        std::io::Write::write_all(&mut &file, b"obs_0,reward\n1,2\n#,4\n").unwrap();
        file.set_modified(time).unwrap();
        let error = pass(&mut log).unwrap_err().to_string();
        assert!(
            error.ends_with("it had 2 rows and now has 1; evaluate a copy that is not written to"),
            "{error}"
        );
        std::fs::write(&path, format!("{rows}5,6\n")).unwrap();
        assert!(matches!(pass(&mut log), Err(Error::FileChanged { .. })));
    }

    #[test]
    fn a_file_that_changes_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let seen = Fingerprints::default();
        let open =
            |seen: &Fingerprints| seen.open("log.csv", &path, &std::fs::metadata(&path).unwrap());
        write("one");
        open(&seen).unwrap();
        seen.end("log.csv", &path, 7).unwrap();
        open(&seen).unwrap();
        seen.end("log.csv", &path, 7).unwrap();
        let rows = seen.end("log.csv", &path, 8).unwrap_err().to_string();
        assert!(rows.contains("had 7 rows and now has 8"), "{rows}");
        write("longer");
        for error in [open(&seen), seen.end("log.csv", &path, 8)].map(Result::unwrap_err) {
            let words = error.to_string();
            assert!(words.starts_with("log.csv: the file changed"), "{words}");
            assert!(
                words.contains("had 3 bytes and now has 6") && error.is_invalid_input(),
                "{words}"
            );
        }
        // During the first pass a file may grow.
        let seen = Fingerprints::default();
        open(&seen).unwrap();
        write("longer still");
        seen.end("log.csv", &path, 7).unwrap();
    }
}
