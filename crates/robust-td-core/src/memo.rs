//! Caches a value derived from the other fields of a struct.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// A value computed at most once; clones share it and comparisons ignore it.
pub(crate) struct Memo<T>(Arc<OnceLock<T>>);

impl<T: Clone> Memo<T> {
    /// The value, computed on the first call; an error is not cached.
    pub fn get_or_try<E>(&self, compute: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(value) = self.0.get() {
            return Ok(value.clone());
        }
        let value = compute()?;
        Ok(self.0.get_or_init(|| value).clone())
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> fmt::Debug for Memo<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_value_and_failures_are_not_kept() {
        let memo = Memo::default();
        assert_eq!(memo.get_or_try(|| Err::<u8, _>("not yet")), Err("not yet"));
        assert_eq!(memo.clone().get_or_try(|| Ok::<_, ()>(3)), Ok(3));
        assert_eq!(memo.get_or_try(|| Ok::<_, ()>(4)), Ok(3));
    }
}
