//! Holds the most recently stored of many values by their numbers, within a limit.
//!
//! Values belong to generations. When the young generation has half of the limit, it becomes the old one, and the values that were
//! old before are dropped. So a value is kept while fewer than half of the limit are stored after it, the work per value is
//! constant, and what is dropped depends only on the order of calls.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::hash::mix;

/// The fewest values that a limit allows.
const FEWEST: u64 = 1024;

/// Values by number.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    from = "Saved<T>",
    into = "Saved<T>",
    bound = "T: Clone + Serialize + for<'a> Deserialize<'a>"
)]
pub(crate) struct Recent<T> {
    entries: HashMap<u64, Entry<T>, BuildHasherDefault<Mixing>>,
    generation: u64,
    /// The number of values of this generation.
    young: u64,
    /// The number of forks so far, and the values of before the last one that were taken since.
    forks: u64,
    taken: Vec<(u64, Entry<T>)>,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    generation: u64,
    /// The number of forks when it was stored.
    forks: u64,
    value: T,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            entries: HashMap::default(),
            generation: 0,
            young: 0,
            forks: 0,
            taken: Vec::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for Recent<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(key, entry): (&u64, &Entry<T>)| {
            (other.entries.get(key)).is_some_and(|found| {
                found.generation == entry.generation && found.value == entry.value
            })
        };
        (self.generation, self.young, self.entries.len())
            == (other.generation, other.young, other.entries.len())
            && self.entries.iter().all(same)
    }
}

/// The number of values that fit into this number of bytes.
pub(crate) fn limit(bytes: u64, each: usize) -> u64 {
    (bytes / (each as u64).max(1)).max(FEWEST)
}

impl<T: Clone> Recent<T> {
    /// Stores a value under a number that has none; beyond the limit, the oldest are passed to `drop`.
    pub fn put(&mut self, key: u64, value: T, limit: u64, mut drop: impl FnMut(T)) {
        let (generation, forks) = (self.generation, self.forks);
        self.entries.insert(
            key,
            Entry {
                generation,
                forks,
                value,
            },
        );
        self.young += 1;
        if self.young >= limit / 2 {
            let old = self
                .entries
                .extract_if(|_, entry| entry.generation < generation);
            let mut old: Vec<(u64, Entry<T>)> = old.collect();
            // In a fixed order, whatever that of the map is.
            old.sort_unstable_by_key(|(key, _)| *key);
            old.into_iter().for_each(|(_, entry)| drop(entry.value));
            self.generation += 1;
            self.young = 0;
        }
    }

    /// Takes the value of a number.
    pub fn take(&mut self, key: u64) -> Option<T> {
        let entry = self.entries.remove(&key)?;
        self.young -= u64::from(entry.generation == self.generation);
        if entry.forks < self.forks {
            self.taken.push((key, entry.clone()));
        }
        Some(entry.value)
    }

    /// Takes all values with their numbers, in the order of these.
    pub fn drain(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        self.young = 0;
        let mut all: Vec<(u64, Entry<T>)> = self.entries.drain().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(key, entry)| (key, entry.value))
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.values().map(|entry| &entry.value)
    }

    /// An empty copy, which answers as this one does from now on once it has [loaded](Self::load) what this one
    /// [notes](Self::noted).
    pub fn fork(&mut self) -> Self {
        self.forks += 1;
        self.taken.clear();
        Self {
            generation: self.generation,
            young: self.young,
            ..Self::default()
        }
    }

    /// The values of before the last fork that were taken since.
    pub fn noted(&mut self) -> Noted<T> {
        Noted(std::mem::take(&mut self.taken))
    }

    /// Adds noted values to a fork.
    pub fn load(&mut self, noted: Noted<T>) {
        for (key, entry) in noted.0 {
            self.entries.insert(key, Entry { forks: 0, ..entry });
        }
    }
}

/// Values that a fork needs.
#[derive(Debug)]
pub(crate) struct Noted<T>(Vec<(u64, Entry<T>)>);

/// The saved form, by number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<T> {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    generation: u64,
    /// Number, generation and value.
    values: Vec<(u64, u64, T)>,
}

impl<T> From<Recent<T>> for Saved<T> {
    fn from(recent: Recent<T>) -> Self {
        let entries = recent.entries.into_iter();
        let mut values: Vec<(u64, u64, T)> = entries
            .map(|(key, entry)| (key, entry.generation, entry.value))
            .collect();
        values.sort_unstable_by_key(|(key, _, _)| *key);
        Self {
            generation: recent.generation,
            values,
        }
    }
}

impl<T> From<Saved<T>> for Recent<T> {
    fn from(saved: Saved<T>) -> Self {
        let generation = saved.generation;
        let young = (saved.values.iter()).filter(|(_, own, _)| *own == generation);
        Self {
            young: young.count() as u64,
            generation,
            entries: (saved.values.into_iter())
                .map(|(key, generation, value)| {
                    let entry = Entry {
                        generation,
                        forks: 0,
                        value,
                    };
                    (key, entry)
                })
                .collect(),
            ..Self::default()
        }
    }
}

/// Hashes a number by mixing its bits.
#[derive(Debug, Clone, Copy, Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0 ^ number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_half_of_the_limit_is_always_kept() {
        let (mut recent, mut dropped, limit) = (Recent::default(), Vec::new(), 2048);
        for key in 0..10_000_u64 {
            recent.put(key, key, limit, |old| dropped.push(old));
            assert!(recent.entries.len() as u64 <= limit);
            assert_eq!(recent.entries.len() + dropped.len(), key as usize + 1);
        }
        assert!((10_000 - 1024..10_000).all(|key| recent.take(key) == Some(key)));
        assert!(dropped.is_sorted());
        assert_eq!(recent.take(dropped[0]), None);
    }

    #[test]
    fn a_fork_and_a_restored_copy_answer_alike() {
        let limit = 64;
        let (mut recent, mut random) = (Recent::default(), 1_u64);
        let mut next = |most: u64| {
            random = mix(random);
            random % most
        };
        for round in 0..300 {
            let saved = serde_json::to_string(&recent).unwrap();
            let mut restored: Recent<u64> = serde_json::from_str(&saved).unwrap();
            assert_eq!(restored, recent);
            let mut fork = recent.fork();
            let calls: Vec<u64> = (0..20).map(|_| next(120)).collect();
            let run = |recent: &mut Recent<u64>| -> Vec<Option<u64>> {
                let answers = calls.iter().map(|key| {
                    let found = recent.take(*key);
                    recent.put(*key, round, limit, |_| ());
                    found
                });
                answers.collect()
            };
            let expected = run(&mut recent);
            fork.load(recent.noted());
            assert_eq!(run(&mut fork), expected);
            assert_eq!(run(&mut restored), expected);
            assert_eq!(
                serde_json::to_string(&restored).unwrap(),
                serde_json::to_string(&recent).unwrap()
            );
        }
    }
}
