//! Writes paths as text without loss: a byte that is not part of UTF-8 becomes a private character.
//!
//! Names of files are texts in models, reports and messages. Without this, a file whose name is not UTF-8 could not be opened by its name.

use std::path::{Path, PathBuf};

/// The private character of the byte 0. Bytes below 128 are UTF-8, so that only the last half is used.
const FIRST: u32 = 0x0010_ff00;

/// The byte that a character of a name stands for, if it stands for one.
#[must_use]
pub fn byte_of(c: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()?;
    (!byte.is_ascii()).then_some(byte)
}

/// A path as text.
///
/// ```
/// use std::path::Path;
///
/// use robust_td_data::path_name::{name_of, path_of};
///
/// assert_eq!(name_of(Path::new("logs/größe.csv")), "logs/größe.csv");
/// assert_eq!(path_of("logs/größe.csv"), Path::new("logs/größe.csv"));
/// ```
#[must_use]
pub fn name_of(path: &Path) -> String {
    match path.to_str() {
        Some(name) => name.to_owned(),
        None => escaped(path),
    }
}

/// The path that a text of [`name_of`] stands for. A file whose name has such characters itself comes first.
#[must_use]
pub fn path_of(name: &str) -> PathBuf {
    let path = PathBuf::from(name);
    match name.chars().any(|c| byte_of(c).is_some()) && !path.exists() {
        true => unescaped(name),
        false => path,
    }
}

#[cfg(unix)]
fn escaped(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        let invalid = chunk.invalid().iter();
        name.push_str(chunk.valid());
        name.extend(invalid.filter_map(|&byte| char::from_u32(FIRST + u32::from(byte))));
    }
    name
}

#[cfg(unix)]
fn unescaped(name: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(name.len());
    for c in name.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn escaped(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(not(unix))]
fn unescaped(name: &str) -> PathBuf {
    name.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_path_is_found_again() {
        let all: Vec<u8> = (1..=255).collect();
        for bytes in [
            &b"plain.csv"[..],
            b"n\xff\xc3.csv",
            "größe".as_bytes(),
            &all,
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(path_of(&name_of(path)), path);
        }
        let name = name_of(Path::new(OsStr::from_bytes(b"n\xff")));
        assert_eq!(name.chars().filter_map(byte_of).collect::<Vec<_>>(), [255]);
    }
}
