//! Compares the memory that something needs with a limit, before taking it.
//!
//! The limit is three quarters of what the machine, or its container, has left, unless [`set_limit`] or the environment variable
//! `ROBUST_TD_MAX_MEMORY` gives another one.

use std::sync::atomic::{AtomicU64, Ordering};

use robust_td_core::krylov::Krylov;

use crate::error::{Error, Result};

/// Matrices of a direct solution beside those of the chunks: sums, their copies, and the factors.
const MATRICES: u64 = 8;
/// Matrices per thread: the sums of two chunks, each with what is held out.
const PER_THREAD: u64 = 4;
/// Matrices of a learner that solves as it goes: its sums, their factors, and a copy.
const LEARNER_MATRICES: u64 = 4;
/// Vectors per replicate: its weights and their average for two candidates.
const REPLICATE_VECTORS: u64 = 4;
/// Vectors of an iterative solution beside those of the solver.
const VECTORS: u64 = 10;
/// The memory for the entries of a sparse matrix.
const MOST_BYTES: u64 = 2 << 30;

/// The maximum number of bytes of rows to keep.
const MOST_FOR_ROWS: u64 = 1 << 30;
/// The same for files of any length, and per byte: more is not what a log has, but what compression hides.
const FOR_ROWS: u64 = 64 << 20;
const FOR_ROWS_PER_BYTE: u64 = 64;

/// The environment variable with the limit.
const VARIABLE: &str = "ROBUST_TD_MAX_MEMORY";
/// The limit that was set; 0 for none.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Sets the limit of this process, in bytes; `None` for the default.
pub fn set_limit(bytes: Option<u64>) {
    LIMIT.store(bytes.map_or(0, |bytes| bytes.max(1)), Ordering::Relaxed);
}

/// The memory that may be taken, in bytes, where it is known.
#[must_use]
pub fn limit() -> Option<u64> {
    let set = match LIMIT.load(Ordering::Relaxed) {
        0 => std::env::var(VARIABLE).ok().and_then(|text| bytes(&text)),
        limit => Some(limit),
    };
    set.or_else(|| available().map(|bytes| bytes / 4 * 3))
}

/// A size in bytes: `500MB`, `1.5 GB`, `2GiB`; without a unit, bytes.
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number.trim().parse::<f64>().ok()? * factor;
    (1.0..1.8e19).contains(&bytes).then_some(bytes as u64)
}

/// Refuses direct solutions, of several systems at the same time, for this number of features that do not fit in memory.
pub(crate) fn check_direct(features: usize, threads: usize, systems: usize) -> Result<()> {
    let d = features as u64;
    let matrices = systems as u64 * (MATRICES + PER_THREAD * threads as u64);
    check(
        features,
        d.saturating_mul(d + 1).saturating_mul(8 * matrices),
    )
}

/// Refuses a learner that keeps a matrix of this number of features, with copies, if it does not fit in memory.
pub(crate) fn check_learner(features: usize) -> Result<()> {
    let d = features as u64;
    check(
        features,
        d.saturating_mul(d).saturating_mul(8 * LEARNER_MATRICES),
    )
}

/// Refuses bootstrap replicates of a learner's weights, of each of its constants, that do not fit in memory.
pub(crate) fn check_replicates(features: usize, replicates: usize) -> Result<()> {
    let weights = (features as u64).saturating_mul(replicates as u64);
    check(features, weights.saturating_mul(8 * REPLICATE_VECTORS))
}

/// Refuses an iterative solution for this number of features that does not fit in memory.
pub(crate) fn check_iterative(features: usize) -> Result<()> {
    let vectors = VECTORS + Krylov::default().vectors() as u64;
    check(features, 8 * vectors * features as u64)
}

/// The number of entries that a sparse matrix may have: a third of the limit for their lists, which take twice their
/// size while they are merged, at most 2 gigabytes.
pub(crate) fn most_entries() -> usize {
    let bytes = limit().map_or(MOST_BYTES, |limit| MOST_BYTES.min(limit / 3));
    (bytes / (2 * 16)) as usize
}

/// The number of entries that the factors of a sparse matrix may have: four ninths of the limit, at most 6 gigabytes, with what is
/// needed on the way.
pub(crate) fn most_fill() -> f64 {
    let most = 3 * MOST_BYTES;
    let bytes = limit().map_or(most, |limit| most.min(limit / 9 * 4));
    (bytes / (8 * 3)) as f64
}

fn check(features: usize, needed: u64) -> Result<()> {
    match limit() {
        Some(limit) if needed > limit => Err(Error::TooLarge {
            features,
            needed,
            limit,
        }),
        _ => Ok(()),
    }
}

/// The number of bytes of rows to keep in memory, so that they need not be read again; for files, by their length in all.
pub(crate) fn for_rows(stored: Option<u64>) -> usize {
    let share = limit().map_or(u64::MAX, |bytes| bytes / 6);
    let worth = stored.map_or(u64::MAX, |bytes| {
        FOR_ROWS.saturating_add(bytes.saturating_mul(FOR_ROWS_PER_BYTE))
    });
    share.min(worth).min(MOST_FOR_ROWS) as usize
}

/// The number of bytes that open episodes may take: few of a small file, so that none takes much memory.
pub(crate) fn for_episodes(stored: u64) -> u64 {
    const LEAST: u64 = 1 << 27;
    const MOST: u64 = 5 << 28;
    stored.saturating_mul(64).clamp(LEAST, MOST)
}

/// The memory that is available, in bytes, where the system tells it: what the machine has left, or the container.
pub(crate) fn available() -> Option<u64> {
    match (of_machine(), of_container()) {
        (Some(machine), Some(container)) => Some(machine.min(container)),
        (machine, container) => machine.or(container),
    }
}

fn of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// What a control group of Linux (version 2) has left; `None` without a limit.
fn of_container() -> Option<u64> {
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("1", Some(1)),
            ("500MB", Some(500_000_000)),
            (" 1.5 GB ", Some(1_500_000_000)),
            ("2GiB", Some(2 << 30)),
            ("1e9", Some(1_000_000_000)),
            ("64k", Some(64_000)),
            ("0", None),
            ("-1GB", None),
            ("nan", None),
            ("inf", None),
            ("1XB", None),
            ("", None),
            ("1e300", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_fit_is_refused_with_its_size() {
        assert!(check_direct(100, 2, 1).is_ok());
        assert!(check_iterative(100_000).is_ok());
        if limit().is_some() {
            let refused = check_direct(1 << 24, 2, 1).unwrap_err().to_string();
            assert!(
                refused.contains("16777216 features need about"),
                "{refused}"
            );
        }
    }
}
