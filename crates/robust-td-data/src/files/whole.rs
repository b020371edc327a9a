//! Reads files that are needed as a whole, up to a limit: a device or a pipe may never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use crate::memory;

/// The longest TOML text, in bytes; parsed it takes about a hundred times as much. Matrices can be in files of their own.
pub const LONGEST_TEXT: u64 = 4 << 20;

/// The longest model or matrix: a quarter of the memory that may be taken, for what is read and what is made of it.
pub(crate) fn longest() -> u64 {
    memory::limit().map_or(u64::MAX, |limit| limit / 4)
}

/// Opens a file; a device or a pipe, which may never end, is refused before it is opened.
///
/// # Errors
/// Those of the system, and what is not a regular file.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    let data = path.metadata()?;
    match data.is_file() || data.is_dir() {
        true => File::open(path),
        false => Err(Error::other(
            "it is not a regular file but a device, a pipe or a socket; name a file",
        )),
    }
}

/// The bytes of a regular file.
///
/// # Errors
/// As for [`bytes`], and what is not a regular file.
pub(crate) fn regular_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    up_to(open_regular(path)?, most)
}

/// The bytes of a file.
///
/// # Errors
/// Those of the system, and a file of more than `most` bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    up_to(File::open(path)?, most)
}

fn up_to(file: File, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it has more than {most} bytes, the limit for such a file"),
        )),
        false => Ok(bytes),
    }
}

/// The text of a file.
///
/// # Errors
/// Those of the system, a file of more than `most` bytes, and bytes that are not UTF-8.
pub fn text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(bytes(path, most)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beyond_the_limit_is_refused_and_an_endless_one_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(text(&path, 4).unwrap(), "four");
        let refused = text(&path, 3).unwrap_err().to_string();
        assert!(refused.contains("more than 3 bytes"), "{refused}");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(text(&path, 4).is_err());
        if cfg!(unix) {
            let endless = text(Path::new("/dev/zero"), LONGEST_TEXT);
            assert_eq!(endless.unwrap_err().kind(), ErrorKind::FileTooLarge);
        }
    }
}
