//! Distributes independent work over threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::panics::caught;

/// The largest number of threads.
pub const MOST_THREADS: usize = 1024;

/// The number of threads that an option requests, at most [`MOST_THREADS`]; 0 means one per CPU.
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n.min(MOST_THREADS),
    }
}

/// Applies `work` to each item on up to `threads` threads.
///
/// The calling thread participates, so if the system refuses a thread the work only takes longer.
///
/// # Errors
/// [`Error::Worker`](crate::Error::Worker) when `work` panics; the other threads then end after their current item.
pub fn for_each<T: Send>(
    threads: usize,
    items: &mut [T],
    work: impl Fn(&mut T) + Sync,
) -> Result<()> {
    let helpers = threads.min(items.len()).saturating_sub(1);
    if helpers == 0 {
        return caught(|| items.iter_mut().for_each(work));
    }
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    let failed = Mutex::new(None);
    let take = || {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Every slot is taken once, so the lock never blocks and cannot be poisoned.
            let mut item = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = caught(|| work(&mut item)) {
                next.store(slots.len(), Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            if std::thread::Builder::new()
                .spawn_scoped(scope, take)
                .is_err()
            {
                break;
            }
        }
        take();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [1, 2, 5, 100] {
            let mut items: Vec<u32> = (0..37).collect();
            for_each(threads, &mut items, |item| *item += 100).unwrap();
            assert!(items.into_iter().eq(100..137));
        }
    }

    #[test]
    fn a_panic_ends_the_work_with_an_error() {
        for threads in [1, 2, 5] {
            let mut items: Vec<u32> = (0..37).collect();
            let worked = for_each(threads, &mut items, |item| {
                if *item == 20 {
                    // Unwinding without the hook, which would print to the test's output.
                    std::panic::resume_unwind(Box::new("twenty"));
                }
            });
            let message = worked.unwrap_err().to_string();
            assert!(message.ends_with("twenty"), "{message}");
        }
    }
}
