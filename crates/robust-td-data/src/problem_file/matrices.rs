//! Reads the matrix files that a problem file names, within a budget.
//!
//! A file may be named for many actions, so that little text can ask for much memory. What is read may take a fixed amount, and a
//! multiple of the bytes of the text and of the files, each counted once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::array::Array;
use super::error::ProblemFault;
use super::{csv, npy, value};

/// Bytes of numbers that any problem may have, and per byte of text and files.
const FOR_ANY: u64 = 64 << 20;
const PER_BYTE: u64 = 16;

/// The matrix files of a problem file.
pub struct Matrices<'a> {
    folder: &'a Path,
    budget: RefCell<Budget>,
}

#[derive(Default)]
struct Budget {
    /// Bytes of text and of the files.
    stored: u64,
    /// Bytes of the numbers.
    taken: u64,
    /// The bytes of the numbers of each file.
    known: HashMap<PathBuf, u64>,
}

impl Budget {
    fn take(&mut self, name: &str, bytes: u64) -> Result<(), ProblemFault> {
        self.taken = self.taken.saturating_add(bytes);
        let most = FOR_ANY.saturating_add(self.stored.saturating_mul(PER_BYTE));
        match self.taken > most {
            true => Err(ProblemFault::TooLarge {
                name: name.to_owned(),
                taken: self.taken,
                most,
            }),
            false => Ok(()),
        }
    }
}

impl<'a> Matrices<'a> {
    /// The files beside a text of this length.
    pub fn new(folder: &'a Path, text: usize) -> Self {
        let stored = text as u64;
        Self {
            folder,
            budget: RefCell::new(Budget {
                stored,
                ..Budget::default()
            }),
        }
    }

    /// The path of a file.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Reads the matrix of `key` from the file that the problem file calls `file`.
    pub fn read(&self, key: &str, file: &str) -> Result<Array, ProblemFault> {
        let path = self.path(file);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        let name = format!("{key} ({file})");
        let mut budget = self.budget.borrow_mut();
        let known = budget.known.get(&path).copied();
        if let Some(bytes) = known {
            budget.take(&name, bytes)?;
        }
        let array = match extension.as_str() {
            "csv" => csv::read(key, file, &path)?,
            "npy" => npy::read(key, file, &path)?,
            _ => {
                return Err(value::wrong(
                    key,
                    format!("{file:?}"),
                    "neither a list of rows nor the path of a .npy or .csv file",
                ));
            }
        };
        if known.is_none() {
            let bytes = 8 * array.entries.len() as u64;
            budget.stored += path.metadata().map_or(bytes, |file| file.len());
            budget.known.insert(path, bytes);
            budget.take(&name, bytes)?;
        }
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_named_again_and_again_exhausts_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let text = "1,".repeat(99_999) + "1\n";
        std::fs::write(folder.path().join("P.csv"), text).unwrap();
        let matrices = Matrices::new(folder.path(), 1000);
        let read = (0..1000).map_while(|_| matrices.read("transition", "P.csv").ok());
        let most = (FOR_ANY + PER_BYTE * 201_000) / 800_000;
        assert_eq!(read.count() as u64, most);
        let refused = matrices
            .read("transition", "P.csv")
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("P.csv") && refused.contains("limit"),
            "{refused}"
        );
    }
}
