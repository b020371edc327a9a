//! Times a piece of work with little influence from other load on the machine.

use std::hint::black_box;
use std::time::Instant;

/// The time of one call of `work` in seconds: the fastest of several attempts.
///
/// Uses wall-clock time, because the system counts CPU time in ticks of milliseconds, too coarse for short work.
pub fn fastest<T>(attempts: usize, mut work: impl FnMut() -> T) -> f64 {
    let attempt = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..attempts).map(attempt).fold(f64::INFINITY, f64::min)
}
