//! Adds up numbers by key.

/// No key.
const EMPTY: u64 = u64::MAX;
/// 2^64 divided by the golden ratio (Knuth, *The Art of Computer Programming*, section 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key and a sum.
pub(super) type Entry = (u64, f64);

/// Sums by key, in open addressing; every sum is added up in the order of the calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    entries: Vec<Entry>,
    count: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            entries: vec![(EMPTY, 0.0); 1 << 10],
            count: 0,
        }
    }
}

impl Table {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds to the sum of a key below 2^64 - 1.
    #[inline]
    pub fn add(&mut self, key: u64, value: f64) {
        let place = self.place(key);
        let entry = &mut self.entries[place];
        entry.1 += value;
        if entry.0 == EMPTY {
            entry.0 = key;
            self.count += 1;
            if 2 * self.count > self.entries.len() {
                self.grow();
            }
        }
    }

    /// The place of a key, or where it is to be inserted.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = (key.wrapping_mul(SPREAD) >> 20) as usize & mask;
        loop {
            let found = self.entries[place].0;
            if found == key || found == EMPTY {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let more = vec![(EMPTY, 0.0); 2 * self.entries.len()];
        for (key, value) in std::mem::replace(&mut self.entries, more) {
            if key != EMPTY {
                let place = self.place(key);
                self.entries[place] = (key, value);
            }
        }
    }

    /// Removes all sums and returns them in the order of their keys.
    pub fn drain(&mut self) -> Vec<Entry> {
        let used = self.entries.iter().filter(|(key, _)| *key != EMPTY);
        let mut sorted: Vec<Entry> = used.copied().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        self.entries.fill((EMPTY, 0.0));
        self.count = 0;
        sorted
    }
}

/// The sums of two sorted lists.
pub(super) fn merged(left: &[Entry], right: &[Entry]) -> Vec<Entry> {
    let mut all = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let (a, b) = (left[i], right[j]);
        all.push(match a.0.cmp(&b.0) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => (a.0, a.1 + b.1),
        });
        i += usize::from(a.0 <= b.0);
        j += usize::from(b.0 <= a.0);
    }
    all.extend_from_slice(&left[i..]);
    all.extend_from_slice(&right[j..]);
    all
}
