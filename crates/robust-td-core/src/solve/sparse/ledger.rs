//! Adds up numbers by key.

/// No key.
const EMPTY: u64 = u64::MAX;
/// 2^64 divided by the golden ratio (Knuth, *The Art of Computer Programming*, section 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The number of sums at which a table becomes a sorted list.
const OPEN: usize = 1 << 19;

/// What is added up.
pub(super) trait Sum: Copy {
    const ZERO: Self;
    fn plus(self, more: Self) -> Self;
}

impl Sum for f64 {
    const ZERO: Self = 0.0;

    #[inline]
    fn plus(self, more: Self) -> Self {
        self + more
    }
}

impl<const N: usize> Sum for [f64; N] {
    const ZERO: Self = [0.0; N];

    #[inline]
    fn plus(self, more: Self) -> Self {
        std::array::from_fn(|k| self[k] + more[k])
    }
}

/// A key and a sum.
pub(super) type Entry<S> = (u64, S);

/// Sums by key, of any number of keys: a table for the last ones, and sorted lists that are merged like the digits of a counter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ledger<S> {
    open: Table<S>,
    /// Longest first.
    lists: Vec<Vec<Entry<S>>>,
}

impl<S: Sum> Default for Ledger<S> {
    fn default() -> Self {
        Self {
            open: Table::default(),
            lists: Vec::new(),
        }
    }
}

impl<S: Sum> Ledger<S> {
    /// The number of sums that are stored.
    pub fn stored(&self) -> usize {
        self.open.count + self.lists.iter().map(Vec::len).sum::<usize>()
    }

    /// Adds to the sum of a key below 2^64 - 1.
    #[inline]
    pub fn add(&mut self, key: u64, value: S) {
        self.open.add(key, value);
    }

    /// Makes room; to be called now and then.
    #[inline]
    pub fn settle(&mut self) {
        if self.open.count >= OPEN {
            self.close();
        }
    }

    /// Adds the sums of another ledger.
    pub fn merge(&mut self, other: Self) {
        self.close();
        self.push(other.into_sorted());
    }

    /// All sums, in the order of their keys.
    pub fn into_sorted(mut self) -> Vec<Entry<S>> {
        self.close();
        let mut all = self.lists.pop().unwrap_or_default();
        while let Some(longer) = self.lists.pop() {
            all = merged(&longer, &all);
        }
        all
    }

    fn close(&mut self) {
        if self.open.count > 0 {
            let list = self.open.drain();
            self.push(list);
        }
    }

    /// Adds a list, and merges those of similar length.
    fn push(&mut self, mut list: Vec<Entry<S>>) {
        while let Some(last) = self.lists.pop_if(|last| last.len() <= 2 * list.len()) {
            list = merged(&last, &list);
        }
        self.lists.push(list);
    }
}

/// Sums by key, in open addressing; every sum is added up in the order of the calls.
#[derive(Debug, Clone, PartialEq)]
struct Table<S> {
    /// A power of two of them.
    entries: Vec<Entry<S>>,
    count: usize,
}

impl<S: Sum> Default for Table<S> {
    fn default() -> Self {
        Self {
            entries: vec![(EMPTY, S::ZERO); 1 << 10],
            count: 0,
        }
    }
}

impl<S: Sum> Table<S> {
    #[inline]
    fn add(&mut self, key: u64, value: S) {
        let place = self.place(key);
        let entry = &mut self.entries[place];
        entry.1 = entry.1.plus(value);
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
        // The highest bits of the product depend on all bits of the key: on its row as well as on its column.
        let mut place = (key.wrapping_mul(SPREAD) >> (64 - mask.count_ones())) as usize;
        loop {
            let found = self.entries[place].0;
            if found == key || found == EMPTY {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let more = vec![(EMPTY, S::ZERO); 2 * self.entries.len()];
        for (key, value) in std::mem::replace(&mut self.entries, more) {
            if key != EMPTY {
                let place = self.place(key);
                self.entries[place] = (key, value);
            }
        }
    }

    /// Removes all sums and returns them in the order of their keys.
    fn drain(&mut self) -> Vec<Entry<S>> {
        let used = self.entries.iter().filter(|(key, _)| *key != EMPTY);
        let mut sorted: Vec<Entry<S>> = used.copied().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        self.entries.fill((EMPTY, S::ZERO));
        self.count = 0;
        sorted
    }
}

/// The sums of two sorted lists.
fn merged<S: Sum>(left: &[Entry<S>], right: &[Entry<S>]) -> Vec<Entry<S>> {
    let mut all = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let (a, b) = (left[i], right[j]);
        all.push(match a.0.cmp(&b.0) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => (a.0, a.1.plus(b.1)),
        });
        i += usize::from(a.0 <= b.0);
        j += usize::from(b.0 <= a.0);
    }
    all.extend_from_slice(&left[i..]);
    all.extend_from_slice(&right[j..]);
    all
}
