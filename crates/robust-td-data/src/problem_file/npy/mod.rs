//! Reads an array of numbers from a NumPy file, format versions 1 to 3.
//!
//! Sizes are checked against limits before memory is allocated, and no more is allocated than the file has bytes.

mod element;
mod header;

use std::io::{self, BufReader, Read};
use std::path::Path;

use super::array::{Array, Origin};
use super::error::ProblemFault;
use crate::files;
use header::Header;

/// The longest header that is read, as in NumPy itself.
const MAX_HEADER: usize = 10_000;

/// The most numbers that are read: a square matrix of 16384 rows.
const MAX_ENTRIES: usize = 1 << 28;

/// Why a NumPy file does not contain an array of finite numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// Another kind of file.
    #[error("not a NumPy file: it does not start with \\x93NUMPY")]
    Magic,
    /// A format version that is not known.
    #[error("its format version is {major}; versions 1 to 3 are read")]
    Version {
        /// The major version.
        major: u8,
    },
    /// A header beyond the limit.
    #[error("its header has {length} bytes; at most {MAX_HEADER} are read")]
    HeaderLength {
        /// Its length.
        length: usize,
    },
    /// A file that is truncated within its header.
    #[error("the file ends within its header")]
    HeaderCut,
    /// A header of another form.
    #[error("byte {position} of its header: {found} where {expected} is needed")]
    Header {
        /// Where, from 0.
        position: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A header without a required key.
    #[error("its header has no key '{key}'")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// Elements that are not real numbers.
    #[error("its elements are '{descr}', not real numbers")]
    Element {
        /// Their type.
        descr: String,
    },
    /// An array without entries.
    #[error("the array is empty")]
    Empty,
    /// An array beyond the limit.
    #[error("the array has the shape {shape:?}; at most {MAX_ENTRIES} numbers are read")]
    TooLarge {
        /// The length along each axis.
        shape: Vec<usize>,
    },
    /// A file that is truncated within its array.
    #[error("the file ends before its array does: {found} of {needed} bytes")]
    Short {
        /// The bytes of the array.
        needed: usize,
        /// The bytes that are there.
        found: usize,
    },
    /// A file with extra bytes after its array.
    #[error("the file continues after the {needed} bytes of its array")]
    Long {
        /// The bytes of the array.
        needed: usize,
    },
    /// An infinite number or NaN.
    #[error("{place} is {value}, not a finite number")]
    NotFinite {
        /// The row and the column.
        place: String,
        /// The value.
        value: f64,
    },
}

/// Reads the array of `key` from the file that the problem file calls `file`.
pub fn read(key: &str, file: &str, path: &Path) -> Result<Array, ProblemFault> {
    let origin = Origin::Npy(file.to_string());
    let numbers = files::open_regular(path)
        .map_err(NpyError::from)
        .and_then(|file| read_from(BufReader::new(file)));
    match numbers {
        Ok((shape, entries)) => Ok(Array {
            shape,
            entries,
            origin,
        }),
        Err(source) => Err(ProblemFault::Npy {
            name: origin.name(key),
            source,
        }),
    }
}

/// The shape and the numbers in row order.
fn read_from(mut reader: impl Read) -> Result<(Vec<usize>, Vec<f64>), NpyError> {
    let header = Header::read(&mut reader)?;
    let shape = header.shape;
    let count = shape
        .iter()
        .try_fold(1_usize, |product, &length| product.checked_mul(length));
    let count = match count {
        Some(0) => return Err(NpyError::Empty),
        Some(count) if count <= MAX_ENTRIES => count,
        _ => return Err(NpyError::TooLarge { shape }),
    };
    let element = element::find(&header.descr).ok_or(NpyError::Element {
        descr: header.descr,
    })?;
    let needed = count * element.size;
    let mut bytes = Vec::new();
    // One byte more shows that the file continues.
    reader.take(needed as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() < needed {
        let found = bytes.len();
        return Err(NpyError::Short { needed, found });
    }
    if bytes.len() > needed {
        return Err(NpyError::Long { needed });
    }
    let stored = element.decode(bytes);
    let entries = match header.fortran_order {
        true => in_row_order(&shape, &stored),
        false => stored,
    };
    match entries.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(NpyError::NotFinite {
            place: place(&shape, k),
            value: entries[k],
        }),
        None => Ok((shape, entries)),
    }
}

/// Numbers that were stored with the first index running fastest, with the last index running fastest.
fn in_row_order(shape: &[usize], stored: &[f64]) -> Vec<f64> {
    let at = |k: usize| {
        let mut offset = 0;
        let (mut rest, mut stride) = (k, stored.len());
        for &length in shape.iter().rev() {
            stride /= length;
            offset += rest % length * stride;
            rest /= length;
        }
        stored[offset]
    };
    (0..stored.len()).map(at).collect()
}

/// The place of entry `k` of an array: `row 2, column 1`, or the index along each axis.
fn place(shape: &[usize], k: usize) -> String {
    let mut rest = k;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let position = rest % length;
            rest /= length;
            position
        })
        .collect();
    index.reverse();
    match index[..] {
        [row, column] => format!("row {row}, column {column}"),
        _ => format!("entry {index:?}"),
    }
}

#[cfg(test)]
mod tests;
