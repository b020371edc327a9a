//! Memory of pages that is used again: to get fresh memory from the system takes as long as to decompress into it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// The number of buffers that wait to be used again, and the largest one in bytes.
const MOST: usize = 16;
const LARGEST: usize = 2 << 20;

type Free = Mutex<Vec<Vec<u8>>>;

/// The buffers of a file.
#[derive(Default)]
pub(super) struct Buffers(Arc<Free>);

impl Buffers {
    /// A buffer with at least this capacity; its bytes are arbitrary.
    pub fn take(&self, capacity: usize) -> Vec<u8> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bytes = free.unwrap_or_default();
        if bytes.capacity() < capacity {
            bytes = Vec::with_capacity(capacity);
        }
        bytes
    }

    /// The first bytes of a buffer, which is used again when nobody uses them any more.
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
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST && self.bytes.capacity() <= LARGEST {
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
        let lent = buffers.lend(vec![1, 2, 3], 2);
        let (start, rest) = (lent.as_ptr(), lent.slice(1..));
        drop(lent);
        assert_eq!(rest, [2][..]);
        assert!(buffers.take(1).capacity() == 1, "it is still in use");
        drop(rest);
        let again = buffers.take(3);
        assert!(again.as_ptr() == start && again == [1, 2, 3]);
        drop(buffers.lend(again, 3));
        assert!(buffers.take(100).capacity() >= 100);
    }

    #[test]
    fn little_memory_waits() {
        let buffers = Buffers::default();
        drop(buffers.lend(vec![0; LARGEST + 1], 1));
        let many: Vec<Bytes> = (0..40).map(|_| buffers.lend(vec![0; 10], 10)).collect();
        drop(many);
        assert_eq!(buffers.0.lock().unwrap().len(), MOST);
        assert!(buffers.take(0).capacity() <= LARGEST);
    }
}
