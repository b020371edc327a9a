//! Compares the memory that an evaluation needs with what the machine has, before taking it.

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

/// Refuses direct solutions, of several systems at the same time, for this number of features that do not fit in memory.
pub(crate) fn check_direct(features: usize, threads: usize, systems: usize) -> Result<()> {
    let d = features as u64;
    let matrices = systems as u64 * (MATRICES + PER_THREAD * threads as u64);
    check(features, 8 * matrices * d * (d + 1))
}

/// Refuses a learner that keeps a matrix of this number of features, with copies, if it does not fit in memory.
pub(crate) fn check_learner(features: usize) -> Result<()> {
    let d = features as u64;
    check(features, 8 * LEARNER_MATRICES * d * d)
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

/// The number of entries that a sparse matrix may have: a quarter of the memory for their lists, which take twice their
/// size while they are merged, at most 2 gigabytes.
pub(crate) fn most_entries() -> usize {
    let bytes = available().map_or(MOST_BYTES, |available| MOST_BYTES.min(available / 4));
    (bytes / (2 * 16)) as usize
}

/// The number of entries that the factors of a sparse matrix may have: a third of the memory, at most 6 gigabytes, with what is
/// needed on the way.
pub(crate) fn most_fill() -> f64 {
    let most = 3 * MOST_BYTES;
    let bytes = available().map_or(most, |available| most.min(available / 3));
    (bytes / (8 * 3)) as f64
}

fn check(features: usize, needed: u64) -> Result<()> {
    match available() {
        Some(available) if needed > available => Err(Error::TooLarge {
            features,
            needed,
            available,
        }),
        _ => Ok(()),
    }
}

/// The number of bytes of rows to keep in memory, so that they need not be read again.
pub(crate) fn for_rows() -> usize {
    let share = available().map_or(u64::MAX, |bytes| bytes / 8);
    share.min(MOST_FOR_ROWS) as usize
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
    fn what_cannot_fit_is_refused_with_its_size() {
        assert!(check_direct(100, 2, 1).is_ok());
        assert!(check_iterative(100_000).is_ok());
        if available().is_some() {
            let refused = check_direct(1 << 24, 2, 1).unwrap_err().to_string();
            assert!(
                refused.contains("16777216 features need about"),
                "{refused}"
            );
        }
    }
}
