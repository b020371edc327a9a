//! Notices files that have the same rows.

use std::collections::HashMap;

use crate::batch::Batch;
use crate::hash::mix;

/// The observation of one row in this number is compared, beside the rewards, flags and episodes of all.
const EVERY: u64 = 16;

/// A digest of the rows of each file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copies {
    /// The file being read, with the number of its rows and their digest so far.
    now: Option<(usize, u64, u64)>,
    /// The first file with a number of rows and a digest.
    files: HashMap<(u64, u64), usize>,
    /// The first copy and its original, and the number of copies.
    first: Option<(usize, usize, u64)>,
    count: u64,
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
        if self.now.is_some_and(|(file, ..)| file != batch.file) {
            self.end_file();
        }
        let (_, rows, digest) = self.now.get_or_insert((batch.file, 0, 0));
        for i in 0..batch.len() {
            let flags = u64::from(batch.terminated[i]) | u64::from(batch.truncated[i]) << 1;
            let row = batch.rewards[i].to_bits() ^ batch.episodes[i].rotate_left(17) ^ flags;
            *digest = mix(*digest ^ row);
            if *rows % EVERY == 0 {
                let bits = batch.obs(i).iter().map(|x| x.to_bits());
                *digest = bits.fold(*digest, |digest, bits| mix(digest ^ bits));
            }
            *rows += 1;
        }
    }

    fn end_file(&mut self) {
        let Some((file, rows, digest)) = self.now.take().filter(|(_, rows, _)| *rows > 1) else {
            return;
        };
        let original = *self.files.entry((rows, digest)).or_insert(file);
        if original != file {
            self.count += 1;
            self.first.get_or_insert((file, original, rows));
        }
    }

    /// What was found, after the last file.
    pub fn finish(&mut self) -> Option<Copied> {
        self.end_file();
        let (file, original, rows) = self.first?;
        Some(Copied {
            file,
            original,
            rows,
            count: self.count,
        })
    }
}
