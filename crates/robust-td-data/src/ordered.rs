//! Works on the parts of a log on several threads, with results in the order of the parts.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// The largest number of parts that wait per thread, and the bytes that more than one of them may take in all.
const WAITING: usize = 8;
const BYTES: u64 = 1 << 25;

/// Calls `work` with every part that `produce` sends, and `take` with the results, in the order of sending; returns the
/// result of `produce`.
///
/// `produce` and `take` run on this thread, `work` on as many others as there are `threads`, or on this one if that is one. At
/// most one part per thread is in work, and one more waits, or up to eight if they are small; `size` is the number of bytes of a part
/// and its result.
///
/// # Errors
/// Those of `produce` and of `take`, and a panic in `work`.
pub(crate) fn in_order<P: Send, T: Send, R>(
    threads: usize,
    size: impl Fn(&P) -> u64,
    produce: impl FnOnce(&mut dyn FnMut(P) -> Result<()>) -> Result<R>,
    work: impl Fn(P) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<R> {
    if threads <= 1 {
        return produce(&mut |part| take(work(part)));
    }
    let queue = Queue::new(threads);
    let (finished, results) = channel();
    std::thread::scope(|scope| {
        // Closed on every way out, so that the threads end.
        let jobs = Jobs(&queue);
        for _ in 0..threads {
            let (work, queue, finished) = (&work, &queue, finished.clone());
            scope.spawn(move || process(queue, work, &finished));
        }
        drop(finished);
        let mut ordered = Ordered::default();
        let mut sent = 0;
        let produced = produce(&mut |part| {
            let bytes = size(&part);
            queue.push((sent, part), bytes);
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
    queue: &Queue<(u64, P)>,
    work: &(impl Fn(P) -> T + Sync),
    finished: &Sender<(u64, Result<T>)>,
) {
    while let Some((number, part)) = queue.pop() {
        // A panic must not leave the others waiting for this part.
        let result = catch_unwind(AssertUnwindSafe(|| work(part))).map_err(|_| stopped());
        if finished.send((number, result)).is_err() {
            return;
        }
    }
}

/// Parts that wait for a thread. A full queue accepts more only when half of it is gone: a producer that wakes for every
/// part takes a core from the threads that work on them.
struct Queue<P> {
    inner: Mutex<Waiting<P>>,
    /// A part is there, or there will be no more.
    filled: Condvar,
    /// Half of the queue is gone.
    drained: Condvar,
    threads: usize,
}

struct Waiting<P> {
    /// The parts with their sizes, and the sum of these.
    parts: VecDeque<(P, u64)>,
    bytes: u64,
    closed: bool,
    /// The number of threads that wait for a part.
    idle: usize,
    /// The number of parts for which the producer waits, if it does.
    wanted: Option<usize>,
}

impl<P> Queue<P> {
    fn new(threads: usize) -> Self {
        Self {
            inner: Mutex::new(Waiting {
                parts: VecDeque::new(),
                bytes: 0,
                closed: false,
                idle: 0,
                wanted: None,
            }),
            filled: Condvar::new(),
            drained: Condvar::new(),
            threads,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<P>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part of this size, when there is space.
    fn push(&self, part: P, bytes: u64) {
        let mut inner = self.lock();
        let length = inner.parts.len();
        let is_large = inner.bytes.saturating_add(bytes) > BYTES;
        if length >= WAITING * self.threads || (length >= self.threads && is_large) {
            inner.wanted = Some(length / 2);
            let waits = |inner: &mut Waiting<P>| inner.wanted.is_some();
            let woken = self.drained.wait_while(inner, waits);
            inner = woken.unwrap_or_else(PoisonError::into_inner);
        }
        inner.parts.push_back((part, bytes));
        inner.bytes = inner.bytes.saturating_add(bytes);
        if inner.idle > 0 {
            self.filled.notify_one();
        }
    }

    /// The next part, when there is one; none if the queue is empty and closed.
    fn pop(&self) -> Option<P> {
        let mut inner = self.lock();
        inner.idle += 1;
        let waits = |inner: &mut Waiting<P>| inner.parts.is_empty() && !inner.closed;
        let woken = self.filled.wait_while(inner, waits);
        inner = woken.unwrap_or_else(PoisonError::into_inner);
        inner.idle -= 1;
        let (part, bytes) = inner.parts.pop_front()?;
        inner.bytes = inner.bytes.saturating_sub(bytes);
        if inner
            .wanted
            .is_some_and(|wanted| inner.parts.len() <= wanted)
        {
            inner.wanted = None;
            self.drained.notify_one();
        }
        Some(part)
    }
}

/// Closes the queue when dropped.
struct Jobs<'a, P>(&'a Queue<P>);

impl<P> Drop for Jobs<'_, P> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_all();
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_have_the_order_of_their_parts() {
        for (threads, size) in [(1, 1), (2, BYTES), (2, 1), (5, u64::MAX), (5, 1 << 22)] {
            let mut taken = Vec::new();
            let produced = in_order(
                threads,
                |_| size,
                |send| (0..200_u64).try_for_each(send).map(|()| "all"),
                |part| {
                    // Odd parts take longer.
                    std::thread::sleep(Duration::from_micros(part % 2 * 50));
                    part
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
                |_| 1,
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
            |_| BYTES,
            |send| (0..50).try_for_each(send),
            |part: u64| assert!(part != 20, "part 20"),
            |()| Ok(()),
        );
        assert!(matches!(panicked, Err(Error::Thread { .. })));
    }

    /// Parts do not pile up: beside one in work, one per thread waits if they are large, and eight if they are small.
    #[test]
    fn at_most_the_given_number_of_parts_is_under_way() {
        use std::sync::atomic::{AtomicU64, Ordering};
        for (threads, size, waiting) in [(2, 1, 16), (2, BYTES / 5, 5), (3, u64::MAX, 3)] {
            let [done, peak] = [(); 2].map(|()| AtomicU64::new(0));
            let produced = in_order(
                threads,
                |_| size,
                |send| {
                    (0..300_u64).try_for_each(|part| {
                        send(part)?;
                        let under_way = part + 1 - done.load(Ordering::SeqCst);
                        peak.fetch_max(under_way, Ordering::SeqCst);
                        Ok(())
                    })
                },
                |_| {
                    std::thread::sleep(Duration::from_millis(1));
                    done.fetch_add(1, Ordering::SeqCst)
                },
                |_| Ok(()),
            );
            assert!(produced.is_ok());
            let (peak, most) = (peak.into_inner(), (threads + waiting) as u64);
            assert!(peak <= most, "{peak} of {most}");
            assert!(peak > threads as u64, "nothing waits");
        }
    }
}
