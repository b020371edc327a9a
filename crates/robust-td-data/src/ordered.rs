//! Works on the parts of a log on several threads, with results in the order of the parts.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Calls `work` with every part that `produce` sends, and `take` with the results, in the order of sending; returns the
/// result of `produce`.
///
/// `produce` and `take` run on this thread, `work` on as many others as there are `threads`, or on this one if that is one. At
/// most two parts per thread are under way.
///
/// # Errors
/// Those of `produce` and of `take`, and a panic in `work`.
pub(crate) fn in_order<P: Send, T: Send, R>(
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(P) -> Result<()>) -> Result<R>,
    work: impl Fn(P) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<R> {
    if threads <= 1 {
        return produce(&mut |part| take(work(part)));
    }
    let (jobs, waiting) = sync_channel::<(u64, P)>(threads);
    let (finished, results) = channel();
    let waiting = Mutex::new(waiting);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (waiting, work, finished) = (&waiting, &work, finished.clone());
            scope.spawn(move || process(waiting, work, &finished));
        }
        drop(finished);
        let mut ordered = Ordered::default();
        let mut sent = 0;
        let produced = produce(&mut |part| {
            jobs.send((sent, part)).map_err(|_| stopped())?;
            sent += 1;
            while let Ok((number, result)) = results.try_recv() {
                ordered.add(number, result?, &mut take)?;
            }
            Ok(())
        })?;
        drop(jobs);
        for (number, result) in results {
            ordered.add(number, result?, &mut take)?;
        }
        Ok(produced)
    })
}

/// Works on parts until there are no more.
fn process<P, T>(
    waiting: &Mutex<Receiver<(u64, P)>>,
    work: &(impl Fn(P) -> T + Sync),
    finished: &Sender<(u64, Result<T>)>,
) {
    loop {
        let next = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok((number, part)) = next else {
            return;
        };
        // A panic must not leave the others waiting for this part.
        let result = catch_unwind(AssertUnwindSafe(|| work(part))).map_err(|_| stopped());
        if finished.send((number, result)).is_err() {
            return;
        }
    }
}

fn stopped() -> Error {
    Error::Thread {
        message: "a worker stopped before the end of the log".to_owned(),
    }
}

/// Results that wait for earlier ones.
struct Ordered<T> {
    next: u64,
    early: BTreeMap<u64, T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
        }
    }
}

impl<T> Ordered<T> {
    fn add(
        &mut self,
        number: u64,
        result: T,
        take: &mut impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        self.early.insert(number, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            take(result)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_their_parts() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let produced = in_order(
                threads,
                |send| (0..200_u64).try_for_each(send).map(|()| "all"),
                |part| {
                    // Odd parts take longer.
                    (0..(part % 2) * 20_000).fold(part, |sum, k| sum ^ std::hint::black_box(k & 0))
                },
                |result| {
                    taken.push(result);
                    Ok(())
                },
            );
            assert_eq!(produced.unwrap(), "all");
            assert!(taken.into_iter().eq(0..200));
        }
    }

    #[test]
    fn a_panic_and_an_error_end_the_work() {
        let run = |fails: fn(u64) -> Result<()>| {
            in_order(
                2,
                |send| (0..50).try_for_each(send),
                |part: u64| part,
                fails,
            )
        };
        assert!(run(|_| Ok(())).is_ok());
        let failed = run(|part| match part {
            20 => Err(Error::Cancelled),
            _ => Ok(()),
        });
        assert!(matches!(failed, Err(Error::Cancelled)));
        let panicked = in_order(
            2,
            |send| (0..50).try_for_each(send),
            |part: u64| assert!(part != 20, "part 20"),
            |()| Ok(()),
        );
        assert!(matches!(panicked, Err(Error::Thread { .. })));
    }
}
