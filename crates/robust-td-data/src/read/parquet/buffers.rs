//! Memory of pages that is used again: to get fresh memory from the system takes as long as to decompress into it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// The number of buffers that wait to be used again, and the sizes in bytes that are worth it.
const MOST: usize = 16;
const SIZES: std::ops::RangeInclusive<usize> = 4096..=2 << 20;

type Free = Mutex<Vec<Vec<u8>>>;

/// The buffers of a file.
#[derive(Default)]
pub(super) struct Buffers(Arc<Free>);

impl Buffers {
    /// A buffer with at least this capacity, and not much more: pages are limited by their own sizes. Its bytes are arbitrary.
    pub fn take(&self, capacity: usize) -> Vec<u8> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |bytes: &Vec<u8>| (capacity..=2 * capacity).contains(&bytes.capacity());
        match free.iter().rposition(fits) {
            Some(place) => free.swap_remove(place),
            None => Vec::with_capacity(capacity),
        }
    }

    /// The first bytes of a buffer, which is used again when their last user drops them.
    pub fn lend(&self, bytes: Vec<u8>, length: usize) -> Bytes {
        Bytes::from_owner(Lent {
            bytes,
            length,
            free: self.0.clone(),
        })
    }
}

/// A buffer in use.
struct Lent {
    bytes: Vec<u8>,
    length: usize,
    free: Arc<Free>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if SIZES.contains(&self.bytes.capacity()) {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            if free.len() == MOST {
                free.remove(0);
            }
            free.push(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_after_its_last_user() {
        let buffers = Buffers::default();
        let lent = buffers.lend(vec![7; 10_000], 2);
        let (start, rest) = (lent.as_ptr(), lent.slice(1..));
        drop(lent);
        assert_eq!(rest, [7][..]);
        let other = buffers.take(10_000);
        assert!(other.as_ptr() != start, "it is still in use");
        drop(rest);
        // Too small, and too large: a page must not hold much more than it is counted for.
        assert!(buffers.take(10_001).capacity() >= 10_001);
        assert!(buffers.take(4_999).capacity() < 10_000);
        let again = buffers.take(9_000);
        assert!(again.as_ptr() == start && again.len() == 10_000);
    }

    #[test]
    fn few_buffers_wait_the_last_ones() {
        let buffers = Buffers::default();
        let waiting = || buffers.0.lock().unwrap().len();
        for size in [100, SIZES.end() + 1] {
            drop(buffers.lend(vec![0; size], 1));
            assert_eq!(waiting(), 0, "{size}");
        }
        (0..40).for_each(|k| drop(buffers.lend(vec![0; 10_000 + k], 1)));
        assert_eq!(waiting(), MOST);
        let kept = buffers.0.lock().unwrap();
        assert!(kept.iter().map(Vec::len).eq(10_040 - MOST..10_040));
    }
}
