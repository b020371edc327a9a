//! Times a piece of work so that a busy machine disturbs the number little.

use std::hint::black_box;
use std::time::Instant;

/// The seconds that one call of `work` takes: the fastest of several attempts.
///
/// The system counts CPU time in ticks of milliseconds, which is too coarse for short work, so this is time of the clock.
pub fn fastest<T>(attempts: usize, mut work: impl FnMut() -> T) -> f64 {
    let attempt = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..attempts).map(attempt).fold(f64::INFINITY, f64::min)
}
