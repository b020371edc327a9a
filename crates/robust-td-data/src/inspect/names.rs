//! Notices that the name of an episode occurs again in a file, after rows of other episodes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;

/// The maximum number of names on each side of a part: 16 megabytes.
const MOST: usize = 1 << 21;

/// The names in a part of a log, as far as other parts need them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Names {
    /// Those that start in the first file, unless the part starts the log.
    begun: Option<BTreeSet<u64>>,
    /// Those of the last file that rows of others followed, and that did not terminate.
    left: BTreeSet<u64>,
    /// Whether it has rows of several files.
    turned: bool,
    recur: bool,
}

/// What matters of a row: its file, its episode and whether that terminated.
pub(crate) type Named = (usize, u64, bool);

impl Names {
    /// The names of a part, after a row.
    pub fn after(before: bool) -> Self {
        Self {
            begun: before.then(BTreeSet::new),
            ..Self::default()
        }
    }

    /// Adds a row, given the row before.
    pub fn add(&mut self, batch: &Batch, i: usize, before: Option<Named>) {
        let name = batch.episodes[i];
        let Some((file, last, terminated)) = before else {
            return;
        };
        if file != batch.file {
            self.turned = true;
            self.left.clear();
        } else if last != name {
            if !terminated {
                self.left.insert(last);
            }
            self.recur |= self.left.contains(&name);
            if let Some(begun) = self.begun.as_mut().filter(|_| !self.turned) {
                begun.insert(name);
            }
            self.limit();
        }
    }

    /// Adds the next part of the log.
    pub fn merge(&mut self, later: Self) {
        let begun = later.begun.unwrap_or_default();
        self.recur |= later.recur || begun.intersection(&self.left).next().is_some();
        if let Some(own) = self.begun.as_mut().filter(|_| !self.turned) {
            own.extend(begun);
        }
        if later.turned {
            self.left.clear();
        }
        self.left.extend(later.left);
        self.turned |= later.turned;
        self.limit();
    }

    /// Whether a name occurs again, or there are too many to say.
    pub fn recur(&self) -> bool {
        self.recur
    }

    /// Forgets names once they cannot change the answer.
    fn limit(&mut self) {
        let begun = self.begun.as_ref().map_or(0, BTreeSet::len);
        self.recur |= begun.max(self.left.len()) > MOST;
        if self.recur {
            self.left.clear();
            self.begun = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (file, episode, terminated).
    fn of(rows: &[Named], from: usize, to: usize) -> Names {
        let mut names = Names::after(from > 0);
        for i in from..to {
            let (file, name, _) = rows[i];
            let batch = Batch {
                file,
                episodes: vec![name].into(),
                ..Batch::default()
            };
            names.add(&batch, 0, i.checked_sub(1).map(|before| rows[before]));
        }
        names
    }

    #[test]
    fn parts_notice_what_the_whole_does() {
        let cases: [(&[Named], bool); 6] = [
            (
                &[(0, 1, false), (0, 1, false), (0, 2, false), (0, 3, false)],
                false,
            ),
            (
                &[(0, 1, false), (0, 2, false), (0, 2, false), (0, 1, false)],
                true,
            ),
            // After its end, a name may be used again.
            (
                &[(0, 1, true), (0, 2, false), (0, 1, false), (0, 3, false)],
                false,
            ),
            // Another file may use the same names.
            (
                &[(0, 1, false), (0, 2, false), (1, 3, false), (1, 1, false)],
                false,
            ),
            // An episode may continue in the next file.
            (
                &[(0, 1, false), (1, 1, false), (1, 2, false), (1, 1, false)],
                true,
            ),
            (
                &[(0, 9, false), (0, 1, false), (0, 2, false), (1, 2, false)],
                false,
            ),
        ];
        for (rows, recurs) in cases {
            assert_eq!(of(rows, 0, rows.len()).recur(), recurs, "{rows:?}");
            for cut in 1..rows.len() {
                let mut all = of(rows, 0, cut);
                all.merge(of(rows, cut, rows.len()));
                assert_eq!(all.recur(), recurs, "{rows:?} at {cut}");
                for second in cut + 1..rows.len() {
                    let mut later = of(rows, cut, second);
                    later.merge(of(rows, second, rows.len()));
                    let mut all = of(rows, 0, cut);
                    all.merge(later);
                    assert_eq!(all.recur(), recurs, "{rows:?} at {cut}, {second}");
                }
            }
        }
    }
}
