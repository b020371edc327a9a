//! Decides how many threads to use.

/// The number of threads for an option in which 0 means one per CPU.
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}
