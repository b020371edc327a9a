//! Reads the bytes of files by ranges: those of this machine, and those that are stored elsewhere.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bytes::{Buf as _, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};

/// The number of bytes at the end of a file that are read together: most descriptions of Parquet files fit.
const TAIL: u64 = 1 << 16;
/// The number of bytes of a text file that are read together.
const PIECE: u64 = 1 << 22;

/// Files that are not on this machine, such as those in object storage.
pub trait Storage: Send + Sync {
    /// The length of a file in bytes; `None` if it is not one of these.
    fn length(&self, file: &str) -> Option<u64>;

    /// The given number of bytes of a file from a place on, which are there.
    ///
    /// # Errors
    /// Those of the storage.
    fn read(&self, file: &str, from: u64, length: u64) -> io::Result<Vec<u8>>;
}

/// A storage, or none.
#[derive(Clone, Default)]
pub(crate) struct Stores(pub Option<Arc<dyn Storage>>);

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stores").field(&self.0.is_some()).finish()
    }
}

impl Stores {
    /// The length of a file that is stored there.
    pub fn length(&self, file: &str) -> Option<u64> {
        self.0.as_ref()?.length(file)
    }

    /// A file that is stored there.
    pub fn open(&self, file: &str) -> Option<Stored> {
        let storage = self.0.as_ref()?;
        Some(Stored::Ranges(Arc::new(Ranges {
            length: storage.length(file)?,
            storage: storage.clone(),
            file: file.to_owned(),
            tail: OnceLock::new(),
        })))
    }
}

/// A place in a text file from which it can be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seek {
    /// The number of rows before it.
    pub rows: u64,
    /// The number of bytes before it.
    pub byte: u64,
    /// The number of its line, from 1.
    pub line: u64,
}

/// An open file.
#[derive(Clone)]
pub(crate) enum Stored {
    /// On this machine.
    Here(Arc<File>, PathBuf),
    /// Elsewhere.
    Ranges(Arc<Ranges>),
}

/// A file that is read by ranges.
pub(crate) struct Ranges {
    storage: Arc<dyn Storage>,
    file: String,
    length: u64,
    tail: OnceLock<Bytes>,
}

impl Ranges {
    /// Some bytes of it.
    ///
    /// # Errors
    /// Those of the storage, and a range that is not in the file.
    pub fn get(&self, from: u64, length: u64) -> io::Result<Bytes> {
        if from.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let tail = self.length.saturating_sub(TAIL);
        if from < tail {
            return self.fetch(from, length);
        }
        let bytes = match self.tail.get() {
            Some(bytes) => bytes,
            None => {
                let bytes = self.fetch(tail, self.length - tail)?;
                self.tail.get_or_init(|| bytes)
            }
        };
        let start = (from - tail) as usize;
        Ok(bytes.slice(start..start + length as usize))
    }

    fn fetch(&self, from: u64, length: u64) -> io::Result<Bytes> {
        let bytes = self.storage.read(&self.file, from, length)?;
        match bytes.len() as u64 == length {
            true => Ok(bytes.into()),
            false => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the storage gave {} bytes instead of {length}", bytes.len()),
            )),
        }
    }
}

impl Stored {
    /// The same file with a place of its own.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Here(_, path) => Self::Here(Arc::new(File::open(path)?), path.clone()),
            Self::Ranges(ranges) => Self::Ranges(ranges.clone()),
        })
    }

    /// Its bytes from a place on.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn read_from(&self, byte: u64) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Here(_, path) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(byte))?;
                Box::new(file)
            }
            Self::Ranges(ranges) => Box::new(Pieces {
                ranges: ranges.clone(),
                at: byte,
                piece: Bytes::new(),
            }),
        })
    }
}

impl Length for Stored {
    fn len(&self) -> u64 {
        match self {
            Self::Here(file, _) => file.len(),
            Self::Ranges(ranges) => ranges.length,
        }
    }
}

impl ChunkReader for Stored {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        match self {
            Self::Here(file, _) => Ok(Box::new(file.get_read(start)?)),
            Self::Ranges(_) => Ok(self.read_from(start)?),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        match self {
            Self::Here(file, _) => file.get_bytes(start, length),
            Self::Ranges(ranges) => {
                let bytes = ranges.get(start, length as u64);
                bytes.map_err(|error| ParquetError::External(Box::new(error)))
            }
        }
    }
}

/// Fills `out` with the bytes of a file from a place on.
///
/// # Errors
/// Those of reading, also if the file ends before.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, from: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, from)
}

/// Fills `out` with the bytes of a file from a place on.
///
/// # Errors
/// Those of reading, also if the file ends before.
#[cfg(not(unix))]
pub(crate) fn read_at(file: &File, from: u64, out: &mut [u8]) -> io::Result<()> {
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(out)
}

/// The bytes of a file from a place on.
struct Pieces {
    ranges: Arc<Ranges>,
    at: u64,
    piece: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let left = self.ranges.length.saturating_sub(self.at);
            if left == 0 {
                return Ok(0);
            }
            self.piece = self.ranges.get(self.at, left.min(PIECE))?;
            self.at += self.piece.len() as u64;
        }
        let count = out.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut out[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A file of given bytes that notes what is read of it.
    struct Noting(Vec<u8>, Mutex<Vec<(u64, u64)>>);

    impl Storage for Noting {
        fn length(&self, file: &str) -> Option<u64> {
            (file == "x").then_some(self.0.len() as u64)
        }

        fn read(&self, _: &str, from: u64, length: u64) -> io::Result<Vec<u8>> {
            self.1.lock().unwrap().push((from, length));
            Ok(self.0[from as usize..(from + length) as usize].to_vec())
        }
    }

    #[test]
    fn ranges_are_read_as_they_are_needed() {
        let bytes: Vec<u8> = (0..10_000_000_u32).map(|k| (k % 251) as u8).collect();
        let storage = Arc::new(Noting(bytes.clone(), Mutex::default()));
        let stores = Stores(Some(storage.clone()));
        assert!(stores.open("y").is_none());
        let file = stores.open("x").unwrap();
        assert_eq!(file.get_bytes(9_999_990, 10).unwrap(), bytes[9_999_990..]);
        assert_eq!(
            file.get_bytes(9_999_000, 7).unwrap(),
            bytes[9_999_000..9_999_007]
        );
        assert!(file.get_bytes(9_999_999, 2).is_err());
        let mut all = Vec::new();
        file.read_from(5).unwrap().read_to_end(&mut all).unwrap();
        assert!(all == bytes[5..]);
        let read = storage.1.lock().unwrap();
        // The end once; then pieces of 4 MiB.
        let starts: Vec<u64> = read.iter().map(|(from, _)| *from).collect();
        assert_eq!(starts, [10_000_000 - TAIL, 5, 5 + PIECE, 5 + 2 * PIECE]);
    }
}
