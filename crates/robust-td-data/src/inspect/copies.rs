//! Notices files that have the same rows.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::hash::mix;

/// The observation of one row in this number is compared, beside the rewards, flags and episodes of all.
const EVERY: u64 = 16;

/// A digest of the rows of each file: a sum over its rows, so that parts of a file can be added.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Copies {
    /// The files in order, with the numbers of their rows and their digests.
    files: Vec<(usize, u64, u64)>,
}

/// Files with the same rows as an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copied {
    pub file: usize,
    pub original: usize,
    /// The number of rows of the first copy.
    pub rows: u64,
    /// The number of copies.
    pub count: u64,
}

impl Copies {
    /// Adds the rows of a batch.
    pub fn push(&mut self, batch: &Batch) {
        let mut digest = 0_u64;
        for i in 0..batch.len() {
            let flags = u64::from(batch.terminated[i]) | u64::from(batch.truncated[i]) << 1;
            let row = batch.rewards[i].to_bits() ^ batch.episodes[i].rotate_left(17) ^ flags;
            let number = batch.rows[i];
            let mut hash = mix(row ^ mix(number));
            if number % EVERY == 1 {
                let bits = batch.obs(i).iter().map(|x| x.to_bits());
                hash = bits.fold(hash, |hash, bits| mix(hash ^ bits));
            }
            digest = digest.wrapping_add(hash);
        }
        self.add(batch.file, batch.len() as u64, digest);
    }

    fn add(&mut self, file: usize, rows: u64, digest: u64) {
        match self.files.last_mut().filter(|(own, ..)| *own == file) {
            Some((_, own, sum)) => {
                *own += rows;
                *sum = sum.wrapping_add(digest);
            }
            None => self.files.push((file, rows, digest)),
        }
    }

    /// Adds the rows of a later part of the log.
    pub fn merge(&mut self, later: Self) {
        for (file, rows, digest) in later.files {
            self.add(file, rows, digest);
        }
    }

    /// What was found.
    pub fn found(&self) -> Option<Copied> {
        let mut firsts = HashMap::new();
        let mut found: Option<Copied> = None;
        for &(file, rows, digest) in self.files.iter().filter(|(_, rows, _)| *rows > 1) {
            let original = *firsts.entry((rows, digest)).or_insert(file);
            if original != file {
                let first = found.get_or_insert(Copied {
                    file,
                    original,
                    rows,
                    count: 0,
                });
                first.count += 1;
            }
        }
        found
    }
}
